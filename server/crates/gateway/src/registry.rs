//! The registry of connectors. It selects the connector of a payment.
//!
//! | Mode | Connector |
//! |---|---|
//! | internal | the one that `--connector` names, if it is in-process; otherwise the first in-process one |
//! | external, sandbox | the one that `--connector` names, if it is external; otherwise the default external one |
//! | live | the one that `--connector` names, if it is external |
//!
//! A 3DS server authenticates the cardholders of live payments, and of external payments whose channel names its
//! connector. Without a server, the simulated issuers authenticate those of sandboxes, and nobody those of live
//! payments.
//!
//! If there is no such connector, payments are declined with 600.200.201. This also applies to a channel whose setting
//! names a connector that does not exist: the command line refuses such a name, but the store may contain an older one.

use std::sync::Arc;

use tillgate_connector::line::HostLine;
use tillgate_connector::sandbox::Sandbox;
use tillgate_connector::three_ds::ThreeDsAuthenticator;
use tillgate_connector::three_ds::server::ThreeDsServer;
use tillgate_connector::{Connector, EXTERNAL, NotConfigured, PaymentRoute};
use tillgate_domain::access::channel::Channel;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_sandbox::IN_PROCESS;
use tillgate_store::entity_directory::Credentials;

/// Returns the names that `--connector` accepts: the in-process connectors, then the external ones.
pub fn connector_names() -> impl Iterator<Item = &'static str> {
    IN_PROCESS.iter().map(|row| row.name).chain(EXTERNAL.iter().copied())
}

/// Logs an error for each entity whose connector does not exist, if the entity is new or had another connector before.
pub fn warn_of_unknown_connectors(before: &Credentials, after: &Credentials) {
    let connector = |entity: &Entity| entity.settings.channel.connector.clone();
    for (id, entity) in &after.entities {
        let Some(name) = connector(entity).filter(|name| !connector_names().any(|known| known == name)) else {
            continue;
        };
        if before.entities.get(id).is_none_or(|before| connector(before).as_ref() != Some(&name)) {
            tracing::error!(
                entity = id.as_str(),
                connector = name,
                "this connector does not exist: the entity's payments are declined until another connector is set"
            );
        }
    }
}

/// Returns the name of the connector that sandboxes use if `--connector` names none.
pub fn default_name() -> &'static str {
    IN_PROCESS[0].name
}

/// Returns true if a connector of this name moves no real money, so that a live entity cannot use it.
pub fn is_for_sandboxes_only(name: &str) -> bool {
    IN_PROCESS.iter().any(|row| row.name == name)
}

/// Returns the pages and the test data of the in-process connectors.
pub fn all_sandboxes() -> impl Iterator<Item = &'static Sandbox> {
    IN_PROCESS.iter().map(|row| row.sandbox)
}

/// Returns the pages and the test data that a channel has as a sandbox: those of the in-process connector that its
/// setting names, otherwise those of the first one.
pub fn sandbox_of(channel: &Channel) -> &'static Sandbox {
    let found = IN_PROCESS.iter().find(|row| channel.connector.as_deref() == Some(row.name));
    found.unwrap_or(&IN_PROCESS[0]).sandbox
}

/// Payments that a connector takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectorUse {
    /// Internal payments of sandboxes: it runs in this process.
    Internal,
    /// External payments of sandboxes.
    External,
    /// Real payments.
    Live,
}

/// A connector of this gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorInfo {
    /// Its name, which `--connector` accepts.
    pub name: String,
    /// The payments that it takes.
    pub takes: ConnectorUse,
    /// True if it takes them for channels that name no connector.
    pub is_default: bool,
}

/// The connectors of this gateway.
pub struct Registry {
    /// The routes of internal payments, in the order of the table.
    internal: Vec<PaymentRoute>,
    /// The external connectors of sandboxes, each with its own name.
    external: Vec<Arc<dyn Connector>>,
    /// The connectors of real payments, each with its own name.
    live: Vec<Arc<dyn Connector>>,
    /// The default connector of external payments of a sandbox.
    default_external: Option<Arc<dyn Connector>>,
    /// The lines to acquirers, for operators.
    lines: Vec<Arc<HostLine>>,
    /// The 3DS server. `None` if there is none.
    three_ds_server: Option<Arc<ThreeDsServer>>,
}

