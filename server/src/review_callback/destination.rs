//! Rules for the address of a destination.

use std::net::IpAddr;

use axum::http::Uri;
use tillgate_shared::format::url;

/// Checks the address of a destination, and returns it parsed: http or https, only https for a live entity, and a port
/// other than the scheme's own only beside an IP address. Does not check if the address may be called.
///
/// # Errors
/// A message that follows the address.
pub fn check_destination(address: &str, is_live: bool) -> Result<Uri, String> {
    url::check(address).map_err(|message| message.into_owned())?;
    if address.contains('#') {
        return Err("has a fragment, which is not sent: remove the part from # on".to_owned());
    }
    let uri: Uri = address.parse().map_err(|_| "is no valid address: percent-encode special characters".to_owned())?;
    let usual_port = match uri.scheme_str() {
        Some("https") => 443,
        Some("http") if is_live => return Err("is http, which only sandbox entities may use: use https".to_owned()),
        _ => 80,
    };
    let host = uri.host().unwrap_or_default();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let has_port = authority.len() > host.len();
    let port = match uri.port_u16() {
        Some(port) => port,
        None if has_port => return Err("names no valid port".to_owned()),
        None => usual_port,
    };
    let is_ip_address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
    if port != usual_port && !is_ip_address {
        return Err(format!("has the port {port}, which needs an IP address in place of the host name {host}"));
    }
    Ok(uri)
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
            ("https://0x7f.1:8443/", false, false),
            ("https://shop.example:65536/", false, false),
            ("https://shop.example:/", false, false),
            ("https://shop.example/#a", false, false),
            ("https://jane@shop.example/", false, false),
            ("ftp://shop.example/", false, false),
            ("shop.example", false, false),
            ("https://bücher.example/", false, false),
            ("", false, false),
        ] {
            assert_eq!(check_destination(address, false).is_ok(), sandbox, "{address}");
            assert_eq!(check_destination(address, true).is_ok(), live, "{address}");
        }
    }
}
