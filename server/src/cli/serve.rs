//! `tillgate serve`: runs the gateway.

pub mod abuse_limits;
pub mod connection_options;
pub mod ftp_options;
pub mod ftp_user;
pub mod log;
pub mod office_options;
pub mod payment_lifetimes;
pub mod ports;
pub mod settings;
pub mod setup_check;
pub mod three_ds_options;
pub mod value_parsers;

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::Router;
use clap::Args;
use tillgate_api::AppState;
use tillgate_connector::line::shut_down_lines;
use tillgate_file_transfer::ftp;
use tillgate_net::listener::{self, ConnectionLimits};
use tillgate_os::process;
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::CommonOptions;
use crate::cli::serve::ftp_options::{BoundFtp, FtpArguments};
use crate::cli::serve::settings::GatewaySettings;
use crate::control::listener::ControlSocket;
use crate::worker;

/// Maximum time for requests in flight to end on shutdown, and then the same time for webhook deliveries.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(15);
/// Time in which the lines to acquirers sign off.
const SIGN_OFF_GRACE: Duration = Duration::from_secs(2);

/// Run the gateway.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate serve --data ./tillgate-data --listen 127.0.0.1:8080 --public-url https://pay.example\n\n\
    It prints `listening on http://ADDR` when it is ready. On SIGTERM it completes the requests in flight."
)]
pub(super) struct Serve {
    #[command(flatten)]
    pub(super) common: CommonOptions,
    /// Address to listen on. Port 0 selects a free port.
    #[arg(long, value_name = "ADDR", env = "TILLGATE_LISTEN", default_value = "127.0.0.1:8080")]
    pub(super) listen: SocketAddr,
    #[command(flatten)]
    ftp: FtpArguments,
    #[command(flatten)]
    pub(super) settings: GatewaySettings,
}

impl Serve {
    /// Opens the gateway, prints the address that it listens on, and serves until SIGTERM or SIGINT.
    pub(super) fn run(self) -> anyhow::Result<()> {
        let warnings = self.settings.start_log();
        create_runtime()?.block_on(async {
            let state = self.settings.open_gateway(&self.common.place).await?;
            self.settings.join_cluster(&state).await?;
            let limits = self.settings.connection_limits();
            let listener = bind_listener(self.listen).await?;
            let ftp = self.ftp.bind_server().await?;
            let control = ControlSocket::bind(self.common.place.folder());
            let stop = stop_after_drain(&self.settings, Arc::clone(&state))?;
            let office = self.settings.open_office(&state, warnings, self.ftp.certificate())?;
            let setup = office.setup_link(self.settings.public_url.as_deref(), listener.local_addr()?);
            self.print_addresses(&listener, ftp.as_ref(), setup)?;
            serve_until_stopped(state, office.pages, listener, limits, ftp, control, stop).await
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

/// Serves requests, FTP and commands, and runs the worker, until `stop` completes. Then waits up to 15 s for the
/// requests in flight, and as long again for commands and the worker's messages; what is not done by then is given up,
/// with a warning.
pub(super) async fn serve_until_stopped(
    state: Arc<AppState>,
    pages: Option<(&str, Router)>,
    listener: TcpListener,
    limits: ConnectionLimits,
    ftp: Option<BoundFtp>,
    control: ControlSocket,
    stop: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    let (stop_worker, worker_stopped) = watch::channel(false);
    if let Some(BoundFtp { listener, options }) = ftp {
        tokio::spawn(ftp::serve_ftp(Arc::clone(&state.app), listener, options, worker_stopped.clone()));
    }
    let app = Arc::clone(&state.app);
    let commands = control.serve(Arc::clone(&state.app), worker_stopped.clone());
    let tasks = worker::run_tasks(Arc::clone(&state.app), Arc::clone(&state.builds), worker_stopped);
    let worker = tokio::spawn(async { tokio::join!(commands, tasks) });
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
    // Last, because requests and the worker may still wait for acquirers. The hosts hear that no more requests come.
    shut_down_lines(app.gateway.connectors.lines().to_vec(), SIGN_OFF_GRACE).await;
    Ok(())
}

/// Returns a future that completes some time after the first signal to stop, or at the second one. From the first on,
/// the end of the server is announced.
///
/// # Errors
/// Same as [`stop_signal`].
pub(super) fn stop_after_drain(
    settings: &GatewaySettings,
    state: Arc<AppState>,
) -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let (stop, time) = (stop_signal()?, settings.drain_time());
    Ok(async move {
        stop.await;
        if time.is_zero() {
            return;
        }
        state.draining.begin();
        tracing::info!(seconds = time.as_secs(), "the server stops after a pause, in which it serves as before");
        match stop_signal() {
            Ok(again) => drop(tokio::time::timeout(time, again).await),
            Err(error) => tracing::warn!(%error, "handling a second signal failed, so the server stops at once"),
        }
    })
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
