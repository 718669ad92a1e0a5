//! The registry of connectors: which of them takes a payment.
//!
//! | Mode | Connector |
//! |---|---|
//! | internal | the one that `--connector` names, if it answers inside this process; the simulator otherwise |
//! | external, live | the one that `--connector` names, if it leaves this process; the default one for external payments of a sandbox |
//!
//! Where there is none, payments are declined with 600.200.201. That is also so in a channel whose setting names a connector
//! that does not exist: the command line refuses such a name, but an older one may stand in the store.

use std::sync::Arc;

use super::not_configured::NotConfigured;
use super::simulator::{self, Simulator};
use super::{Authenticator, Connector, http};
use crate::domain::channel::Channel;
use crate::domain::mode::Mode;

/// The names of connectors inside this process, which move no real money.
const IN_PROCESS: &[&str] = &[simulator::NAME];
/// The names of connectors that leave this process.
const EXTERNAL: &[&str] = &[http::NAME];

/// Returns the names that `--connector` takes.
pub fn names() -> impl Iterator<Item = &'static str> {
    IN_PROCESS.iter().chain(EXTERNAL).copied()
}

/// Returns true if a connector of this name moves no real money, so that a live entity cannot have it.
pub fn is_for_sandboxes_only(name: &str) -> bool {
    IN_PROCESS.contains(&name)
}

/// The connectors of this gateway.
pub struct Registry {
    simulator: Arc<Simulator>,
    /// The connectors of external payments of sandboxes, each under its own name.
    external: Vec<Arc<dyn Connector>>,
    /// The connectors of real payments, each under its own name.
    live: Vec<Arc<dyn Connector>>,
    /// The connector of external payments of a sandbox whose channel names none.
    default_external: Option<Arc<dyn Connector>>,
    not_configured: Arc<NotConfigured>,
}

/// The way of a payment: its mode, and who takes it.
#[derive(Clone)]
pub struct Route {
    /// The mode.
    pub mode: Mode,
    /// The connector.
    pub connector: Arc<dyn Connector>,
    /// The authenticator of cardholders. `None` where nobody is authenticated.
    pub authenticator: Option<Arc<dyn Authenticator>>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            simulator: Arc::new(Simulator),
            external: Vec::new(),
            live: Vec::new(),
            default_external: None,
            not_configured: Arc::new(NotConfigured),
        }
    }
}

impl Registry {
    /// Adds a connector that leaves this process, for sandboxes. `is_default`: it takes the external payments of those whose
    /// channels name no other.
    #[must_use]
    pub fn with_external(mut self, connector: Arc<dyn Connector>, is_default: bool) -> Self {
        if is_default {
            self.default_external = Some(Arc::clone(&connector));
        }
        self.external.push(connector);
        self
    }

    /// Adds a connector that moves real money.
    #[must_use]
    pub fn with_live(mut self, connector: Arc<dyn Connector>) -> Self {
        self.live.push(connector);
        self
    }

    /// Returns the way of the payments of a channel in a mode.
    pub fn route(&self, channel: &Channel, mode: Mode) -> Route {
        let connector = self.connector(channel.connector.as_deref(), mode);
        let connector = connector.unwrap_or_else(|| Arc::clone(&self.not_configured) as Arc<dyn Connector>);
        let authenticator = connector.name() == simulator::NAME;
        let authenticator = authenticator.then(|| Arc::clone(&self.simulator) as Arc<dyn Authenticator>);
        Route { mode, connector, authenticator }
    }

    /// Returns the connector of this name that leaves this process. `None` if it is not set up any more.
    pub fn external(&self, name: &str, mode: Mode) -> Option<Arc<dyn Connector>> {
        let connectors = if mode == Mode::Live { &self.live } else { &self.external };
        connectors.iter().find(|connector| connector.name() == name).cloned()
    }

    fn connector(&self, name: Option<&str>, mode: Mode) -> Option<Arc<dyn Connector>> {
        let named = name.and_then(|name| self.external(name, mode));
        if name.is_some_and(|name| named.is_none() && !names().any(|known| known == name)) {
            return None;
        }
        match mode {
            Mode::Internal => Some(Arc::clone(&self.simulator) as Arc<dyn Connector>),
            Mode::External => named.or_else(|| self.default_external.clone()),
            Mode::Live => named,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(connector: Option<&str>, mode: Mode) -> Route {
        let channel = Channel { connector: connector.map(str::to_owned), ..Channel::default() };
        Registry::default().route(&channel, mode)
    }

    #[test]
    fn a_sandbox_goes_to_the_simulator_unless_its_channel_names_an_unknown_connector() {
        for (named, mode, connector) in [
            (None, Mode::Internal, "simulator"),
            (Some("simulator"), Mode::Internal, "simulator"),
            (Some("acquirer-1"), Mode::Internal, "none"),
            (None, Mode::External, "none"),
            (Some("simulator"), Mode::External, "none"),
            (None, Mode::Live, "none"),
            (Some("simulator"), Mode::Live, "none"),
            (Some("http"), Mode::Internal, "simulator"),
            (Some("http"), Mode::Live, "none"),
        ] {
            assert_eq!(route(named, mode).connector.name(), connector, "{named:?} {mode:?}");
        }
    }

    #[test]
    fn cardholders_are_authenticated_where_the_simulator_takes_the_payment() {
        assert!(route(None, Mode::Internal).authenticator.is_some());
        assert!(route(None, Mode::External).authenticator.is_none());
    }
}
