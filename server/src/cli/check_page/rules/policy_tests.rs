#![allow(clippy::unwrap_used)]

use crate::cli::check_page::page::tests::{check, kinds, page_with};

/// Directives that allow the form.
const ENOUGH: &str = "default-src 'none'; script-src https://pay.example 'unsafe-inline' 'wasm-unsafe-eval'; \
    style-src https://pay.example; frame-src https://pay.example";

fn kinds_with(policy: &str) -> Vec<String> {
    kinds(&[("content-security-policy", policy)], &page_with("", ""))
}

#[test]
fn each_missing_source_is_found_with_its_directive() {
    for (part, replacement, expected) in [
        ("script-src https://pay.example", "script-src 'self'", vec!["csp-script-src"]),
        (
            "script-src https://pay.example",
            "script-src https://pay.example/v1/paymentWidgets.js",
            vec!["csp-script-src"],
        ),
        ("style-src https://pay.example", "style-src 'self'", vec!["csp-style-src"]),
        ("style-src https://pay.example", "style-src-elem 'self'; style-src *", vec!["csp-style-src"]),
        ("frame-src", "x-src", vec!["csp-frame-src", "csp-frame-src"]),
        ("frame-src", "child-src", vec![]),
        (" 'wasm-unsafe-eval'", "", vec!["csp-wasm"]),
        (" 'wasm-unsafe-eval'", " 'unsafe-eval'", vec![]),
        (" 'unsafe-inline'", "", vec!["csp-inline-options"]),
        ("default-src 'none'", "form-action 'self'", vec!["csp-form-action"]),
        ("default-src 'none'", "form-action 'self' https:", vec![]),
        ("default-src 'none'", "sandbox allow-scripts allow-forms", vec!["csp-sandbox"]),
        ("default-src 'none'", "connect-src 'none'; img-src 'none'", vec![]),
        ("default-src 'none'", "frame-ancestors 'none'", vec![]),
    ] {
        assert_eq!(kinds_with(&ENOUGH.replace(part, replacement)), expected, "{replacement}");
    }
}

#[test]
fn the_line_is_the_directive_with_the_missing_source() {
    let policy = ENOUGH.replace("frame-src https://pay.example", "frame-src https://other.example");
    let finding = check(&[("content-security-policy", &policy)], &page_with("", "")).remove(0);
    assert_eq!(finding.message, "The directive frame-src of the header forbids the frames of the card fields.");
    assert_eq!(finding.line, "Content-Security-Policy: … frame-src https://other.example https://pay.example");
}

#[test]
fn every_policy_has_to_allow_the_form() {
    assert_eq!(kinds_with(&format!("{ENOUGH}, frame-src 'none'")), ["csp-frame-src", "csp-frame-src"]);
    let meta = "<head><meta http-equiv=\"Content-Security-Policy\" content=\"style-src 'self'; sandbox\">";
    let findings = check(&[("content-security-policy", ENOUGH)], &page_with("<head>", meta));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].message.contains("style-src of a <meta>"), "{}", findings[0].message);
    let in_body = "<body><meta http-equiv=\"Content-Security-Policy\" content=\"style-src 'self'\">";
    assert_eq!(kinds(&[], &page_with("<body>", in_body)), [""; 0], "browsers use those of the head only");
    let report_only = [("content-security-policy-report-only", "default-src 'none'")];
    assert_eq!(kinds(&report_only, &page_with("", "")), [""; 0]);
}

#[test]
fn trusted_types_need_the_name_of_the_forms_policy_only_if_they_are_required() {
    for (directives, expected) in [
        ("require-trusted-types-for 'script'", vec![]),
        ("trusted-types shop", vec![]),
        ("require-trusted-types-for 'script'; trusted-types shop", vec!["csp-trusted-types"]),
        ("require-trusted-types-for 'script', trusted-types 'none'", vec!["csp-trusted-types"]),
        ("require-trusted-types-for 'script'; trusted-types shop tillgate", vec![]),
        ("require-trusted-types-for 'script'; trusted-types *", vec![]),
    ] {
        assert_eq!(kinds_with(directives), expected, "{directives}");
    }
}

#[test]
fn under_strict_dynamic_the_tag_needs_its_nonce() {
    let policy = "script-src 'strict-dynamic' 'nonce-n' 'wasm-unsafe-eval'";
    let with_nonce = page_with("<script src", "<script nonce=n src").replace("<script>", "<script nonce=n>");
    assert_eq!(kinds(&[("content-security-policy", policy)], &with_nonce), [""; 0]);
    assert_eq!(kinds_with(policy), ["csp-script-src", "csp-inline-options"]);
    // A nonce alone admits the loader, and not the scripts that it adds.
    let alone = [("content-security-policy", "script-src 'nonce-n' 'wasm-unsafe-eval'")];
    let finding = check(&alone, &with_nonce).remove(0);
    assert!(finding.message.ends_with("forbids the scripts that paymentWidgets.js adds."), "{}", finding.message);
}
