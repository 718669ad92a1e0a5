//! The TypeScript declarations that the gateway serves, checked by the TypeScript compiler.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::support::*;

/// Returns the TypeScript compiler's messages about `sources` (file names and texts), or an empty string if there are
/// none. Fails if `TILLGATE_TSC` does not name the compiler, or if it fails without a message.
fn compile_typescript(sources: &[(&str, &str)]) -> anyhow::Result<String> {
    let Some(compiler) = std::env::var_os("TILLGATE_TSC") else {
        bail!(
            "TILLGATE_TSC does not name TypeScript's compiler; `cargo xtask test` does, \
             by hand: npm install typescript@5, then node_modules/typescript/lib/tsc.js"
        );
    };
    let folder = tempfile::tempdir()?;
    let mut command = Command::new("node");
    command.arg(compiler).args(["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom"]);
    for (name, text) in sources {
        std::fs::write(folder.path().join(name), text)?;
        command.arg(name);
    }
    let output = command.current_dir(folder.path()).output().context("running node")?;
    let messages = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(output.status.success() || !messages.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(messages)
}

#[tokio::test]
async fn a_merchants_page_compiles_and_wrong_uses_do_not() -> anyhow::Result<()> {
    let served = sandbox_shop().bare_request(reqwest::Method::GET, "v1/wpwl.d.ts").send().await?;
    assert_eq!(served.status(), 200);
    assert_eq!(served.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(served.headers()["access-control-allow-origin"], "*");
    let declarations = served.text().await?;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("typescript/merchant.ts");
    let page = std::fs::read_to_string(page)?;
    let said = compile_typescript(&[("wpwl.d.ts", &declarations), ("merchant.ts", &page)])?;
    assert_eq!(said, "", "the page compiles, and every @ts-expect-error has its error");
    let said =
        compile_typescript(&[("wpwl.d.ts", &declarations), ("typo.ts", "window.wpwlOptions = { onRedy() {} };")])?;
    assert!(said.contains("typo.ts(1,24)") && said.contains("onRedy"), "the compiler sees the declarations: {said}");
    Ok(())
}

#[tokio::test]
async fn the_reference_lists_every_option() -> anyhow::Result<()> {
    let page = sandbox_shop().bare_request(reqwest::Method::GET, "reference").send().await?.text().await?;
    for option in tillgate_shared::form_options::OPTIONS {
        assert!(page.contains(&format!("<tr id=\"o.{}\">", option.name)), "{}", option.name);
    }
    Ok(())
}
