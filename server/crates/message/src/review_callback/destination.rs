//! Rules for the address of a destination.

use tillgate_domain::delivery::target_url::TargetUrl;

/// Checks the address of a destination, and returns it parsed: http or https, only https for a live entity, and a port
/// other than the scheme's own only beside an IP address. Does not check if the address may be called.
///
/// # Errors
/// A message that follows the address.
pub fn check_destination(address: &str, is_live: bool) -> Result<TargetUrl, String> {
    let target = TargetUrl::parse(address).map_err(|fault| fault.to_string())?;
    if address.contains('#') {
        return Err("has a fragment, which is not sent: remove the part from # on".to_owned());
    }
    if is_live && !target.is_https() {
        return Err("is http, which only sandbox entities may use: use https".to_owned());
    }
    match target.unusual_port() {
        Some(port) if target.ip_address().is_none() => {
            let host = target.host();
            Err(format!("has the port {port}, which needs an IP address in place of the host name {host}"))
        }
        _ => Ok(target),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_port_of_its_own_needs_an_ip_address_and_http_a_sandbox() {
        for (address, sandbox, live) in [
            ("https://shop.example/decisions?a=b", true, true),
            ("https://shop.example:443/", true, true),
            ("http://shop.example/", true, false),
            ("http://shop.example:80/", true, false),
            ("https://203.0.113.9:8443/", true, true),
            ("https://[2001:db8::1]:8443/", true, true),
            ("http://203.0.113.9:8080/", true, false),
            ("https://shop.example:8443/", false, false),
            ("http://shop.example:443/", false, false),
            ("https://shop.example:80/", false, false),
            ("https://0x7f.1:8443/", true, true),
            ("https://shop.example:65536/", false, false),
            ("https://shop.example:/", true, true),
            ("https://shop.example/#a", false, false),
            ("https://jane@shop.example/", false, false),
            ("ftp://shop.example/", false, false),
            ("shop.example", false, false),
            ("https://bücher.example/grüße", true, true),
            ("", false, false),
        ] {
            assert_eq!(check_destination(address, false).is_ok(), sandbox, "{address}");
            assert_eq!(check_destination(address, true).is_ok(), live, "{address}");
        }
    }
}
