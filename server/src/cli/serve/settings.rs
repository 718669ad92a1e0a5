//! Settings of the gateway: its options, and the gateway that they open.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};
use rust_decimal::Decimal;
use tillgate_api::form::Builds;
use tillgate_api::{AppState, Draining, FieldsUrl, InFlight, ReportLimiter, ResponseCache, WrongCredentials};
use tillgate_domain::ip_text;
use tillgate_domain::payment::retry_rules::RetryRules;
use tillgate_gateway::registry;
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_gateway::risk::velocity::VelocityLimiter;
use tillgate_gateway::{App, Gateway, GatewayOptions, GatewayParts};
use tillgate_net::listener::ConnectionLimits;
use tillgate_net::low_priority::LowPriorityThreads;
use tillgate_net::outgoing::OutgoingClient;
use tillgate_os::clock::{Clock as _, SystemClock};
use tillgate_os::id_clock::IdClock;
use tillgate_os::warning_log::WarningLog;
use tillgate_store::entity_directory::Directory;
use tillgate_store::settlement::booking_correction::CorrectedBookings;
use tillgate_store::{DEFAULT_WRITERS, DiskFault, Store, StoreError, WriteLimits};
use tillgate_vault::{Keyring, Vault};

use super::log::{LogFormat, start_log};
use super::value_parsers::{FormKey, parse_form_key, parse_node, parse_public_url};
use crate::cli::data_place::DataPlace;
use crate::cli::input_file::read_input_file;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::risk::fact_files::RiskFileOptions;
use crate::cli::sandbox::acquirer::AcquirerOptions;
use crate::cli::serve::abuse_limits::LimitOptions;
use crate::cli::serve::connection_options::ConnectionOptions;
use crate::cli::serve::connection_options::parse_timeout;
use crate::cli::serve::office_options::{OfficeOptions, OpenOffice};
use crate::cli::serve::payment_lifetimes::PaymentLifetimeOptions;
use crate::cli::serve::ports::PortOptions;
use crate::cli::serve::setup_check::check_setup;
use crate::cli::serve::three_ds_options::ThreeDsOptions;

/// Lag of the machine's clock behind the newest id above which a warning is logged. Time servers correct smaller lags
/// now and then.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(10);

/// Largest size of a file of retry rules, in bytes.
const MAX_RETRY_RULES: u64 = 1 << 20;

/// Settings of the gateway.
#[derive(Debug, Args)]
pub(in crate::cli) struct GatewaySettings {
    /// Address at which shoppers' browsers reach the gateway. Default: the Host header of each request.
    #[arg(long, value_name = "URL", env = "TILLGATE_PUBLIC_URL", value_parser = parse_public_url)]
    pub(in crate::cli) public_url: Option<String>,
    /// Address of the card frames with a separate host name, so that no other page of the gateway shares their origin.
    #[arg(long, value_name = "URL", env = "TILLGATE_FIELDS_URL", value_parser = parse_public_url, requires = "public_url")]
    pub(in crate::cli) fields_url: Option<String>,
    /// Network of proxies whose X-Forwarded-For, -Host and -Proto are trusted, such as 10.0.0.0/8. May be repeated.
    #[arg(long = "trusted-proxy", value_name = "CIDR", env = "TILLGATE_TRUSTED_PROXIES", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    pub(in crate::cli) trusted_proxies: Vec<IpNet>,
    /// Network that is not public but allowed for messages to merchants, such as 10.0.0.0/8. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    pub(in crate::cli) allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// Name of this node, with which its checkout ids end: 1 to 15 lowercase letters, digits and hyphens.
    #[arg(long, env = "TILLGATE_NODE", default_value = "tx01", value_parser = parse_node)]
    node: String,
    #[command(flatten)]
    lifetimes: PaymentLifetimeOptions,
    /// Length of the write queue, in requests that wait for the disk. Further requests get 503 at once, so that clients
    /// retry. A slow disk needs a shorter write queue.
    #[arg(long, value_name = "N", env = "TILLGATE_WRITE_QUEUE", default_value_t = 1024)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    write_queue: u32,
    /// Time for which a write waits for another process's transaction, such as a backup, before the request gets 503.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_LOCK_TIMEOUT", default_value = "10s", value_parser = parse_timeout)]
    lock_timeout: Duration,
    /// Number of connections that write into a database, each for another merchant at a time. A file has one writer.
    #[arg(long, value_name = "N", env = "TILLGATE_WRITERS")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    writers: Option<u32>,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    connections: ConnectionOptions,
    #[command(flatten)]
    office: OfficeOptions,
    #[command(flatten)]
    acquirer: AcquirerOptions,
    #[command(flatten)]
    three_ds: ThreeDsOptions,
    #[command(flatten)]
    risk_files: RiskFileOptions,
    /// File with the card schemes' rules for attempts after a decline, in TOML, instead of the rules in this binary.
    /// Read at the start.
    #[arg(long, value_name = "FILE", env = "TILLGATE_RETRY_RULES")]
    retry_rules: Option<PathBuf>,
    /// Folder of a form that `cargo xtask form` has built, instead of the form in this binary.
    #[arg(long, value_name = "DIR", env = "TILLGATE_FORM")]
    form: Option<PathBuf>,
    /// Ed25519 public key (base64) that verifies builds of the form. The gateway does not start with a form that is not
    /// signed with this key.
    #[arg(long, value_name = "KEY", env = "TILLGATE_FORM_KEY", value_parser = parse_form_key)]
    form_key: Option<FormKey>,
    /// Format of log lines. TILLGATE_LOG filters the lines, for example `info,tillgate::access=off`.
    #[arg(long, value_enum, env = "TILLGATE_LOG_FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

impl GatewaySettings {
    /// Returns the limits of connections. Raises the process's limit of open files first, as far as the system allows.
    pub(in crate::cli) fn connection_limits(&self) -> ConnectionLimits {
        self.connections.listener_limits(&self.trusted_proxies)
    }

