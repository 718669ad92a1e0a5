//! The ways from a gateway to an acquirer: one for each external connector. At the end of each is an acquirer's host,
//! whose ledger tells what has happened to the money.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;
use tillgate_tests::{ApiResponse, MerchantClient, TcpForwarder, TestAcquirerHost, TestGateway, poll_until};

use crate::acquirer::lines::{config_text, find_iso_address};
use crate::support::open_database;

/// An external connector, and the outcomes that its protocol has where protocols differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Way {
    /// Its name, for `--connector`.
    pub connector: &'static str,
    /// Result of a debit that the acquirer books without an answer. ISO 8583 has no inquiry, so such a debit is
    /// reversed.
    pub unanswered: (u16, &'static str),
    /// Result of a debit while every connection is closed at once. A line that is down is known to send nothing.
    pub cut_off: &'static str,
    /// True if the merchant is answered pending when the connections are closed at once.
    pub is_cut_off_unknown: bool,
    /// Response code of the acquirer in the answer to an approval of a part.
    pub part_response: &'static str,
}

/// Every external connector.
pub const WAYS: [Way; 3] = [
    Way {
        connector: "http",
        unanswered: (200, "000.100.112"),
        cut_off: "900.100.300",
        is_cut_off_unknown: true,
        part_response: "10",
    },
    Way {
        connector: "iso8583",
        unanswered: (400, "900.100.300"),
        cut_off: "900.100.600",
        is_cut_off_unknown: false,
        part_response: "10",
    },
    Way {
        connector: "gateway",
        unanswered: (200, "000.100.112"),
        cut_off: "900.100.300",
        is_cut_off_unknown: true,
        part_response: "10",
    },
];

/// A gateway with a merchant, the way to the acquirer, and the acquirer's host at its end.
pub struct WayScene {
    pub way: Way,
    pub gateway: TestGateway,
    pub shop: MerchantClient,
    /// The connections of the gateway to the next system.
    pub line: TcpForwarder,
    /// The other gateway between, with the merchant that the first one is there.
    pub upstream: Option<(TestGateway, MerchantClient)>,
    pub host: TestAcquirerHost,
    /// Arguments of the gateway, for its restart.
    pub arguments: Vec<String>,
    /// Files that the arguments name.
    _files: TempDir,
}

/// Writes a file that only its owner can read, and returns its path.
pub fn write_private(folder: &Path, name: &str, text: &str) -> anyhow::Result<String> {
    let path = folder.join(name);
    fs::write(&path, text)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
    Ok(path.to_string_lossy().into_owned())
}

/// Returns the arguments of a gateway whose connector `http` is this host.
fn host_arguments(address: &str, host: &TestAcquirerHost) -> Vec<String> {
    let key = host.key_file().to_string_lossy().into_owned();
    ["--acquirer", address, "--acquirer-key-file", &key, "--acquirer-timeout", "2s"].map(str::to_owned).to_vec()
}

