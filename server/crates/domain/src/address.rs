//! Merchant addresses: the page that the shopper returns to and the notification URL, with the parameters added to
//! them.

use form_urlencoded::byte_serialize;

/// Adds parameters, form-encoded, to the end of an address's query. Keeps the existing query and the fragment, and
/// replaces no parameter of the same name.
pub fn add_parameters(address: &str, parameters: &[(&str, &str)]) -> String {
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

/// Returns the host of an address that [`tillgate_shared::format::url::check`] has accepted, with the port if there is
/// one. The host is the part of the address that a shopper recognises.
pub fn host_and_port(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Returns the path of an absolute address, without query and fragment. Returns `/` if it has none.
pub fn path_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = rest.find('/').map_or("/", |start| rest.get(start..).unwrap_or("/"));
    path.split(['?', '#']).next().unwrap_or("/")
}

/// Returns true if a text is an origin in the form that browsers send: `http://` or `https://`, then a host in
/// lowercase letters, with an optional port, and no path. Such a text contains no character that ends a source in a
/// Content-Security-Policy.
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
        let add = |address| add_parameters(address, &[("id", "A.b"), ("resourcePath", "/v1")]);
        assert_eq!(add("https://a/b"), "https://a/b?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a"), "https://a?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/?x=1"), "https://a/?x=1&id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/?"), "https://a/?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/b?x=1&#c?d"), "https://a/b?x=1&id=A.b&resourcePath=%2Fv1#c?d");
        assert_eq!(add("https://a/#c?d"), "https://a/?id=A.b&resourcePath=%2Fv1#c?d");
        assert_eq!(add_parameters("https://a/", &[("n&", "ü=\r\n")]), "https://a/?n%26=%C3%BC%3D%0D%0A");
    }

    #[test]
    fn a_path_is_what_stands_between_host_and_query() {
        for (address, expected) in [
            ("https://shop.example/x/y?z=/1#/2", "/x/y"),
            ("https://shop.example", "/"),
            ("https://shop.example/", "/"),
            ("http://127.0.0.1:8080/a", "/a"),
        ] {
            assert_eq!(path_of(address), expected, "{address}");
        }
    }

    #[test]
    fn a_host_is_what_stands_before_path_query_and_fragment() {
        for (address, expected) in [
            ("https://shop.example/x", "shop.example"),
            ("http://localhost:8080?x=/y", "localhost:8080"),
            ("HTTPS://shop.example#z", "shop.example"),
        ] {
            assert_eq!(host_and_port(address), expected);
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
