//! The pages and what the static ones need: a shop, and a server on the gateway's site that holds static frames.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use tokio::net::TcpListener;

use super::delay::delayed;
use super::throttle::WATCH;
use super::visit::Visit;
use crate::Answer;

/// What both pages begin with; `now` says that the form is usable.
const HEAD: &str = r#"<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Checkout</title><link rel="icon" href="data:,"><script>function now() { window.usable = performance.now(); dispatchEvent(new Event("usable")); }</script>"#;

/// Keeps a copy of the form as it stands.
const KEEP: &str = r#"window.standing = document.querySelector(".wpwl-container").cloneNode(true);"#;

/// The form as static HTML.
#[derive(Clone, Debug, Default)]
pub(super) struct StaticForm {
    container: String,
    /// The style sheet, in brotli.
    style: Vec<u8>,
    /// The document of both frames.
    frame: String,
}

impl StaticForm {
    /// Takes what a visit has seen of the form, and fetches what that consists of.
    pub(super) async fn of(model: &Visit, gateway: &str) -> anyhow::Result<Self> {
        let client = reqwest::Client::new();
        let path = |part: &str| {
            let address = model.loaded().into_iter().find(|address| address.contains(part));
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

/// A shop with both pages.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    shop: String,
    shown: Arc<Mutex<Shown>>,
}

/// What the pages are made of at the moment.
#[derive(Debug)]
struct Shown {
    gateway: String,
    frames: String,
    checkout: String,
    integrity: String,
    form: StaticForm,
}

impl Pages {
    /// Starts the shop and the server of the static frames.
    pub(super) async fn start(gateway: &str, prepared: &Answer) -> anyhow::Result<Self> {
        let shown = Shown {
            gateway: gateway.to_owned(),
            frames: String::new(),
            checkout: prepared.id().to_owned(),
            integrity: prepared.json["integrity"].as_str().context("no integrity")?.to_owned(),
            form: StaticForm::default(),
        };
        Self::serve(shown).await
    }

    async fn serve(mut shown: Shown) -> anyhow::Result<Self> {
        let (shop, frames) = (TcpListener::bind("127.0.0.1:0").await?, TcpListener::bind("127.0.0.1:0").await?);
        shown.frames = format!("http://pay.localhost:{}/", frames.local_addr()?.port());
        let public = format!("http://shop.localhost:{}/", shop.local_addr()?.port());
        let pages = Self { shop: public, shown: Arc::new(Mutex::new(shown)) };
        for listener in [shop, frames] {
            let router = Router::new().fallback(answer).with_state(pages.clone());
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
        Ok(pages)
    }

    /// The same pages at the end of a long line, with the gateway at this address.
    pub(super) async fn behind(&self, gateway: &str, delay: Duration) -> anyhow::Result<Self> {
        let shown = {
            let shown = self.shown();
            Shown {
                gateway: gateway.to_owned(),
                frames: String::new(),
                checkout: shown.checkout.clone(),
                integrity: shown.integrity.clone(),
                form: shown.form.clone(),
            }
        };
        let mut pages = Self::serve(shown).await?;
        pages.shop = delayed(&pages.shop, delay).await?;
        let frames = pages.shown().frames.clone();
        let frames = delayed(&frames, delay).await?;
        pages.shown().frames = frames;
        Ok(pages)
    }

    /// Puts the static form on its page.
    pub(super) fn take(&self, form: StaticForm) {
        self.shown().form = form;
    }

    /// The address of the page with the hosted form.
    pub(super) fn form(&self) -> String {
        format!("{}form", self.shop)
    }

    /// The address of the same page, which keeps a copy of the form as it stands at `onReady`: the static form is made of it.
    pub(super) fn model(&self) -> String {
        format!("{}model", self.shop)
    }

    /// The address of the static page.
    pub(super) fn still(&self) -> String {
        format!("{}static", self.shop)
    }

    /// The address of the page whose script puts the static form in.
    pub(super) fn scripted(&self) -> String {
        format!("{}scripted", self.shop)
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    /// The page of a merchant: its options, with what it does at `onReady`, the form's place, the loader.
    fn form(&self, ready: &str) -> String {
        let Self { gateway, checkout, integrity, .. } = self;
        format!(
            r#"{HEAD}<script>{WATCH}</script><script>
var wpwlOptions = {{ onReady() {{ now(); {ready} }} }};
</script></head>
<body><main><h1>Checkout</h1>
<form class="paymentWidgets" action="/result" data-brands="VISA MASTER AMEX"></form>
<script src="{gateway}v1/paymentWidgets.js?checkoutId={checkout}" integrity="{integrity}" crossorigin="anonymous"></script>
</main></body></html>"#
        )
    }

    /// The static form's container.
    fn container(&self) -> String {
        let frame = |name: &str| format!("{}frame/{name}", self.frames);
        self.form.container.replace("%NUMBER%", &frame("number")).replace("%CODE%", &frame("code"))
    }

    /// The page whose script puts the static form in.
    fn scripted(&self) -> String {
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

    /// That script: no more than has to be done.
    fn script(&self) -> String {
        format!(
            "const link = document.createElement('link');
            link.rel = 'stylesheet';
            link.href = '{}style.css';
            document.head.prepend(link);
            const template = document.createElement('template');
            template.innerHTML = {};
            document.querySelector('form.paymentWidgets').replaceWith(template.content);",
            self.frames,
            serde_json::Value::from(self.container()),
        )
    }

    /// The same document without anything that has to be computed.
    fn still(&self) -> String {
        let (frames, container) = (&self.frames, self.container());
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

async fn answer(State(pages): State<Pages>, uri: Uri) -> Response {
    let shown = pages.shown();
    let html = "text/html; charset=utf-8";
    match uri.path() {
        "/form" => ([(header::CONTENT_TYPE, html)], shown.form("")).into_response(),
        "/model" => ([(header::CONTENT_TYPE, html)], shown.form(KEEP)).into_response(),
        "/static" => ([(header::CONTENT_TYPE, html)], shown.still()).into_response(),
        "/scripted" => ([(header::CONTENT_TYPE, html)], shown.scripted()).into_response(),
        "/form.js" => {
            let kept = (header::CACHE_CONTROL, "private, max-age=1800");
            ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8"), kept], shown.script()).into_response()
        }
        "/style.css" => {
            let headers = [
                (header::CONTENT_TYPE, "text/css; charset=utf-8"),
                (header::CONTENT_ENCODING, "br"),
                (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            ];
            (headers, shown.form.style.clone()).into_response()
        }
        "/frame/number" | "/frame/code" => {
            let headers = [(header::CONTENT_TYPE, html), (header::CACHE_CONTROL, "no-store")];
            (headers, shown.form.frame.clone()).into_response()
        }
        _ => axum::http::StatusCode::NOT_FOUND.into_response(),
    }
}
