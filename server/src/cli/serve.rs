//! `tillgate serve`: runs the gateway.

pub mod abuse_limits;
pub mod connection_options;
pub mod ftp_options;
pub mod ftp_user;
pub mod lifetimes;
pub mod office_options;
pub mod place;
pub mod ports;
pub mod setup_check;

use std::io::{IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use clap::{Args, ValueEnum};
use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};
use rust_decimal::Decimal;
use tillgate_api::{AppState, FieldsUrl, InFlight, ReportLimiter, ResponseCache, WrongCredentials};
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::is_node_name;
use tillgate_domain::ip_text;
use tillgate_files::ftp;
use tillgate_gateway::checkout::reminder::StatusReads;
use tillgate_gateway::checkout::summary::SavedForms;
use tillgate_gateway::create_evidence_places;
use tillgate_gateway::payment::PaymentsInFlight;
use tillgate_gateway::payment::security_codes::SecurityCodeCache;
use tillgate_gateway::registry;
use tillgate_gateway::risk::dry_run::DryRunSlots;
use tillgate_gateway::risk::stored_rules::compile_stored_rules;
use tillgate_gateway::risk::velocity::VelocityLimiter;
use tillgate_gateway::{App, Gateway, GatewayOptions};
use tillgate_machine::clock::{Clock as _, SystemClock};
use tillgate_machine::id_clock::IdClock;
use tillgate_machine::process;
use tillgate_net::listener::{self, ConnectionLimits};
use tillgate_net::low_priority::LowPriorityThreads;
use tillgate_net::outgoing::OutgoingClient;
use tillgate_store::directory::Directory;
use tillgate_store::settlement::booking_correction::CorrectedBookings;
use tillgate_store::{AdminStore, DiskFault, Sources, Store, StoreError, WriteLimits};
use tillgate_vault::{Keyring, Vault};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::risk::RiskFileOptions;
use super::{CommonOptions, open_store};
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::sandbox::acquirer::AcquirerOptions;
use crate::cli::serve::abuse_limits::LimitOptions;
use crate::cli::serve::connection_options::ConnectionOptions;
use crate::cli::serve::connection_options::parse_timeout;
use crate::cli::serve::ftp_options::{BoundFtp, FtpArguments};
use crate::cli::serve::lifetimes::LifetimeOptions;
use crate::cli::serve::office_options::{OfficeOptions, OpenOffice};
use crate::cli::serve::ports::PortOptions;
use crate::cli::serve::setup_check::check_setup;
use crate::worker;
use tillgate_api::form::Builds;

/// Maximum time for requests in flight to end on shutdown, and then the same time for webhook deliveries.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(15);

/// Lag of the machine's clock behind the newest id above which a warning is logged. Time servers correct smaller lags
/// now and then.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(10);

/// Run the gateway.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate serve --data ./tillgate-data --listen 127.0.0.1:8080 --public-url https://pay.example\n\n\
    It prints `listening on http://ADDR` when it is ready, and ends what is under way on SIGTERM."
)]
pub(super) struct Serve {
    #[command(flatten)]
    pub(super) common: CommonOptions,
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", env = "TILLGATE_LISTEN", default_value = "127.0.0.1:8080")]
    pub(super) listen: SocketAddr,
    #[command(flatten)]
    ftp: FtpArguments,
    #[command(flatten)]
    pub(super) settings: GatewaySettings,
}

