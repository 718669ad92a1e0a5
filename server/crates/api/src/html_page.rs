//! HTML pages for shoppers on our origin besides the hosted form: one document template, and one content security
//! policy that allows only the page's own style and the directives that the page names.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};
use tillgate_net::page_headers::{INTEGRITY_POLICY, integrity_value};

use crate::served_file::header_value;

/// The style sheet of pages about a payment and of a wallet's sheet.
pub(super) const STYLE: &str = include_str!("shopper_page.css");

/// Forbids every page to show this page in a frame (`frame-ancestors`).
pub(super) const NO_FRAME: &str = "'none'";

/// A page and its permissions.
pub(super) struct HtmlPage<'a> {
    /// The title, also the first text that a screen reader reads.
    pub(super) title: &'a str,
    /// The language of the texts (BCP 47).
    pub(super) language: &'a str,
    /// True if the texts run from right to left.
    pub(super) rtl: bool,
    /// The style sheet.
    pub(super) style: &'a str,
    /// Additional elements of the head.
    pub(super) head: Markup,
    /// The content.
    pub(super) main: Markup,
    /// Directives of the policy for the page's actions: `script-src`, `form-action`.
    pub(super) directives: &'a str,
    /// Pages that may show this page in a frame: [`NO_FRAME`], or origins separated by spaces.
    pub(super) ancestors: &'a str,
}

/// Serves a script of such a page. Its tag has a hash, which browsers check only if the answer allows the page's
/// origin: that of a page in a sandbox is no address.
pub(super) fn serve_page_script(script: &'static str) -> Response {
    let headers =
        [(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*")];
    (headers, script).into_response()
}

impl HtmlPage<'_> {
    /// Renders the page as a response with its content security policy, which allows nothing but the page's style and
    /// `directives`. A policy that is no valid header is replaced by one that forbids everything.
    pub(super) fn render_response(&self, status: StatusCode) -> Response {
        let document = html! {
            (DOCTYPE)
            html lang=(self.language) dir=[self.rtl.then_some("rtl")] {
                head {
                    meta charset="utf-8";
                    meta http-equiv="X-UA-Compatible" content="IE=edge";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="robots" content="noindex";
                    title { (self.title) }
                    style { (PreEscaped(self.style)) }
                    (self.head)
                }
                body { main { (self.main) } }
            }
        };
        let policy = format!(
            "default-src 'none'; style-src {}; {}; base-uri 'none'; frame-ancestors {}",
            style_source(self.style),
            self.directives,
            self.ancestors
        );
        let mut response = (status, document).into_response();
        let deny_all = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        let policy = HeaderValue::try_from(policy).unwrap_or(deny_all);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        response
    }
}

/// Returns the directive, with `; ` before it, by which browsers report violations in a page about a checkout. `up`
/// (`../`) leads from the page to `/v1/`. Returns an empty text if there is no checkout.
pub(super) fn report_directive(up: &str, checkout: Option<&str>) -> String {
    checkout.map(|id| format!("; report-uri {up}policyReports/{id}")).unwrap_or_default()
}

/// Name of the header with the addresses for reports.
pub(super) const REPORTING_ENDPOINTS: HeaderName = HeaderName::from_static("reporting-endpoints");

/// Returns the values of `Integrity-Policy` and [`REPORTING_ENDPOINTS`] of a page about a checkout, whose browsers
/// report scripts without a hash. `up` is as for [`report_directive`].
pub(super) fn integrity_reports(up: &str, checkout: &str) -> (&'static str, String) {
    let policy = "blocked-destinations=(script), endpoints=(tillgate)";
    (policy, format!("tillgate=\"{up}policyReports/{checkout}\""))
}

/// Sets the headers of [`integrity_reports`], if there is a checkout.
pub(super) fn report_integrity(headers: &mut HeaderMap, up: &str, checkout: Option<&str>) {
    if let Some(checkout) = checkout {
        let (policy, endpoints) = integrity_reports(up, checkout);
        headers.insert(INTEGRITY_POLICY, HeaderValue::from_static(policy));
        headers.insert(REPORTING_ENDPOINTS, header_value(&endpoints));
    }
}

/// Renders the tag of a script of ours. It has the script's hash, and is loaded with CORS: otherwise the page's
/// `Integrity-Policy` would refuse it.
pub(super) fn script_tag(address: &str, script: &str) -> Markup {
    html! { script src=(address) integrity=(integrity_value(script.as_bytes())) crossorigin="anonymous" defer {} }
}

/// Returns the policy source that allows a style sheet inside the page (CSP 3, 2.3.1).
pub(super) fn style_source(css: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(css)))
}
