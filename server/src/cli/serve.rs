//! `tillgate serve`: the gateway itself.

use std::io::{IsTerminal as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use ipnet::IpNet;
use jiff::{SignedDuration, Timestamp};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower::ServiceExt as _;

use super::Common;
use super::acquirer::AcquirerOptions;
use super::connection_options::{ConnectionOptions, timeout};
use super::limits::LimitOptions;
use super::ports::PortOptions;
use super::vault_key::VaultKey;
use crate::api::{self, Edge, FieldsUrl, Kept, ReportLimiter, UnderWay, WrongCredentials};
use crate::clock::{Clock as _, SystemClock};
use crate::directory::Directory;
use crate::domain::id::is_node_name;
use crate::domain::payment::Terms;
use crate::form::Builds;
use crate::gateway::codes::Codes;
use crate::gateway::payment::Asking;
use crate::gateway::reminder::Asked;
use crate::gateway::summary::SavedForms;
use crate::gateway::velocity::VelocityLimiter;
use crate::gateway::{Gateway, Options};
use crate::id_clock::IdClock;
use crate::listener::{self, ConnectionLimits};
use crate::outgoing::Outgoing;
use crate::process;
use crate::store::{AdminStore, DiskFault, Keyring, Sources, Store, StoreError, WriteLimits};
use crate::worker;

/// How long requests that are under way, and then messages, may take to end when the process is asked to stop.
const GRACE: Duration = Duration::from_secs(15);

/// Lag of the machine's clock behind the newest id from which the operator is told: time servers correct less now and then.
const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_secs(10);

/// Run the gateway.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate serve --data ./tillgate-data --listen 127.0.0.1:8080 --public-url https://pay.example\n\n\
    It prints `listening on http://ADDR` when it is ready, and ends what is under way on SIGTERM."
)]
pub(super) struct Serve {
    #[command(flatten)]
    pub(super) common: Common,
    /// The address to listen on; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", env = "TILLGATE_LISTEN", default_value = "127.0.0.1:8080")]
    pub(super) listen: SocketAddr,
    #[command(flatten)]
    pub(super) settings: Settings,
}

/// How the gateway runs.
#[derive(Debug, Args)]
pub(super) struct Settings {
    /// The address under which shoppers' browsers reach the gateway; taken from each request's Host when absent.
    #[arg(long, value_name = "URL", env = "TILLGATE_PUBLIC_URL", value_parser = public_url)]
    pub(super) public_url: Option<String>,
    /// The address of the card frames, under a host name of its own, so that no other page of the gateway shares their origin.
    #[arg(long, value_name = "URL", env = "TILLGATE_FIELDS_URL", value_parser = public_url, requires = "public_url")]
    pub(super) fields_url: Option<String>,
    /// A network whose X-Forwarded-For, -Host and -Proto are believed, such as 10.0.0.0/8. May be repeated.
    #[arg(long = "trusted-proxy", value_name = "CIDR", env = "TILLGATE_TRUSTED_PROXIES", value_delimiter = ',')]
    trusted_proxies: Vec<IpNet>,
    /// A network that messages to merchants may go to although it is not public, such as 10.0.0.0/8. May be repeated.
    #[arg(long = "allow-network", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS", value_delimiter = ',')]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
    #[command(flatten)]
    vault: VaultKey,
    /// This node's name, the end of its checkout ids: 1 to 15 lowercase letters, digits and hyphens.
    #[arg(long, env = "TILLGATE_NODE", default_value = "tx01", value_parser = node)]
    node: String,
    /// How long the encrypted number of an unregistered card is kept after a successful payment.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_CARD_WINDOW", default_value = "24h", value_parser = duration)]
    card_window: SignedDuration,
    /// How long a preauthorization may be captured or reversed; afterwards what was not captured is released.
    #[arg(
        long,
        value_name = "DURATION",
        env = "TILLGATE_AUTHORIZATION_LIFETIME",
        default_value = "168h",
        value_parser = duration
    )]
    authorization_lifetime: SignedDuration,
    /// The simulator's cut-off: how long a debit or credit may be reversed; afterwards it can be refunded.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_REVERSAL_WINDOW", default_value = "24h", value_parser = duration)]
    reversal_window: SignedDuration,
    /// How long a pending payment waits for its shopper to come back from the brand's page; afterwards it has failed.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_PENDING_LIFETIME", default_value = "30m", value_parser = duration)]
    pending_lifetime: SignedDuration,
    /// Requests that may wait for the disk. More are answered 503 at once, so that clients come again. A slow disk wants a
    /// shorter queue.
    #[arg(long, value_name = "N", env = "TILLGATE_WRITE_QUEUE", default_value_t = 1024)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
    write_queue: u32,
    /// How long a write waits for another process's transaction, such as that of a backup, before it is answered 503.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_LOCK_TIMEOUT", default_value = "10s", value_parser = timeout)]
    lock_timeout: Duration,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    connections: ConnectionOptions,
    #[command(flatten)]
    acquirer: AcquirerOptions,
    /// Serve the form from a folder that `cargo xtask form` wrote, instead of the one inside this binary.
    #[arg(long, value_name = "DIR", env = "TILLGATE_FORM")]
    form: Option<PathBuf>,
    /// The Ed25519 public key (base64) of whoever signs builds of the form: a form that is not signed by it does not start.
    #[arg(long, value_name = "KEY", env = "TILLGATE_FORM_KEY", value_parser = form_key)]
    form_key: Option<FormKey>,
    /// How log lines look. TILLGATE_LOG filters them, e.g. `info,tillgate::access=off`.
    #[arg(long, value_enum, env = "TILLGATE_LOG_FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

