//! Sources of attempts, and the names of their counts.

use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest as _, Sha256};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::ip_text;
use tillgate_shared::parameter::Parameters;

/// Name of a count: a hash prefix, so that all names have the same length and collisions cannot be provoked.
pub type CountName = [u8; 16];

/// Kind of a source. The number of remembered sources is limited for each kind separately. The discriminant is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SourceKind {
    /// A shopper's address or network.
    Address = 1,
    /// The cards of an entity with one BIN.
    Bin = 2,
    /// An entity.
    Entity = 3,
    /// The card numbers of an entity that show the same first six and last four digits.
    AlikeNumbers = 4,
}

impl SourceKind {
    /// Every kind, in the order of the discriminants.
    pub(super) const ALL: [Self; 4] = [Self::Address, Self::Bin, Self::Entity, Self::AlikeNumbers];

    /// Finds a kind by its stored number. `None` if there is no such kind.
    pub(super) fn find(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Returns the index in [`Self::ALL`], which is the index of the kind's cache.
    pub(super) fn cache_index(self) -> usize {
        self as usize - 1
    }
}

/// The shopper's address, by the origin of the information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShopperAddress {
    /// Address of the shopper's browser, which sent the request. It is counted for all merchants together.
    Browser(IpAddr),
    /// Address that a merchant's server reports (`customer.ip`). It is counted for that merchant alone, so that a false
    /// address cannot block a shopper at other merchants.
    Reported(IpAddr),
}

impl ShopperAddress {
    /// Returns the browser's address, or else the address that the merchant reports (`customer.ip`). `None` if there is
    /// neither, or the reported one is malformed.
    pub fn from_request(browser: Option<IpAddr>, parameters: &Parameters) -> Option<Self> {
        let reported = || ip_text::parse_address(parameters.get("customer.ip")?);
        browser.map(Self::Browser).or_else(|| reported().map(Self::Reported))
    }

    /// Returns the address.
    pub(super) fn address(self) -> IpAddr {
        match self {
            Self::Browser(address) | Self::Reported(address) => address,
        }
    }
}

/// Makes the name of a count: a hash of parts, each preceded by its length, so that different lists of parts have
/// different names.
pub(super) fn count_name(parts: &[&[u8]]) -> CountName {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    let digest: [u8; 32] = digest.finalize().into();
    let mut name = CountName::default();
    name.copy_from_slice(&digest[..16]);
    name
}

/// A network that is counted as one source: its name, and the multiple of a single address's cap that it has.
pub(super) type Network = (CountName, u32);

/// Returns the networks of a browser's address, which all merchants share.
pub(super) fn networks_of_browser(address: IpAddr) -> Vec<Network> {
    networks_of_address(address, b"browser", b"")
}

/// Returns the networks of an address that a merchant reports. A merchant and its channels share their counts.
pub(super) fn networks_of_reported(address: IpAddr, entity: &Entity) -> Vec<Network> {
    // Stored names depend on this text.
    networks_of_address(address, b"told", entity.merchant_or_self().as_str().as_bytes())
}

/// Prefix lengths of IPv6 networks in bits, with the factor of their cap. A subscriber usually gets a /64, a /56 or a
/// /48. A larger network may have more users, so its cap is higher.
const IPV6_PREFIXES: [(u32, u32); 3] = [(64, 1), (56, 4), (48, 16)];

/// Returns the networks of an address: the IPv4 address itself, or the /64, /56 and /48 of an IPv6 address. `origin`
/// and `scope` are part of the names, which are stored.
fn networks_of_address(address: IpAddr, origin: &[u8], scope: &[u8]) -> Vec<Network> {
    match address.to_canonical() {
        IpAddr::V4(v4) => vec![(count_name(&[origin, scope, &v4.octets()]), 1)],
        IpAddr::V6(v6) => IPV6_PREFIXES
            .iter()
            .map(|(bits, factor)| {
                let network = Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << (128 - bits)));
                (count_name(&[origin, scope, &network.octets(), &bits.to_be_bytes()]), *factor)
            })
            .collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;

    use crate::risk::velocity::source::*;

    fn browser_networks(address: &str) -> HashSet<CountName> {
        networks_of_browser(address.parse().unwrap()).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn two_addresses_share_as_many_networks_as_they_have_bits_in_common() {
        let one = browser_networks("2001:db8:aaaa:bbcc::1");
        for (other, shared) in [
            ("2001:db8:aaaa:bbcc:ffff:ffff:ffff:ffff", 3),
            ("2001:db8:aaaa:bbcd::1", 2),
            ("2001:db8:aaaa:bccc::1", 1),
            ("2001:db8:aaab:bbcc::1", 0),
        ] {
            assert_eq!(one.intersection(&browser_networks(other)).count(), shared, "{other}");
        }
        assert_eq!(
            browser_networks("192.0.2.1"),
            browser_networks("::ffff:192.0.2.1"),
            "an IPv4 address, however it is written"
        );
        assert!(browser_networks("192.0.2.1").is_disjoint(&browser_networks("192.0.2.2")));
    }

    #[test]
    fn names_of_different_parts_differ_however_they_are_cut() {
        assert_ne!(count_name(&[b"ab", b"c"]), count_name(&[b"a", b"bc"]));
        assert_ne!(count_name(&[b"ab"]), count_name(&[b"ab", b""]));
    }

    #[test]
    fn a_kind_is_found_by_its_number_and_has_a_place() {
        for (place, kind) in SourceKind::ALL.into_iter().enumerate() {
            assert_eq!((SourceKind::find(kind as u8), kind.cache_index()), (Some(kind), place));
        }
        assert_eq!(SourceKind::find(0), None);
    }
}
