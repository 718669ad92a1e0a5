//! A merchant's own site, whose pages a test writes: its options, its markup, its policy. It keeps every request it
//! gets, so that a test can search what reached the merchant.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use crate::{Answer, Gateway};

/// A merchant's site. It ends with the test's runtime.
#[derive(Clone, Debug)]
pub struct Site {
    /// Its address, with a slash at the end: `http://shop.localhost:40003/`.
    pub public: String,
    gateway: String,
    state: Arc<Mutex<Book>>,
}

#[derive(Debug, Default)]
struct Book {
    pages: Vec<Page>,
    heard: Vec<String>,
    policy: String,
}

/// A page of the merchant's with a payment form in it.
#[derive(Clone, Debug)]
pub struct Page {
    checkout: String,
    integrity: Option<String>,
    script: String,
    brands: String,
    before: String,
    inside: String,
    after: String,
    style: String,
}

impl Page {
    /// A page with the form for the checkout that `prepared` opened.
    pub fn of(prepared: &Answer) -> Self {
        Self { integrity: prepared.json["integrity"].as_str().map(str::to_owned), ..Self::for_id(prepared.id()) }
    }

    /// A page with the form for the checkout `id`, which need not exist.
    pub fn for_id(id: &str) -> Self {
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

    /// Runs `script` before the loader; it sets `wpwlOptions`, and may call `witness.note(kind, detail)`.
    #[must_use]
    pub fn script(mut self, script: &str) -> Self {
        script.clone_into(&mut self.script);
        self
    }

    /// Offers these brands, separated by spaces.
    #[must_use]
    pub fn brands(mut self, brands: &str) -> Self {
        brands.clone_into(&mut self.brands);
        self
    }

    /// Puts markup before the form, and so before the loader.
    #[must_use]
    pub fn before(mut self, markup: &str) -> Self {
        markup.clone_into(&mut self.before);
        self
    }

    /// Puts markup into the placeholder.
    #[must_use]
    pub fn inside(mut self, markup: &str) -> Self {
        markup.clone_into(&mut self.inside);
        self
    }

    /// Puts markup behind the form.
    #[must_use]
    pub fn after(mut self, markup: &str) -> Self {
        markup.clone_into(&mut self.after);
        self
    }

    /// Gives the page a style sheet of the merchant's.
    #[must_use]
    pub fn style(mut self, sheet: &str) -> Self {
        sheet.clone_into(&mut self.style);
        self
    }

    fn html(&self, gateway: &str, number: usize) -> String {
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

impl Site {
    /// Starts the site on a free port. Its policy is as strict as the form permits.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn start(gateway: &Gateway) -> anyhow::Result<Self> {
        Self::start_at(&gateway.public()).await
    }

    /// The same with a gateway at this address, which has a slash at the end.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn start_at(gateway: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let public = format!("http://shop.localhost:{}/", listener.local_addr()?.port());
        let origin = gateway.trim_end_matches('/').to_owned();
        let policy = format!(
            "default-src 'none'; script-src 'self' {origin} 'wasm-unsafe-eval'; style-src 'self' {origin}; \
             frame-src {origin}; img-src 'self' data:; form-action 'self' {origin}; base-uri 'none'"
        );
        let state = Arc::new(Mutex::new(Book { policy, ..Book::default() }));
        let site = Self { public, gateway: gateway.to_owned(), state };
        let router = Router::new().fallback(answer).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(site)
    }

    /// Puts `page` on the site; the answer is its address.
    pub fn add(&self, page: Page) -> String {
        let mut book = self.book();
        book.pages.push(page);
        format!("{}pages/{}", self.public, book.pages.len() - 1)
    }

    /// Serves every page from now on with this policy, in which `{gateway}` stands for the gateway's origin.
    pub fn set_policy(&self, policy: &str) {
        let policy = policy.replace("{gateway}", self.gateway.trim_end_matches('/'));
        self.book().policy = policy;
    }

    /// Every request so far: method, address, headers, body.
    pub fn heard(&self) -> Vec<String> {
        self.book().heard.clone()
    }

    fn book(&self) -> std::sync::MutexGuard<'_, Book> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn answer(
    State(site): State<Site>,
    method: Method,
    uri: Uri,
    headers: axum::http::HeaderMap,
    body: Bytes,
) -> Response {
    let mut book = site.book();
    book.heard.push(format!("{method} {uri} {headers:?} {}", String::from_utf8_lossy(&body)));
    let number = |prefix: &str, suffix: &str| -> Option<usize> {
        uri.path().strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
    };
    let (kind, text) = if let Some(number) = number("/pages/", "").filter(|it| *it < book.pages.len()) {
        ("text/html; charset=utf-8", book.pages[number].html(&site.gateway, number))
    } else if let Some(number) = number("/styles/", ".css").filter(|it| *it < book.pages.len()) {
        ("text/css; charset=utf-8", book.pages[number].style.clone())
    } else if let Some(number) = number("/options/", ".js").filter(|it| *it < book.pages.len()) {
        ("text/javascript; charset=utf-8", book.pages[number].script.clone())
    } else if let Some(package) = PACKAGES.iter().find(|(path, _)| *path == uri.path()) {
        ("text/javascript; charset=utf-8", read_package(package.1))
    } else {
        let result = r#"<!doctype html><html lang="en"><meta charset="utf-8"><title>Result</title><h1 id="result">Result</h1></html>"#;
        ("text/html; charset=utf-8", result.to_owned())
    };
    let policy = book.policy.clone();
    ([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_SECURITY_POLICY, policy)], text).into_response()
}

/// What merchants bring along, by its address on the site, and where it is beside axe-core in the tools' folder. React's
/// development build is the one that mounts everything twice in its strict mode.
const PACKAGES: [(&str, &str); 4] = [
    ("/jquery.js", "jquery/dist/jquery.min.js"),
    ("/react.js", "react/umd/react.development.js"),
    ("/react-dom.js", "react-dom/umd/react-dom.development.js"),
    ("/vue.js", "vue/dist/vue.runtime.global.prod.js"),
];

fn read_package(path: &str) -> String {
    let axe = std::path::PathBuf::from(std::env::var_os("TILLGATE_AXE").unwrap_or_default());
    let file = axe.parent().unwrap_or(&axe).join("..").join(path);
    // Without it the page fails loudly, and so does the test.
    std::fs::read_to_string(&file).unwrap_or_else(|error| format!("throw new Error('{path}: {error}')"))
}
