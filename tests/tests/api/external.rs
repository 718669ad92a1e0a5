//! Payments at an acquirer's host in a process of its own (`testMode=EXTERNAL`): what is approved, declined, captured, refunded and
//! reversed there, and that its ledger agrees with the gateway's payments.

use futures_util::future::join_all;
use serde_json::Value;
use tillgate_tests::{AcquirerHost, Answer, Gateway, HostCaller, Line, Merchant, reconciliation, until};

use crate::support::*;

/// A gateway, an acquirer's host, the line between them, and a merchant.
pub struct Scene {
    pub gateway: Gateway,
    pub host: AcquirerHost,
    pub line: Line,
    pub shop: Merchant,
    pub arguments: Vec<String>,
}

impl Scene {
    /// Starts all of them, with more arguments of the host and of `tillgate serve`.
    pub async fn start(of_host: &[&str], of_gateway: &[&str]) -> anyhow::Result<Self> {
        let host = AcquirerHost::start(of_host)?;
        let line = Line::to(Some(&host.address)).await?;
        let key = host.key_file();
        let mut arguments =
            ["--acquirer", &line.url, "--acquirer-key-file", &key.to_string_lossy()].map(str::to_owned).to_vec();
        arguments.extend(of_gateway.iter().map(|argument| (*argument).to_owned()));
        let gateway = Gateway::start_with(&borrowed(&arguments))?;
        let shop = gateway.merchant()?;
        Ok(Self { gateway, host, line, shop, arguments })
    }

    /// Kills the gateway as a power cut would, and starts it again on its data.
    pub fn restart_gateway(self) -> anyhow::Result<Self> {
        let gateway = self.gateway.restart(&borrowed(&self.arguments))?;
        let shop = Merchant::new(gateway.base(), self.shop.entity_id, self.shop.token);
        Ok(Self { gateway, shop, ..self })
    }

    /// Kills the host as a power cut would, and starts it again on its ledger.
    pub fn restart_host(self) -> anyhow::Result<Self> {
        let host = self.host.restart()?;
        self.line.lead_to(Some(&host.address));
        Ok(Self { host, ..self })
    }

    /// Pays an amount in euros with a card at the host, with `fields` added or put in place.
    pub async fn pay(&self, amount: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        self.shop.pay(&[&[("testMode", "EXTERNAL"), ("amount", amount)], fields].concat()).await
    }

    /// Captures or refunds an amount of a payment.
    pub async fn modify(&self, payment: &str, payment_type: &str, amount: &str) -> anyhow::Result<Answer> {
        let fields = [("paymentType", payment_type), ("amount", amount), ("currency", "EUR")];
        self.shop.post(&format!("v1/payments/{payment}"), &fields).await
    }

    /// Reverses a payment.
    pub async fn reverse(&self, payment: &str) -> anyhow::Result<Answer> {
        self.shop.post(&format!("v1/payments/{payment}"), &[("paymentType", "RV")]).await
    }

    /// Waits until the outcome of a payment is known, and returns it.
    pub async fn settled(&self, payment: &str) -> anyhow::Result<Answer> {
        until("the outcome is known", async || {
            let found = self.shop.get(&format!("v1/payments/{payment}")).await?;
            Ok(Some(found).filter(|found| found.code() != "000.200.000"))
        })
        .await
    }

    /// Entries of a kind in the host's ledger.
    pub async fn booked(&self, kind: &str) -> anyhow::Result<Vec<Value>> {
        booked(&self.host, kind).await
    }

    /// Waits until nothing is pending, and compares the ledger with the payments.
    pub async fn reconcile(&self) -> anyhow::Result<()> {
        until("no intent is left", async || {
            let query = "SELECT count(*) FROM timer WHERE kind = 'ask'";
            let left: u32 = database(&self.gateway)?.query_row(query, [], |row| row.get(0))?;
            Ok((left == 0).then_some(()))
        })
        .await?;
        let payments = reconciliation::external_payments(&database(&self.gateway)?)?;
        reconciliation::compare(&self.host.ledger().await?, &payments)
    }
}

/// Entries of a kind in a host's ledger.
pub async fn booked(host: &HostCaller, kind: &str) -> anyhow::Result<Vec<Value>> {
    Ok(host.ledger().await?.into_iter().filter(|entry| entry["kind"] == kind).collect())
}