/// Settings of the gateway.
#[derive(Debug, Args)]
pub(super) struct GatewaySettings {
    /// The address under which shoppers' browsers reach the gateway; taken from each request's Host when absent.
    #[arg(long, value_name = "URL", env = "TILLGATE_PUBLIC_URL", value_parser = parse_public_url)]
    pub(super) public_url: Option<String>,
    /// The address of the card frames, under a host name of its own, so that no other page of the gateway shares their
    /// origin.
    #[arg(long, value_name = "URL", env = "TILLGATE_FIELDS_URL", value_parser = parse_public_url, requires = "public_url")]
    pub(super) fields_url: Option<String>,
    /// A network whose X-Forwarded-For, -Host and -Proto are believed, such as 10.0.0.0/8. May be repeated.
    #[arg(long = "trusted-proxy", value_name = "CIDR", env = "TILLGATE_TRUSTED_PROXIES", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    pub(super) trusted_proxies: Vec<IpNet>,
    /// A network that messages to merchants may go to although it is not public, such as 10.0.0.0/8. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',',
        value_parser = ip_text::parse_network)]
    pub(super) allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// This node's name, the end of its checkout ids: 1 to 15 lowercase letters, digits and hyphens.
    #[arg(long, env = "TILLGATE_NODE", default_value = "tx01", value_parser = parse_node)]
    node: String,
    #[command(flatten)]
    lifetimes: LifetimeOptions,
    /// Requests that may wait for the disk. More are answered 503 at once, so that clients come again. A slow disk
    /// wants a shorter queue.
    #[arg(long, value_name = "N", env = "TILLGATE_WRITE_QUEUE", default_value_t = 1024)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    write_queue: u32,
    /// The time for which a write waits for another process's transaction, such as that of a backup, before it is
    /// answered 503.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_LOCK_TIMEOUT", default_value = "10s", value_parser = parse_timeout)]
    lock_timeout: Duration,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    connections: ConnectionOptions,
    #[command(flatten)]
    office: OfficeOptions,
    #[command(flatten)]
    acquirer: AcquirerOptions,
    #[command(flatten)]
    risk_files: RiskFileOptions,
    /// Serve the form from a folder that `cargo xtask form` wrote, instead of the one inside this binary.
    #[arg(long, value_name = "DIR", env = "TILLGATE_FORM")]
    form: Option<PathBuf>,
    /// The Ed25519 public key (base64) of whoever signs builds of the form: the gateway does not start with a form
    /// that is not signed by it.
    #[arg(long, value_name = "KEY", env = "TILLGATE_FORM_KEY", value_parser = parse_form_key)]
    form_key: Option<FormKey>,
    /// The format of log lines. TILLGATE_LOG filters them, e.g. `info,tillgate::access=off`.
    #[arg(long, value_enum, env = "TILLGATE_LOG_FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

/// Format of log lines.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Serve {
    /// Opens the gateway, prints the address that it listens on, and serves until SIGTERM or SIGINT.
    pub(super) fn run(self) -> anyhow::Result<()> {
        self.settings.start_log();
        create_runtime()?.block_on(async {
            let state = self.settings.open_gateway(&self.common.data).await?;
            let limits = self.settings.connection_limits();
            let listener = bind_listener(self.listen).await?;
            let ftp = self.ftp.bind_server().await?;
            let stop = stop_signal()?;
            let office = self.settings.open_office(&state)?;
            let setup = office.setup_link(self.settings.public_url.as_deref(), listener.local_addr()?);
            self.print_addresses(&listener, ftp.as_ref(), setup)?;
            serve_until_stopped(state, office.pages, listener, limits, ftp, stop).await
        })
    }

    /// Prints the addresses of the servers, and then the link for the first administrator. The line about HTTP is the
    /// last of the addresses.
    fn print_addresses(
        &self,
        listener: &TcpListener,
        ftp: Option<&BoundFtp>,
        setup: Option<String>,
    ) -> anyhow::Result<()> {
        let address = format!("http://{}", listener.local_addr()?);
        let ftp = ftp.map(|ftp| ftp.listener.local_addr()).transpose()?.map(|address| format!("ftp://{address}"));
        if self.common.json {
            let mut addresses = serde_json::json!({ "listening": address });
            if let Some(ftp) = ftp {
                addresses["ftp"] = ftp.into();
            }
            if let Some(setup) = &setup {
                addresses["firstAdministrator"] = setup.as_str().into();
            }
            println!("{addresses}");
        } else {
            if let Some(ftp) = ftp {
                println!("reconciliation files at {ftp}");
            }
            println!("listening on {address}");
        }
        std::io::stdout().flush()?;
        // Comes last, because scripts read up to the line about HTTP, and may not read on.
        if let Some(setup) = setup.filter(|_| !self.common.json) {
            let mut output = std::io::stdout();
            let _ = writeln!(output, "first administrator of the back office (once, within 24 hours): {setup}");
            let _ = output.flush();
        }
        Ok(())
    }
}

/// Creates a multi-threaded runtime, and forbids core dumps and other processes' access to the memory of this process.
pub(super) fn create_runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    // The runtime comes first, because a process that is not dumpable cannot read its own CPU limits.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    process::forbid_dumps().context("forbidding core dumps")?;
    Ok(runtime)
}

/// Binds a listener. The error names the address.
pub(super) async fn bind_listener(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))
}