impl Default for Registry {
    fn default() -> Self {
        let internal = IN_PROCESS.iter().map(|row| (row.create_route)()).collect();
        Self {
            internal,
            external: Vec::new(),
            live: Vec::new(),
            default_external: None,
            lines: Vec::new(),
            three_ds_server: None,
        }
    }
}

impl Registry {
    /// Adds an external connector for sandboxes. `is_default`: it processes the external payments of channels that name
    /// no other connector.
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

    /// Adds the lines of a connector, so that operators can see them, and take them out.
    #[must_use]
    pub fn with_lines(mut self, lines: impl IntoIterator<Item = Arc<HostLine>>) -> Self {
        self.lines.extend(lines);
        self
    }

    /// Sets the 3DS server.
    #[must_use]
    pub fn with_three_ds_server(self, server: Arc<ThreeDsServer>) -> Self {
        Self { three_ds_server: Some(server), ..self }
    }

    /// Returns the lines to acquirers, in the order of the configuration.
    pub fn lines(&self) -> &[Arc<HostLine>] {
        &self.lines
    }

    /// Returns the line with a name. `None` if there is none.
    pub fn find_line(&self, name: &str) -> Option<&HostLine> {
        self.lines.iter().find(|line| **line.name() == *name).map(|line| &**line)
    }

    /// Returns the connectors whose requests leave this process: those of sandboxes, then those of real payments.
    pub fn all_external(&self) -> impl Iterator<Item = &Arc<dyn Connector>> {
        self.external.iter().chain(&self.live)
    }

    /// Lists the connectors: internal, external and live ones.
    pub fn list(&self) -> Vec<ConnectorInfo> {
        let internal = self.internal.iter().enumerate().map(|(index, route)| ConnectorInfo {
            name: route.connector.name().to_owned(),
            takes: ConnectorUse::Internal,
            is_default: index == 0,
        });
        let default = self.default_external.as_ref().map(|connector| connector.name());
        let external = self.external.iter().map(|connector| ConnectorInfo {
            name: connector.name().to_owned(),
            takes: ConnectorUse::External,
            is_default: default == Some(connector.name()),
        });
        let live = self.live.iter().map(|connector| ConnectorInfo {
            name: connector.name().to_owned(),
            takes: ConnectorUse::Live,
            is_default: false,
        });
        internal.chain(external).chain(live).collect()
    }

    /// Returns the route of a channel's payments in a mode, by the table of this module. If it has no connector, the
    /// route declines everything, and authenticates nobody.
    pub fn select_route(&self, channel: &Channel, mode: ProcessingMode) -> PaymentRoute {
        let name = channel.connector.as_deref();
        let external = name.and_then(|name| self.find_external(name, mode));
        let is_unknown = name.is_some_and(|name| external.is_none() && !connector_names().any(|known| known == name));
        let connector = match mode {
            _ if is_unknown => None,
            ProcessingMode::Internal => {
                let internal = self.internal.iter().find(|route| name == Some(route.connector.name()));
                return internal.unwrap_or(&self.internal[0]).clone();
            }
            ProcessingMode::External => external.clone().or_else(|| self.default_external.clone()),
            ProcessingMode::Live => external.clone(),
        };
        let server = self.three_ds_server.clone().filter(|_| external.is_some());
        let authenticator = match server {
            // A payment without a connector needs no authentication.
            _ if connector.is_none() => None,
            Some(server) => Some(server as Arc<dyn ThreeDsAuthenticator>),
            // The simulated issuers cannot authenticate real cardholders.
            None if mode == ProcessingMode::Live => None,
            None => self.internal[0].authenticator.clone(),
        };
        PaymentRoute { mode, connector: connector.unwrap_or_else(|| Arc::new(NotConfigured)), authenticator }
    }

