//! Rules for the script tag of the form.

use axum::http::header;

use crate::cli::check_page::document::Element;
use crate::cli::check_page::finding::FindingKind::{
    CrossoriginMissing, GatewaySilent, IntegrityMissing, IntegrityWrong, ScriptAddress, ScriptAttribute,
    ScriptCheckout, ScriptCors, ScriptGateway, ScriptMissing, ScriptMixed, ScriptSilent, ScriptTwice, ScriptType,
};
use crate::cli::check_page::finding::Findings;
use crate::cli::check_page::page::{CheckedPage, LOADER, LoaderTag, ServedPage, script_line};
use crate::cli::check_page::source_list::accepts_content;
use tillgate_net::page_headers::integrity_value;

/// Checks that the page has the script once, with the right address and attributes, and that the gateway sends it.
pub(super) fn check_script(checked: &CheckedPage, findings: &mut Findings) {
    let page = &checked.page;
    let line = checked
        .gateway
        .as_ref()
        .map_or_else(|| script_line("https://pay.example/", "{integrity}"), |gateway| gateway.script_line());
    if let Some((gateway, reason)) =
        checked.gateway.as_ref().and_then(|gateway| Some((gateway, gateway.inventory.as_ref().err()?)))
    {
        let address = gateway.address("v1/scripts");
        findings.add(GatewaySilent, format!("The gateway does not list its scripts: {reason}."), address.as_str());
    }
    let tags = page.loader_tags();
    if tags.len() > 1 {
        let message = format!("The page has {} scripts {LOADER}. Only the last one takes the payment.", tags.len());
        findings.add(ScriptTwice, message, &line);
    }
    check_misplaced_scripts(page, &line, !tags.is_empty(), findings);
    // The last one takes the payment. A hostile page may have very many.
    for tag in tags.iter().rev().take(MAX_TAGS) {
        check_address(checked, *tag, &line, findings);
        check_loading(tag.element, &line, findings);
    }
    if let Some(tag) = tags.last() {
        check_integrity(checked, tag.element, &line, findings);
    }
}

/// Reports scripts whose address a browser does not load, or that is no loader. Without any script, reports that.
fn check_misplaced_scripts(page: &ServedPage, line: &str, has_script: bool, findings: &mut Findings) {
    let is_mentioned = |value: &str| value.to_ascii_lowercase().contains(&LOADER.to_ascii_lowercase());
    let tags = page.loader_tags();
    let mut is_reported = has_script || page.has_script_text(LOADER) || page.has_script_text("loadPaymentWidgets");
    for script in page.document.elements("script") {
        let attribute = script.attribute_names().find(|name| {
            !matches!(*name, "src" | "title" | "id" | "class") && script.attribute(name).is_some_and(is_mentioned)
        });
        if let (Some(name), None) = (attribute, script.attribute("src")) {
            let message = format!("The address of the script is in the attribute {name}, so browsers do not load it.");
            findings.add(ScriptAttribute, message, line);
            is_reported = true;
        }
        let source = script.attribute("src").filter(|source| is_mentioned(source));
        let is_loader = tags.binary_search_by_key(&script.position, |tag| tag.element.position).is_ok();
        if let (Some(source), false) = (source, is_loader) {
            let message = format!("{source} is not the address of the form's script.");
            findings.add(ScriptAddress, message, line);
            is_reported = true;
        }
    }
    if !is_reported {
        findings.add(ScriptMissing, format!("The page has no script {LOADER}."), line);
    }
}

fn check_address(checked: &CheckedPage, tag: LoaderTag<'_>, line: &str, findings: &mut Findings) {
    let page = &checked.page;
    let (Some(url), Some(base)) = (page.loader_url(tag.element), page.gateway_base(tag)) else { return };
    if page.url.scheme() == "https" && url.scheme() == "http" {
        findings.add(
            ScriptMixed,
            "The script is loaded without TLS, which browsers refuse in an encrypted page.",
            line,
        );
    }
    if let Some(gateway) = checked.gateway.as_ref().filter(|gateway| gateway.base != base) {
        let message = format!("The script comes from {base}, and the gateway is {}.", gateway.base);
        findings.add(ScriptGateway, message, line);
    }
    let is_named = url.query_pairs().any(|(name, value)| name == "checkoutId" && !value.is_empty());
    if !is_named && !page.has_script_text("createCheckout") {
        let message = "The script's address has no checkoutId, and the page sets no option createCheckout.";
        findings.add(ScriptCheckout, message, line);
    }
}

/// Maximum number of scripts of the form that are looked at.
const MAX_TAGS: usize = 20;

/// Media types of classic scripts (WHATWG MIME Sniffing, JavaScript MIME type).
const CLASSIC_TYPES: [&str; 16] = [
    "application/ecmascript",
    "application/javascript",
    "application/x-ecmascript",
    "application/x-javascript",
    "text/ecmascript",
    "text/javascript",
    "text/javascript1.0",
    "text/javascript1.1",
    "text/javascript1.2",
    "text/javascript1.3",
    "text/javascript1.4",
    "text/javascript1.5",
    "text/jscript",
    "text/livescript",
    "text/x-ecmascript",
    "text/x-javascript",
];

