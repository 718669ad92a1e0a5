//! Payments at an acquirer's host in a process of its own (`testMode=EXTERNAL`): approvals, declines, captures, refunds
//! and reversals there, and a comparison of the host's ledger with the gateway's payments.

use futures_util::future::join_all;
use serde_json::Value;
use tillgate_tests::{
    AcquirerHostClient, ApiResponse, MerchantClient, TcpForwarder, TestAcquirerHost, TestGateway, poll_until,
    reconciliation,
};

use crate::support::*;

/// A gateway, an acquirer's host, the forwarder between them, and a merchant.
pub struct AcquirerScene {
    pub gateway: TestGateway,
    pub host: TestAcquirerHost,
    /// Forwards the gateway's connections to the host.
    pub line: TcpForwarder,
    pub shop: MerchantClient,
    /// Arguments of the gateway, for its restart.
    pub arguments: Vec<String>,
}

impl AcquirerScene {
    /// Starts an acquirer's host, a forwarder to it and a gateway that uses it, and creates a merchant. The arguments
    /// are added to those of `tillgate acquirer-host` and `tillgate serve`.
    pub async fn start(host_arguments: &[&str], gateway_arguments: &[&str]) -> anyhow::Result<Self> {
        let host = TestAcquirerHost::start(host_arguments)?;
        let line = TcpForwarder::start(Some(&host.address)).await?;
        let key = host.key_file();
        let mut arguments =
            ["--acquirer", &line.url, "--acquirer-key-file", &key.to_string_lossy()].map(str::to_owned).to_vec();
        arguments.extend(gateway_arguments.iter().map(|argument| (*argument).to_owned()));
        let gateway = TestGateway::start_with(&borrow_arguments(&arguments))?;
        let shop = gateway.create_merchant()?;
        Ok(Self { gateway, host, line, shop, arguments })
    }

    /// Kills the gateway as a power failure would, and starts it again on its data, with the same arguments and another
    /// port.
    pub fn restart_gateway(self) -> anyhow::Result<Self> {
        let gateway = self.gateway.kill_and_restart(&borrow_arguments(&self.arguments))?;
        let shop = MerchantClient::new(gateway.base_url(), self.shop.entity_id, self.shop.token);
        Ok(Self { gateway, shop, ..self })
    }

    /// Kills the host as a power failure would, starts it again on its ledger, and forwards to its new address.
    pub fn restart_host(self) -> anyhow::Result<Self> {
        let host = self.host.kill_and_restart()?;
        self.line.set_target(Some(&host.address));
        Ok(Self { host, ..self })
    }

    /// Pays an amount in euros with a card at the host. `fields` are added or replace the defaults. Returns any
    /// response.
    pub async fn pay_by_card(&self, amount: &str, fields: &[(&str, &str)]) -> anyhow::Result<ApiResponse> {
        self.shop.pay_by_card(&[&[("testMode", "EXTERNAL"), ("amount", amount)], fields].concat()).await
    }

    /// Captures (`CP`) or refunds (`RF`) an amount in euros of a payment. Returns any response.
    pub async fn modify(&self, payment: &str, payment_type: &str, amount: &str) -> anyhow::Result<ApiResponse> {
        let fields = [("paymentType", payment_type), ("amount", amount), ("currency", "EUR")];
        self.shop.post(&format!("v1/payments/{payment}"), &fields).await
    }

    /// Reverses a payment. Returns any response.
    pub async fn reverse(&self, payment: &str) -> anyhow::Result<ApiResponse> {
        self.shop.post(&format!("v1/payments/{payment}"), &[("paymentType", "RV")]).await
    }

    /// Waits until a payment is no longer pending (000.200.000), and returns its status.
    pub async fn wait_for_outcome(&self, payment: &str) -> anyhow::Result<ApiResponse> {
        poll_until("the outcome is known", async || {
            let status = self.shop.get(&format!("v1/payments/{payment}")).await?;
            Ok(Some(status).filter(|status| status.result_code() != "000.200.000"))
        })
        .await
    }

    /// Returns the entries of a kind, such as `debit`, in the host's ledger.
    pub async fn booked_entries(&self, kind: &str) -> anyhow::Result<Vec<Value>> {
        booked_entries(&self.host, kind).await
    }

    /// Waits until at least `count` requests of a kind have been booked at the host.
    pub async fn wait_until_booked(&self, kind: &str, count: usize) -> anyhow::Result<()> {
        poll_until(
            "the request is booked",
            async || Ok((self.booked_entries(kind).await?.len() >= count).then_some(())),
        )
        .await
    }

    /// Waits until the gateway has no intent left, and compares the host's ledger with its payments. Fails if they
    /// differ.
    pub async fn reconcile(&self) -> anyhow::Result<()> {
        poll_until("no intent is left", async || {
            let query = "SELECT count(*) FROM timer WHERE kind = 'ask'";
            let left: u32 = open_database(&self.gateway)?.query_row(query, [], |row| row.get(0))?;
            Ok((left == 0).then_some(()))
        })
        .await?;
        let payments = reconciliation::external_payments(&open_database(&self.gateway)?)?;
        reconciliation::compare_ledger(&self.host.read_ledger().await?, &payments)
    }
}