fn borrowed(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn a_payment_is_authorised_captured_refunded_and_reversed_at_the_host() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &[]).await?;
    let authorized = scene.pay("92.00", &[("paymentType", "PA")]).await?;
    assert_answer(&authorized, 200, "000.100.112");
    let captured = scene.modify(authorized.id(), "CP", "60.00").await?;
    assert_answer(&captured, 200, "000.100.112");
    assert_answer(&scene.modify(captured.id(), "RF", "59.99").await?, 200, "000.100.112");
    assert_answer(&scene.modify(captured.id(), "RF", "0.02").await?, 400, "700.400.200");
    let debit = scene.pay("10.00", &[]).await?;
    assert_answer(&scene.reverse(debit.id()).await?, 200, "000.100.112");
    let credit = scene.pay("5.00", &[("paymentType", "CD")]).await?;
    assert_answer(&credit, 200, "000.100.112");
    assert_answer(&scene.pay("1000.51", &[]).await?, 400, "800.100.155");
    let kinds: Vec<_> = scene.host.ledger().await?.iter().map(|entry| entry["kind"].clone()).collect();
    assert_eq!(kinds, ["authorization", "capture", "refund", "debit", "reversal", "credit", "debit"]);
    scene.reconcile().await
}

#[tokio::test]
async fn the_acquirers_ids_are_in_the_answer_and_stay() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &[]).await?;
    let paid = scene.pay("92.00", &[]).await?;
    let entry = &scene.booked("debit").await?[0];
    let number = entry["number"].as_u64().unwrap_or_default();
    let details = &paid.json["resultDetails"];
    assert_eq!(details["AcquirerResponse"], "00");
    assert_eq!(details["ConnectorTxID1"], format!("{number:012}"));
    for name in ["ConnectorTxID2", "ConnectorTxID3"] {
        assert!(details[name].as_str().is_some_and(|id| !id.is_empty()), "{}", paid.text);
    }
    let found = scene.shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(&found.json["resultDetails"], details);
    let inside = scene.shop.pay(&[]).await?;
    assert!(inside.json["resultDetails"]["ConnectorTxID1"].is_null(), "{}", inside.text);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_submits_of_one_checkout_authorise_once_at_the_host() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &[]).await?;
    let made = scene.shop.checkout(&[("testMode", "EXTERNAL")]).await?;
    let submits = join_all((0..50).map(|_| scene.shop.submit(made.id(), &[]))).await;
    for submit in submits {
        assert_eq!(submit?.status, 200);
    }
    let status = until("the outcome is known", async || {
        Ok(Some(scene.shop.status(made.id()).await?).filter(|status| status.code() != "000.200.000"))
    })
    .await?;
    assert_answer(&status, 200, "000.100.112");
    assert_eq!(scene.booked("debit").await?.len(), 1);
    scene.reconcile().await
}

#[tokio::test]
async fn a_gateway_without_an_address_has_a_host_inside_that_keeps_its_ledger() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    assert!(!gateway.data().join("acquirer-host").exists(), "it starts with the first payment");
    let paid = shop.pay(&[("testMode", "EXTERNAL")]).await?;
    assert_answer(&paid, 200, "000.100.112");
    let gateway = gateway.restart(&[])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    let refund = [("paymentType", "RF"), ("amount", "92.00"), ("currency", "EUR")];
    assert_answer(&shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?, 200, "000.100.112");
    Ok(())
}

#[tokio::test]
async fn a_live_entity_reaches_the_configured_host_and_never_the_one_inside() -> anyhow::Result<()> {
    let scene = Scene::start(&[], &LIVE).await?;
    for (gateway, connector, status, code) in [
        (&scene.gateway, "http", 200, "000.000.000"),
        (&scene.gateway, "none", 400, "600.200.201"),
        (live_gateway(), "http", 400, "600.200.201"),
    ] {
        let shop = gateway.merchant_with(&["--live", "--connector", connector])?.behind_proxy();
        assert_answer(&shop.pay(&[]).await?, status, code);
    }
    scene.reconcile().await
}

#[tokio::test]
async fn an_address_in_the_clear_and_half_a_configuration_are_refused() -> anyhow::Result<()> {
    let host = AcquirerHost::start(&[])?;
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
        let Err(error) = Gateway::start_with(&arguments) else { anyhow::bail!("{arguments:?} starts") };
        assert!(error.to_string().contains(message), "{arguments:?}: {error}");
    }
    Ok(())
}