    /// Returns the connector of real payments in live mode, or the external connector of sandboxes in any other mode,
    /// with this name. `None` if it is no longer configured.
    pub fn find_external(&self, name: &str, mode: ProcessingMode) -> Option<Arc<dyn Connector>> {
        let connectors = if mode == ProcessingMode::Live { &self.live } else { &self.external };
        connectors.iter().find(|connector| connector.name() == name).cloned()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns the route of a channel with this setting in a registry without external connectors.
    fn select_default_route(name: Option<&str>, mode: ProcessingMode) -> PaymentRoute {
        let channel = Channel { connector: name.map(str::to_owned), ..Channel::default() };
        Registry::default().select_route(&channel, mode)
    }

    #[test]
    fn a_sandbox_goes_to_the_simulator_unless_its_channel_names_an_unknown_connector() {
        for (name, mode, connector) in [
            (None, ProcessingMode::Internal, "simulator"),
            (Some("simulator"), ProcessingMode::Internal, "simulator"),
            (Some("acquirer-1"), ProcessingMode::Internal, "none"),
            (None, ProcessingMode::External, "none"),
            (Some("simulator"), ProcessingMode::External, "none"),
            (None, ProcessingMode::Live, "none"),
            (Some("simulator"), ProcessingMode::Live, "none"),
            (Some("http"), ProcessingMode::Internal, "simulator"),
            (Some("http"), ProcessingMode::Live, "none"),
        ] {
            assert_eq!(select_default_route(name, mode).connector.name(), connector, "{name:?} {mode:?}");
        }
    }

    #[tokio::test]
    async fn a_3ds_server_authenticates_live_payments_and_those_whose_channel_names_a_connector() {
        use tillgate_connector::http::{HostAddress, SharedKey};
        use tillgate_connector::three_ds::server::{MessageClient, RequestorProfile};
        let address = HostAddress::parse("http://127.0.0.1:1").unwrap();
        let clock = Arc::new(tillgate_os::clock::SystemClock);
        let client = MessageClient::new(address, SharedKey::new([7; 32]), clock).unwrap();
        let profile = RequestorProfile {
            requestor_id: "1".to_owned(),
            requestor_name: "n".to_owned(),
            server_reference: "r".to_owned(),
            acquirer_bin: "400551".to_owned(),
            mcc: "5999".to_owned(),
            country: "DE".to_owned(),
        };
        let registry = Registry::default().with_external(Arc::new(NotConfigured), true);
        let registry = registry.with_live(Arc::new(NotConfigured));
        let registry = registry.with_three_ds_server(Arc::new(ThreeDsServer::new(client, profile)));
        let named = Channel { connector: Some("none".to_owned()), ..Channel::default() };
        for (channel, mode, by_server) in [
            (&named, ProcessingMode::Live, Some(true)),
            (&Channel::default(), ProcessingMode::Live, None),
            (&named, ProcessingMode::External, Some(true)),
            (&Channel::default(), ProcessingMode::External, Some(false)),
            (&Channel::default(), ProcessingMode::Internal, Some(false)),
        ] {
            let found = registry.select_route(channel, mode).authenticator;
            assert_eq!(found.map(|found| found.server().is_some()), by_server, "{mode:?} {:?}", channel.connector);
        }
    }

    #[test]
    fn cardholders_are_authenticated_in_a_sandbox_whose_payments_somebody_takes() {
        assert!(select_default_route(None, ProcessingMode::Internal).authenticator.is_some());
        assert!(select_default_route(None, ProcessingMode::External).authenticator.is_none());
        let registry = Registry::default().with_external(Arc::new(NotConfigured), true);
        let registry = registry.with_live(Arc::new(NotConfigured));
        let channel = Channel { connector: Some("none".to_owned()), ..Channel::default() };
        assert!(registry.select_route(&Channel::default(), ProcessingMode::External).authenticator.is_some());
        assert!(registry.select_route(&channel, ProcessingMode::Live).authenticator.is_none());
    }
}
