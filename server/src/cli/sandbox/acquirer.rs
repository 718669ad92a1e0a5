//! Options for the gateway's acquirer, for every command that runs the gateway.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use jiff::civil::Time;
use tillgate_connector::http::{Deadlines, HostAddress, HostClient, HttpConnector, NAME, SharedKey};
use tillgate_connector::web::address::HostAddressError;
use tillgate_connector::{Capabilities, CaptureSupport};
use tillgate_domain::payment::PaymentType;
use tillgate_gateway::registry::Registry;
use tillgate_os::clock::SystemClock;
use tillgate_sandbox::acquirer_host::embedded::EmbeddedHost;
use tillgate_shared::brand::Brand;
use tillgate_shared::money::Currency;
use tillgate_shared::result::codes;

use crate::cli::sandbox::acquirer_lines::LineOptions;
use crate::cli::sandbox::upstream::UpstreamOptions;
use crate::cli::serve::connection_options::parse_timeout;

/// Data folder of the acquirer's host inside this process, below the gateway's data folder.
const FOLDER: &str = "acquirer-host";

/// The acquirer of a gateway.
#[derive(Debug, Args)]
pub(in crate::cli) struct AcquirerOptions {
    /// Address of the acquirer's host for the connector `http`: https://, or http:// on this machine.
    /// Default for sandboxes: a host with play money inside this process.
    #[arg(long, value_name = "URL", env = "TILLGATE_ACQUIRER", value_parser = parse_address, requires = "acquirer_key_file")]
    acquirer: Option<HostAddress>,
    /// File with the key that the gateway shares with the acquirer's host: 64 hexadecimal digits, mode 0600.
    #[arg(long, value_name = "FILE", env = "TILLGATE_ACQUIRER_KEY_FILE", requires = "acquirer")]
    acquirer_key_file: Option<PathBuf>,
    /// Maximum time for the acquirer's host to respond. A payment without a response is pending until its outcome is
    /// known.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_ACQUIRER_TIMEOUT", default_value = "15s")]
    #[arg(value_parser = parse_limited_timeout)]
    acquirer_timeout: Duration,
    /// Payment types that the acquirer supports, including follow-up payments, separated by commas. Default: all.
    #[arg(long, value_name = "TYPES", env = "TILLGATE_ACQUIRER_PAYMENT_TYPES", value_delimiter = ',')]
    #[arg(value_parser = parse_payment_type)]
    acquirer_payment_types: Option<Vec<PaymentType>>,
    /// Brands that the acquirer supports, separated by commas. Default: all.
    #[arg(long, value_name = "CODES", env = "TILLGATE_ACQUIRER_BRANDS", value_delimiter = ',', value_parser = parse_brand)]
    acquirer_brands: Option<Vec<String>>,
    /// Currencies that the acquirer supports, separated by commas. Default: all.
    #[arg(long, value_name = "CODES", env = "TILLGATE_ACQUIRER_CURRENCIES", value_delimiter = ',')]
    #[arg(value_parser = parse_currency)]
    acquirer_currencies: Option<Vec<String>>,
    /// Captures of a preauthorization that the acquirer supports: several parts, one part, or the whole amount once.
    #[arg(long, value_name = "HOW", env = "TILLGATE_ACQUIRER_CAPTURES", value_enum, default_value = "parts")]
    acquirer_captures: CaptureChoice,
    /// Increments of a preauthorization: `taken`, or `refused` by the acquirer.
    #[arg(long, value_name = "HOW", env = "TILLGATE_ACQUIRER_INCREMENTS", value_enum, default_value = "taken")]
    acquirer_increments: TakenOrRefused,
    /// Captures of more than the authorized amount: `taken`, or `refused` by the acquirer.
    #[arg(long, value_name = "HOW", env = "TILLGATE_ACQUIRER_OVERCAPTURE", value_enum, default_value = "taken")]
    acquirer_overcapture: TakenOrRefused,
    /// Time of day, UTC, at which the acquirer books debits and credits, which ends their reversal window: later they
    /// can only be refunded. Default: `--reversal-window` applies.
    #[arg(long, value_name = "HH:MM", env = "TILLGATE_ACQUIRER_CUT_OFF", value_parser = parse_cut_off)]
    acquirer_cut_off: Option<Time>,
    #[command(flatten)]
    lines: LineOptions,
    #[command(flatten)]
    upstream: UpstreamOptions,
}

/// The captures that an acquirer takes.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CaptureChoice {
    Parts,
    OnePart,
    Whole,
}

/// A choice about requests that not every acquirer takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TakenOrRefused {
    Taken,
    Refused,
}

