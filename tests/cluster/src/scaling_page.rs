//! The files of `docs/scaling.md`, which the clusters of the tests use as they are, and the network of a cluster on
//! this machine.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};

/// The page.
const PAGE: &str = include_str!("../../../docs/scaling.md");

/// Start of the addresses on the page.
const DOCUMENTED_NETWORK: &str = "10.0.0.";
/// All addresses of the page. On this machine, connections to each of them come from 127.0.0.1.
const DOCUMENTED_ADDRESSES: &str = "10.0.0.0/24";
/// Address on the page under which a gateway reaches the HAProxy of its own machine.
const DOCUMENTED_LOOPBACK: &str = "127.0.0.1";

/// Returns the first block of the page after a text. The text is in front of one block only.
///
/// # Errors
/// If the page does not have the text, or no block after it.
pub(crate) fn find_block(after: &str) -> Result<&'static str> {
    let (_, rest) = PAGE.split_once(after).with_context(|| format!("docs/scaling.md does not have {after:?}"))?;
    let block = rest.split("```").nth(1).with_context(|| format!("docs/scaling.md has no block after {after:?}"))?;
    // The first line is the language.
    Ok(block.split_once('\n').map_or(block, |(_, lines)| lines))
}

/// Addresses of the loopback network that no other cluster uses. Each machine of the page gets one, so that the ports
/// stay as they are on the page.
pub(crate) struct LoopbackNetwork {
    /// Start of the addresses, such as `127.4.210.`.
    prefix: String,
}

impl LoopbackNetwork {
    /// Chooses addresses by the number of this process, and by the number of the cluster in it.
    pub(crate) fn choose() -> Self {
        static CLUSTERS: AtomicU32 = AtomicU32::new(0);
        let number = std::process::id().wrapping_mul(4).wrapping_add(CLUSTERS.fetch_add(1, Ordering::Relaxed));
        let [_, _, high, low] = number.to_be_bytes();
        // 127.0.0.1 is the address of other programs.
        Self { prefix: format!("127.{}.{low}.", high.max(1)) }
    }

    /// Returns the address of a machine, by the last number of its address on the page.
    pub(crate) fn address(&self, machine: u8) -> String {
        format!("{}{machine}", self.prefix)
    }

    /// Replaces the addresses of the page in a block.
    pub(crate) fn translate(&self, block: &str) -> String {
        let block = block.replace(DOCUMENTED_LOOPBACK, &self.address(100));
        block.replace(DOCUMENTED_ADDRESSES, "127.0.0.0/8").replace(DOCUMENTED_NETWORK, &self.prefix)
    }

    /// Returns the file of a machine of the cluster, made of the file of `db1` as the page says.
    pub(crate) fn translate_for(&self, block: &str, machine: u8) -> String {
        let translate_line = |line: &str| {
            let lists_all = line.contains("db2") || line.contains(&format!("{DOCUMENTED_NETWORK}2"));
            if lists_all {
                return line.to_owned();
            }
            let own = format!("{DOCUMENTED_NETWORK}{machine}:");
            line.replace("db1", &format!("db{machine}")).replace(&format!("{DOCUMENTED_NETWORK}1:"), &own)
        };
        let lines: Vec<String> = block.lines().map(translate_line).collect();
        self.translate(&(lines.join("\n") + "\n"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_other_machines_differ_in_their_own_name_and_address_only() {
        let network = LoopbackNetwork { prefix: "127.1.2.".to_owned() };
        let block = "name: db1\nlisten: 10.0.0.1:8008\nhosts: 10.0.0.1:2379,10.0.0.2:2379\nnet: 10.0.0.0/24\n";
        let expected = "name: db3\nlisten: 127.1.2.3:8008\nhosts: 127.1.2.1:2379,127.1.2.2:2379\nnet: 127.0.0.0/8\n";
        assert_eq!(network.translate_for(block, 3), expected);
        assert_eq!(network.translate("bind 127.0.0.1:5000\n"), "bind 127.1.2.100:5000\n");
    }

    #[test]
    fn a_block_is_found_by_the_text_before_it() {
        assert!(find_block("`/etc/patroni/config.yml`").unwrap().starts_with("scope: tillgate\n"));
        assert!(find_block("no such text").is_err());
    }
}
