//! Several gateways behind a proxy, on a cluster of PostgreSQL under Patroni: the installation of `docs/scaling.md`, of
//! which parts are killed.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tillgate_test_cluster::PatroniCluster;

use super::clients::{check_status, get_answered};
use super::installation::as_arguments;
use super::random_below;
use crate::wait::PATIENCE;
use crate::{MerchantClient, TestGateway, poll_until, poll_until_blocking};

/// Pause of a shopper between two tries to pay.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

/// A fault of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClusterFault {
    /// The machine of the primary dies: PostgreSQL and Patroni.
    PrimaryMachine,
    /// The machine of the primary stops, and goes on after another one has become the primary.
    PrimaryStopped,
    /// PostgreSQL dies on the primary, and Patroni notices.
    PrimaryDatabase,
    /// A gateway dies.
    Node,
    /// The machine of the primary and a gateway die at once.
    PrimaryAndNode,
    /// All connections between the gateways and PostgreSQL are cut.
    Connections,
}

impl ClusterFault {
    /// Every fault.
    pub const ALL: [Self; 6] = [
        Self::PrimaryMachine,
        Self::PrimaryStopped,
        Self::PrimaryDatabase,
        Self::Node,
        Self::PrimaryAndNode,
        Self::Connections,
    ];
}

/// A running installation.
pub(super) struct ClusterInstallation {
    // Fields are dropped in this order: the gateways before their database. A node is `None` while it is down.
    nodes: Vec<Option<TestGateway>>,
    cluster: PatroniCluster,
    /// Host and port of the proxy in front of the nodes.
    front: String,
    options: Vec<String>,
    faults: Vec<ClusterFault>,
}

impl ClusterInstallation {
    /// Starts everything, and waits until all nodes are healthy.
    pub(super) fn start(nodes: u8, faults: Vec<ClusterFault>, options: Vec<String>) -> anyhow::Result<Self> {
        let cluster = PatroniCluster::start()?;
        let front = cluster.start_front_proxy(nodes)?;
        let address = cluster.address()?;
        let mut installation = Self { nodes: Vec::new(), cluster, front, options, faults };
        for number in 1..=nodes {
            let key = installation.nodes.first().and_then(Option::as_ref).map(TestGateway::key_file);
            let options = installation.node_options(number);
            let node = TestGateway::start_on_files(&as_arguments(&options), |folder| {
                std::fs::write(folder.join("data.database"), &address)?;
                // All nodes have the keys of the first one.
                key.map_or(Ok(0), |key| std::fs::copy(key, folder.join("data.key")))?;
                Ok(())
            })?;
            installation.nodes.push(Some(node));
        }
        Ok(installation)
    }

    /// Returns the options of a node, by its number from 1.
    fn node_options(&self, number: u8) -> Vec<String> {
        let listen = format!("{}:8080", self.cluster.host(10 + number));
        let name = format!("tx0{number}");
        let own = ["--node", &name, "--listen", &listen, "--trusted-proxy", &self.cluster.host(10)].map(str::to_owned);
        own.into_iter().chain(self.options.iter().cloned()).collect()
    }

    pub(super) fn first_node(&self) -> anyhow::Result<&TestGateway> {
        self.nodes.iter().flatten().next().context("no node")
    }

