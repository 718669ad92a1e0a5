//! The measured pages and their servers: a shop, and a server on the gateway's site that serves static frames.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use super::delay::start_delay_proxy;
use super::throttle::WATCH;
use super::visit::PageVisit;
use crate::ApiResponse;

/// Start of every page. `now` records that the form is usable.
const HEAD: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Checkout</title><link rel="icon" href="data:,"><script>function now() { window.usable = performance.now(); dispatchEvent(new Event("usable")); }</script>"#;

/// Script that keeps a copy of the form's current DOM.
const KEEP: &str = r#"window.standing = document.querySelector(".wpwl-container").cloneNode(true);"#;

/// The form as static HTML.
#[derive(Clone, Debug, Default)]
pub(super) struct StaticForm {
    container: String,
    /// Style sheet, compressed with brotli.
    style: Vec<u8>,
    /// Document of both frames.
    frame: String,
}

impl StaticForm {
    /// Builds the static form from the form that a visit captured, and fetches its style sheet and the document of its
    /// frames. Fails if the visit loaded none.
    pub(super) async fn from_visit(model: &PageVisit, gateway: &str) -> anyhow::Result<Self> {
        let client = reqwest::Client::new();
        let path = |part: &str| {
            let address = model.loaded_addresses().into_iter().find(|address| address.contains(part));
            let path = address.as_deref().and_then(|it| it.splitn(4, '/').nth(3)).map(str::to_owned);
            path.with_context(|| format!("the form loads no {part}"))
        };
        let style = client.get(format!("{gateway}{}", path(".css")?)).header("accept-encoding", "br").send().await?;
        let frame = client.get(format!("{gateway}{}", path("pciIframe.html")?)).send().await?.text().await?;
        let (document, _) = frame.split_once("<script").context("a frame without a script")?;
        Ok(Self {
            container: model.container.clone(),
            style: style.bytes().await?.to_vec(),
            frame: format!("{document}<script>parent.postMessage('ready','*')</script></body></html>"),
        })
    }
}

/// A shop with all pages.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    shop: String,
    content: Arc<Mutex<PageContent>>,
}

/// Current content of the pages.
#[derive(Debug)]
struct PageContent {
    gateway: String,
    frames: String,
    checkout: String,
    integrity: String,
    form: StaticForm,
}

impl Pages {
    /// Starts the shop and the server of the static frames.
    pub(super) async fn start(gateway: &str, prepared: &ApiResponse) -> anyhow::Result<Self> {
        let content = PageContent {
            gateway: gateway.to_owned(),
            frames: String::new(),
            checkout: prepared.id().to_owned(),
            integrity: prepared.json["integrity"].as_str().context("no integrity")?.to_owned(),
            form: StaticForm::default(),
        };
        Self::start_servers(content).await
    }

