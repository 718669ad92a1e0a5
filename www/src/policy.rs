//! The shop's Content Security Policy. It is as strict as possible, to show that the hosted form needs only its own
//! origin in `script-src`, `style-src` and `frame-src`, and permission to run wasm.

use axum::http::HeaderName;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha384};

/// Name of the header by which a page runs only scripts whose tags have their hash.
pub const INTEGRITY_POLICY: HeaderName = HeaderName::from_static("integrity-policy");

/// Returns the value for the attribute `integrity` of a script.
pub fn integrity_value(script: &str) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(script)))
}

/// Returns the origin of `address`: scheme, host and port, without a slash at the end.
pub fn url_origin(address: &str) -> &str {
    let host = address.find("://").map_or(0, |at| at + 3);
    let end = address[host..].find('/').map_or(address.len(), |at| host + at);
    &address[..end]
}

/// Returns the policy of the playground, whose own script sends requests to the shop. The form does not need that.
pub fn playground_policy(gateway_public: &str, gateway_fields: Option<&str>) -> String {
    format!("{}; connect-src 'self'", content_security_policy(gateway_public, gateway_fields))
}

/// Returns the policy of a shop. Browsers reach its gateway at `gateway_public`, and the card frames at
/// `gateway_fields` if they have a separate origin.
pub fn content_security_policy(gateway_public: &str, gateway_fields: Option<&str>) -> String {
    let gateway = url_origin(gateway_public);
    let fields = gateway_fields.map(|address| format!(" {}", url_origin(address))).unwrap_or_default();
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
        assert_eq!(url_origin("http://pay.localhost:8080/"), "http://pay.localhost:8080");
        assert_eq!(url_origin("https://pay.example/base/"), "https://pay.example");
        assert_eq!(url_origin("https://pay.example"), "https://pay.example");
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
