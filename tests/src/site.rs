//! A merchant's site whose pages are defined by a test: options, markup, content security policy. It records every
//! request, so that a test can search the data that reached the merchant.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use crate::{ApiResponse, TestGateway};

/// A merchant's site. It ends with the test's runtime.
#[derive(Clone, Debug)]
pub struct MerchantSite {
    /// Its address, with a trailing slash: `http://shop.localhost:40003/`.
    pub public: String,
    gateway: String,
    /// Pages and requests. Tests add pages while the server reads them and records requests.
    state: Arc<Mutex<SiteState>>,
}

/// Content and records of a site.
#[derive(Debug, Default)]
struct SiteState {
    pages: Vec<MerchantPage>,
    /// Further files: path, media type, content.
    files: Vec<(String, &'static str, Vec<u8>)>,
    requests: Vec<String>,
    policy: String,
    /// Value of `Cross-Origin-Embedder-Policy`. Empty for a page without isolation.
    embedder: String,
}

/// A merchant's page with a payment form.
#[derive(Clone, Debug)]
pub struct MerchantPage {
    checkout: String,
    integrity: Option<String>,
    script: String,
    brands: String,
    before: String,
    inside: String,
    after: String,
    style: String,
}

impl MerchantPage {
    /// Creates a page with the form for the checkout in the response `prepared`.
    pub fn for_checkout(prepared: &ApiResponse) -> Self {
        Self {
            integrity: prepared.json["integrity"].as_str().map(str::to_owned),
            ..Self::for_checkout_id(prepared.id())
        }
    }

    /// Creates a page with the form for the checkout `id`, which need not exist.
    pub fn for_checkout_id(id: &str) -> Self {
        Self {
            checkout: id.to_owned(),
            integrity: None,
            script: String::new(),
            brands: "VISA MASTER AMEX".to_owned(),
            before: String::new(),
            inside: String::new(),
            after: String::new(),
            style: String::new(),
        }
    }

    /// Runs `script` before the loader. It sets `wpwlOptions`, and may call `witness.note(kind, detail)`.
    #[must_use]
    pub fn with_script(mut self, script: &str) -> Self {
        script.clone_into(&mut self.script);
        self
    }

    /// Sets the offered brands, separated by spaces.
    #[must_use]
    pub fn with_brands(mut self, brands: &str) -> Self {
        brands.clone_into(&mut self.brands);
        self
    }

    /// Inserts markup before the form, and so before the loader.
    #[must_use]
    pub fn with_markup_before(mut self, markup: &str) -> Self {
        markup.clone_into(&mut self.before);
        self
    }

    /// Inserts markup into the placeholder.
    #[must_use]
    pub fn with_markup_inside(mut self, markup: &str) -> Self {
        markup.clone_into(&mut self.inside);
        self
    }

    /// Inserts markup after the form.
    #[must_use]
    pub fn with_markup_after(mut self, markup: &str) -> Self {
        markup.clone_into(&mut self.after);
        self
    }

    /// Adds a style sheet of the merchant to the page.
    #[must_use]
    pub fn with_style(mut self, sheet: &str) -> Self {
        sheet.clone_into(&mut self.style);
        self
    }