    /// Starts the shop and the server of the frames on free ports, and sets the address of the frames in `content`.
    async fn start_servers(mut content: PageContent) -> anyhow::Result<Self> {
        let (shop, frames) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
        content.frames = format!("http://pay.localhost:{}/", frames.local_addr()?.port());
        let public = format!("http://shop.localhost:{}/", shop.local_addr()?.port());
        let pages = Self { shop: public, content: Arc::new(Mutex::new(content)) };
        for listener in [shop, frames] {
            let router = Router::new().fallback(serve_page).with_state(pages.clone());
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
        Ok(pages)
    }

    /// Returns the same pages on new servers, behind proxies that delay each direction, with the gateway at this
    /// address.
    pub(super) async fn with_delay(&self, gateway: &str, delay: Duration) -> anyhow::Result<Self> {
        let content = {
            let current = self.lock_content();
            PageContent {
                gateway: gateway.to_owned(),
                frames: String::new(),
                checkout: current.checkout.clone(),
                integrity: current.integrity.clone(),
                form: current.form.clone(),
            }
        };
        let mut pages = Self::start_servers(content).await?;
        pages.shop = start_delay_proxy(&pages.shop, delay).await?;
        let frames = pages.lock_content().frames.clone();
        let frames = start_delay_proxy(&frames, delay).await?;
        pages.lock_content().frames = frames;
        Ok(pages)
    }

    /// Replaces the static form.
    pub(super) fn set_static_form(&self, form: StaticForm) {
        self.lock_content().form = form;
    }

    /// Returns the address of the page with the hosted form.
    pub(super) fn form_url(&self) -> String {
        format!("{}form", self.shop)
    }

    /// Returns the address of the same page with a script that keeps a copy of the DOM at `onReady`. The static form is
    /// made from this copy.
    pub(super) fn model_url(&self) -> String {
        format!("{}model", self.shop)
    }

    /// Returns the address of the static page.
    pub(super) fn static_url(&self) -> String {
        format!("{}static", self.shop)
    }

    /// Returns the address of the page whose script inserts the static form.
    pub(super) fn scripted_url(&self) -> String {
        format!("{}scripted", self.shop)
    }

    fn lock_content(&self) -> std::sync::MutexGuard<'_, PageContent> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageContent {
    /// Returns a merchant's page: options with the `onReady` handler, which runs the script `ready`, the form's
    /// placeholder, the loader. It notes the time at which both frames have spoken, which is when they take digits.
    fn form_page(&self, ready: &str) -> String {
        let Self { gateway, checkout, integrity, .. } = self;
        format!(
            r#"{HEAD}<script>{WATCH}</script><script>
var wpwlOptions = {{ onReady() {{ now(); {ready} }} }}, silent = 2;
addEventListener("message", ({{ data }}) => {{
    if (data && data.tillgate && data.type === "ready" && !--silent) window.typable = performance.now();
}});
</script></head>
<body><main><h1>Checkout</h1>
<form class="paymentWidgets" action="/result" data-brands="VISA MASTER AMEX"></form>
<script src="{gateway}v1/paymentWidgets.js?checkoutId={checkout}" integrity="{integrity}" crossorigin="anonymous"></script>
</main></body></html>"#
        )
    }

    /// Returns the static form's container, with the addresses of its frames.
    fn form_container(&self) -> String {
        let frame = |name: &str| format!("{}frame/{name}", self.frames);
        self.form.container.replace("%NUMBER%", &frame("number")).replace("%CODE%", &frame("code"))
    }

    /// Returns the page whose script inserts the static form. It is usable when both frames have loaded.
    fn scripted_page(&self) -> String {
        let frames = &self.frames;
        format!(
            r#"{HEAD}<script>{WATCH}</script><script>
var missing = 2;
addEventListener("message", () => {{ if (!--missing) now(); }});
</script></head>
<body><main><h1>Checkout</h1>
<form class="paymentWidgets"></form>
<script src="{frames}form.js"></script>
</main></body></html>"#
        )
    }

    /// Returns the script that inserts the static form and its style sheet. It does only what is necessary.
    fn insertion_script(&self) -> String {
        format!(
            "const link = document.createElement('link');
            link.rel = 'stylesheet';
            link.href = '{}style.css';
            document.head.prepend(link);
            const template = document.createElement('template');
            template.innerHTML = {};
            document.querySelector('form.paymentWidgets').replaceWith(template.content);",
            self.frames,
            serde_json::Value::from(self.form_container()),
        )
    }

    /// Returns the page with the form as static HTML. It is usable when it is parsed and both frames have loaded.
    fn static_page(&self) -> String {
        let (frames, container) = (&self.frames, self.form_container());
        format!(
            r#"{HEAD}<script>{WATCH}</script><script>
var missing = 3;
function there() {{ if (!--missing) now(); }}
addEventListener("message", there);
addEventListener("DOMContentLoaded", there);
</script>
<link rel="stylesheet" href="{frames}style.css"></head>
<body><main><h1>Checkout</h1>
{container}
</main></body></html>"#
        )
    }
}

/// Serves a page, the script or the style sheet by its path, or the frames' document. 404 for other paths.
async fn serve_page(State(pages): State<Pages>, uri: Uri) -> Response {
    let content = pages.lock_content();
    let html = "text/html; charset=utf-8";
    match uri.path() {
        "/form" => ([(header::CONTENT_TYPE, html)], content.form_page("")).into_response(),
        "/model" => ([(header::CONTENT_TYPE, html)], content.form_page(KEEP)).into_response(),
        "/static" => ([(header::CONTENT_TYPE, html)], content.static_page()).into_response(),
        "/scripted" => ([(header::CONTENT_TYPE, html)], content.scripted_page()).into_response(),
        "/form.js" => {
            let caching = (header::CACHE_CONTROL, "private, max-age=1800");
            ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), caching], content.insertion_script())
                .into_response()
        }
        "/style.css" => {
            let headers = [
                (header::CONTENT_TYPE, "text/css; charset=utf-8"),
                (header::CONTENT_ENCODING, "br"),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            (headers, content.form.style.clone()).into_response()
        }
        "/frame/number" | "/frame/code" => {
            let headers = [(header::CONTENT_TYPE, html), (header::CACHE_CONTROL, "no-store")];
            (headers, content.form.frame.clone()).into_response()
        }
        _ => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}