/// Starts a gateway with these arguments.
pub fn start_gateway(arguments: &[String]) -> anyhow::Result<TestGateway> {
    TestGateway::start_with(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the arguments of a gateway whose upstream is at an address, with the token of a merchant there.
pub fn upstream_arguments(url: &str, token: &str, folder: &Path) -> anyhow::Result<Vec<String>> {
    let file = write_private(folder, "upstream.token", &format!("{token}\n"))?;
    Ok(["--upstream", url, "--upstream-token-file", &file, "--upstream-timeout", "4s"].map(str::to_owned).to_vec())
}

impl WayScene {
    /// Starts an acquirer's host, the way to it, and a gateway with a merchant.
    pub async fn start(way: Way) -> anyhow::Result<Self> {
        let files = tempfile::tempdir()?;
        let iso = ["--iso8583", "127.0.0.1:0", "--dialect", "iso87-ascii-4a"];
        let host = TestAcquirerHost::start(
            &[&["--control"][..], if way.connector == "iso8583" { &iso } else { &[] }].concat(),
        )?;
        let mut upstream = None;
        let (line, arguments) = match way.connector {
            "http" => {
                let line = TcpForwarder::start(Some(&host.address)).await?;
                let arguments = host_arguments(&line.url, &host);
                (line, arguments)
            }
            "iso8583" => {
                let line = TcpForwarder::start(Some(&find_iso_address(&host).await?)).await?;
                let config = config_text("iso87-ascii-4a", line.url.trim_start_matches("http://"), 2000);
                let file = write_private(files.path(), "lines.toml", &config)?;
                (line, ["--acquirer-lines", &file].map(str::to_owned).to_vec())
            }
            _ => {
                let gateway = start_gateway(&host_arguments(&format!("http://{}", host.address), &host))?;
                let shop = gateway.create_merchant()?;
                let line = TcpForwarder::start(Some(&address_of(&gateway))).await?;
                let arguments = upstream_arguments(&line.url, &shop.token, files.path())?;
                upstream = Some((gateway, shop));
                (line, arguments)
            }
        };
        let gateway = start_gateway(&arguments)?;
        let acquirer_merchant = upstream.as_ref().map_or("KILN00000000001", |(_, shop)| shop.entity_id.as_str());
        let shop =
            gateway.create_merchant_with(&["--connector", way.connector, "--acquirer-merchant", acquirer_merchant])?;
        let scene = Self { way, gateway, shop, line, upstream, host, arguments, _files: files };
        scene.wait_until_connected().await?;
        Ok(scene)
    }

    /// Waits until the line of ISO 8583 is connected. The other connectors connect with each payment.
    pub async fn wait_until_connected(&self) -> anyhow::Result<()> {
        if self.way.connector != "iso8583" {
            return Ok(());
        }
        let phase = || Ok::<_, anyhow::Error>(self.gateway.run_command(&["line", "list"])?[0]["phase"].clone());
        poll_until("the line is connected", async || Ok((phase()? == "connected").then_some(()))).await
    }

    /// Lets the way lead to the acquirer again, or closes every connection.
    pub async fn connect(&self, is_connected: bool) -> anyhow::Result<()> {
        let target = match (&self.upstream, self.way.connector) {
            _ if !is_connected => None,
            (Some((gateway, _)), _) => Some(address_of(gateway)),
            (None, "iso8583") => Some(find_iso_address(&self.host).await?),
            (None, _) => Some(self.host.address.clone()),
        };
        self.line.set_target(target.as_deref());
        if is_connected { self.wait_until_connected().await } else { Ok(()) }
    }

    /// Kills the gateway as a power failure would, and starts it again on its data.
    pub async fn restart_gateway(self) -> anyhow::Result<Self> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let gateway = self.gateway.kill_and_restart(&arguments)?;
        let shop = MerchantClient::new(gateway.base_url(), self.shop.entity_id.clone(), self.shop.token.clone());
        let scene = Self { gateway, shop, ..self };
        scene.wait_until_connected().await?;
        Ok(scene)
    }

    /// Pays an amount in euros with a card. `fields` are added or replace the defaults.
    pub async fn pay(&self, amount: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        self.shop.pay_by_card(&[&[("testMode", "EXTERNAL"), ("amount", amount)], fields].concat()).await
    }

    /// Captures (`CP`), refunds (`RF`) or reverses (`RV`) a payment, the latter as a whole.
    pub async fn modify(&self, payment: &ApiResponse, payment_type: &str, amount: &str) -> anyhow::Result<ApiResponse> {
        let fields = [("paymentType", payment_type), ("amount", amount), ("currency", "EUR")];
        let fields = if payment_type == "RV" { &fields[..1] } else { &fields };
        self.shop.post(&format!("v1/payments/{}", payment.id()), fields).await
    }

    /// Waits until a payment is no longer pending (000.200.000), and returns its status.
    pub async fn wait_for_outcome(&self, payment: &ApiResponse) -> anyhow::Result<ApiResponse> {
        poll_until("the outcome is known", async || {
            let status = self.shop.get(&format!("v1/payments/{}", payment.id())).await?;
            Ok(Some(status).filter(|status| status.result_code() != "000.200.000"))
        })
        .await
    }

    /// Returns the sums of the host's approved entries that are not reversed, in minor units, by their kind.
    pub async fn effective_sums(&self) -> anyhow::Result<BTreeMap<String, u64>> {
        let mut sums = BTreeMap::new();
        for entry in self.host.read_ledger().await? {
            let is_effective = entry["approved"] == true && entry["reversed"] == false;
            let kind = entry["kind"].as_str().unwrap_or_default().to_owned();
            if is_effective && !["reversal", "unseen"].contains(&kind.as_str()) {
                *sums.entry(kind).or_default() += entry["amount"].as_u64().unwrap_or_default();
            }
        }
        Ok(sums)
    }

    /// Waits until the host's effective entries have these sums, and no intent is left at the gateway.
    pub async fn wait_for_sums(&self, expected: &[(&str, u64)]) -> anyhow::Result<()> {
        let expected: BTreeMap<String, u64> = expected.iter().map(|(kind, sum)| ((*kind).to_owned(), *sum)).collect();
        let mut latest = BTreeMap::new();
        let waited = poll_until("the host's ledger has the expected sums", async || {
            let query = "SELECT count(*) FROM timer WHERE kind = 'ask'";
            let left: u32 = open_database(&self.gateway)?.query_row(query, [], |row| row.get(0))?;
            latest = self.effective_sums().await?;
            Ok((left == 0 && latest == expected).then_some(()))
        });
        let waited = waited.await;
        anyhow::ensure!(waited.is_ok(), "{}: {latest:?} instead of {expected:?}", self.way.connector);
        Ok(())
    }
}

/// Returns host and port of a gateway.
pub fn address_of(gateway: &TestGateway) -> String {
    gateway.base_url().trim_start_matches("http://").trim_end_matches('/').to_owned()
}
