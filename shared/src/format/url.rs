//! URLs to which the gateway redirects or sends requests, 6 to 2048 characters. Requests need http or https; a browser
//! may also be sent to the scheme of an app.

use std::borrow::Cow;

use super::text;

/// Format of a URL.
pub const PATTERN: &str = r"^https?://[^\s/?#@\\]+([/?#]\S*)?$";

/// Format of a URL that a browser is sent to.
pub const RETURN_PATTERN: &str = r"^[A-Za-z][A-Za-z0-9+.-]*:\S+$";
/// Schemes that run code in the page, or show what is not the merchant's (contract, 0.37). A browser is not sent there.
const REFUSED_SCHEMES: [&str; 8] =
    ["javascript", "data", "file", "vbscript", "blob", "about", "view-source", "filesystem"];

/// Returns true if a browser may be sent to addresses of a scheme, which stands without its colon, in any case.
pub fn allows_scheme(scheme: &str) -> bool {
    !REFUSED_SCHEMES.iter().any(|refused| scheme.eq_ignore_ascii_case(refused))
}

/// Returns true if a URL's scheme is http or https, in any case.
pub fn is_http(value: &str) -> bool {
    value
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
}

/// Checks a URL that a browser is sent to: one of http or https as in [`check`], or one with another scheme (RFC 3986,
/// 3.1), which belongs to an app. Schemes that run code or show local content are refused.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check_return(value: &str) -> Result<(), Cow<'static, str>> {
    text::check_length(value, 6, 2048)?;
    if value.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Cow::Borrowed("may not contain spaces or control characters"));
    }
    if is_http(value) {
        return check(value);
    }
    let (scheme, rest) = value.split_once(':').unwrap_or_default();
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || rest.is_empty() {
        return Err(Cow::Borrowed("must be an address that starts with https://, http:// or the scheme of an app"));
    }
    if !allows_scheme(scheme) {
        return Err(Cow::Owned(format!("may not have the scheme {}", scheme.to_ascii_lowercase())));
    }
    Ok(())
}

/// Checks a URL: a scheme of http or https in any case, a host, no spaces and no control characters. User name and
/// password are refused: only people read them, and mistake them for the host. A backslash beside the host is refused,
/// because browsers read it as a slash and other clients do not.
///
/// # Errors
/// The message for `parameterErrors`.
pub fn check(value: &str) -> Result<(), Cow<'static, str>> {
    text::check_length(value, 6, 2048)?;
    if value.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(Cow::Borrowed("may not contain spaces or control characters"));
    }
    let host = ["https://", "http://"].into_iter().find_map(|scheme| {
        let start = value.get(..scheme.len())?;
        if start.eq_ignore_ascii_case(scheme) { value.get(scheme.len()..) } else { None }
    });
    let authority = host.and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    if authority.contains(['@', '\\']) {
        return Err(Cow::Borrowed("may not name a user, and its host no backslash"));
    }
    match host {
        Some(rest) if !rest.starts_with(['/', '?', '#', '\\', ':', '@']) && !rest.is_empty() => Ok(()),
        _ => Err(Cow::Borrowed("must be an address that starts with https:// or http://")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_http_or_https_with_a_host() {
        for good in [
            "https://shop.example/result",
            "http://a",
            "HTTPS://Shop.example:8443/?a=b#c",
            "https://bücher.example/",
            "https://shop.example/@jane?mail=a@b.example#\\",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "https:",
            "https://",
            "https:///x",
            "//shop.example",
            "ftp://shop.example",
            "javascript:alert(1)",
            "https://a b",
            "https://a\u{0}b",
            "https://a\nb",
            "https://?x",
            " https://a",
            "https://\\evil",
            "https://jane@shop.example/",
            "https://jane:secret@shop.example/",
            "https://shop.example@evil.example",
            "https://shop.example\\@evil.example/",
            "https://shop.example\\.evil.example/",
            "JavaScript:alert(1)//https://",
            "data:text/html,https://a",
            "https://shop.example/\r\nX: y",
            "https://shop.example/\u{85}",
            "https://shop.example/\u{2028}",
            "mailto:a@b.example",
        ] {
            assert!(check(bad).is_err(), "{bad}");
        }
        assert_eq!(check(&format!("https://{}", "a".repeat(2040))), Ok(()));
        assert!(check(&format!("https://{}", "a".repeat(2041))).is_err());
    }
    #[test]
    fn a_browser_may_be_sent_to_an_app_and_not_to_code() {
        for good in [
            "my.app://custom/url",
            "com.shop.app:/done",
            "myapp:done",
            "x-shop+2.0://pay?order=1#top",
            "intent://pay#Intent;scheme=shop;end",
            "MyApp://result",
            "https://shop.example/result",
            "HTTP://shop.example",
        ] {
            assert_eq!(check_return(good), Ok(()), "{good}");
        }
        for scheme in REFUSED_SCHEMES {
            for address in [format!("{scheme}:alert(1)"), format!("{}://x/y", scheme.to_uppercase())] {
                assert!(check_return(&address).is_err_and(|message| message.contains(scheme)), "{address}");
            }
        }
        for bad in [
            "",
            "myapp:",
            "my_app://custom",
            "1app://custom",
            "://custom",
            "//shop.example",
            "/result",
            "result",
            "java\tscript:alert(1)",
            " javascript:alert(1)",
            "\u{1}javascript:alert(1)",
            "my.app://a b",
            "my.app://a\r\nLocation: x",
            "übung://custom",
            "https:shop.example",
            "https:/shop.example/x",
            "http:evil.example",
            "https://jane@shop.example/",
            "https://shop.example\\@evil.example/",
        ] {
            assert!(check_return(bad).is_err(), "{bad}");
        }
        assert!(check_return(&format!("my.app://{}", "a".repeat(2039))).is_ok());
        assert!(check_return(&format!("my.app://{}", "a".repeat(2040))).is_err());
    }
}