/// Checks the attributes that decide if a browser runs the script.
fn check_loading(script: &Element, line: &str, findings: &mut Findings) {
    let kind = script.attribute("type").unwrap_or_default().trim().to_ascii_lowercase();
    if !kind.is_empty() && !CLASSIC_TYPES.contains(&kind.as_str()) {
        let message = format!("The script has the type {kind}. It runs only as a classic script, without a type.");
        findings.add(ScriptType, message, line);
    }
    if script.attribute("nomodule").is_some() {
        findings.add(ScriptType, "The attribute nomodule keeps browsers from running the script.", line);
    }
}

/// Checks the attributes `integrity` and `crossorigin` against the script that the gateway sends.
fn check_integrity(checked: &CheckedPage, script: &Element, line: &str, findings: &mut Findings) {
    let answer = match &checked.loader {
        Some(Ok(answer)) if answer.status.is_success() => answer,
        Some(Ok(answer)) => {
            let message =
                format!("The gateway answers the script's address with the status {}.", answer.status.as_u16());
            return findings.add(ScriptSilent, message, line);
        }
        Some(Err(reason)) => {
            return findings.add(ScriptSilent, format!("The gateway does not send the script: {reason}."), line);
        }
        None => return,
    };
    let origins = answer.headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN).and_then(|value| value.to_str().ok());
    let page_origin = checked.page.url.origin();
    let is_own = checked.page.loader_url(script).is_some_and(|url| url.origin() == page_origin);
    if !is_own && !origins.is_some_and(|it| it == "*" || it == page_origin.ascii_serialization()) {
        let message = "The answer with the script has no Access-Control-Allow-Origin: a proxy has removed the header.";
        findings.add(ScriptCors, message, "Access-Control-Allow-Origin: *");
    }
    let current = integrity_value(&answer.body);
    let attribute = script.attribute("integrity").unwrap_or_default();
    match accepts_content(attribute, &answer.body) {
        Some(true) => {}
        Some(false) => {
            let message = "The attribute integrity does not fit the script, so browsers do not run it.";
            findings.add(IntegrityWrong, message, format!("integrity=\"{current}\""));
        }
        None => {
            let message = "The script has no hash in the attribute integrity, so a changed script would run.";
            findings.add(IntegrityMissing, message, format!("integrity=\"{current}\" crossorigin=\"anonymous\""));
        }
    }
    if !is_own && !attribute.is_empty() && script.attribute("crossorigin").is_none() {
        let message = "Without the attribute crossorigin, browsers cannot check the script's hash and do not run it.";
        findings.add(CrossoriginMissing, message, "crossorigin=\"anonymous\"");
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::cli::check_page::page::tests::{CONTENT, check, kinds, page_with};
    use tillgate_net::page_headers::integrity_value;

    #[test]
    fn each_fault_of_the_tag_is_found() {
        let integrity = format!(" integrity=\"{}\"", integrity_value(CONTENT));
        let other = format!(" integrity=\"{}\"", integrity_value(b"another"));
        for (part, replacement, expected) in [
            ("<script src", "<script async type=\"application/x-javascript\" src", vec![]),
            ("<script src", "<script type=module src", vec!["script-type"]),
            ("<script src", "<script type=\"text/plain\" src", vec!["script-type"]),
            ("<script src", "<script data-src", vec!["script-attribute"]),
            ("v1/paymentWidgets.js", "paymentWidgets.js", vec!["script-address"]),
            ("v1/paymentWidgets.js", "v1/PaymentWidgets.js", vec!["script-address"]),
            ("v1/paymentWidgets.js", "v1/other.js", vec!["script-missing"]),
            ("?checkoutId=1", "?checkoutid=1", vec!["script-checkout"]),
            ("?checkoutId=1", "?checkoutId=", vec!["script-checkout"]),
            ("https://pay.example/v1", "http://pay.example/v1", vec!["script-mixed", "script-gateway"]),
            ("https://pay.example/v1", "https://evil.example/v1", vec!["script-gateway"]),
            (integrity.as_str(), "", vec!["integrity-missing"]),
            (integrity.as_str(), " integrity=\"\"", vec!["integrity-missing"]),
            (integrity.as_str(), other.as_str(), vec!["integrity-wrong"]),
            (" crossorigin=\"anonymous\"", "", vec!["crossorigin-missing"]),
        ] {
            assert_eq!(kinds(&[], &page_with(part, replacement)), expected, "{replacement}");
        }
        let twice = "<script src=\"https://pay.example/v1/paymentWidgets.js?checkoutId=2\"></script><form ";
        assert_eq!(kinds(&[], &page_with("<form ", twice))[0], "script-twice");
    }

    #[test]
    fn scripts_that_the_page_adds_itself_are_not_missed() {
        let tag = page_with("v1/paymentWidgets.js", "v1/other.js");
        for text in
            ["createElement('script').src = 'https://pay.example/v1/paymentWidgets.js'", "loadPaymentWidgets({})"]
        {
            assert_eq!(kinds(&[], &tag.replace("var wpwlOptions = {};", text)), [""; 0], "{text}");
        }
        let creates = page_with("?checkoutId=1", "").replace("{}", "{ createCheckout: prepare }");
        assert_eq!(kinds(&[], &creates), [""; 0]);
    }

    #[test]
    fn the_line_has_the_hash_of_the_script_that_the_gateway_sends() {
        let integrity = integrity_value(CONTENT);
        let finding = check(&[], &page_with("<script src", "<script data-src")).remove(0);
        assert_eq!(
            finding.line,
            format!(
                "<script src=\"https://pay.example/v1/paymentWidgets.js?checkoutId={{id}}\" integrity=\"{integrity}\" \
                 crossorigin=\"anonymous\"></script>"
            )
        );
    }
}
