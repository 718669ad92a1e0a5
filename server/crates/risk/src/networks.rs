//! The operator's table of networks and their countries: lines `network,country`, such as `203.0.113.0/24,DE`.

use std::net::IpAddr;

use ipnet::IpNet;
use tillgate_domain::ip_text;

use super::TextError;

/// Largest number of networks in a table. A row takes 16 bytes of memory (IPv4) or 32 bytes (IPv6).
const MAX_NETWORKS: usize = 2_000_000;

/// A country, two uppercase letters.
type Country = [u8; 2];

/// Countries by network. The longest prefix that contains an address decides.
#[derive(Debug, Clone, Default)]
pub struct NetworkTable {
    v4: Vec<(u8, u32, Country)>,
    v6: Vec<(u8, u128, Country)>,
    /// Prefix lengths in use, longest first.
    v4_lengths: Vec<u8>,
    v6_lengths: Vec<u8>,
}

impl NetworkTable {
    /// Reads a table. Empty lines, lines that begin with `#` and the heading `network,country` are skipped.
    ///
    /// # Errors
    /// The first line that is not a network and a country of two letters, or that repeats a network; also if there are
    /// more than 2,000,000 networks.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let mut table = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') || (index == 0 && line.eq_ignore_ascii_case("network,country"))
            {
                continue;
            }
            let make_error = |message: String| TextError { line: index + 1, column: 1, message };
            table.add_line(line).map_err(make_error)?;
            if table.v4.len() + table.v6.len() > MAX_NETWORKS {
                return Err(make_error(format!("a table has at most {MAX_NETWORKS} networks")));
            }
        }
        table.sort_rows();
        match table.find_repeated() {
            Some(network) => Err(locate_network(text, network)),
            None => Ok(table),
        }
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let (network, country) = line.split_once(',').ok_or("write a network and a country: 203.0.113.0/24,DE")?;
        let network = parse_network(network.trim())?;
        let country = match country.trim().trim_matches('"').as_bytes() {
            [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                [a.to_ascii_uppercase(), b.to_ascii_uppercase()]
            }
            _ => return Err("the country after the comma has two letters, such as DE".to_owned()),
        };
        match network {
            IpNet::V4(network) => self.v4.push((network.prefix_len(), network.network().to_bits(), country)),
            IpNet::V6(network) => self.v6.push((network.prefix_len(), network.network().to_bits(), country)),
        }
        Ok(())
    }

    fn sort_rows(&mut self) {
        self.v4.sort_unstable();
        self.v6.sort_unstable();
        self.v4_lengths = self.v4.iter().rev().map(|row| row.0).collect();
        self.v4_lengths.dedup();
        self.v6_lengths = self.v6.iter().rev().map(|row| row.0).collect();
        self.v6_lengths.dedup();
    }

    /// Returns a network that the sorted rows contain twice.
    fn find_repeated(&self) -> Option<IpNet> {
        let v4 = self.v4.array_windows().find(|[a, b]| (a.0, a.1) == (b.0, b.1));
        let v6 = self.v6.array_windows().find(|[a, b]| (a.0, a.1) == (b.0, b.1));
        v4.and_then(|[row, _]| IpNet::new(IpAddr::V4(row.1.into()), row.0).ok())
            .or_else(|| v6.and_then(|[row, _]| IpNet::new(IpAddr::V6(row.1.into()), row.0).ok()))
    }

    /// Returns the country of an address. `None` if no network contains the address. An IPv4 address inside of IPv6
    /// (`::ffff:203.0.113.7`) is the IPv4 address.
    pub fn find_country(&self, address: IpAddr) -> Option<&str> {
        let country = match address.to_canonical() {
            IpAddr::V4(address) => self.v4_lengths.iter().find_map(|length| {
                let network = address.to_bits() & u32::MAX.checked_shl(32 - u32::from(*length)).unwrap_or(0);
                let row = self.v4.binary_search_by(|row| (row.0, row.1).cmp(&(*length, network))).ok()?;
                self.v4.get(row).map(|row| &row.2)
            }),
            IpAddr::V6(address) => self.v6_lengths.iter().find_map(|length| {
                let network = address.to_bits() & u128::MAX.checked_shl(128 - u32::from(*length)).unwrap_or(0);
                let row = self.v6.binary_search_by(|row| (row.0, row.1).cmp(&(*length, network))).ok()?;
                self.v6.get(row).map(|row| &row.2)
            }),
        };
        country.and_then(|country| std::str::from_utf8(country).ok())
    }
}

/// Reads a network. An address alone is a network of one address.
fn parse_network(text: &str) -> Result<IpNet, String> {
    let text = text.trim_matches('"');
    let network = ip_text::parse_network(text)
        .map_err(|_| "this is not a network, such as 203.0.113.0/24 or 2001:db8::/32".to_owned())?;
    if network.addr() == network.network() {
        Ok(network)
    } else {
        Err(format!("the network has bits behind its prefix: write {}", network.trunc()))
    }
}

/// Returns the error for a network that a text contains twice, at its second line.
fn locate_network(text: &str, network: IpNet) -> TextError {
    let is_same = |line: &str| line.split(',').next().is_some_and(|name| parse_network(name.trim()) == Ok(network));
    let line = text.lines().enumerate().filter(|(_, line)| is_same(line)).nth(1).map_or(1, |(index, _)| index + 1);
    TextError { line, column: 1, message: format!("the network {network} is in this table twice: keep one line") }
}
