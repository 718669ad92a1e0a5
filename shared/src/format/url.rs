//! URLs to which the gateway redirects or sends requests: http or https, 6 to 2048 characters.

use std::borrow::Cow;

use super::text;

/// Format of a URL.
pub const PATTERN: &str = r"^https?://[^\s/?#@\\]+([/?#]\S*)?$";

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
}
