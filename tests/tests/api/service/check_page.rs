//! `tillgate check-page`: the checks of a served page against the gateway that it uses.

use std::process::Output;

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantPage, MerchantSite, TestGateway};

use crate::service::command_line::{output_text, run_tillgate};
use crate::support::*;

/// Creates a checkout whose response has the hash of the loader.
async fn create_checkout() -> anyhow::Result<ApiResponse> {
    let shop = sandbox_shop();
    let checkout = shop.create_checkout(&[("integrity", "true")]).await?;
    anyhow::ensure!(checkout.json["integrity"].is_string(), "{}", checkout.text);
    Ok(checkout)
}

/// Checks a page. Returns the exit code and the JSON.
async fn check(arguments: &[&str]) -> anyhow::Result<(Option<i32>, Value)> {
    let output = run_tillgate(&[&["check-page", "--json"], arguments].concat()).await?;
    let json = serde_json::from_slice(&output.stdout).with_context(|| output_text(&output))?;
    Ok((output.status.code(), json))
}

fn list_kinds(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().map(Vec::as_slice).unwrap_or_default();
    findings.iter().filter_map(|finding| finding["kind"].as_str()).collect()
}

#[tokio::test]
async fn a_page_that_pays_has_no_fault_and_each_change_is_named_with_the_line_to_write() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let site = MerchantSite::start(gateway).await?;
    let checkout = create_checkout().await?;
    let address = site.add_page(MerchantPage::for_checkout(&checkout).with_script("var wpwlOptions = {};"));
    let (code, report) = check(&[&address]).await?;
    assert_eq!((code, list_kinds(&report)), (Some(0), vec![]), "{report}");
    assert_eq!(report["gateway"], gateway.public_url());

    site.set_policy("default-src 'none'; script-src 'self' 'wasm-unsafe-eval' {gateway}, style-src 'self'");
    let (code, report) = check(&[&address]).await?;
    assert_eq!(code, Some(1));
    let kinds = list_kinds(&report);
    for kind in ["csp-frame-src", "csp-style-src"] {
        assert!(kinds.contains(&kind), "{report}");
    }
    let origin = gateway.public_url().trim_end_matches('/').to_owned();
    let lines = report["findings"].as_array().context("no findings")?;
    assert!(lines.iter().any(|it| it["line"] == format!("Content-Security-Policy: … frame-src {origin}")), "{report}");

    let without_hash = site.add_page(MerchantPage::for_checkout_id(checkout.id()).with_brands("VISAA"));
    let (_, report) = check(&[&without_hash]).await?;
    let integrity = checkout.json["integrity"].as_str().unwrap_or_default();
    let missing = report["findings"].as_array().and_then(|it| it.iter().find(|it| it["kind"] == "integrity-missing"));
    assert_eq!(
        missing.map(|it| it["line"].clone()),
        Some(format!("integrity=\"{integrity}\" crossorigin=\"anonymous\"").into()),
        "{report}"
    );
    assert!(list_kinds(&report).contains(&"brand-unknown"), "{report}");
    Ok(())
}

#[tokio::test]
async fn a_page_without_the_script_is_checked_against_the_gateway_of_the_option() -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let site = MerchantSite::start(gateway).await?;
    let bare =
        site.add_file("/bare.html", "text/html", "<title>\x1b]0;owned\x07</title><form class='\x1b[2Jpay'></form>");
    let (code, report) = check(&[&bare, "--gateway", &gateway.public_url()]).await?;
    assert_eq!(code, Some(1));
    for kind in ["script-missing", "form-missing", "doctype", "language", "viewport-missing", "csp-inline-options"] {
        assert_eq!(list_kinds(&report).contains(&kind), kind != "csp-inline-options", "{kind}: {report}");
    }
    let other = check(&[&bare, "--gateway", &site.public]).await?.1;
    assert!(list_kinds(&other).contains(&"gateway-silent"), "{other}");
    Ok(())
}

fn printed(output: &Output) -> bool {
    output_text(output).chars().all(|c| c == '\n' || !c.is_control())
}

#[tokio::test]
async fn hostile_pages_neither_steer_the_terminal_nor_stop_the_command() -> anyhow::Result<()> {
    let site = MerchantSite::start(TestGateway::shared()).await?;
    let brands = "\x1b[31mVISA\u{202e} ".repeat(2_000);
    let page =
        format!("<form class=paymentWidgets data-brands=\"{brands}\"><script src=\"\x1b[2J/v1/paymentWidgets.js\">");
    let hostile = site.add_file("/hostile.html", "text/html; charset=utf-8", &page);
    let output = run_tillgate(&["check-page", &hostile]).await?;
    assert_eq!(output.status.code(), Some(1));
    assert!(printed(&output) && output.stdout.len() < 200_000, "{}", output_text(&output));
    let depth = "<form><template></template>".repeat(50_000);
    let deep = site.add_file("/deep.html", "text/html", &depth);
    assert_eq!(run_tillgate(&["check-page", &deep]).await?.status.code(), Some(1));
    // Work that grows with the square of the page would never end.
    let names: String = (0..400_000).map(|number| format!("BRAND{number} ")).collect();
    let [loaders, others] = [("a/v1/paymentWidgets.js", 20_000), ("a", 90_000)]
        .map(|(source, count)| format!("<script src={source}></script>").repeat(count));
    let scripts = loaders + others.as_str();
    for page in [format!("<form class=paymentWidgets data-brands=\"{names}\">"), scripts] {
        let large = site.add_file("/large.html", "text/html", &page);
        let output = run_tillgate(&["check-page", &large]).await?;
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.len() < 200_000, "{}", output.stdout.len());
    }
    Ok(())
}

#[tokio::test]
async fn no_answer_and_answers_that_are_no_page_have_an_exit_code_of_their_own() -> anyhow::Result<()> {
    let site = MerchantSite::start(TestGateway::shared()).await?;
    let text = site.add_file("/notes.txt", "text/plain", "paymentWidgets");
    for arguments in [
        vec!["check-page", text.as_str()],
        vec!["check-page", "http://127.0.0.1:1/"],
        vec!["check-page", "http://10.255.255.1:8080/"],
        vec!["check-page", "http://localhost:6379/"],
        vec!["check-page", "ftp://localhost/"],
        vec!["check-page", "not an address"],
        vec!["check-page"],
    ] {
        let output = run_tillgate(&arguments).await?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", output_text(&output));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    Ok(())
}