    /// Returns the time between the announcement of the end and the end.
    pub(in crate::cli) fn drain_time(&self) -> Duration {
        self.connections.drain_time()
    }

    /// Makes this process a node of its cluster, under the name of the option. Does nothing for a data folder.
    pub(in crate::cli) async fn join_cluster(&self, state: &AppState) -> anyhow::Result<()> {
        Ok(state.gateway.store.join_cluster(&self.node).await?)
    }

    /// Opens the back office of a gateway.
    pub(in crate::cli) fn open_office(
        &self,
        state: &AppState,
        warnings: Arc<WarningLog>,
        ftp_certificate: Option<PathBuf>,
    ) -> anyhow::Result<OpenOffice> {
        self.office.open_office(state, warnings, ftp_certificate)
    }

    /// Allows messages to this machine itself, where the demo shop runs, in addition to the networks of the option.
    pub(in crate::cli) fn allow_loopback(&mut self) {
        self.allowed_networks
            .extend([IpNet::from(IpAddr::from(Ipv4Addr::LOCALHOST)), IpAddr::from(Ipv6Addr::LOCALHOST).into()]);
    }

    /// Opens everything that a gateway needs: form, vault, store, connectors, outgoing requests. Creates the store and
    /// the vault's key if they are missing, and archives the current build of the form.
    pub(in crate::cli) async fn open_gateway(&self, place: &DataPlace) -> anyhow::Result<Arc<AppState>> {
        if self.writers.is_some() && !place.is_database() {
            anyhow::bail!(
                "--writers is for a database: a data folder has one writer. Remove the option, or TILLGATE_WRITERS"
            );
        }
        let fields_url = self.parse_fields_url()?;
        let builds = self.load_builds(fields_url.as_ref())?;
        let directory = self.create_directory()?;
        let (source, vault) = self.vault.open_vault(&place.open_store()?, place)?;
        let vault = Arc::new(vault);
        let keys = Keyring { vault: Arc::clone(&vault), source };
        let store = place.open_to_serve(Arc::clone(&directory), keys, self.write_limits())?;
        correct_bookings(place, &vault)?;
        let setup_faults = check_setup(self, place.folder(), &directory, &store)?;
        self.lifetimes.check_review()?;
        directory.set_hash_key(store.load_token_hash_key(&vault).await?);
        let account_index = store.open_account_index(&vault).await?;
        let builds = builds.with_earlier_builds(&store, &vault, SystemClock.now()).await?;
        let now = SystemClock.now();
        let velocity = VelocityLimiter::new(self.limits.velocity_limits(), store.load_velocity_counts(now)?, now);
        let app = App {
            gateway: Gateway::new(GatewayParts {
                id_clock: create_id_clock(&store, now)?,
                directory,
                store,
                clock: Arc::new(SystemClock),
                connectors: self.three_ds.add_server(self.acquirer.build_connectors(place.folder())?)?,
                vault,
                account_index,
                velocity,
                options: self.gateway_options()?,
            }),
            outgoing: OutgoingClient::new(&self.allowed_networks, self.ports.allowed_ports())
                .context("the system's certificates")?,
            low_priority: LowPriorityThreads::start().context("starting threads of low priority")?,
        };
        Ok(Arc::new(AppState {
            app: Arc::new(app),
            builds: Arc::new(builds),
            response_cache: ResponseCache::default(),
            in_flight: InFlight::default(),
            report_limiter: ReportLimiter::default(),
            public_url: self.public_url.clone(),
            pages_host: self.office.find_host(self.public_url.as_deref(), self.fields_url.as_deref())?,
            fields_url,
            wrong_credentials: WrongCredentials::new(self.limits.wrong_credentials_per_address),
            trusted_proxies: self.trusted_proxies.clone(),
            setup_faults,
            draining: Draining::default(),
        }))
    }

