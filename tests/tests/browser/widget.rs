//! Runs the page module's own tests (`widget/tests`), in which the test itself acts as the loader and the frames.
//! `cargo xtask test` compiles them and creates their page.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use tillgate_tests::run_in_browser;
use tokio::net::TcpListener;

#[tokio::test]
async fn the_page_part_passes_its_own_tests() -> anyhow::Result<()> {
    let folder = std::env::var_os("TILLGATE_WIDGET_TESTS")
        .context("TILLGATE_WIDGET_TESTS does not name the folder of the compiled tests; `cargo xtask test` does")?;
    let folder = PathBuf::from(folder);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/", listener.local_addr()?);
    let router = Router::new().fallback(async move |uri: Uri| serve_file(&folder, uri.path()));
    tokio::spawn(async move { axum::serve(listener, router).await });
    run_in_browser(async move |browser| {
        browser.goto(address).await?;
        let output = "document.getElementById('output').textContent";
        browser.wait_until(&format!("{output}.includes('test result: ')")).await?;
        let output = browser.evaluate(output).await?;
        let output = output.as_str().unwrap_or_default();
        assert!(output.contains("test result: ok") && !output.contains(" 0 passed"), "{output}");
        Ok(())
    })
    .await
}

/// Returns a file of the folder, or 404. `/` is `index.html`; files other than HTML and JavaScript are wasm.
fn serve_file(folder: &Path, path: &str) -> Response {
    let path = if path == "/" { "index.html" } else { path.trim_start_matches('/') };
    let content_type = match path.rsplit_once('.') {
        Some((_, "html")) => "text/html",
        Some((_, "js")) => "text/javascript",
        _ => "application/wasm",
    };
    match std::fs::read(folder.join(path)) {
        Ok(bytes) => ([(header::CONTENT_TYPE, content_type)], bytes).into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}