    /// Returns the address of the proxy, with a trailing slash.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}/", self.front)
    }

    /// Creates a merchant, whose base is the proxy, and waits until all nodes know it.
    pub(super) fn create_merchant(&self) -> anyhow::Result<MerchantClient> {
        let merchant = self.first_node()?.create_merchant()?;
        for node in self.nodes.iter().flatten() {
            poll_until_blocking("the node takes the new token", || {
                Ok(node.is_merchant_known(&merchant)?.then_some(()))
            })?;
        }
        Ok(MerchantClient::new(self.base_url(), merchant.entity_id, merchant.token))
    }

    /// Lets a random one of the faults happen, waits until a shopper can pay who began before, and repairs everything.
    /// Calls `meanwhile` while parts are down. Returns the time until the shopper has paid.
    pub(super) async fn fail_and_recover(
        &mut self,
        shop: &MerchantClient,
        meanwhile: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<Duration> {
        let chosen = usize::try_from(random_below(self.faults.len().max(1) as u64)).unwrap_or_default();
        let fault = *self.faults.get(chosen).context("no fault")?;
        let checkout = create_checkout(shop).await?;
        let primary = self.cluster.find_primary().context("no primary")?;
        let began = Instant::now();
        let kills_node = matches!(fault, ClusterFault::Node | ClusterFault::PrimaryAndNode);
        // A node that was killed is down until the shopper has paid at another one.
        let killed = if kills_node { Some(self.kill_node()?) } else { None };
        match fault {
            ClusterFault::PrimaryMachine | ClusterFault::PrimaryAndNode => self.cluster.kill_machine(primary)?,
            ClusterFault::PrimaryStopped => self.cluster.suspend_machine(primary)?,
            ClusterFault::PrimaryDatabase => self.cluster.kill_postgres(primary)?,
            ClusterFault::Connections => self.cluster.cut_connections()?,
            ClusterFault::Node => {}
        }
        meanwhile()?;
        pay_checkout(shop, &checkout).await.with_context(|| format!("{fault:?}"))?;
        let outage = began.elapsed();
        if matches!(fault, ClusterFault::PrimaryMachine | ClusterFault::PrimaryAndNode) {
            self.cluster.start_machine(primary)?;
        }
        if fault == ClusterFault::PrimaryStopped {
            self.cluster.resume_machine(primary)?;
        }
        if let Some((number, folder)) = killed {
            let options = self.node_options(number);
            let node = TestGateway::restart_in(folder, &as_arguments(&options))?;
            self.nodes[usize::from(number) - 1] = Some(node);
        }
        self.cluster.wait_until_whole().with_context(|| format!("{fault:?}"))?;
        self.check_nothing_lost().await.with_context(|| format!("{fault:?}"))?;
        Ok(outage)
    }

    /// Checks that no node has noticed that the database lacks commits.
    async fn check_nothing_lost(&self) -> anyhow::Result<()> {
        for node in self.nodes.iter().flatten() {
            let health = reqwest::get(format!("{}health", node.base_url())).await?.text().await?;
            ensure!(!health.contains("lost-commits"), "{health}");
        }
        Ok(())
    }

    /// Kills a random node. Returns its number, from 1, and its folder.
    fn kill_node(&mut self) -> anyhow::Result<(u8, tempfile::TempDir)> {
        let chosen = random_below(self.nodes.len() as u64);
        let node = self.nodes.get_mut(usize::try_from(chosen)?).and_then(Option::take).context("no node")?;
        Ok((u8::try_from(chosen)? + 1, node.kill()))
    }
}

/// Creates the checkout of a shopper. Returns its id.
async fn create_checkout(shop: &MerchantClient) -> anyhow::Result<String> {
    poll_until("a checkout is created", async || {
        let checkout = shop.create_checkout(&[]).await?;
        Ok(check_status(true, &checkout).is_ok().then(|| checkout.id().to_owned()))
    })
    .await
}

/// Submits a card to a checkout until it is paid, as shoppers do who try again. A submit without an answer may have
/// been carried out, so the status is read before the next one.
async fn pay_checkout(shop: &MerchantClient, checkout: &str) -> anyhow::Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let submitted = shop.submit_card(checkout, &[]).await;
        let is_done = submitted.is_ok_and(|response| response.status == 200);
        let path = format!("v1/checkouts/{checkout}/payment");
        if is_done || shop.get(&path).await.is_ok_and(|status| status.result_code() == "000.100.110") {
            let status = get_answered(shop, &path).await?;
            ensure!(status.result_code() == "000.100.110", "the shopper was told success: {}", status.text);
            return Ok(());
        }
        ensure!(Instant::now() < until, "nobody can pay");
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}
