//! Option of the back office, and the link for its first administrator.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use clap::{Args, ValueEnum};
use tillgate_api::{AppState, PagesHost};
use tillgate_backoffice::{
    BASE, DryRunBoard, OfficeState, PushLoginChecks, RunningDownloads, create_act_places, create_import_places,
    create_inquiry_places, create_test_places, create_upload_places,
};
use tillgate_domain::access::setup_fault::{SetupFault, find_setup_faults};
use tillgate_file_transfer::file_push::load_ca_certificates;
use tillgate_file_transfer::file_push::secret::PushSecret;
use tillgate_gateway::access::invitation::SetupLink;
use tillgate_gateway::access::sign_in_limits::SignInLimits;
use tillgate_gateway::access::users::invitation_path;
use tillgate_gateway::settlement::file_import::kept::KeptUploads;
use tillgate_os::warning_log::WarningLog;

use super::value_parsers::parse_public_url;

/// The checks of what logs in at servers of merchants.
const PUSH_LOGINS: PushLoginChecks = PushLoginChecks {
    read_password: |text| {
        PushSecret::parse_password(text).map(|secret| secret.to_bytes()).map_err(|error| error.to_string())
    },
    read_private_key: |text| {
        PushSecret::parse_private_key(text).map(|secret| secret.to_bytes()).map_err(|error| error.to_string())
    },
    has_certificates: |text| load_ca_certificates(text).is_some(),
};

/// Options of the back office.
#[derive(Debug, Args)]
pub(super) struct OfficeOptions {
    /// Serve the back office under /backoffice: pages for people, which need a user with a second factor. Without a
    /// user nobody can sign in; the first administrator gets a link that is printed at the start.
    #[arg(long, value_name = "ON", env = "TILLGATE_BACKOFFICE", value_enum, default_value_t = Switch::On)]
    backoffice: Switch,
    /// Origin of the back office, such as https://office.example: its host has only the pages, and no other host has
    /// them. Default: the address of the gateway.
    #[arg(long, value_name = "URL", env = "TILLGATE_BACKOFFICE_URL", value_parser = parse_public_url)]
    backoffice_url: Option<String>,
}

/// A feature that is served or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// It is served.
    On,
    /// Its addresses are unknown.
    Off,
}

/// The back office of a server that starts.
#[derive(Default)]
pub(in crate::cli) struct OpenOffice {
    /// The pages with their path. `None` if they are off.
    pub(in crate::cli) pages: Option<(&'static str, Router)>,
    /// The path of the link for the first administrator. `None` if there is a user.
    setup_path: Option<String>,
    /// The address of the pages, if they have a host of their own.
    url: Option<String>,
}

impl OpenOffice {
    /// Returns the link for the first administrator, below the address that browsers use.
    pub(in crate::cli) fn setup_link(&self, public_url: Option<&str>, listen: SocketAddr) -> Option<String> {
        let path = self.setup_path.as_deref()?;
        // A browser cannot open the address that stands for all of a machine's.
        let host = if listen.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { listen.ip() };
        let local = format!("http://{}/", SocketAddr::new(host, listen.port()));
        Some(format!("{}{path}", self.url.as_deref().or(public_url).unwrap_or(&local)))
    }
}

impl OfficeOptions {
    /// Returns the host of the back office, `None` if it has none of its own. Refuses an address that is no origin,
    /// that passwords would reach without encryption, or whose host has other pages.
    pub(super) fn find_host(&self, public: Option<&str>, fields: Option<&str>) -> anyhow::Result<Option<PagesHost>> {
        let Some(url) = &self.backoffice_url else { return Ok(None) };
        let host = PagesHost::new(url, BASE);
        let has_path = url.trim_end_matches('/').matches('/').count() > 2;
        let fault = if self.backoffice == Switch::Off {
            "needs --backoffice on"
        } else if has_path {
            "is an origin, such as https://office.example, without a path"
        } else if find_setup_faults(&[], &[], Some(url), false).contains(&SetupFault::PublicUrl) {
            "has to begin with https://, except on this machine"
        } else if public.into_iter().chain(fields).any(|other| host.is_host_of(other)) {
            "needs a host that is not that of --public-url or --fields-url"
        } else {
            return Ok(Some(host));
        };
        anyhow::bail!("--backoffice-url {url} {fault}")
    }

    /// Builds the pages, and the link for the first administrator if the store has no user.
    pub(super) fn open_office(
        &self,
        state: &AppState,
        warnings: Arc<WarningLog>,
        ftp_certificate: Option<PathBuf>,
    ) -> anyhow::Result<OpenOffice> {
        if self.backoffice == Switch::Off {
            return Ok(OpenOffice::default());
        }
        let (setup, token) = SetupLink::create(&state.gateway)?.unzip();
        let office = OfficeState {
            app: Arc::clone(&state.app),
            public_url: self.backoffice_url.clone().or_else(|| state.public_url.clone()),
            trusted_proxies: state.trusted_proxies.clone(),
            sign_in_limits: SignInLimits::default(),
            setup,
            downloads: RunningDownloads::default(),
            dry_runs: DryRunBoard::default(),
            acts: create_act_places(),
            imports: create_import_places(),
            upload_places: create_upload_places(),
            uploads: KeptUploads::default(),
            inquiries: create_inquiry_places(),
            receiver_tests: create_test_places(),
            push_logins: PUSH_LOGINS,
            build: tillgate_api::BUILD_NUMBER,
            ftp_certificate,
            warnings,
            started: state.gateway.now(),
        };
        Ok(OpenOffice {
            pages: Some((BASE, tillgate_backoffice::build_router(Arc::new(office)))),
            setup_path: token.as_ref().map(invitation_path),
            url: self.backoffice_url.clone(),
        })
    }
}
