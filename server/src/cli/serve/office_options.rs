//! Option of the back office.

use std::sync::Arc;

use axum::Router;
use clap::{Args, ValueEnum};
use tillgate_api::AppState;
use tillgate_backoffice::{BASE, OfficeState};

/// Options of the back office.
#[derive(Debug, Args)]
pub(super) struct OfficeOptions {
    /// Serve the back office under /backoffice: pages for people, which need a user and a second factor. Without users
    /// nobody can sign in.
    #[arg(long, value_name = "ON", env = "TILLGATE_BACKOFFICE", value_enum, default_value_t = Switch::On)]
    backoffice: Switch,
}

/// A feature that is served or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    /// It is served.
    On,
    /// Its addresses are unknown.
    Off,
}

impl OfficeOptions {
    /// Builds the pages with their path. Returns `None` if they are off.
    pub(super) fn build_pages(&self, state: &AppState) -> Option<(&'static str, Router)> {
        let office = || OfficeState {
            app: Arc::clone(&state.app),
            public_url: state.public_url.clone(),
            trusted_proxies: state.trusted_proxies.clone(),
        };
        (self.backoffice == Switch::On).then(|| (BASE, tillgate_backoffice::build_router(Arc::new(office()))))
    }
}
