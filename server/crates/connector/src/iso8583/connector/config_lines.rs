//! The lines of a connector's configuration: addresses, limits and routing rules.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;

use super::config::Iso8583ConfigError;
use super::routing::LineRules;
use crate::line::{LineAddress, LineConfig, LineLimits, LineSecurity};

/// Maximum number of lines. The groups of lines are remembered by the set of their members.
const MAX_LINES: usize = 32;

/// System of a line that names none.
const USUAL_SYSTEM: &str = "acquirer";
/// Maximum length of the name of a system. It is stored with each payment.
const MAX_SYSTEM_NAME: usize = 32;

/// A line in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LineTable {
    name: String,
    address: String,
    #[serde(default)]
    priority: u8,
    security: SecurityEntry,
    ca_file: Option<PathBuf>,
    system: Option<String>,
    #[serde(default)]
    entities: LineEntities,
    #[serde(default)]
    limits: LimitsTable,
    brands: Option<Vec<String>>,
    bins: Option<Vec<String>>,
    currencies: Option<Vec<String>>,
    min_amount: Option<String>,
    max_amount: Option<String>,
    countries: Option<Vec<String>>,
}

/// Entities whose payments a line takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LineEntities {
    /// All. A host that keeps test payments apart by itself, or a connector with entities of one kind only.
    #[default]
    All,
    /// Live entities.
    Live,
    /// Sandboxes.
    Sandbox,
}

impl LineEntities {
    /// Returns true if these are entities of this kind.
    pub(super) fn admit(self, is_live: bool) -> bool {
        match self {
            Self::All => true,
            Self::Live => is_live,
            Self::Sandbox => !is_live,
        }
    }
}

/// Encryption of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SecurityEntry {
    Plain,
    Tls,
}

/// Limits of a line. Those that are missing have their defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    max_in_flight: Option<usize>,
    connect_timeout_ms: Option<u64>,
    write_timeout_ms: Option<u64>,
    echo_interval_ms: Option<u64>,
    echo_timeout_ms: Option<u64>,
    first_backoff_ms: Option<u64>,
    max_backoff_ms: Option<u64>,
    circuit_failures: Option<u32>,
    circuit_open_time_ms: Option<u64>,
    key_keep_time_ms: Option<u64>,
}

/// A line with its priority and rules.
#[derive(Debug, Clone)]
pub(super) struct RoutedLineConfig {
    /// The line.
    pub(super) line: LineConfig,
    /// Priority, 0 first.
    pub(super) priority: u8,
    /// Name of the acquirer's system.
    pub(super) system: Arc<str>,
    /// Entities whose payments the line takes.
    pub(super) entities: LineEntities,
    /// Rules.
    pub(super) rules: LineRules,
}

impl RoutedLineConfig {
    /// Checks all lines. Their names are different.
    pub(super) fn read_all(tables: Vec<LineTable>, answer_timeout: Duration) -> Result<Vec<Self>, Iso8583ConfigError> {
        if !(1..=MAX_LINES).contains(&tables.len()) {
            return Err(Iso8583ConfigError::new("lines", format!("has to be 1 to {MAX_LINES} lines")));
        }
        let mut lines: Vec<Self> = Vec::new();
        for table in tables {
            let name = table.name.clone();
            if name.is_empty() || lines.iter().any(|other| other.line.name == name) {
                return Err(Iso8583ConfigError::new("lines", format!("the name {name:?} is empty or there twice")));
            }
            lines.push(table.read_line(answer_timeout)?);
        }
        Ok(lines)
    }
}

impl LineTable {
    fn read_line(self, answer_timeout: Duration) -> Result<RoutedLineConfig, Iso8583ConfigError> {
        let name = self.name.clone();
        let refuse_line = |error| Iso8583ConfigError::Line { name: name.clone(), error };
        let key = |key: &str| format!("lines, {:?}, {key}", self.name);
        let security = match (self.security, self.ca_file) {
            (SecurityEntry::Tls, ca_file) => LineSecurity::Tls { ca_file },
            (SecurityEntry::Plain, None) => LineSecurity::Plain,
            (SecurityEntry::Plain, Some(_)) => {
                return Err(Iso8583ConfigError::new(key("ca_file"), "has no effect: security is \"plain\""));
            }
        };
        let limits = self.limits.apply(answer_timeout);
        limits.check_ranges().map_err(refuse_line)?;
        let mut rules = LineRules::default();
        rules.set_brands(self.brands).map_err(|fault| Iso8583ConfigError::new(key("brands"), fault))?;
        rules.set_bins(self.bins).map_err(|fault| Iso8583ConfigError::new(key("bins"), fault))?;
        rules.set_currencies(self.currencies).map_err(|fault| Iso8583ConfigError::new(key("currencies"), fault))?;
        rules
            .set_amounts(self.min_amount.as_deref(), self.max_amount.as_deref())
            .map_err(|fault| Iso8583ConfigError::new(key("min_amount, max_amount"), fault))?;
        rules.set_countries(self.countries).map_err(|fault| Iso8583ConfigError::new(key("countries"), fault))?;
        let system = self.system.as_deref().unwrap_or(USUAL_SYSTEM);
        if !is_system_name(system) {
            let fault = format!("has to be 1 to {MAX_SYSTEM_NAME} letters, digits and hyphens");
            return Err(Iso8583ConfigError::new(key("system"), fault));
        }
        let address = LineAddress::parse(&self.address).map_err(refuse_line)?;
        let line = LineConfig { name: self.name.clone(), address, security, limits };
        let system = system.into();
        Ok(RoutedLineConfig { line, priority: self.priority, system, entities: self.entities, rules })
    }
}

impl LimitsTable {
    fn apply(&self, answer_timeout: Duration) -> LineLimits {
        let usual = LineLimits::default();
        let time = |entry: Option<u64>, usual: Duration| entry.map_or(usual, Duration::from_millis);
        LineLimits {
            max_in_flight: self.max_in_flight.unwrap_or(usual.max_in_flight),
            connect_timeout: time(self.connect_timeout_ms, usual.connect_timeout),
            // A line refuses a time to write that is longer than the time to answer.
            write_timeout: time(self.write_timeout_ms, usual.write_timeout.min(answer_timeout)),
            answer_timeout,
            echo_interval: time(self.echo_interval_ms, usual.echo_interval),
            echo_timeout: time(self.echo_timeout_ms, usual.echo_timeout),
            first_backoff: time(self.first_backoff_ms, usual.first_backoff),
            max_backoff: time(self.max_backoff_ms, usual.max_backoff),
            circuit_failures: self.circuit_failures.unwrap_or(usual.circuit_failures),
            circuit_open_time: time(self.circuit_open_time_ms, usual.circuit_open_time),
            key_keep_time: time(self.key_keep_time_ms, usual.key_keep_time),
        }
    }
}

fn is_system_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MAX_SYSTEM_NAME).contains(&name.len()) && name.bytes().all(is_part)
}
