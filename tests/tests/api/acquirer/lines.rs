//! Payments over ISO 8583: lines from the gateway to the acquirer's host in a process of its own, in each dialect of
//! the program.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{MerchantClient, TcpForwarder, TestAcquirerHost, TestGateway, poll_until};

use crate::acquirer::payments::booked_entries;
use crate::payment::increments::INCREMENT;
use crate::service::command_line::{output_text, run_tillgate};
use crate::support::*;

/// The dialects, each with the key of its MACs.
pub const DIALECTS: [(&str, Option<&str>); 3] = [
    ("iso87-ascii-4a", None),
    ("iso87-bcd-tpdu-2b", Some("0123456789abcdeffedcba9876543210")),
    ("iso93-ebcdic-2b", Some("603deb1015ca71be2b73aef0857d7781")),
];

/// A gateway, an acquirer's host, the forwarder between them, and a merchant whose payments take the line.
pub struct LineScene {
    pub gateway: TestGateway,
    pub host: TestAcquirerHost,
    pub forwarder: TcpForwarder,
    pub shop: MerchantClient,
    /// The configuration and the key, which the host reads again when it restarts.
    pub _files: TempDir,
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o600))?)
}

/// Returns a configuration with one line, which gives up after so many milliseconds.
pub fn config_text(dialect: &str, address: &str, answer_timeout: u32) -> String {
    format!(
        "dialect = \"{dialect}\"\nacquirer = \"12345678901\"\nterminal = \"TILL0001\"\nanswer_timeout_ms = {answer_timeout}\n\
         [[lines]]\nname = \"first\"\naddress = \"{address}\"\nsecurity = \"plain\"\n\
         limits = {{ first_backoff_ms = 20, max_backoff_ms = 100 }}\n"
    )
}

/// Waits until a host listens for ISO 8583, and returns the address.
pub async fn find_iso_address(host: &TestAcquirerHost) -> anyhow::Result<String> {
    poll_until("the host listens for ISO 8583", async || {
        let log = host.read_log();
        let rest = log.split_once("listening for ISO 8583 on ").map(|(_, rest)| rest.to_owned());
        Ok(rest.and_then(|rest| Some(rest.split_once(' ')?.0.to_owned())))
    })
    .await
}

impl LineScene {
    async fn start(dialect: &str, key: Option<&str>) -> anyhow::Result<Self> {
        Self::start_with(dialect, key, 2000, &[]).await
    }

    /// Starts a gateway that waits so many milliseconds for an answer, and a host with these options.
    pub async fn start_with(
        dialect: &str,
        key: Option<&str>,
        answer_timeout: u32,
        host_options: &[&str],
    ) -> anyhow::Result<Self> {
        let files = tempfile::tempdir()?;
        let (config, key_file) = (files.path().join("lines.toml"), files.path().join("mac.key"));
        let (config_path, key_path) = (config.to_string_lossy().into_owned(), key_file.to_string_lossy().into_owned());
        let mut host_options =
            [&["--control", "--iso8583", "127.0.0.1:0", "--dialect", dialect], host_options].concat();
        let mut options = vec!["--acquirer-lines", config_path.as_str()];
        if let Some(key) = key {
            write_private(&key_file, key)?;
            host_options.extend(["--mac-key-file", &key_path]);
            options.extend(["--acquirer-mac-key-file", &key_path]);
        }
        let host = TestAcquirerHost::start(&host_options)?;
        let forwarder = TcpForwarder::start(Some(&find_iso_address(&host).await?)).await?;
        fs::write(&config, config_text(dialect, forwarder.url.trim_start_matches("http://"), answer_timeout))?;
        let gateway = TestGateway::start_with(&options)?;
        let shop =
            gateway.create_merchant_with(&["--connector", "iso8583", "--acquirer-merchant", "KILN00000000001"])?;
        let scene = Self { gateway, host, forwarder, shop, _files: files };
        scene.wait_for_phase("connected").await?;
        Ok(scene)
    }

    /// Returns the line as `tillgate line list` prints it.
    fn read_line(&self) -> anyhow::Result<Value> {
        Ok(self.gateway.run_command(&["line", "list"])?[0].clone())
    }

    pub async fn wait_for_phase(&self, phase: &str) -> anyhow::Result<()> {
        poll_until(phase, async || Ok((self.read_line()?["phase"] == phase).then_some(()))).await
    }

