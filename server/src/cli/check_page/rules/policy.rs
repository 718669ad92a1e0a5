//! Rules for the Content Security Policies of a page. Every policy is enforced, so each has to allow the form.

use crate::cli::check_page::document::Element;
use crate::cli::check_page::finding::FindingKind::{
    self, CspFormAction, CspFrameSrc, CspInlineOptions, CspSandbox, CspScriptSrc, CspStyleSrc, CspTrustedTypes, CspWasm,
};
use crate::cli::check_page::finding::Findings;
use crate::cli::check_page::page::{CheckedPage, LOADER, PageGateway, ServedPage};
use crate::cli::check_page::rules::form::sets_options;
use crate::cli::check_page::source_list::{Policy, ScriptAccess};

/// Directives for script elements, each before its fallback (CSP 3, 6.8.3).
const SCRIPT_ELEMENTS: [&str; 3] = ["script-src-elem", "script-src", "default-src"];
/// Directives for code that a script compiles.
const SCRIPT_CODE: [&str; 2] = ["script-src", "default-src"];
const STYLE_ELEMENTS: [&str; 3] = ["style-src-elem", "style-src", "default-src"];
const FRAMES: [&str; 3] = ["frame-src", "child-src", "default-src"];
/// Name of the form's own Trusted Types policy.
const TRUSTED_POLICY: &str = "tillgate";
/// Permissions that a page in a sandbox needs.
const SANDBOX: [&str; 3] = ["allow-scripts", "allow-forms", "allow-same-origin"];

/// Checks that every policy of a page allows the form's scripts, style sheet, frames and options.
pub(super) fn check_policies(checked: &CheckedPage, findings: &mut Findings) {
    let page = &checked.page;
    for policy in &page.policies {
        if let Some(gateway) = &checked.gateway {
            check_scripts(page, gateway, policy, findings);
            check_files(page, gateway, policy, findings);
        }
        check_wasm(policy, findings);
        check_options(page, policy, findings);
        check_sandbox(policy, findings);
    }
    check_trusted_types(page, findings);
}

/// Returns the line of a header or a `meta` for a directive.
fn write_line(directive: &str) -> String {
    format!("Content-Security-Policy: … {directive}")
}

/// Checks the loader and the scripts that it adds.
fn check_scripts(page: &ServedPage, gateway: &PageGateway, policy: &Policy, findings: &mut Findings) {
    let Some(list) = policy.find_first(&SCRIPT_ELEMENTS) else { return };
    let tags = page.loader_tags();
    let access = tags.last().map_or_else(ScriptAccess::default, |tag| ScriptAccess {
        nonce: tag.element.attribute("nonce"),
        integrity: tag.element.attribute("integrity"),
    });
    let loader = tags.last().and_then(|tag| page.loader_url(tag.element));
    let loader = loader.unwrap_or_else(|| gateway.address(&format!("v1/{LOADER}")));
    let line = write_line(&list.with_source(&gateway.origin()));
    let place = policy.place;
    if !list.allows_script(&loader, &page.url, access) {
        let line = if list.has_keyword("'strict-dynamic'") {
            format!("<script nonce=\"{{nonce}}\" src=\"{}v1/{LOADER}?checkoutId={{id}}\"></script>", gateway.base)
        } else {
            line
        };
        let message = format!("The directive {} of {place} forbids the script {LOADER}.", list.directive);
        return findings.add(CspScriptSrc, message, line);
    }
    // Scripts that a trusted script adds are trusted under 'strict-dynamic'. A nonce is not passed on.
    if !list.has_keyword("'strict-dynamic'") && !list.allows_url(&file_address(gateway, "js/static.min.js"), &page.url)
    {
        let message = format!("The directive {} of {place} forbids the scripts that {LOADER} adds.", list.directive);
        findings.add(CspScriptSrc, message, line);
    }
}

/// Returns the address of a file of the form.
fn file_address(gateway: &PageGateway, path: &str) -> url::Url {
    let build = gateway.inventory.as_ref().map_or("build", |inventory| &inventory.build);
    gateway.address(&format!("v1/static/{build}/{path}"))
}