    /// Returns the HTML of the page with this number, under which the site serves its script and style sheet.
    fn render_html(&self, gateway: &str, number: usize) -> String {
        let Self { checkout, integrity, brands, before, inside, after, style, .. } = self;
        let sheet = if style.is_empty() {
            String::new()
        } else {
            format!(r#"<link rel="stylesheet" href="/styles/{number}.css">"#)
        };
        let integrity =
            integrity.as_ref().map(|it| format!(r#" integrity="{it}" crossorigin="anonymous""#)).unwrap_or_default();
        format!(
            r#"<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>A merchant</title>
<link rel="icon" href="data:,">{sheet}
<script src="/options/{number}.js"></script></head>
<body><main><h1>A merchant</h1>{before}
<form class="paymentWidgets" action="/result?own=1" data-brands="{brands}">{inside}</form>
<script src="{gateway}v1/paymentWidgets.js?checkoutId={checkout}"{integrity}></script>
{after}</main></body></html>"#
        )
    }
}

impl MerchantSite {
    /// Starts the site on a free port. Its content security policy is as strict as the form permits.
    pub async fn start(gateway: &TestGateway) -> anyhow::Result<Self> {
        Self::start_at(&gateway.public_url()).await
    }

    /// Starts the site for a gateway at this address, which has a trailing slash.
    pub async fn start_at(gateway: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let public = format!("http://shop.localhost:{}/", listener.local_addr()?.port());
        let origin = gateway.trim_end_matches('/').to_owned();
        let policy = format!(
            "default-src 'none'; script-src 'self' {origin} 'wasm-unsafe-eval'; style-src 'self' {origin}; \
             frame-src {origin}; img-src 'self' data:; form-action 'self' {origin}; base-uri 'none'"
        );
        let state = Arc::new(Mutex::new(SiteState { policy, ..SiteState::default() }));
        let site = Self { public, gateway: gateway.to_owned(), state };
        let router = Router::new().fallback(serve_request).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(site)
    }

    /// Adds `page` to the site and returns its address.
    pub fn add_page(&self, page: MerchantPage) -> String {
        let mut state = self.lock_state();
        state.pages.push(page);
        format!("{}pages/{}", self.public, state.pages.len() - 1)
    }

    /// Adds a file of this media type at a path of the site, or replaces the file there. Returns its address.
    pub fn add_file(&self, path: &str, kind: &'static str, content: &(impl AsRef<[u8]> + ?Sized)) -> String {
        let mut state = self.lock_state();
        state.files.retain(|(known, _, _)| known != path);
        state.files.push((path.to_owned(), kind, content.as_ref().to_vec()));
        format!("{}{}", self.public, path.trim_start_matches('/'))
    }

    /// Sets the content security policy of all pages. `{gateway}` is replaced with the gateway's origin.
    pub fn set_policy(&self, policy: &str) {
        let policy = policy.replace("{gateway}", self.gateway.trim_end_matches('/'));
        self.lock_state().policy = policy;
    }

    /// Isolates all pages from other origins: they load only what allows it, by this `Cross-Origin-Embedder-Policy`.
    pub fn isolate(&self, embedder: &str) {
        embedder.clone_into(&mut self.lock_state().embedder);
    }

    /// Returns every request so far: method, address, headers, body.
    pub fn received_requests(&self) -> Vec<String> {
        self.lock_state().requests.clone()
    }

    fn lock_state(&self) -> std::sync::MutexGuard<'_, SiteState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records a request, and serves a page, its style sheet or its script, a library, or for any other path the result
/// page, all with the content security policy.
async fn serve_request(
    State(site): State<MerchantSite>,
    method: Method,
    uri: Uri,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> Response {
    let mut state = site.lock_state();
    state.requests.push(format!("{method} {uri} {headers:?} {}", String::from_utf8_lossy(&body)));
    let number = |prefix: &str, suffix: &str| -> Option<usize> {
        uri.path().strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
    };
    let file = state.files.iter().find(|(path, _, _)| path == uri.path());
    let (kind, content) = if let Some((_, kind, content)) = file {
        (*kind, content.clone())
    } else if let Some(number) = number("/pages/", "").filter(|it| *it < state.pages.len()) {
        ("text/html; charset=utf-8", state.pages[number].render_html(&site.gateway, number).into_bytes())
    } else if let Some(number) = number("/styles/", ".css").filter(|it| *it < state.pages.len()) {
        ("text/css; charset=utf-8", state.pages[number].style.clone().into_bytes())
    } else if let Some(number) = number("/options/", ".js").filter(|it| *it < state.pages.len()) {
        ("text/javascript; charset=utf-8", state.pages[number].script.clone().into_bytes())
    } else if let Some(package) = PACKAGES.iter().find(|(path, _)| *path == uri.path()) {
        ("text/javascript; charset=utf-8", read_package(package.1).into_bytes())
    } else {
        let result = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Result</title><h1 id="result">Result</h1></html>"#;
        ("text/html; charset=utf-8", result.into())
    };
    let policy = state.policy.clone();
    let mut response =
        ([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_SECURITY_POLICY, policy)], content).into_response();
    if let (false, Ok(embedder)) = (state.embedder.is_empty(), HeaderValue::try_from(&state.embedder)) {
        response.headers_mut().insert("cross-origin-embedder-policy", embedder);
        response.headers_mut().insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    }
    response
}

/// Third-party libraries: address on the site, and path next to axe-core in the tools' folder. React's development
/// build is used because it mounts everything twice in strict mode.
const PACKAGES: [(&str, &str); 6] = [
    ("/htmx.js", "htmx.org/dist/htmx.min.js"),
    ("/jquery.js", "jquery/dist/jquery.min.js"),
    ("/react.js", "react/umd/react.development.js"),
    ("/react-dom.js", "react-dom/umd/react-dom.development.js"),
    ("/turbo.js", "@hotwired/turbo/dist/turbo.es2017-umd.js"),
    ("/vue.js", "vue/dist/vue.runtime.global.prod.js"),
];

/// Returns a library from the folder of the tools. If it is missing, returns a script that throws, so that the test
/// fails.
fn read_package(path: &str) -> String {
    let axe = std::path::PathBuf::from(std::env::var_os("TILLGATE_AXE").unwrap_or_default());
    let file = axe.parent().unwrap_or(&axe).join("..").join(path);
    std::fs::read_to_string(&file).unwrap_or_else(|error| format!("throw new Error('{path}: {error}')"))
}