/// Returns the entries of a kind, such as `debit`, in a host's ledger.
pub async fn booked_entries(host: &AcquirerHostClient, kind: &str) -> anyhow::Result<Vec<Value>> {
    Ok(host.read_ledger().await?.into_iter().filter(|entry| entry["kind"] == kind).collect())
}

fn borrow_arguments(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn a_payment_is_authorised_captured_refunded_and_reversed_at_the_host() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let authorized = scene.pay_by_card("92.00", &[("paymentType", "PA")]).await?;
    assert_result(&authorized, 200, "000.100.112");
    let captured = scene.modify(authorized.id(), "CP", "60.00").await?;
    assert_result(&captured, 200, "000.100.112");
    assert_result(&scene.modify(captured.id(), "RF", "59.99").await?, 200, "000.100.112");
    assert_result(&scene.modify(captured.id(), "RF", "0.02").await?, 400, "700.400.200");
    let debit = scene.pay_by_card("10.00", &[]).await?;
    assert_result(&scene.reverse(debit.id()).await?, 200, "000.100.112");
    let credit = scene.pay_by_card("5.00", &[("paymentType", "CD")]).await?;
    assert_result(&credit, 200, "000.100.112");
    assert_result(&scene.pay_by_card("1000.51", &[]).await?, 400, "800.100.155");
    let kinds: Vec<_> = scene.host.read_ledger().await?.iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["authorization", "capture", "refund", "debit", "reversal", "credit", "debit"]);
    scene.reconcile().await
}

#[tokio::test]
async fn the_acquirers_ids_are_in_the_answer_and_stay() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let paid = scene.pay_by_card("92.00", &[]).await?;
    let entry = &scene.booked_entries("debit").await?[0];
    let number = entry["number"].as_u64().unwrap_or_default();
    let details = &paid.json["resultDetails"];
    assert_eq!(details["AcquirerResponse"], "00");
    assert_eq!(details["ConnectorTxID1"], format!("{number:012}"));
    for name in ["ConnectorTxID2", "ConnectorTxID3"] {
        assert!(details[name].as_str().is_some_and(|id| !id.is_empty()), "{}", paid.text);
    }
    let found = scene.shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(&found.json["resultDetails"], details);
    let inside = scene.shop.pay_by_card(&[]).await?;
    assert!(inside.json["resultDetails"]["ConnectorTxID1"].is_null(), "{}", inside.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_submits_of_one_checkout_authorise_once_at_the_host() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &[]).await?;
    let made = scene.shop.create_checkout(&[("testMode", "EXTERNAL")]).await?;
    let submits = join_all((0..50).map(|_| scene.shop.submit_card(made.id(), &[]))).await;
    for submit in submits {
        assert_eq!(submit?.status, 200);
    }
    let status = poll_until("the outcome is known", async || {
        Ok(Some(scene.shop.read_status(made.id()).await?).filter(|status| status.result_code() != "000.200.000"))
    })
    .await?;
    assert_result(&status, 200, "000.100.112");
    assert_eq!(scene.booked_entries("debit").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test]
async fn a_gateway_without_an_address_has_a_host_inside_that_keeps_its_ledger() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    assert!(!gateway.data_folder().join("acquirer-host").exists(), "it starts with the first payment");
    let paid = shop.pay_by_card(&[("testMode", "EXTERNAL")]).await?;
    assert_result(&paid, 200, "000.100.112");
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let refund = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_live_entity_reaches_the_configured_host_and_never_the_one_inside() -> anyhow::Result<()> {
    let scene = AcquirerScene::start(&[], &LIVE).await?;
    for (gateway, connector, status, code) in [
        (&scene.gateway, "http", 200, "000.000.000"),
        (&scene.gateway, "none", 400, "600.200.201"),
        (live_gateway(), "http", 400, "600.200.201"),
    ] {
        let shop = gateway.create_merchant_with(&["--live", "--connector", connector])?.behind_proxy();
        assert_result(&shop.pay_by_card(&[]).await?, status, code);
    }
    scene.reconcile().await
}

#[tokio::test]
async fn an_address_in_the_clear_and_half_a_configuration_are_refused() -> anyhow::Result<()> {
    let host = TestAcquirerHost::start(&[])?;
    let key = host.key_file();
    let key = key.to_string_lossy();
    for (arguments, message) in [
        (vec!["--acquirer", "http://acquirer.example", "--acquirer-key-file", &key], "begins with https://"),
        (vec!["--acquirer", "https://acquirer.example?x=1", "--acquirer-key-file", &key], "an address looks like"),
        (vec!["--acquirer", "https://acquirer.example"], "--acquirer-key-file"),
        (vec!["--acquirer-key-file", &key], "--acquirer"),
        (vec!["--acquirer-timeout", "51s"], "between 1ms and 50s"),
        (vec!["--acquirer", "https://acquirer.example", "--acquirer-key-file", "/nowhere"], "/nowhere"),
    ] {
        let Err(error) = TestGateway::start_with(&arguments) else { anyhow::bail!("{arguments:?} starts") };
        assert!(error.to_string().contains(message), "{arguments:?}: {error}");
    }
    Ok(())
}
