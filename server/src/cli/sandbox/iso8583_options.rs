//! Options of the acquirer's host for ISO 8583.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use tillgate_connector::iso8583::{DIALECTS, Dialect, MacKey};
use tillgate_os::text_file::read_text_file;
use tillgate_sandbox::acquirer_host::iso8583::IsoServerOptions;

use super::acquirer_host::parse_delay;

/// Maximum size of a dialect's file, in bytes.
const MAX_DIALECT: u64 = 1024 * 1024;
/// Maximum size of a key file, in bytes.
const MAX_KEY: u64 = 1024;

/// Arguments of the listener for ISO 8583.
#[derive(Debug, Args)]
pub(super) struct Iso8583Arguments {
    /// Address to listen on for ISO 8583. Port 0 selects a free port.
    #[arg(long, value_name = "ADDR", requires = "dialect")]
    iso8583: Option<SocketAddr>,
    /// Dialect of the ISO 8583 messages: name of a shipped dialect, or TOML file.
    #[arg(long, value_name = "NAME|FILE", requires = "iso8583")]
    dialect: Option<String>,
    /// File with the key of the messages' MACs in hexadecimal digits. Needed if the dialect has MACs.
    #[arg(long, value_name = "FILE", requires = "iso8583")]
    mac_key_file: Option<PathBuf>,
    /// Time without a message after which the host sends an echo on an ISO 8583 connection. Default: 60s.
    #[arg(long, value_name = "DURATION", requires = "iso8583", value_parser = parse_echo_time)]
    echo_after: Option<Duration>,
}

impl Iso8583Arguments {
    /// Reads the files of the arguments. Returns `None` without `--iso8583`.
    pub(super) fn load_options(&self) -> anyhow::Result<Option<IsoServerOptions>> {
        let (Some(listen), Some(dialect)) = (self.iso8583, &self.dialect) else { return Ok(None) };
        let dialect = load_dialect(dialect)?;
        let mac_key = match &self.mac_key_file {
            Some(path) => Some(load_mac_key(&dialect, path)?),
            None => None,
        };
        let options = IsoServerOptions::new(listen, dialect, mac_key);
        let echo_after = self.echo_after.unwrap_or(options.echo_after);
        Ok(Some(IsoServerOptions { echo_after, ..options }))
    }
}

/// Loads a dialect by the name of a shipped one, or from a file.
fn load_dialect(name: &str) -> anyhow::Result<Dialect> {
    if let Some((_, text)) = DIALECTS.iter().find(|(shipped, _)| *shipped == name) {
        return Dialect::parse(text).with_context(|| format!("reading the dialect {name} failed"));
    }
    let text = read_text_file(Path::new(name), MAX_DIALECT).with_context(|| {
        let names = DIALECTS.map(|(name, _)| name).join(", ");
        format!("--dialect {name} is neither one of {names} nor a file that can be read")
    })?;
    Dialect::parse(&text).with_context(|| format!("reading the dialect {name} failed"))
}

/// Loads the MAC key of a dialect. The file may be read by its owner only.
fn load_mac_key(dialect: &Dialect, path: &Path) -> anyhow::Result<MacKey> {
    let shown = path.display();
    let Some(rule) = dialect.mac() else {
        bail!("--mac-key-file has no effect: the dialect {} has no MACs", dialect.name());
    };
    let text = read_text_file(path, MAX_KEY).with_context(|| format!("reading {shown} failed"))?;
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        bail!("{shown} may be read by others than its owner: chmod 600");
    }
    let key = MacKey::parse(rule.algorithm, text.strip_suffix('\n').unwrap_or(&text));
    key.with_context(|| format!("{shown} has no MAC key: 32 hexadecimal digits, with AES also 48 or 64"))
}

/// Reads a duration above zero.
fn parse_echo_time(text: &str) -> Result<Duration, String> {
    let time = parse_delay(text)?;
    // Without a pause the host would send nothing but echoes.
    if time.is_zero() { Err("the time is above zero".to_owned()) } else { Ok(time) }
}
