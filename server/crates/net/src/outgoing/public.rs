//! Addresses that are publicly reachable.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Makes an IPv4 network. Fails at compile time if the prefix is longer than 32 bits.
const fn ipv4_network(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

/// Makes an IPv6 network from the first two of its eight groups. Fails at compile time if the prefix is longer than 128
/// bits.
const fn ipv6_network(first: u16, second: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0), prefix)
}

/// Addresses that are not globally reachable (IANA's registry of special-purpose addresses, RFC 6890), multicast and
/// reserved addresses.
const NOT_PUBLIC: [Ipv4Net; 16] = [
    ipv4_network(0, 0, 0, 0, 8),
    ipv4_network(10, 0, 0, 0, 8),
    ipv4_network(100, 64, 0, 0, 10),
    ipv4_network(127, 0, 0, 0, 8),
    ipv4_network(169, 254, 0, 0, 16),
    ipv4_network(172, 16, 0, 0, 12),
    ipv4_network(192, 0, 0, 0, 24),
    ipv4_network(192, 0, 2, 0, 24),
    ipv4_network(192, 88, 99, 0, 24),
    ipv4_network(192, 168, 0, 0, 16),
    ipv4_network(198, 18, 0, 0, 15),
    ipv4_network(198, 51, 100, 0, 24),
    ipv4_network(203, 0, 113, 0, 24),
    ipv4_network(224, 0, 0, 0, 4),
    ipv4_network(240, 0, 0, 0, 4),
    ipv4_network(255, 255, 255, 255, 32),
];

/// Global unicast addresses, and the ranges in it that are not public: protocols such as Teredo, documentation, and
/// 6to4, which can contain any IPv4 address.
const GLOBAL: Ipv6Net = ipv6_network(0x2000, 0, 3);
const NOT_GLOBAL: [Ipv6Net; 4] = [
    ipv6_network(0x2001, 0, 23),
    ipv6_network(0x2001, 0xdb8, 32),
    ipv6_network(0x2002, 0, 16),
    ipv6_network(0x3fff, 0, 20),
];
/// IPv4 addresses behind a translator (RFC 6052): the last 32 bits are the address.
const NAT64: Ipv6Net = ipv6_network(0x64, 0xff9b, 96);

/// Returns true if an address is publicly reachable. An IPv4 address inside an IPv6 address (mapped, or behind NAT64)
/// decides by itself.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !NOT_PUBLIC.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) if NAT64.contains(&address) => {
            let [.., a, b, c, d] = address.octets();
            is_public(Ipv4Addr::new(a, b, c, d).into())
        }
        IpAddr::V6(address) => {
            GLOBAL.contains(&address) && !NOT_GLOBAL.iter().any(|network| network.contains(&address))
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_public_is_told_in_every_form_that_an_address_can_take() {
        for (address, public) in [
            ("0.0.0.0", false),
            ("8.8.8.8", true),
            ("10.1.2.3", false),
            ("100.63.255.255", true),
            ("100.64.0.1", false),
            ("100.128.0.0", true),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.254.169.254", false),
            ("172.15.0.1", true),
            ("172.16.0.1", false),
            ("172.31.255.255", false),
            ("172.32.0.1", true),
            ("192.0.0.8", false),
            ("192.0.2.1", false),
            ("192.88.99.1", false),
            ("192.168.1.1", false),
            ("198.19.0.1", false),
            ("198.51.100.1", false),
            ("203.0.113.1", false),
            ("203.0.114.1", true),
            ("224.0.0.1", false),
            ("239.1.1.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::7f00:1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("::ffff:8.8.8.8", true),
            ("64:ff9b::7f00:1", false),
            ("64:ff9b::a00:1", false),
            ("64:ff9b::808:808", true),
            ("64:ff9b:1::808:808", false),
            ("100::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("2001:4860:4860::8888", true),
            ("2002:7f00:1::", false),
            ("2002:808:808::", false),
            ("3fff::1", false),
            ("5f00::1", false),
            ("fc00::1", false),
            ("fd12:3456::1", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
        ] {
            assert_eq!(is_public(address.parse().unwrap()), public, "{address}");
        }
    }
}