/// Serves requests and FTP, and runs the worker, until `stop` completes. Then waits up to 15 s for the requests in
/// flight, and as long again for the worker's messages; what is not done by then is given up, with a warning.
pub(super) async fn serve_until_stopped(
    state: Arc<AppState>,
    pages: Option<(&str, Router)>,
    listener: TcpListener,
    limits: ConnectionLimits,
    ftp: Option<BoundFtp>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let (stop_worker, worker_stopped) = watch::channel(false);
    if let Some(BoundFtp { listener, options }) = ftp {
        tokio::spawn(ftp::serve_ftp(Arc::clone(&state.app), listener, options, worker_stopped.clone()));
    }
    let worker = tokio::spawn(worker::run_tasks(Arc::clone(&state.app), Arc::clone(&state.builds), worker_stopped));
    let service = tillgate_api::build_service(state, pages);
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let server = listener::serve_connections(listener, service, limits, async {
        stop.await;
        let _ = stopping.send(());
    });
    let grace_expired = async {
        match stopped.await {
            Ok(()) => tokio::time::sleep(SHUTDOWN_GRACE).await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = server => {}
        () = grace_expired => tracing::warn!("the process stops before all requests have ended"),
    }
    let _ = stop_worker.send(true);
    if tokio::time::timeout(SHUTDOWN_GRACE, worker).await.is_err() {
        tracing::warn!("the process stops during deliveries: they are repeated after the next start");
    }
    Ok(())
}

/// Returns a future that completes on SIGTERM or SIGINT. The signals are handled from this call on, not from the first
/// poll, because a script may stop the server as soon as it reports that it is ready.
///
/// # Errors
/// If the signal handlers cannot be installed.
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Corrects wrong bookings of earlier versions in a data folder. Logs them, so that the operator knows why balances
/// have changed.
fn correct_bookings(data: &Path, vault: &Vault) -> Result<(), StoreError> {
    let corrections = AdminStore::open_with_vault(data, Some(vault))?.correct_bookings()?;
    for ((entity, currency), CorrectedBookings { bookings, settled, receivable }) in corrections {
        let amount = Decimal::new(receivable, 2);
        tracing::warn!(
            entity = entity.as_str(), currency, bookings, settled, %amount,
            "reversals of voided payments had been booked, and are corrected in the ledger; the next batch pays out or \
             takes back what was settled"
        );
    }
    Ok(())
}

impl GatewaySettings {
    /// Returns the limits of connections. Raises the process's limit of open files first, as far as the system allows.
    pub(super) fn connection_limits(&self) -> ConnectionLimits {
        self.connections.listener_limits(&self.trusted_proxies)
    }

    /// Opens the back office of a gateway.
    pub(super) fn open_office(&self, state: &AppState) -> anyhow::Result<OpenOffice> {
        self.office.open_office(state)
    }

    /// Allows messages to this machine itself, where the demo shop runs, in addition to the networks of the option.
    pub(super) fn allow_loopback(&mut self) {
        self.allowed_networks
            .extend([IpNet::from(IpAddr::from(Ipv4Addr::LOCALHOST)), IpAddr::from(Ipv6Addr::LOCALHOST).into()]);
    }

    /// Opens everything that a gateway needs in a data folder: form, vault, store, connectors, outgoing requests.
    /// Creates the store and the vault's key if they are missing, and archives the current build of the form.
    pub(super) async fn open_gateway(&self, data: &Path) -> anyhow::Result<Arc<AppState>> {
        let fields_url = self.parse_fields_url()?;
        let builds = Builds::load(
            self.form.as_deref(),
            fields_url.as_ref().map(FieldsUrl::as_str),
            self.form_key.as_ref().map(|key| &key.0[..]),
        )?;
        let directory = self.create_directory()?;
        let opening = |error: StoreError| {
            let fault = error.disk_fault().map(|fault| format!(". {}", fault.description())).unwrap_or_default();
            anyhow::Error::new(error).context(format!("opening the store in {}{fault}", data.display()))
        };
        let (source, vault) = self.vault.open_vault(&open_store(data).map_err(opening)?, data)?;
        let vault = Arc::new(vault);
        let keys = Keyring { vault: Arc::clone(&vault), source };
        let (limits, sources) = (self.write_limits(), Sources::system());
        let store = Store::open_to_serve(data, Arc::clone(&directory), keys, limits, sources).map_err(opening)?;
        correct_bookings(data, &vault).map_err(opening)?;
        let setup_faults = check_setup(self, data, &directory, &store)?;
        self.lifetimes.check_review()?;
        directory.set_hash_key(store.load_token_hash_key(&vault).await?);
        let account_index = store.open_account_index(&vault).await?;
        let builds = builds.with_earlier_builds(&store, &vault, SystemClock.now()).await?;
        let now = SystemClock.now();
        let velocity = VelocityLimiter::new(self.limits.velocity_limits(), store.load_velocity_counts(now)?, now);
        let app = App {
            gateway: Gateway {
                id_clock: create_id_clock(&store, now)?,
                directory,
                store,
                clock: Arc::new(SystemClock),
                payments_in_flight: PaymentsInFlight::default(),
                connectors: self.acquirer.build_connectors(data)?,
                vault,
                account_index,
                velocity,
                saved_forms: SavedForms::default(),
                status_reads: StatusReads::default(),
                security_codes: SecurityCodeCache::default(),
                evidence_places: create_evidence_places(),
                dry_runs: DryRunSlots::default(),
                options: self.gateway_options(),
            },
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
            fields_url,
            wrong_credentials: WrongCredentials::new(self.limits.wrong_credentials_per_address),
            trusted_proxies: self.trusted_proxies.clone(),
            setup_faults,
        }))
    }

    fn write_limits(&self) -> WriteLimits {
        let queue = usize::try_from(self.write_queue).unwrap_or(usize::MAX);
        WriteLimits { queue, lock_timeout: self.lock_timeout }
    }

    /// Creates the directory, with the operator's lists for risk rules.
    fn create_directory(&self) -> anyhow::Result<Arc<Directory>> {
        let directory =
            Arc::new(Directory::new(compile_stored_rules).with_examination(registry::warn_of_unknown_connectors));
        directory.risk.set_operator_lists(self.risk_files.load_lists()?);
        Ok(directory)
    }

    /// Returns the gateway's own options.
    fn gateway_options(&self) -> GatewayOptions {
        GatewayOptions {
            node: self.node.clone(),
            card_window: self.lifetimes.card_window,
            time_limits: self.lifetimes.time_limits(),
            pending_lifetime: self.lifetimes.pending_lifetime,
            review_lifetime: self.lifetimes.review_lifetime(),
            limits: self.limits.velocity_limits(),
        }
    }

    /// Returns the address of the card frames, `None` if they have no host of their own. Refuses an address that does
    /// not fit the public one.
    fn parse_fields_url(&self) -> anyhow::Result<Option<FieldsUrl>> {
        let (Some(fields), Some(public)) = (&self.fields_url, &self.public_url) else { return Ok(None) };
        FieldsUrl::new(fields, public).map(Some).map_err(|error| anyhow::anyhow!("--fields-url {fields} {error}"))
    }

    /// Starts logging to the standard error stream, filtered by TILLGATE_LOG or at the level `info`.
    pub(super) fn start_log(&self) {
        use tracing_subscriber::EnvFilter;
        let filter = EnvFilter::try_from_env("TILLGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        // A second call in the same process changes nothing.
        let _ = match self.log_format {
            LogFormat::Text => log.try_init(),
            LogFormat::Json => log.json().try_init(),
        };
    }
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
            "the machine's clock is behind the newest id in the store: check the clock. New ids go on from that time until \
             the clock has caught up, and queries by day find them on that day"
        );
    }
    // The millisecond of the newest id is already in use.
    let first = newest.checked_add(SignedDuration::from_millis(1)).unwrap_or(newest);
    Ok(IdClock::starting_at(if newest > now { first } else { now }))
}