/// Checks style sheet, frames, and the pages to which the form posts.
fn check_files(page: &ServedPage, gateway: &PageGateway, policy: &Policy, findings: &mut Findings) {
    let frames = gateway.frames();
    let in_frames = |path: &str| frames.join(path).unwrap_or_else(|_| frames.clone());
    let challenge = gateway.address("v1/threeDSecure/id");
    let needs: [(FindingKind, &[&str], url::Url, &str); 5] = [
        (CspStyleSrc, &STYLE_ELEMENTS, file_address(gateway, "css/card.css"), "the style sheet of the form"),
        (CspFrameSrc, &FRAMES, in_frames("v1/pciIframe.html"), "the frames of the card fields"),
        (CspFrameSrc, &FRAMES, in_frames("v1/internalRequestIframe.html"), "the frames of the card fields"),
        (CspFrameSrc, &FRAMES, challenge.clone(), "the page of the card's issuer"),
        (CspFormAction, &["form-action"], challenge, "the pages of issuers and brands, to which the form posts"),
    ];
    for (kind, names, address, part) in needs {
        let Some(list) = policy.find_first(names) else { continue };
        if !list.allows_url(&address, &page.url) {
            let source = address.origin().ascii_serialization();
            let directive = match kind {
                // A new directive would also be needed where a fallback decides about other files.
                CspFrameSrc if list.directive != "frame-src" => format!("frame-src {source}"),
                CspStyleSrc if list.directive == "default-src" => format!("style-src 'self' {source}"),
                _ => list.with_source(&source),
            };
            let message = format!("The directive {} of {} forbids {part}.", list.directive, policy.place);
            findings.add(kind, message, write_line(&directive));
        }
    }
}

/// Checks that WebAssembly may run. Without it the form works, from a larger script.
fn check_wasm(policy: &Policy, findings: &mut Findings) {
    let Some(list) = policy.find_first(&SCRIPT_CODE) else { return };
    if !list.has_keyword("'wasm-unsafe-eval'") && !list.has_keyword("'unsafe-eval'") {
        let directive = match list.directive {
            "script-src" => list.with_source("'wasm-unsafe-eval'"),
            _ => list.with_source("'wasm-unsafe-eval'").replacen("default-src", "script-src", 1),
        };
        let message = format!(
            "The directive {} of {} forbids WebAssembly, so the form loads the slower script in its place.",
            list.directive, policy.place
        );
        findings.add(CspWasm, message, write_line(&directive));
    }
}

/// Checks the script in the markup that sets the options.
fn check_options(page: &ServedPage, policy: &Policy, findings: &mut Findings) {
    let Some(list) = policy.find_first(&SCRIPT_ELEMENTS) else { return };
    let is_inline = |script: &&Element| script.attribute("src").is_none() && sets_options(&script.text);
    for script in page.document.elements("script").filter(is_inline) {
        if !list.allows_inline_script(&script.text, script.attribute("nonce")) {
            let message = format!(
                "The directive {} of {} forbids the script that sets wpwlOptions. Move it into a file.",
                list.directive, policy.place
            );
            findings.add(CspInlineOptions, message, "<script src=\"/options.js\"></script>");
        }
    }
}

/// Checks the permissions of a page in a sandbox. A policy in a `meta` has none.
fn check_sandbox(policy: &Policy, findings: &mut Findings) {
    let Some(allowed) = policy.find("sandbox").filter(|_| policy.place == "the header") else { return };
    let is_missing = |name: &&&str| !allowed.iter().any(|word| word.eq_ignore_ascii_case(name));
    let missing: Vec<&str> = SANDBOX.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        let message = format!("The directive sandbox lacks {}, which the form needs.", missing.join(", "));
        findings.add(CspSandbox, message, write_line(&format!("sandbox {}", SANDBOX.join(" "))));
    }
}

/// Checks that the form may create its policy, if a policy of the page requires Trusted Types.
fn check_trusted_types(page: &ServedPage, findings: &mut Findings) {
    let requires = |policy: &Policy| {
        policy.find("require-trusted-types-for").is_some_and(|values| values.iter().any(|value| value == "'script'"))
    };
    if !page.policies.iter().any(requires) {
        return;
    }
    for policy in &page.policies {
        let Some(list) = policy.find_first(&["trusted-types"]) else { continue };
        if !list.has_keyword(TRUSTED_POLICY) && !list.has_keyword("*") {
            let message = format!("The directive trusted-types of {} does not list {TRUSTED_POLICY}.", policy.place);
            findings.add(CspTrustedTypes, message, write_line(&list.with_source(TRUSTED_POLICY)));
        }
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
