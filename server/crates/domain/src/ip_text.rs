//! IP addresses and networks as people, proxies and merchants write them. Two notations of one address are equal: an
//! IPv4 address inside an IPv6 address is that IPv4 address, and a zone is dropped, because it names an interface of
//! another machine.

use std::net::{IpAddr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net};

/// Number of bits in front of an IPv4 address that is mapped into IPv6.
const MAPPED_PREFIX: u8 = 96;

/// Parses an address, also in brackets and with a zone: `2001:db8::1`, `[2001:db8::1]`, `fe80::1%eth0`.
pub fn parse_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let address = match text.strip_prefix('[') {
        Some(rest) => return parse_ipv6(rest.strip_suffix(']')?),
        None => text,
    };
    match address.parse::<IpAddr>() {
        Ok(address) => Some(address.to_canonical()),
        Err(_) => parse_ipv6(address),
    }
}

/// Parses an IPv6 address, which may have a zone.
fn parse_ipv6(text: &str) -> Option<IpAddr> {
    let (address, zone) = text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
    let has_valid_zone = zone.is_none_or(|zone| !zone.is_empty() && zone.bytes().all(|byte| byte.is_ascii_graphic()));
    let address = address.parse::<Ipv6Addr>().ok().filter(|_| has_valid_zone)?;
    Some(IpAddr::V6(address).to_canonical())
}

/// Parses the name of a node in a header of a proxy (RFC 7239, 6): an address, optionally with a port. An IPv6 address
/// with a port is in brackets.
pub fn parse_node(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let (address, port) = match text.rfind(']') {
        Some(end) if text.starts_with('[') => text.split_at_checked(end + 1)?,
        // More than one colon is an IPv6 address without a port.
        None if text.matches(':').count() == 1 => text.split_at_checked(text.find(':')?)?,
        _ => (text, ""),
    };
    let is_port = match port.strip_prefix(':') {
        // The port may be hidden: `_` and a name (RFC 7239, 6.2).
        Some(digits) => is_hidden_name(digits) || digits.parse::<u16>().is_ok_and(|_| !digits.starts_with('+')),
        None => port.is_empty(),
    };
    parse_address(address).filter(|_| is_port)
}

/// Returns true for the name of a node that hides its address: `unknown`, or `_` and a name (RFC 7239, 6.3).
pub fn is_hidden_node(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default().trim();
    name.eq_ignore_ascii_case("unknown") || is_hidden_name(name)
}

fn is_hidden_name(text: &str) -> bool {
    let name = text.strip_prefix('_').unwrap_or_default();
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Parses a network, or a single address as a network. A network of mapped IPv4 addresses becomes one of IPv4.
///
/// # Errors
/// The message for an option.
pub fn parse_network(text: &str) -> Result<IpNet, String> {
    let network = match text.trim().parse::<IpNet>() {
        Ok(network) => Some(to_canonical_network(network)),
        Err(_) => parse_address(text).map(IpNet::from),
    };
    network.ok_or_else(|| "a network looks like 192.0.2.0/24, 2001:db8::/32 or 192.0.2.1".to_owned())
}

/// Converts a network of mapped IPv4 addresses to one of IPv4. Other networks stay.
fn to_canonical_network(network: IpNet) -> IpNet {
    let IpNet::V6(mapped) = network else { return network };
    let length = mapped.prefix_len().checked_sub(MAPPED_PREFIX);
    let ipv4 = mapped.addr().to_ipv4_mapped().zip(length);
    ipv4.and_then(|(address, length)| Ipv4Net::new(address, length).ok()).map_or(network, IpNet::V4)
}

/// Returns true if the networks contain nearly every address of one family. Two halves of a family are all of it, so
/// the sizes are added; a network counts once, also if it is named twice or contains another one.
pub fn is_nearly_everything(networks: &[IpNet]) -> bool {
    let all = IpNet::aggregate(&networks.iter().map(IpNet::trunc).collect());
    let share = |is_ipv4: bool| -> f64 {
        all.iter()
            .filter(|network| network.addr().is_ipv4() == is_ipv4)
            .map(|network| 0.5_f64.powi(network.prefix_len().into()))
            .sum()
    };
    // Half of all addresses is no network that somebody owns. Of IPv6, an eighth is in use.
    share(true) >= 0.5 || share(false) >= 0.125
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_many_notations() {
        for (text, address) in [
            ("203.0.113.7", "203.0.113.7"),
            (" 203.0.113.7 ", "203.0.113.7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("[::FFFF:cb00:7107]", "203.0.113.7"),
            ("2001:DB8:0:0::1", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("fe80::1%eth0", "fe80::1"),
            ("[fe80::1%25eth0]", "fe80::1"),
        ] {
            assert_eq!(parse_address(text).unwrap().to_string(), address, "{text}");
        }
        for text in ["", "203.0.113", "203.0.113.7:1", "[203.0.113.7]", "[::1", "::1]", "fe80::1%", "1%eth0", "::1%a b"]
        {
            assert_eq!(parse_address(text), None, "{text}");
        }
    }

    #[test]
    fn a_node_may_have_a_port() {
        for (text, address) in [
            ("203.0.113.7:51234", "203.0.113.7"),
            ("203.0.113.7", "203.0.113.7"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[::ffff:203.0.113.7]:443", "203.0.113.7"),
            ("203.0.113.7:_hidden", "203.0.113.7"),
        ] {
            assert_eq!(parse_node(text).unwrap().to_string(), address, "{text}");
        }
        for text in [
            "203.0.113.7:",
            "203.0.113.7:65536",
            "203.0.113.7:+1",
            "[::1]4711",
            "[::1]:x",
            "unknown",
            "_a:1",
            ":1",
            "a:1",
        ] {
            assert_eq!(parse_node(text), None, "{text}");
        }
        assert!(is_hidden_node("unknown") && is_hidden_node("Unknown:80") && is_hidden_node("_gazonk"));
        assert!(!is_hidden_node("_") && !is_hidden_node("203.0.113.7") && !is_hidden_node(""));
    }

    #[test]
    fn a_network_of_mapped_addresses_is_one_of_ipv4() {
        for (text, network) in [
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
            ("::ffff:10.0.0.1", "10.0.0.1/32"),
            ("::/0", "::/0"),
            ("::ffff:0:0/95", "::ffff:0.0.0.0/95"),
        ] {
            assert_eq!(parse_network(text).unwrap().to_string(), network, "{text}");
        }
        assert!(parse_network("10.0.0.0/33").is_err() && parse_network("shop").is_err());
    }

    #[test]
    fn everything_is_recognised_in_parts() {
        for (networks, everything) in [
            (&["0.0.0.0/0"][..], true),
            (&["::/0"], true),
            (&["0.0.0.0/1", "128.0.0.0/1"], true),
            (&["0.0.0.0/2", "64.0.0.0/2"], true),
            (&["2000::/3"], true),
            (&["2000::/4", "3000::/4"], true),
            (&["::ffff:0.0.0.0/96"], true),
            (&["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fd00::/8", "100.64.0.0/10"], false),
            (&["10.0.0.0/2", "10.0.0.0/2", "10.0.0.0/3"], false),
            (&[], false),
        ] {
            let parsed: Vec<IpNet> = networks.iter().map(|network| parse_network(network).unwrap()).collect();
            assert_eq!(is_nearly_everything(&parsed), everything, "{networks:?}");
        }
    }
}
