//! Rules for headers of a page besides its policies.

use tillgate_shared::brand::{Brand, Flow};
use url::Url;

use crate::cli::check_page::document::Element;
use crate::cli::check_page::finding::FindingKind::{OpenerPolicy, PermissionsPolicy, ReferrerPolicy};
use crate::cli::check_page::finding::Findings;
use crate::cli::check_page::page::{CheckedPage, ServedPage};

/// Permissions that pages of issuers in the challenge's frame need. Their hosts are not known beforehand.
const ISSUERS_PERMISSIONS: [&str; 2] = ["publickey-credentials-get", "publickey-credentials-create"];
/// Values of `Referrer-Policy`.
const REFERRER_POLICIES: [&str; 8] = [
    "no-referrer",
    "no-referrer-when-downgrade",
    "same-origin",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url",
];

/// Checks the headers about referrers, windows of brands, and permissions of frames.
pub(super) fn check_headers(checked: &CheckedPage, findings: &mut Findings) {
    let page = &checked.page;
    check_referrer(page, findings);
    check_opener(page, findings);
    if let Some(gateway) = &checked.gateway {
        check_permissions(page, gateway.frames(), findings);
    }
}

fn check_referrer(page: &ServedPage, findings: &mut Findings) {
    let header = page.header("referrer-policy");
    let known = |word: &&str| REFERRER_POLICIES.iter().any(|policy| policy.eq_ignore_ascii_case(word));
    // The last value that a browser knows counts, and a `meta` follows the header.
    let from_header = header.split(',').map(str::trim).rfind(known);
    let policy = page.document.meta("referrer").map(str::trim).filter(|word| known(word)).or(from_header);
    let leaks =
        |policy: &&str| ["unsafe-url", "no-referrer-when-downgrade"].iter().any(|it| it.eq_ignore_ascii_case(policy));
    if let Some(policy) = policy.filter(leaks) {
        let message =
            format!("Referrer-Policy {policy} sends the page's whole address, with the order in it, to other sites.");
        findings.add(ReferrerPolicy, message, "Referrer-Policy: strict-origin-when-cross-origin");
    }
}

/// Checks that the form stays connected to the window in which a brand's page opens.
fn check_opener(page: &ServedPage, findings: &mut Findings) {
    let policy = page.header("cross-origin-opener-policy");
    let value = policy.split(';').next().unwrap_or_default().trim();
    // A page that isolates itself cannot do without.
    let is_isolated = !matches!(page.header("cross-origin-embedder-policy").trim(), "" | "unsafe-none");
    if is_isolated || !matches!(value, "same-origin" | "noopener-allow-popups") {
        return;
    }
    let forms = page.document.elements("form").filter_map(|form: &Element| form.attribute("data-brands"));
    let mut names = forms.flat_map(|brands| brands.split(|c: char| c == ',' || c.is_whitespace()));
    let popup = names.find_map(|name| Brand::find(name).filter(|brand| brand.flow == Flow::Popup));
    if let Some(brand) = popup {
        let message = format!(
            "Cross-Origin-Opener-Policy {value} separates the page from the window of {}, so the form cannot show that \
             window again, and notices its end later.",
            brand.code
        );
        findings.add(OpenerPolicy, message, "Cross-Origin-Opener-Policy: same-origin-allow-popups");
    }
}

/// Checks the permissions that the page may give to frames of the gateway.
fn check_permissions(page: &ServedPage, frames: &Url, findings: &mut Findings) {
    let header = page.header("permissions-policy");
    let allowed = |name| find_permission(&header, name).map(str::split_ascii_whitespace);
    let origin = frames.origin().ascii_serialization();
    if let Some(mut words) = allowed("payment") {
        let is_frames = |word: &str| word.parse::<Url>().is_ok_and(|given| given.origin() == frames.origin());
        let is_own = |word: &str| word == "self" && page.url.origin() == frames.origin();
        if !words.any(|word| word == "*" || is_own(word) || is_frames(word.trim_matches('"'))) {
            let message = format!("Permissions-Policy denies payment to the frames of {origin}.");
            findings.add(PermissionsPolicy, message, format!("Permissions-Policy: payment=(self \"{origin}\")"));
        }
    }
    for name in ISSUERS_PERMISSIONS {
        if allowed(name).is_some_and(|mut words| !words.any(|word| word == "*")) {
            let message = format!("Permissions-Policy denies {name} to pages of issuers, which may ask for a passkey.");
            findings.add(PermissionsPolicy, message, format!("Permissions-Policy: {name}=*"));
        }
    }
}

/// Returns the origins for a permission: the inner list's words, or the single value. `None` if the header does not
/// name the permission. The last of several entries counts.
fn find_permission<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let entries = header.split(',').filter_map(|entry| entry.trim().split_once('='));
    let value = entries.filter(|(known, _)| *known == name).map(|(_, value)| value.trim()).next_back()?;
    let list = value.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(list, _)| list);
    Some(list.unwrap_or(value))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::cli::check_page::page::tests::{kinds, page_with};

    #[test]
    fn headers_that_leak_the_address_or_cut_the_form_off_are_found() {
        for (name, value, expected) in [
            ("referrer-policy", "unsafe-url", "referrer-policy"),
            ("referrer-policy", "no-referrer, unsafe-url, unknown", "referrer-policy"),
            ("cross-origin-opener-policy", "same-origin; report-to=\"x\"", "opener-policy"),
            ("permissions-policy", "camera=(), payment=()", "permissions-policy"),
            ("permissions-policy", "payment=(self)", "permissions-policy"),
            ("permissions-policy", "publickey-credentials-get=(\"https://pay.example\")", "permissions-policy"),
            ("permissions-policy", "publickey-credentials-create=()", "permissions-policy"),
        ] {
            assert_eq!(kinds(&[(name, value)], &page_with("VISA MASTER", "PAYPAL")), [expected], "{value}");
        }
        for (name, value) in [
            ("referrer-policy", "unsafe-url, no-referrer"),
            ("cross-origin-opener-policy", "same-origin-allow-popups"),
            ("permissions-policy", "payment=*"),
            ("permissions-policy", "payment=(self \"https://pay.example\"), camera=()"),
            ("permissions-policy", "paymentx=()"),
            ("permissions-policy", "publickey-credentials-get=*, publickey-credentials-create=(*)"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(kinds(&[(name, value)], &page_with("VISA MASTER", "PAYPAL")), [""; 0], "{value}");
        }
        let isolated =
            [("cross-origin-opener-policy", "same-origin"), ("cross-origin-embedder-policy", "require-corp")];
        assert_eq!(kinds(&isolated, &page_with("VISA MASTER", "PAYPAL")), [""; 0]);
        let opener = [("cross-origin-opener-policy", "same-origin")];
        assert_eq!(kinds(&opener, &page_with("", "")), [""; 0], "cards open no window");
    }
}
