//! The sources whose attempts are counted, and the names of their counts.

use std::net::{IpAddr, Ipv6Addr};

use sha2::{Digest as _, Sha256};
use tillgate_shared::parameter::Parameters;

use crate::domain::entity::Entity;

/// The name of a count: the beginning of a hash, so that names have one length and nobody can make two sources share one.
pub type Name = [u8; 16];

/// The kinds of sources, each with a bound of its own on how many are remembered. The number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A shopper's address or network.
    Address = 1,
    /// The cards of an entity with one BIN.
    Bin = 2,
    /// An entity.
    Entity = 3,
    /// The card numbers of an entity that show the same first six and last four digits.
    AlikeNumbers = 4,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub(super) const ALL: [Self; 4] = [Self::Address, Self::Bin, Self::Entity, Self::AlikeNumbers];

    /// Finds a kind by its stored number.
    pub(super) fn find(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// Its place among all kinds.
    pub(super) fn place(self) -> usize {
        self as usize - 1
    }
}

/// The shopper's address, by who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shopper {
    /// The shopper's browser talks to us. Its address counts for every merchant.
    Browser(IpAddr),
    /// A merchant's server says so (`customer.ip`). It counts for that merchant alone: a merchant that says anything must
    /// not lock a shopper out elsewhere.
    Told(IpAddr),
}

impl Shopper {
    /// The browser's address, or else the one that the merchant tells (`customer.ip`).
    pub fn of(browser: Option<IpAddr>, parameters: &Parameters) -> Option<Self> {
        let told = || parameters.get("customer.ip")?.parse().ok();
        browser.map(Self::Browser).or_else(|| told().map(Self::Told))
    }

    /// The address.
    pub(super) fn address(self) -> IpAddr {
        match self {
            Self::Browser(address) | Self::Told(address) => address,
        }
    }
}

/// Makes a name of parts. Each is preceded by its length, so that no two lists of parts are one text.
pub(super) fn name(parts: &[&[u8]]) -> Name {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    let digest: [u8; 32] = digest.finalize().into();
    let mut name = Name::default();
    name.copy_from_slice(&digest[..16]);
    name
}

/// A network that counts as one source: its name and how many times the cap of one address it may use up.
pub(super) type Network = (Name, u32);

/// The networks of an address, as browsers show it.
pub(super) fn networks_of_browser(address: IpAddr) -> Vec<Network> {
    networks(address, b"browser", b"")
}

/// The networks of an address, as a merchant tells it, together with its channels.
pub(super) fn networks_told(address: IpAddr, entity: &Entity) -> Vec<Network> {
    networks(address, b"told", entity.merchant_or_self().as_str().as_bytes())
}

/// The widths of IPv6 networks in bits, and the factor of their cap. A subscriber usually gets a /64, a /56 or a /48. A wider
/// network may hold more people, and gets more room.
const WIDTHS: [(u32, u32); 3] = [(64, 1), (56, 4), (48, 16)];

fn networks(address: IpAddr, who: &[u8], whose: &[u8]) -> Vec<Network> {
    match address.to_canonical() {
        IpAddr::V4(v4) => vec![(name(&[who, whose, &v4.octets()]), 1)],
        IpAddr::V6(v6) => WIDTHS
            .iter()
            .map(|(bits, factor)| {
                let network = Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << (128 - bits)));
                (name(&[who, whose, &network.octets(), &bits.to_be_bytes()]), *factor)
            })
            .collect(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn browser(address: &str) -> HashSet<Name> {
        networks_of_browser(address.parse().unwrap()).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn two_addresses_share_as_many_networks_as_they_have_bits_in_common() {
        let one = browser("2001:db8:aaaa:bbcc::1");
        for (other, shared) in [
            ("2001:db8:aaaa:bbcc:ffff:ffff:ffff:ffff", 3),
            ("2001:db8:aaaa:bbcd::1", 2),
            ("2001:db8:aaaa:bccc::1", 1),
            ("2001:db8:aaab:bbcc::1", 0),
        ] {
            assert_eq!(one.intersection(&browser(other)).count(), shared, "{other}");
        }
        assert_eq!(browser("192.0.2.1"), browser("::ffff:192.0.2.1"), "an IPv4 address, however it is written");
        assert!(browser("192.0.2.1").is_disjoint(&browser("192.0.2.2")));
    }

    #[test]
    fn names_of_different_parts_differ_however_they_are_cut() {
        assert_ne!(name(&[b"ab", b"c"]), name(&[b"a", b"bc"]));
        assert_ne!(name(&[b"ab"]), name(&[b"ab", b""]));
    }

    #[test]
    fn a_kind_is_found_by_its_number_and_has_a_place() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!((Kind::find(kind as u8), kind.place()), (Some(kind), place));
        }
        assert_eq!(Kind::find(0), None);
    }
}
