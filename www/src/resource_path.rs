//! Checks the path that the browser brings back from the form. It is untrusted, and the shop sends its token there, so
//! only exactly the documented format passes.

/// Returns the checkout id in `path`, if `path` is `/v<digits>/checkouts/<letters digits dot hyphen>/payment`. An id of
/// dots and hyphens alone is refused.
pub fn checkout_id(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/v")?;
    let (version, rest) = rest.split_once('/')?;
    let id = rest.strip_prefix("checkouts/")?.strip_suffix("/payment")?;
    let version_fits = !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit());
    // A name of dots alone would lead to a parent folder.
    let id_fits = id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-')
        && id.bytes().any(|b| b.is_ascii_alphanumeric());
    (version_fits && id_fits).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::checkout_id;

    #[test]
    fn the_documented_shape_is_read() {
        assert_eq!(checkout_id("/v1/checkouts/AB12.uat01-vm-tx03/payment"), Some("AB12.uat01-vm-tx03"));
        assert_eq!(checkout_id("/v12/checkouts/a/payment"), Some("a"));
    }

    #[test]
    fn everything_else_is_refused() {
        for path in [
            "",
            "/v1/checkouts//payment",
            "/v1/checkouts/../payment",
            "/v1/checkouts/A/B/payment",
            "/v1/checkouts/A%2F/payment",
            "/v1/checkouts/A/payment?x=1",
            "/v1/checkouts/A/payment#x",
            "/v1/checkouts/A/payments",
            "/v1/payments/A",
            "/v/checkouts/A/payment",
            "/vX/checkouts/A/payment",
            "v1/checkouts/A/payment",
            "//evil.example/v1/checkouts/A/payment",
            "@evil.example/v1/checkouts/A/payment",
            "http://evil.example/v1/checkouts/A/payment",
        ] {
            assert_eq!(checkout_id(path), None, "{path}");
        }
    }
}
