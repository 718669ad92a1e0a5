//! The state that all request handlers share.

use std::ops::Deref;
use std::sync::Arc;

use ipnet::IpNet;
use tillgate_domain::access::setup_fault::SetupFault;
use tillgate_gateway::App;
use tillgate_net::wrong_credentials::WrongCredentials;

use crate::checkout::host_names::{FieldsUrl, PagesHost};
use crate::checkout::report_limiter::ReportLimiter;
use crate::draining::Draining;
use crate::form::Builds;
use crate::in_flight::InFlight;
use crate::payment::response_cache::ResponseCache;

/// State shared by all request handlers: the application, and what only its HTTP interface needs.
pub struct AppState {
    /// The application.
    pub app: Arc<App>,
    /// The builds of the hosted form that are served.
    pub builds: Arc<Builds>,
    /// Cached responses.
    pub response_cache: ResponseCache,
    /// Idempotency keys of requests in flight.
    pub in_flight: InFlight,
    /// Limits the rate of policy violation reports from browsers.
    pub report_limiter: ReportLimiter,
    /// The address that shoppers' browsers use, with a trailing slash. If absent, it is derived from each request.
    pub public_url: Option<String>,
    /// The address of the card frames, if they have a host of their own.
    pub fields_url: Option<FieldsUrl>,
    /// The host of further pages, if they have one of their own.
    pub pages_host: Option<PagesHost>,
    /// Limit on wrong credentials.
    pub wrong_credentials: WrongCredentials,
    /// Networks whose `X-Forwarded-For`, `-Host` and `-Proto` headers are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// Mistakes in the set-up, for which no live entity is served.
    pub setup_faults: Vec<SetupFault>,
    /// The announced end of the server.
    pub draining: Draining,
}

impl Deref for AppState {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}
