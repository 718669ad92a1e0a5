//! The back office: pages for merchants, analysts, accountants and administrators, made on the server.
//!
//! It decodes forms, checks permissions, calls the use cases of the gateway, and renders pages that are whole without a
//! script. It knows no SQL and no token of a merchant, and decides no amount.

pub mod access;
pub mod administration;
pub mod approval;
pub mod components;
pub mod customer;
pub mod delivery;
pub mod home;
pub mod layout;
pub mod money;
pub mod office;
pub mod payment;
pub mod review;
pub mod risk;
pub mod search;

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use ipnet::IpNet;
use jiff::Timestamp;
use tillgate_gateway::App;
use tillgate_gateway::access::invitation::SetupLink;
use tillgate_gateway::access::sign_in_limits::SignInLimits;
use tillgate_gateway::settlement::file_import::kept::KeptUploads;
use tillgate_net::shares::Shares;
use tillgate_os::warning_log::WarningLog;
use zeroize::Zeroizing;

pub use access::routes::{Need, OfficeRoute, all_routes};
pub use payment::RunningDownloads;
pub use risk::DryRunBoard;

/// Path under which the pages are served.
pub const BASE: &str = "/backoffice";

/// Maximum size of a form, in bytes. The longest field is a password.
const BODY_LIMIT: usize = 64 * 1024;

/// State shared by all pages.
pub struct OfficeState {
    /// The application.
    pub app: Arc<App>,
    /// The address that browsers use, with a trailing slash. If absent, it is derived from each request.
    pub public_url: Option<String>,
    /// Networks whose `X-Forwarded-For`, `-Host` and `-Proto` headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Limits on guessing at the sign-in.
    pub sign_in_limits: SignInLimits,
    /// The link for the first administrator, if the store had no user when the server started.
    pub setup: Option<SetupLink>,
    /// The downloads of lists that are being sent.
    pub downloads: RunningDownloads,
    /// The dry runs of risk rules that users have started.
    pub dry_runs: DryRunBoard,
    /// Places for acts of administrators, by user.
    pub acts: Shares,
    /// Places for imports of institutes' files, by user.
    pub imports: Shares,
    /// Places for forms with files, by user, from before their bodies are read until they are answered.
    pub upload_places: Shares,
    /// Uploaded files between their preview and their import.
    pub uploads: KeptUploads,
    /// Places for inquiries at acquirers, by user.
    pub inquiries: Shares,
    /// Places for tests of receivers, by entity.
    pub receiver_tests: Shares,
    /// Checks of what logs in at servers of merchants.
    pub push_logins: PushLoginChecks,
    /// Number of the build.
    pub build: &'static str,
    /// The file of the certificate of the FTP server, in PEM.
    pub ftp_certificate: Option<PathBuf>,
    /// The warnings that this process has logged.
    pub warnings: Arc<WarningLog>,
    /// The time at which the server started.
    pub started: Timestamp,
}

/// Checks of what logs in at a server of a merchant, to which files are pushed. The crate of file transfers has them.
#[derive(Debug, Clone, Copy)]
pub struct PushLoginChecks {
    /// Checks a password, and returns its stored form.
    pub read_password: fn(&str) -> Result<Zeroizing<Vec<u8>>, String>,
    /// Checks a private key, and returns its stored form.
    pub read_private_key: fn(&str) -> Result<Zeroizing<Vec<u8>>, String>,
    /// Returns true if a text has certificates in PEM, and all of them are valid.
    pub has_certificates: fn(&str) -> bool,
}

/// Number of acts of administrators that run at a time, and of those of one user. Each takes the write lock that
/// payments need, so a user who sends many must neither hold it all the time nor keep others waiting.
const ACT_PLACES: (usize, usize) = (2, 1);

/// Number of imports of files that run at a time, and of those of one user. An import takes minutes, so it never keeps
/// other acts waiting.
const IMPORT_PLACES: (usize, usize) = (2, 1);

/// Number of forms with files that are received or answered at a time, and of those of one user. Each takes several
/// megabytes of memory. A user has two, so that a form that is sent twice is answered twice.
const UPLOAD_PLACES: (usize, usize) = (16, 2);

/// Number of inquiries at acquirers that run at a time, and of those of one user.
const INQUIRY_PLACES: (usize, usize) = (32, 2);

/// Number of tests of receivers that run at a time, and of those of one entity. A receiver may take half a minute.
const TEST_PLACES: (usize, usize) = (32, 1);

/// Creates the places for acts.
pub fn create_act_places() -> Shares {
    let (places, share) = ACT_PLACES;
    Shares::new(places, share)
}

/// Creates the places for imports.
pub fn create_import_places() -> Shares {
    let (places, share) = IMPORT_PLACES;
    Shares::new(places, share)
}

/// Creates the places for forms with files.
pub fn create_upload_places() -> Shares {
    let (places, share) = UPLOAD_PLACES;
    Shares::new(places, share)
}

/// Creates the places for tests of receivers.
pub fn create_test_places() -> Shares {
    let (places, share) = TEST_PLACES;
    Shares::new(places, share)
}

/// Creates the places for inquiries.
pub fn create_inquiry_places() -> Shares {
    let (places, share) = INQUIRY_PLACES;
    Shares::new(places, share)
}

/// Builds every route of the back office. The caller nests them under [`BASE`].
pub fn build_router(state: Arc<OfficeState>) -> Router {
    Router::new()
        .merge(access::build_routes())
        .merge(home::build_routes())
        .merge(payment::build_routes())
        .merge(review::build_routes())
        .merge(risk::build_routes())
        .merge(search::build_routes())
        .merge(administration::build_routes())
        .merge(approval::build_routes())
        .merge(customer::build_routes())
        .merge(delivery::build_routes())
        .merge(money::build_routes())
        .merge(layout::build_routes())
        .fallback(access::show_missing_page)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(middleware::from_fn_with_state(Arc::clone(&state), access::guard_request))
        .with_state(state)
}
