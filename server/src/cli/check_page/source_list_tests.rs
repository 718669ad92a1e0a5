#![allow(clippy::unwrap_used)]

use tillgate_net::page_headers::integrity_value;

use super::*;

fn url(text: &str) -> Url {
    text.parse().unwrap()
}

/// Returns the first directive of a policy.
fn allows(value: &str, address: &str, page: &str) -> bool {
    let policy = Policy::parse_list(&format!("script-src {value}"), "header").remove(0);
    policy.find_first(&["script-src"]).unwrap().allows_url(&url(address), &url(page))
}

#[test]
fn sources_match_addresses_by_scheme_host_port_and_path() {
    let page = "https://shop.example/pay";
    for (value, address, expected) in [
        ("https://pay.example", "https://pay.example/v1/x.js", true),
        ("HTTPS://PAY.EXAMPLE", "https://pay.example/v1/x.js", true),
        ("http://pay.example", "https://pay.example/v1/x.js", true),
        ("https://pay.example", "http://pay.example/v1/x.js", false),
        ("pay.example", "https://pay.example/v1/x.js", true),
        ("pay.example", "http://pay.example/v1/x.js", false),
        ("pay.example:443", "https://pay.example/", true),
        ("http://pay.example:80", "https://pay.example/", true),
        ("pay.example", "https://pay.example:8443/", false),
        ("pay.example:*", "https://pay.example:8443/", true),
        ("*.example", "https://pay.example/", true),
        ("*.pay.example", "https://pay.example/", false),
        ("*.pay.example", "https://a.b.pay.example/", true),
        ("*pay.example", "https://xpay.example/", false),
        ("https://pay.example/v1/", "https://pay.example/v1/x.js", true),
        ("https://pay.example/v1", "https://pay.example/v1/x.js", false),
        ("https://pay.example/v1/x.js", "https://pay.example/v1/x.js?checkoutId=1", true),
        ("https:", "https://pay.example/", true),
        ("https:", "http://pay.example/", false),
        ("*", "https://pay.example/", true),
        ("*", "data:text/javascript,1", false),
        ("'self'", "https://shop.example/x.js", true),
        ("'self'", "https://shop.example:8443/x.js", false),
        ("'none'", "https://shop.example/x.js", false),
        ("", "https://shop.example/x.js", false),
        ("'https://pay.example'", "https://pay.example/", false),
        ("https://pay.example.evil.example", "https://pay.example/", false),
        ("[::1]:8080", "http://[::1]:8080/", false),
    ] {
        assert_eq!(allows(value, address, page), expected, "{value} {address}");
    }
    assert!(allows("pay.localhost:8080", "http://pay.localhost:8080/", "http://shop.localhost/"));
    assert!(allows("'self'", "https://shop.example/", "http://shop.example/"), "an upgrade to https");
}

#[test]
fn the_first_directive_of_a_name_counts_and_every_policy_of_a_list() {
    let policies = Policy::parse_list("Script-Src 'self'; script-src *,, img-src x ;; default-src *", "header");
    assert_eq!(policies.len(), 2);
    assert_eq!(policies[0].find("script-src").unwrap(), ["'self'"]);
    let list = policies[1].find_first(&["script-src-elem", "script-src", "default-src"]).unwrap();
    assert_eq!(list.directive, "default-src");
    assert!(policies[0].find_first(&["frame-src", "child-src", "default-src"]).is_none());
}

#[test]
fn nonces_hashes_and_strict_dynamic_decide_about_scripts() {
    let (address, page) = (url("https://pay.example/v1/paymentWidgets.js"), url("https://shop.example/"));
    let integrity = integrity_value(b"loader");
    let by_hash = format!("'{integrity}'");
    let access = ScriptAccess { nonce: Some("abc"), integrity: Some(&integrity) };
    for (value, expected) in [
        ("'nonce-abc'", true),
        ("'NONCE-abc'", true),
        ("'nonce-ABC'", false),
        ("'strict-dynamic' https://pay.example", false),
        ("'strict-dynamic' 'nonce-abc'", true),
        (by_hash.as_str(), true),
        ("'sha256-AAAA'", false),
    ] {
        let policy = Policy::parse_list(&format!("script-src {value}"), "header").remove(0);
        let list = policy.find_first(&["script-src"]).unwrap();
        assert_eq!(list.allows_script(&address, &page, access), expected, "{value}");
    }
    let none = ScriptAccess { nonce: Some(""), integrity: Some("md5-AA") };
    let policy = Policy::parse_list("script-src 'nonce-'", "header").remove(0);
    assert!(!policy.find_first(&["script-src"]).unwrap().allows_script(&address, &page, none));
}

#[test]
fn inline_scripts_need_unsafe_inline_alone_or_a_nonce_or_their_hash() {
    let own = format!("'sha256-{}'", STANDARD.encode(Sha256::digest("var wpwlOptions = {};")));
    let beside = format!("'unsafe-inline' {own}");
    for (value, text, nonce, expected) in [
        ("'self'", "var wpwlOptions = {};", None, false),
        ("'unsafe-inline'", "var wpwlOptions = {};", None, true),
        (own.as_str(), "var wpwlOptions = {};", None, true),
        (own.as_str(), "var wpwlOptions = {}; ", None, false),
        (beside.as_str(), "other", None, false),
        ("'nonce-n'", "x", Some("n"), true),
        ("'unsafe-inline' 'nonce-n'", "x", None, false),
    ] {
        let policy = Policy::parse_list(&format!("script-src {value}"), "header").remove(0);
        let list = policy.find_first(&["script-src"]).unwrap();
        assert_eq!(list.allows_inline_script(text, nonce), expected, "{value} {text}");
    }
}

#[test]
fn the_strongest_algorithm_of_an_integrity_attribute_decides() {
    let strong = integrity_value(b"loader");
    assert_eq!(accepts_content(&strong, b"loader"), Some(true));
    assert_eq!(accepts_content(&strong, b"other"), Some(false));
    let weak = format!("sha256-{}", STANDARD.encode(Sha256::digest("other")));
    assert_eq!(accepts_content(&format!("{weak} {strong}"), b"other"), Some(false));
    assert_eq!(accepts_content(&format!("x {strong}?option"), b"loader"), Some(true));
    assert_eq!(accepts_content("", b"loader"), None);
    assert_eq!(accepts_content("sha1-AAAA", b"loader"), None);
}

#[test]
fn a_directive_is_written_with_the_missing_source() {
    let policy = Policy::parse_list("frame-src 'none'; script-src 'self' x.example", "header").remove(0);
    let line = |name| policy.find_first(&[name]).unwrap().with_source("https://pay.example");
    assert_eq!(line("frame-src"), "frame-src https://pay.example");
    assert_eq!(line("script-src"), "script-src 'self' x.example https://pay.example");
}
