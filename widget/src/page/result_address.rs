//! Where the shopper goes after the payment: the merchant's address with two parameters added.

/// `address` with `parameters` added to its query; what it already has stays, also its fragment.
/// `encode` is the browser's `encodeURIComponent`.
pub fn with_parameters(address: &str, parameters: &[(String, String)], encode: impl Fn(&str) -> String) -> String {
    let (before, fragment) = match address.find('#') {
        Some(at) => address.split_at(at),
        None => (address, ""),
    };
    let mut result = before.to_owned();
    for (name, value) in parameters {
        if !result.contains('?') {
            result.push('?');
        } else if !result.ends_with(['?', '&']) {
            result.push('&');
        }
        result.push_str(&encode(name));
        result.push('=');
        result.push_str(&encode(value));
    }
    result.push_str(fragment);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(address: &str) -> String {
        let parameters = [("id".to_owned(), "A.b".to_owned()), ("resourcePath".to_owned(), "/v1".to_owned())];
        with_parameters(address, &parameters, |text| text.replace('/', "%2F"))
    }

    #[test]
    fn parameters_join_what_is_there() {
        assert_eq!(add("https://a/b"), "https://a/b?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/?x=1"), "https://a/?x=1&id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("https://a/?"), "https://a/?id=A.b&resourcePath=%2Fv1");
        assert_eq!(add("/b?x=1&#c"), "/b?x=1&id=A.b&resourcePath=%2Fv1#c");
    }
}
