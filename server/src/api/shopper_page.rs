//! The HTML pages that a shopper meets on our origin besides the hosted form: one document, and one policy that allows its
//! own style, what the page names, and nothing else.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

/// Nobody shows the page in a frame (`frame-ancestors`).
pub(super) const NO_FRAME: &str = "'none'";

/// A page, and what it may do.
pub(super) struct Page<'a> {
    /// Its title, also what a screen reader says first.
    pub(super) title: &'a str,
    /// The language of its texts (BCP 47).
    pub(super) language: &'a str,
    /// Whether its texts run from right to left.
    pub(super) rtl: bool,
    /// Its style sheet.
    pub(super) style: &'static str,
    /// What stands in its head besides.
    pub(super) head: Markup,
    /// What it shows.
    pub(super) main: Markup,
    /// The directives of its policy for what it does: `script-src`, `form-action`.
    pub(super) does: &'a str,
    /// Who may show it in a frame: [`NO_FRAME`], or origins with blanks between them.
    pub(super) ancestors: &'a str,
}

impl Page<'_> {
    /// The page as an answer.
    pub(super) fn respond(&self, status: StatusCode) -> Response {
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
            self.does,
            self.ancestors
        );
        let mut response = (status, document).into_response();
        let nothing = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
        let policy = HeaderValue::try_from(policy).unwrap_or(nothing);
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        response
    }
}

/// The directive that lets browsers report violations in a page about a checkout, from a page `up` (`../`) below `/v1/`; empty
/// for a page about none.
pub(super) fn reports(up: &str, checkout: Option<&str>) -> String {
    checkout.map(|id| format!("; report-uri {up}policyReports/{id}")).unwrap_or_default()
}

/// The source of a policy that allows a style sheet inside the page (CSP 3, 2.3.1).
pub(super) fn style_source(css: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(css)))
}
