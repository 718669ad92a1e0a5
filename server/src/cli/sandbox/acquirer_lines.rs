//! Options for the lines to an acquirer that speaks ISO 8583.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use serde::Deserialize;
use tillgate_connector::iso8583::connector::{Iso8583Config, Iso8583Connector, NAME};
use tillgate_gateway::registry::Registry;
use tillgate_os::text_file::read_text_file;
use tillgate_shared::result::codes;
use zeroize::Zeroizing;

use super::private_file::read_private_file;

/// Maximum size of a configuration or a dialect, in bytes.
const MAX_FILE: u64 = 256 * 1024;

/// The lines of a gateway.
#[derive(Debug, Args)]
pub(super) struct LineOptions {
    /// TOML file with the lines to a card acquirer that speaks ISO 8583, for channels with `--connector iso8583`.
    #[arg(long, value_name = "FILE", env = "TILLGATE_ACQUIRER_LINES")]
    acquirer_lines: Option<PathBuf>,
    /// File with the key of the authentication codes of messages on these lines, in hexadecimal digits, mode 0600.
    #[arg(long, value_name = "FILE", env = "TILLGATE_ACQUIRER_MAC_KEY_FILE", requires = "acquirer_lines")]
    acquirer_mac_key_file: Option<PathBuf>,
}

/// The key of a configuration that may name a file.
#[derive(Deserialize)]
struct DialectKey {
    dialect: Option<String>,
}

impl LineOptions {
    /// Starts the lines, in the current runtime, and adds their connector for sandboxes and for live entities. Adds
    /// nothing without `--acquirer-lines`.
    ///
    /// # Errors
    /// If a file cannot be read, or the configuration cannot be used. The error names the file.
    pub(super) fn add_connectors(&self, registry: Registry) -> anyhow::Result<Registry> {
        let Some(path) = &self.acquirer_lines else { return Ok(registry) };
        let text = read_text_file(path, MAX_FILE).with_context(|| format!("reading {}", path.display()))?;
        let (dialect, key) = (read_dialect_file(path, &text)?, self.read_mac_key()?);
        let config = Iso8583Config::parse(&text, dialect.as_ref().map(|text| text.as_str()));
        let started = config.and_then(|config| {
            let key = key.as_ref().map(|key| key.as_str());
            Iso8583Connector::start(NAME, config, key, codes::TEST_CONNECTOR)
        });
        let test = started.with_context(|| format!("the lines of {}", path.display()))?;
        let lines: Vec<_> = test.lines().map(|member| Arc::clone(&member.line)).collect();
        let live = test.with_approval_code(codes::SUCCESS_LIVE);
        Ok(registry.with_external(Arc::new(test), false).with_live(Arc::new(live)).with_lines(lines))
    }

    /// Reads the key of `--acquirer-mac-key-file`.
    fn read_mac_key(&self) -> anyhow::Result<Option<Zeroizing<String>>> {
        self.acquirer_mac_key_file.as_deref().map(read_private_file).transpose()
    }
}

/// Reads the file that the key `dialect` of a configuration names, relative to the folder of the configuration. `None`
/// if the key names a dialect of the program: such a name does not end with `.toml`.
fn read_dialect_file(config: &Path, text: &str) -> anyhow::Result<Option<Zeroizing<String>>> {
    // The configuration itself reports a text that is no TOML.
    let key = toml::from_str::<DialectKey>(text).ok().and_then(|keys| keys.dialect);
    let Some(name) = key.filter(|name| name.ends_with(".toml")) else { return Ok(None) };
    let path = config.parent().unwrap_or(Path::new("")).join(name);
    let text = read_text_file(&path, MAX_FILE).with_context(|| format!("reading the dialect {}", path.display()))?;
    Ok(Some(text))
}