/// How log lines look.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Serve {
    pub(super) fn run(self) -> anyhow::Result<()> {
        self.settings.start_log();
        runtime()?.block_on(async {
            let edge = self.settings.open(&self.common.data).await?;
            let limits = self.settings.connection_limits();
            let listener = bind(self.listen).await?;
            let address = listener.local_addr()?;
            let stop = asked_to_stop()?;
            if self.common.json {
                println!("{}", serde_json::json!({ "listening": format!("http://{address}") }));
            } else {
                println!("listening on http://{address}");
            }
            std::io::stdout().flush()?;
            serve(edge, listener, limits, stop).await
        })
    }
}

/// The runtime of a serving process, whose memory nobody else may read from now on.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    // First the runtime: a process that is not dumpable may not read its own limits of processors.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    process::forbid_dumps().context("forbidding core dumps")?;
    Ok(runtime)
}

/// Binds a listener, and says which address was taken when it was.
pub(super) async fn bind(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| format!("listening on {address}"))
}

/// Serves until asked to stop, then ends what is under way.
pub(super) async fn serve(
    edge: Arc<Edge>,
    listener: TcpListener,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let (stop_worker, worker_stops) = watch::channel(false);
    let worker = tokio::spawn(worker::run(Arc::clone(&edge), worker_stops));
    let service = api::router(edge).map_request(api::merge_slashes::<axum::body::Body>);
    let (stopping, stopped) = tokio::sync::oneshot::channel();
    let server = listener::serve(listener, service, limits, async {
        stop.await;
        let _ = stopping.send(());
    });
    let out_of_patience = async {
        match stopped.await {
            Ok(()) => tokio::time::sleep(GRACE).await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = server => {}
        () = out_of_patience => tracing::warn!("stopping with requests under way that do not come to an end"),
    }
    let _ = stop_worker.send(true);
    if tokio::time::timeout(GRACE, worker).await.is_err() {
        tracing::warn!("stopping with messages under way: they are sent again after the next start");
    }
    Ok(())
}

/// Completes when the process is asked to stop (SIGTERM or SIGINT). It listens from this call on, not from the first
/// poll: whoever reads that the server is ready may stop it at once.
///
/// # Errors
/// When the signals cannot be listened to.
pub(super) fn asked_to_stop() -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

impl Settings {
    /// The limits of connections.
    pub(super) fn connection_limits(&self) -> ConnectionLimits {
        self.connections.limits(&self.trusted_proxies)
    }

    /// Lets messages go to this machine itself, where a demo's shop is.
    pub(super) fn allow_loopback(&mut self) {
        self.allowed_networks
            .extend([IpNet::from(IpAddr::from(Ipv4Addr::LOCALHOST)), IpAddr::from(Ipv6Addr::LOCALHOST).into()]);
    }

    /// Opens everything that a gateway needs in a data folder.
    pub(super) async fn open(&self, data: &Path) -> anyhow::Result<Arc<Edge>> {
        let fields_url = self.fields_url()?;
        let builds = Builds::load(
            self.form.as_deref(),
            fields_url.as_ref().map(FieldsUrl::base),
            self.form_key.as_ref().map(|key| &key.0[..]),
        )?;
        let directory = Arc::new(Directory::default());
        let opening = |error: StoreError| {
            let fault = error.fault().map(|fault| format!(". {}", fault.description())).unwrap_or_default();
            anyhow::Error::new(error).context(format!("opening the store in {}{fault}", data.display()))
        };
        let (source, vault) = self.vault.open(&AdminStore::open(data).map_err(opening)?, data)?;
        let vault = Arc::new(vault);
        let keys = Keyring { vault: Arc::clone(&vault), source };
        let queue = usize::try_from(self.write_queue).unwrap_or(usize::MAX);
        let limits = WriteLimits { queue, lock_timeout: self.lock_timeout };
        let store =
            Store::open_to_serve(data, Arc::clone(&directory), keys, limits, Sources::system()).map_err(opening)?;
        self.check_live(&directory)?;
        directory.set_hash_key(store.token_hash_key(&vault).await?);
        let builds = builds.with_earlier(&store, &vault, SystemClock.now()).await?;
        let terms =
            Terms { authorization_lifetime: self.authorization_lifetime, reversal_window: self.reversal_window };
        let limits = self.limits.limits();
        let options = Options {
            node: self.node.clone(),
            card_window: self.card_window,
            terms,
            pending_lifetime: self.pending_lifetime,
            limits,
        };
        let now = SystemClock.now();
        let velocity = VelocityLimiter::new(limits, store.velocity_counts(now)?, now);
        let id_clock = id_clock(&store, now)?;
        Ok(Arc::new(Edge {
            gateway: Gateway {
                directory,
                store,
                clock: Arc::new(SystemClock),
                id_clock,
                asking: Asking::default(),
                connectors: self.acquirer.connectors(data)?,
                vault,
                velocity,
                saved: SavedForms::default(),
                asked: Asked::default(),
                codes: Codes::default(),
                options,
            },
            outgoing: Outgoing::new(&self.allowed_networks, self.ports.ports()).context("the system's certificates")?,
            builds,
            kept: Kept::default(),
            under_way: UnderWay::default(),
            report_limiter: ReportLimiter::default(),
            public_url: self.public_url.clone(),
            fields_url,
            wrong_credentials: WrongCredentials::new(self.limits.wrong_credentials_per_address),
            trusted_proxies: self.trusted_proxies.clone(),
        }))
    }

    /// Live entities need to know under which address they are reached, and who says that it was over HTTPS.
    fn check_live(&self, directory: &Directory) -> anyhow::Result<()> {
        if directory.has_live() {
            anyhow::ensure!(
                self.public_url.as_ref().is_some_and(|url| url.starts_with("https://")),
                "the store has live entities: name the address that shoppers' browsers reach, --public-url https://…"
            );
            if self.trusted_proxies.is_empty() {
                tracing::warn!(
                    "requests for live entities are refused: no --trusted-proxy says that they came over HTTPS"
                );
            }
        }
        Ok(())
    }

    /// The address of the card frames, if they have a host of their own.
    fn fields_url(&self) -> anyhow::Result<Option<FieldsUrl>> {
        let (Some(fields), Some(public)) = (&self.fields_url, &self.public_url) else { return Ok(None) };
        FieldsUrl::new(fields, public).map(Some).map_err(|fault| anyhow::anyhow!("--fields-url {fields} {fault}"))
    }

    /// Log lines go to the standard error stream.
    pub(super) fn start_log(&self) {
        use tracing_subscriber::EnvFilter;
        let filter = EnvFilter::try_from_env("TILLGATE_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        // A second call in one process changes nothing.
        let _ = match self.log_format {
            LogFormat::Text => log.try_init(),
            LogFormat::Json => log.json().try_init(),
        };
    }
}

/// Creates the clock of new ids, which goes on from the newest id in the store.
fn id_clock(store: &Store, now: Timestamp) -> Result<IdClock, StoreError> {
    let newest = match store.newest_id_time(now) {
        // A damaged store takes no new ids, and is served so that what can be read is.
        Err(error) if matches!(error.fault(), Some(DiskFault::Damaged)) => now,
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
    // The millisecond of the newest id is taken.
    let first = newest.checked_add(SignedDuration::from_millis(1)).unwrap_or(newest);
    Ok(IdClock::starting_at(if newest > now { first } else { now }))
}

/// The public key of whoever signs builds of the form.
#[derive(Debug, Clone)]
struct FormKey([u8; 32]);

/// Reads 32 bytes in base64.
fn form_key(text: &str) -> Result<FormKey, String> {
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default();
    bytes.try_into().map(FormKey).map_err(|_| "a key is 32 bytes in base64, 44 characters".to_owned())
}

/// Checks a public address and gives it the slash at its end.
fn public_url(text: &str) -> Result<String, String> {
    let uri: axum::http::Uri = text.parse().map_err(|error| format!("{error}"))?;
    let plain = uri.query().is_none() && matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
    if !plain {
        return Err("an address looks like https://pay.example".to_owned());
    }
    Ok(format!("{}/", text.trim_end_matches('/')))
}

fn node(text: &str) -> Result<String, String> {
    if is_node_name(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 15 lowercase letters, digits and hyphens".to_owned())
    }
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let duration: SignedDuration = text.parse().map_err(|error| format!("{error}; examples: 24h, 90m, 30s"))?;
    if duration.is_negative() { Err("a duration is not negative".to_owned()) } else { Ok(duration) }
}
