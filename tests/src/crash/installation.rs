//! The gateways of a crash test: one on its own store, or several on a cluster of PostgreSQL.

use std::time::Duration;

use anyhow::Context as _;

use super::acquirer::KillableHost;
use super::cluster::{ClusterFault, ClusterInstallation};
use super::random_below;
use crate::{MerchantClient, TestGateway};

/// Minimum uptime of one gateway under load, and the maximum random addition, in milliseconds.
const LIFE: (u64, u64) = (20, 400);
/// The same of a cluster.
const CLUSTER_LIFE: (u64, u64) = (500, 1500);

/// Kind of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstallationKind {
    /// One gateway on its own store, which is killed in each round.
    Single,
    /// This number of gateways on a cluster of PostgreSQL. Each round has one of the faults.
    Cluster(u8, Vec<ClusterFault>),
}

/// A running installation.
pub(super) enum Installation {
    /// A gateway with its options. `None` during a restart.
    Single(Option<TestGateway>, Vec<String>),
    Cluster(Box<ClusterInstallation>),
}

impl Installation {
    /// Starts all of it, with these options of `tillgate serve`.
    pub(super) fn start(kind: InstallationKind, options: Vec<String>) -> anyhow::Result<Self> {
        match kind {
            InstallationKind::Single => {
                let gateway = TestGateway::start_with(&as_arguments(&options))?;
                Ok(Self::Single(Some(gateway), options))
            }
            InstallationKind::Cluster(nodes, faults) => {
                Ok(Self::Cluster(Box::new(ClusterInstallation::start(nodes, faults, options)?)))
            }
        }
    }

    /// Returns a gateway, for commands and for its store.
    pub(super) fn gateway(&self) -> anyhow::Result<&TestGateway> {
        match self {
            Self::Single(gateway, _) => gateway.as_ref().context("no gateway"),
            Self::Cluster(cluster) => cluster.first_node(),
        }
    }

    /// Returns the address for merchants.
    pub(super) fn base_url(&self) -> anyhow::Result<String> {
        match self {
            Self::Single(..) => Ok(self.gateway()?.base_url()),
            Self::Cluster(cluster) => Ok(cluster.base_url()),
        }
    }

    /// Returns true if requests go through a proxy, which answers while a part of the installation is down.
    pub(super) fn is_behind_proxy(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Creates a merchant that all gateways know.
    pub(super) fn create_merchant(&self) -> anyhow::Result<MerchantClient> {
        match self {
            Self::Single(..) => self.gateway()?.create_merchant(),
            Self::Cluster(cluster) => cluster.create_merchant(),
        }
    }

    /// Returns a random time under load before the next fault.
    pub(super) fn choose_life(&self) -> Duration {
        let (minimum, addition) = if self.is_behind_proxy() { CLUSTER_LIFE } else { LIFE };
        Duration::from_millis(minimum + random_below(addition))
    }

    /// Kills a part, and restarts it. The acquirer host is killed in two rounds of three: while the gateways are
    /// running or not. Returns the time until a shopper could pay again, which is measured for a cluster only.
    pub(super) async fn fail_and_recover(
        &mut self,
        shop: &MerchantClient,
        host: &mut KillableHost,
    ) -> anyhow::Result<Duration> {
        let moment = random_below(3);
        if moment == 0 {
            host.kill_and_restart()?;
        }
        let mut kill_host = || if moment == 1 { host.kill_and_restart() } else { Ok(()) };
        match self {
            Self::Single(gateway, options) => {
                let killed = gateway.take().context("no gateway")?;
                *gateway = Some(killed.kill_and_restart_after(&as_arguments(options), |_| kill_host())?);
                Ok(Duration::ZERO)
            }
            Self::Cluster(cluster) => cluster.fail_and_recover(shop, kill_host).await,
        }
    }
}

/// Borrows options as arguments.
pub(super) fn as_arguments(options: &[String]) -> Vec<&str> {
    options.iter().map(String::as_str).collect()
}