    pub async fn pay(&self, amount: &str, fields: &[(&str, &str)]) -> anyhow::Result<tillgate_tests::ApiResponse> {
        let own = [("testMode", "EXTERNAL"), ("amount", amount)];
        self.shop.pay_by_card(&[&own, fields].concat()).await
    }

    pub async fn modify(&self, id: &str, kind: &str, amount: &str) -> anyhow::Result<tillgate_tests::ApiResponse> {
        let fields = [("paymentType", kind), ("amount", amount), ("currency", "EUR")];
        self.shop.post(&format!("v1/payments/{id}"), &fields).await
    }

    /// Raises a preauthorization.
    async fn raise(&self, id: &str, amount: &str) -> anyhow::Result<tillgate_tests::ApiResponse> {
        let fields = [INCREMENT, ("paymentType", "PA"), ("amount", amount), ("currency", "EUR")];
        self.shop.post(&format!("v1/payments/{id}"), &fields).await
    }

    /// Returns kind, amount and state of the host's entries.
    pub async fn entries(&self) -> anyhow::Result<Vec<(String, u64, bool)>> {
        let entries = self.host.read_ledger().await?;
        let shape = |entry: &Value| {
            let is_effective = entry["approved"] == true && entry["reversed"] == false;
            (
                entry["kind"].as_str().unwrap_or_default().to_owned(),
                entry["amount"].as_u64().unwrap_or_default(),
                is_effective,
            )
        };
        Ok(entries.iter().map(shape).collect())
    }
}

#[tokio::test]
async fn a_day_of_payments_is_the_same_at_the_gateway_and_at_the_host_in_every_dialect() -> anyhow::Result<()> {
    for (dialect, key) in DIALECTS {
        let scene = LineScene::start(dialect, key).await?;
        let debit = scene.pay("92.00", &[]).await?;
        assert_result(&debit, 200, "000.100.112");
        assert_eq!(debit.json["resultDetails"]["ConnectorTxID3"].as_str().map(str::len), Some(6), "{}", debit.text);
        assert_result(&scene.modify(debit.id(), "RF", "10.00").await?, 200, "000.100.112");
        let reserved = scene.pay("50.00", &[("paymentType", "PA")]).await?;
        assert_result(&scene.modify(reserved.id(), "CP", "20.00").await?, 200, "000.100.112");
        assert_result(&scene.raise(reserved.id(), "4.00").await?, 200, "000.100.112");
        assert_result(&scene.modify(reserved.id(), "CP", "34.00").await?, 200, "000.100.112");
        let released = scene.pay("3.00", &[("paymentType", "PA")]).await?;
        assert_result(&scene.raise(released.id(), "2.00").await?, 200, "000.100.112");
        let reversal = scene.shop.post(&format!("v1/payments/{}", released.id()), &[("paymentType", "RV")]).await?;
        assert_result(&reversal, 200, "000.100.112");
        let reversed = scene.pay("7.00", &[]).await?;
        let reversal = scene.shop.post(&format!("v1/payments/{}", reversed.id()), &[("paymentType", "RV")]).await?;
        assert_result(&reversal, 200, "000.100.112");
        assert_result(&scene.pay("1000.51", &[]).await?, 400, "800.100.155");
        let part = scene.pay("1000.10", &[("partialApproval", "accept")]).await?;
        assert_eq!((&part.json["amount"], part.result_code()), (&"500.05".into(), "000.100.112"), "{}", part.text);
        assert_result(&scene.pay("1000.10", &[]).await?, 400, "800.100.155");
        poll_until("the part is reversed", async || {
            let left =
                scene.entries().await?.iter().filter(|(_, amount, effective)| *effective && *amount == 50_005).count();
            Ok((left == 1).then_some(()))
        })
        .await?;
        let entries = scene.entries().await?;
        let effective = |kind: &str| -> u64 {
            entries
                .iter()
                .filter(|(found, _, effective)| *effective && found == kind)
                .map(|(_, amount, _)| amount)
                .sum()
        };
        let sums = ["debit", "authorization", "increment", "capture", "refund"].map(effective);
        assert_eq!(sums, [9200 + 50_005, 5000, 400, 5400, 1000], "{dialect}: {entries:?}");
        assert_eq!(scene.gateway.run_command(&["verify"])?["faultCount"], 0);
        let log = [scene.gateway.read_log(), scene.host.read_log()].concat();
        assert!(!log.contains("4200000000000000"), "{dialect}");
    }
    Ok(())
}