impl AcquirerOptions {
    /// Builds the connectors of a gateway with this data folder. `--acquirer` names the host for external payments of
    /// sandboxes and for live entities. Without it, external payments of sandboxes go to a host inside this process,
    /// and live entities have no such connector. `--acquirer-lines` and `--upstream` each add another connector for
    /// both.
    ///
    /// # Errors
    /// If a file or the system's certificates cannot be read.
    pub(in crate::cli) fn build_connectors(&self, data: &Path) -> anyhow::Result<Registry> {
        self.upstream.add_connectors(self.lines.add_connectors(self.build_http_connectors(data)?)?)
    }

    fn build_http_connectors(&self, data: &Path) -> anyhow::Result<Registry> {
        let deadlines = Deadlines::for_answer_within(self.acquirer_timeout);
        let (Some(address), Some(key)) = (&self.acquirer, &self.acquirer_key_file) else {
            let host = EmbeddedHost::new(data.join(FOLDER), deadlines, self.build_capabilities())?;
            return Ok(Registry::default().with_external(Arc::new(host), true));
        };
        let key = SharedKey::read_from_file(key).context("reading the key of the acquirer's host")?;
        let client = HostClient::new(address.clone(), key, deadlines, Arc::new(SystemClock));
        let client = client.context("the system's certificates")?;
        let test = HttpConnector::new(NAME, client.clone(), self.build_capabilities(), codes::TEST_CONNECTOR);
        let live = HttpConnector::new(NAME, client, self.build_capabilities(), codes::SUCCESS_LIVE);
        Ok(Registry::default().with_external(Arc::new(test), true).with_live(Arc::new(live)))
    }

    /// Returns what the acquirer takes: all payment types, brands and currencies that no option limits.
    fn build_capabilities(&self) -> Capabilities {
        Capabilities {
            payment_types: self.acquirer_payment_types.clone(),
            brands: self.acquirer_brands.clone(),
            currencies: self.acquirer_currencies.clone(),
            captures: match self.acquirer_captures {
                CaptureChoice::Parts => CaptureSupport::Parts,
                CaptureChoice::OnePart => CaptureSupport::OnePart,
                CaptureChoice::Whole => CaptureSupport::Whole,
            },
            increments: self.acquirer_increments == TakenOrRefused::Taken,
            overcapture: self.acquirer_overcapture == TakenOrRefused::Taken,
            cut_off: self.acquirer_cut_off,
            is_external: true,
        }
    }
}

/// Creates the host inside this process that a gateway without options has.
pub(in crate::cli) fn embed_default_host(data: &Path) -> std::io::Result<EmbeddedHost> {
    EmbeddedHost::new(data.join(FOLDER), Deadlines::default(), Capabilities::without_limits(true))
}

pub(super) fn parse_address(text: &str) -> Result<HostAddress, HostAddressError> {
    HostAddress::parse(text)
}

/// Reads a time limit from 1 ms to 50 s. Together with the connect timeout it has to be shorter than the gateway's own
/// time limit.
pub(super) fn parse_limited_timeout(text: &str) -> Result<Duration, String> {
    let limit = parse_timeout(text)?;
    let range = Duration::from_millis(1)..=Duration::from_secs(50);
    if range.contains(&limit) { Ok(limit) } else { Err("a time limit is between 1ms and 50s".to_owned()) }
}

/// Reads a payment type, follow-up payments included. Refuses chargebacks, because the acquirer reports them.
fn parse_payment_type(text: &str) -> Result<PaymentType, String> {
    let known = PaymentType::parse(text)
        .filter(|known| !matches!(known, PaymentType::Chargeback | PaymentType::ChargebackReversal));
    known.ok_or_else(|| "is not a payment type that an acquirer takes, such as DB or RF".to_owned())
}

/// Checks that a text is the code of a known brand.
fn parse_brand(text: &str) -> Result<String, String> {
    let known = Brand::find(text).map(|brand| brand.code.to_owned());
    known.ok_or_else(|| "is not a brand that this gateway knows, such as VISA".to_owned())
}

/// Checks that a text is the code of a currency in use.
fn parse_currency(text: &str) -> Result<String, String> {
    let known = Currency::parse(text).map(|currency| currency.code().to_owned());
    known.ok_or_else(|| "is not an ISO 4217 code in use, such as EUR".to_owned())
}

/// Reads a time of day, such as `22:00`.
fn parse_cut_off(text: &str) -> Result<Time, String> {
    text.parse().map_err(|error| format!("{error}; example: 22:00"))
}