/// The public key that verifies signed builds of the form.
#[derive(Debug, Clone)]
struct FormKey([u8; 32]);

/// Decodes the base64 of a key of 32 bytes.
fn parse_form_key(text: &str) -> Result<FormKey, String> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    bytes.try_into().map(FormKey).map_err(|_| "a key is 32 bytes in base64, 44 characters".to_owned())
}

/// Checks an address with http or https, a host, no query and no fragment, and ends it with one slash.
pub(super) fn parse_public_url(text: &str) -> Result<String, String> {
    let target = TargetUrl::parse(text).map_err(|fault| format!("the address {fault}, such as https://pay.example"))?;
    if text.contains(['?', '#']) {
        return Err("an address looks like https://pay.example, without a query and a fragment".to_owned());
    }
    Ok(format!("{}/", target.uri().to_string().trim_end_matches('/')))
}

/// Checks a node's name.
fn parse_node(text: &str) -> Result<String, String> {
    if is_node_name(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 15 lowercase letters, digits and hyphens".to_owned())
    }
}

/// Reads a duration that is not negative.
fn parse_duration(text: &str) -> Result<SignedDuration, String> {
    let duration: SignedDuration = text.parse().map_err(|error| format!("{error}; examples: 24h, 90m, 30s"))?;
    if duration.is_negative() { Err("a duration is not negative".to_owned()) } else { Ok(duration) }
}

#[cfg(test)]
mod tests {
    use super::parse_public_url;

    #[test]
    fn a_public_url_has_neither_a_query_nor_a_fragment() {
        for (text, parsed) in [
            ("https://pay.example", Some("https://pay.example/")),
            ("https://pay.example/x//", Some("https://pay.example/x/")),
            ("https://pay.example/#x/", None),
            ("https://pay.example#", None),
            ("https://pay.example/?x", None),
            ("https://pay.example?", None),
            ("pay.example", None),
            ("ftp://pay.example", None),
            ("https://user@pay.example", None),
            ("https://Bücher.example/zahlung für", None),
            ("https://Bücher.example/für", Some("https://xn--bcher-kva.example/f%C3%BCr/")),
        ] {
            assert_eq!(parse_public_url(text).ok().as_deref(), parsed, "{text}");
        }
    }
}