#[tokio::test]
async fn a_payment_that_the_host_books_and_never_answers_is_reversed_also_after_a_restart() -> anyhow::Result<()> {
    let (dialect, key) = DIALECTS[0];
    let mut scene = LineScene::start(dialect, key).await?;
    let pending = scene.pay("2000.02", &[]).await?;
    assert_result(&pending, 200, "000.200.000");
    let line = scene.read_line()?;
    assert_eq!((&line["sent"], &line["answered"], &line["failed"]), (&1.into(), &0.into(), &1.into()), "{line}");
    // The host dies as well, and is at another address afterwards.
    scene.host = scene.host.kill_and_restart()?;
    scene.forwarder.set_target(Some(&find_iso_address(&scene.host).await?));
    scene.wait_for_phase("connected").await?;
    scene.shop.advance_clock("1m").await?;
    let ended = poll_until("the payment ends", async || {
        let status = scene.shop.get(&format!("v1/payments/{}", pending.id())).await?;
        Ok(Some(status).filter(|status| status.result_code() != "000.200.000"))
    })
    .await?;
    assert_result(&ended, 400, "900.100.300");
    assert_eq!(booked_entries(&scene.host, "reversal").await?.len(), 1);
    assert!(scene.entries().await?.iter().all(|(kind, _, is_effective)| kind == "reversal" || !is_effective));
    assert_result(&scene.pay("92.00", &[]).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_payment_whose_outcome_the_host_does_not_know_is_reversed_in_every_dialect() -> anyhow::Result<()> {
    for (dialect, key) in DIALECTS {
        let scene = LineScene::start(dialect, key).await?;
        // The host books it, and says that it does not know.
        let pending = scene.pay("1000.68", &[]).await?;
        assert_result(&pending, 200, "000.200.000");
        scene.shop.advance_clock("1m").await?;
        poll_until("the payment is reversed", async || {
            let status = scene.shop.get(&format!("v1/payments/{}", pending.id())).await?;
            Ok((status.result_code() == "900.100.300").then_some(()))
        })
        .await?;
        let entries = scene.entries().await?;
        assert!(entries.iter().any(|(kind, _, is_effective)| kind == "debit" && !is_effective), "{entries:?}");
    }
    Ok(())
}

/// Returns the phase of the line in `/health`, which has its name and nothing else about it.
async fn read_phase(scene: &LineScene) -> anyhow::Result<String> {
    let health = scene.shop.get("health").await?;
    assert_eq!((health.status, &health.json["status"]), (200, &"ok".into()), "{}", health.text);
    let lines = health.json["lines"].as_array().cloned().unwrap_or_default();
    assert_eq!(lines.len(), 1, "{}", health.text);
    assert_eq!(lines[0].as_object().map(serde_json::Map::len), Some(2), "{}", health.text);
    assert_eq!(lines[0]["name"], "first");
    Ok(lines[0]["phase"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn a_line_is_taken_out_and_put_back_and_both_are_recorded() -> anyhow::Result<()> {
    let (dialect, key) = DIALECTS[1];
    let scene = LineScene::start(dialect, key).await?;
    assert_eq!(read_phase(&scene).await?, "connected");
    assert_eq!(scene.gateway.run_command(&["line", "take-out", "first"])?[0]["phase"], "taken out");
    assert_eq!(read_phase(&scene).await?, "taken out");
    // It was certainly not sent, so the payment is declined and not pending.
    assert_result(&scene.pay("92.00", &[]).await?, 400, "900.100.600");
    assert!(scene.entries().await?.is_empty());
    scene.gateway.run_command(&["line", "put-back", "first"])?;
    scene.wait_for_phase("connected").await?;
    assert_result(&scene.pay("92.00", &[]).await?, 200, "000.100.112");
    let refused = scene.gateway.run_command(&["line", "take-out", "second"]).map_err(|error| error.to_string());
    assert!(refused.as_ref().is_err_and(|error| error.contains("no line \"second\"")), "{refused:?}");
    let query = "SELECT count(*) FROM audit_entry WHERE CAST(document AS TEXT) LIKE '%line take-out%'
        OR CAST(document AS TEXT) LIKE '%line put-back%'";
    let acts: u32 = open_database(&scene.gateway)?.query_row(query, [], |row| row.get(0))?;
    assert_eq!(acts, 2);
    Ok(())
}

/// Returns the merchants in a host's ledger, each once.
async fn ledger_merchants(host: &TestAcquirerHost) -> anyhow::Result<BTreeSet<String>> {
    let entries = host.read_ledger().await?;
    Ok(entries.iter().filter_map(|entry| entry["merchantId"].as_str().map(str::to_owned)).collect())
}

#[tokio::test]
async fn live_money_and_play_money_take_lines_of_their_own() -> anyhow::Result<()> {
    let files = tempfile::tempdir()?;
    let options = ["--iso8583", "127.0.0.1:0", "--dialect", "iso87-ascii-4a"];
    let (bank, test_system) = (TestAcquirerHost::start(&options)?, TestAcquirerHost::start(&options)?);
    let mut text = "dialect = \"iso87-ascii-4a\"\nacquirer = \"12345678901\"\nterminal = \"TILL0001\"\n".to_owned();
    for (entities, host) in [("live", &bank), ("sandbox", &test_system)] {
        let address = find_iso_address(host).await?;
        text += &format!(
            "[[lines]]\nname = \"{entities}\"\naddress = \"{address}\"\nsecurity = \"plain\"\n\
             system = \"system-{entities}\"\nentities = \"{entities}\"\n"
        );
    }
    let config = files.path().join("lines.toml");
    fs::write(&config, text)?;
    let config = config.to_string_lossy().into_owned();
    let gateway = TestGateway::start_with(&[&["--acquirer-lines", &config], &LIVE[..]].concat())?;
    let create = |more: &[&str]| gateway.create_merchant_with(&[&["--connector", "iso8583"], more].concat());
    let live = create(&["--live", "--acquirer-merchant", "LIVE"])?.behind_proxy();
    let sandbox = create(&["--acquirer-merchant", "SANDBOX"])?.behind_proxy();
    poll_until("both lines are signed on", async || {
        let lines = gateway.run_command(&["line", "list"])?;
        Ok((0..2).all(|place| lines[place]["phase"] == "connected").then_some(()))
    })
    .await?;
    let reserved = live.pay_by_card(&[("paymentType", "PA")]).await?;
    assert_result(&reserved, 200, "000.000.000");
    let fields = [("paymentType", "CP"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&live.post(&format!("v1/payments/{}", reserved.id()), &fields).await?, 200, "000.000.000");
    assert_result(&sandbox.pay_by_card(&[("testMode", "EXTERNAL")]).await?, 200, "000.100.112");
    let merchants = |name: &str| BTreeSet::from([name.to_owned()]);
    assert_eq!(ledger_merchants(&bank).await?, merchants("LIVE"));
    assert_eq!(ledger_merchants(&test_system).await?, merchants("SANDBOX"));
    // Without its own line, live money takes no other.
    gateway.run_command(&["line", "take-out", "live"])?;
    assert_result(&live.pay_by_card(&[]).await?, 400, "900.100.600");
    assert_eq!(ledger_merchants(&test_system).await?, merchants("SANDBOX"));
    Ok(())
}

#[tokio::test]
async fn a_configuration_that_cannot_work_is_refused_with_its_file_and_key() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let good = config_text("iso87-ascii-4a", "127.0.0.1:1", 2000);
    for (text, words) in [
        (good.replace("terminal", "terminus"), &["terminus"][..]),
        (good.replace("iso87-ascii-4a", "iso87"), &["dialect", "iso87-ascii-4a"]),
        (good.replace("iso87-ascii-4a", "own.toml"), &["own.toml"]),
        (good.replace("iso87-ascii-4a", "iso93-ebcdic-2b"), &["MAC key"]),
        (good.replace("127.0.0.1:1", "127.0.0.1"), &["first", "127.0.0.1"]),
        (good.replace("\"plain\"", "\"plain\"\nca_file = \"x\""), &["ca_file"]),
        (good.replace("TILL0001", "TILL000000001"), &["terminal"]),
    ] {
        fs::write(path("lines.toml"), &text)?;
        let output = run_tillgate(&[
            "serve",
            "--data",
            &path("data"),
            "--listen",
            "127.0.0.1:0",
            "--acquirer-lines",
            &path("lines.toml"),
        ])
        .await?;
        let printed = output_text(&output);
        assert!(!output.status.success(), "{printed}");
        for word in words.iter().chain(if words == ["own.toml"] { &[] } else { &["lines.toml"][..] }) {
            assert!(printed.contains(word), "{word}: {printed}");
        }
    }
    Ok(())
}