    /// Loads the builds of the form.
    fn load_builds(&self, fields_url: Option<&FieldsUrl>) -> anyhow::Result<Builds> {
        let key = self.form_key.as_ref().map(|key| &key.0[..]);
        Ok(Builds::load(self.form.as_deref(), fields_url.map(FieldsUrl::as_str), key)?)
    }

    fn write_limits(&self) -> WriteLimits {
        let queue = usize::try_from(self.write_queue).unwrap_or(usize::MAX);
        let writers =
            self.writers.map_or(DEFAULT_WRITERS, |writers| usize::try_from(writers).unwrap_or(DEFAULT_WRITERS));
        WriteLimits { queue, lock_timeout: self.lock_timeout, writers }
    }

    /// Creates the directory, with the operator's lists for risk rules.
    fn create_directory(&self) -> anyhow::Result<Arc<Directory>> {
        let directory =
            Arc::new(Directory::new(compile_stored_rules).with_examination(registry::warn_of_unknown_connectors));
        directory.risk.set_operator_lists(self.risk_files.load_lists()?);
        Ok(directory)
    }

    /// Reads the schemes' rules for attempts after a decline. An error names the file and the key.
    fn load_retry_rules(&self) -> anyhow::Result<RetryRules> {
        let Some(path) = &self.retry_rules else { return Ok(RetryRules::default()) };
        let text = read_input_file(path, MAX_RETRY_RULES)?;
        text.parse().map_err(|error: String| anyhow::anyhow!("{}: {error}", path.display()))
    }

    /// Returns the gateway's own options.
    fn gateway_options(&self) -> anyhow::Result<GatewayOptions> {
        Ok(GatewayOptions {
            node: self.node.clone(),
            card_window: self.lifetimes.card_window,
            time_limits: self.lifetimes.time_limits(),
            pending_lifetime: self.lifetimes.pending_lifetime,
            review_lifetime: self.lifetimes.review_lifetime(),
            limits: self.limits.velocity_limits(),
            retry_rules: Arc::new(self.load_retry_rules()?),
        })
    }

    /// Returns the address of the card frames, `None` if they have no host of their own. Refuses an address that does
    /// not fit the public one.
    fn parse_fields_url(&self) -> anyhow::Result<Option<FieldsUrl>> {
        let (Some(fields), Some(public)) = (&self.fields_url, &self.public_url) else { return Ok(None) };
        FieldsUrl::new(fields, public).map(Some).map_err(|error| anyhow::anyhow!("--fields-url {fields} {error}"))
    }

    /// Starts logging as [`start_log`] does.
    pub(in crate::cli) fn start_log(&self) -> Arc<WarningLog> {
        start_log(self.log_format)
    }
}

/// Corrects wrong bookings of earlier versions. Logs them, so that the operator knows why balances have changed.
fn correct_bookings(place: &DataPlace, vault: &Vault) -> anyhow::Result<()> {
    let corrections = place.open_with_vault(Some(vault))?.correct_bookings()?;
    for ((entity, currency), CorrectedBookings { bookings, settled, receivable }) in corrections {
        let amount = Decimal::new(receivable, 2);
        tracing::warn!(
            entity = entity.as_str(), currency, bookings, settled, %amount,
            "reversals of voided payments had been booked, and are corrected in the ledger; the next batch pays or collects \
             the settled amounts"
        );
    }
    Ok(())
}

/// Creates the clock of new ids, which begins after the newest id in the store, or now if that is later. Warns if the
/// machine's clock is more than 10 s behind that id. In a damaged store it begins now.
fn create_id_clock(store: &Store, now: Timestamp) -> Result<IdClock, StoreError> {
    let newest = match store.newest_id_time(now) {
        // A damaged store gets no new ids. It is still served, so that the readable data can be read.
        Err(error) if matches!(error.disk_fault(), Some(DiskFault::Damaged)) => now,
        newest => newest?,
    };
    if newest.duration_since(now) > CLOCK_TOLERANCE {
        tracing::warn!(
            newest = %format_args!("{newest:.0}"),
            behind = %format_args!("{:#.0}", newest.duration_since(now)),
            "the machine's clock is behind the newest id in the store: check the clock. New ids continue from that time until \
             the clock has caught up, and queries by day find them on that day"
        );
    }
    // The millisecond of the newest id is already in use.
    let first = newest.checked_add(SignedDuration::from_millis(1)).unwrap_or(newest);
    Ok(IdClock::starting_at(if newest > now { first } else { now }))
}
