//! The shop's Content-Security-Policy. It is as strict as a policy gets, and that is the point: the hosted form asks
//! a merchant for its own origin in `script-src`, `style-src` and `frame-src`, and for permission to run wasm, and for
//! nothing else.

/// The origin of `address`: scheme, host and port, without a slash at the end.
pub fn origin(address: &str) -> &str {
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    &address[..end]
}

/// The playground's policy: its own script asks the shop for checkouts, which the form has no need of.
pub fn with_own_requests(gateway_public: &str, gateway_fields: Option<&str>) -> String {
    format!("{}; connect-src 'self'", content_security_policy(gateway_public, gateway_fields))
}

/// The policy for a shop whose gateway the browser sees at `gateway_public`, and its card frames at `gateway_fields` if they
/// have an origin of their own.
pub fn content_security_policy(gateway_public: &str, gateway_fields: Option<&str>) -> String {
    let gateway = origin(gateway_public);
    let fields = gateway_fields.map(|address| format!(" {}", origin(address))).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self' {gateway} 'wasm-unsafe-eval'; style-src 'self' {gateway}; \
         frame-src {gateway}{fields}; img-src 'self' data:; form-action 'self' {gateway}{fields}; base-uri 'none'; frame-ancestors 'none'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        assert_eq!(origin("http://pay.localhost:8080/"), "http://pay.localhost:8080");
        assert_eq!(origin("https://pay.example/base/"), "https://pay.example");
        assert_eq!(origin("https://pay.example"), "https://pay.example");
    }

    #[test]
    fn the_policy_names_the_gateway_and_nobody_else() {
        let policy = content_security_policy("http://pay.localhost:8080/", None);
        assert!(policy.starts_with("default-src 'none'; "));
        assert!(policy.contains("frame-src http://pay.localhost:8080;"));
        assert!(!policy.contains("unsafe-inline"));
        let policy = content_security_policy("http://pay.localhost:8080/", Some("http://fields.localhost:8080/"));
        assert!(policy.contains("frame-src http://pay.localhost:8080 http://fields.localhost:8080;"));
        assert!(policy.contains("script-src 'self' http://pay.localhost:8080 'wasm-unsafe-eval';"));
    }
}
