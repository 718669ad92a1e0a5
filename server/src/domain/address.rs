//! The merchant's addresses: the page that a shopper comes back to, and where the merchant is told, with what they are told.

use form_urlencoded::byte_serialize;

/// An address with parameters added to its query; what it already has stays, also its fragment.
pub fn with_parameters(address: &str, parameters: &[(&str, &str)]) -> String {
    let (before, fragment) = address.split_at(address.find('#').unwrap_or(address.len()));
    let mut result = before.to_owned();
    for (name, value) in parameters {
        if !result.contains('?') {
            result.push('?');
        } else if !result.ends_with(['?', '&']) {
            result.push('&');
        }
        result.extend(byte_serialize(name.as_bytes()));
        result.push('=');
        result.extend(byte_serialize(value.as_bytes()));
    }
    result + fragment
}

/// The host of an address that [`tillgate_shared::format::url::check`] has passed, with its port: what a shopper knows it by.
pub fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns true if a text is an origin as browsers write it: scheme, host and port, nothing that ends a source in a policy.
pub fn is_origin(text: &str) -> bool {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._:[]".contains(&byte);
    host.is_some_and(|host| (1..=255).contains(&host.len()) && host.bytes().all(is_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_join_what_is_there() {
        let add = |address| with_parameters(address, &[("id", "A.b"), ("resourcePath", "/v1")]);
        assert_eq!(add("https://a/b"), "https://a/b?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a"), "https://a?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/?x=1"), "https://a/?x=1&id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/?"), "https://a/?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/b?x=1&#c?d"), "https://a/b?x=1&id=A.b&resourcePath=%2Fv1#c?d");
        assert_eq!(add("https://a/#c?d"), "https://a/?id=A.b&resourcePath=%2Fv1#c?d");
        assert_eq!(with_parameters("https://a/", &[("n&", "ü=\r\n")]), "https://a/?n%26=%C3%BC%3D%0D%0A");
    }

    #[test]
    fn a_host_is_what_stands_before_path_query_and_fragment() {
        for (address, expected) in [
            ("https://shop.example/x", "shop.example"),
            ("http://localhost:8080?x=/y", "localhost:8080"),
            ("HTTPS://shop.example#z", "shop.example"),
        ] {
            assert_eq!(host(address), expected);
        }
    }

    #[test]
    fn an_origin_has_no_path_and_ends_no_source() {
        for good in
            ["https://shop.example", "http://shop.localhost:8081", "https://[::1]:1", "https://xn--bcher-kva.example"]
        {
            assert!(is_origin(good), "{good}");
        }
        for bad in
            ["", "null", "https://", "https://a/", "https://a;b", "https://*.a", "https://a b", "ftp://a", "https://a'"]
        {
            assert!(!is_origin(bad), "{bad}");
        }
    }
}
