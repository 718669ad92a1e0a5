//! Options for another gateway as acquirer.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use tillgate_connector::gateway_api::{AccessToken, GatewayClient, GatewayConnector};
use tillgate_connector::web::{Deadlines, HostAddress};
use tillgate_gateway::registry::Registry;
use tillgate_os::clock::SystemClock;

use super::acquirer::{parse_address, parse_limited_timeout};
use super::private_file::read_private_file;

/// The other gateway.
#[derive(Debug, Args)]
pub(super) struct UpstreamOptions {
    /// Address of another gateway of this API, for channels with `--connector gateway`: https://, or http:// on this
    /// machine.
    #[arg(long, value_name = "URL", env = "TILLGATE_UPSTREAM", value_parser = parse_address, requires = "upstream_token_file")]
    upstream: Option<HostAddress>,
    /// File with the access token for the other gateway, mode 0600. The token needs the scopes read, pay and refund.
    #[arg(long, value_name = "FILE", env = "TILLGATE_UPSTREAM_TOKEN_FILE", requires = "upstream")]
    upstream_token_file: Option<PathBuf>,
    /// Maximum time for the other gateway to respond, longer than its own time for its acquirer. A payment without a
    /// response is pending until its outcome is known.
    #[arg(long, value_name = "DURATION", env = "TILLGATE_UPSTREAM_TIMEOUT", default_value = "25s")]
    #[arg(value_parser = parse_limited_timeout)]
    upstream_timeout: Duration,
}

impl UpstreamOptions {
    /// Adds the connector to the other gateway, for sandboxes and for live entities. Adds nothing without `--upstream`.
    ///
    /// # Errors
    /// If the token or the system's certificates cannot be read.
    pub(super) fn add_connectors(&self, registry: Registry) -> anyhow::Result<Registry> {
        let (Some(address), Some(path)) = (&self.upstream, &self.upstream_token_file) else { return Ok(registry) };
        let text = read_private_file(path)?;
        let token = AccessToken::parse(&text).with_context(|| {
            format!("{} has to hold an access token and nothing else: 8 to 2048 visible characters", path.display())
        })?;
        let deadlines = Deadlines::for_answer_within(self.upstream_timeout);
        let client = GatewayClient::new(address.clone(), token, deadlines, Arc::new(SystemClock));
        let client = client.context("the system's certificates")?;
        let (test, live) = (GatewayConnector::new(client.clone(), false), GatewayConnector::new(client, true));
        Ok(registry.with_external(Arc::new(test), false).with_live(Arc::new(live)))
    }
}
