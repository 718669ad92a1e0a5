//! Entities: a merchant and its channels, their settings and credentials, and the payments that each entity can read.

use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, poll_until};

use crate::service::command_line::run_tillgate;
use crate::support::*;

/// An amount in yen.
pub const YEN: [(&str, &str); 2] = [("amount", "92.00"), ("currency", "JPY")];
/// A card of JCB.
pub const JCB: [(&str, &str); 2] = [("paymentBrand", "JCB"), ("card.number", "3541599999092431")];
/// A card of Mastercard.
pub const MASTER: [(&str, &str); 2] = [("paymentBrand", "MASTER"), ("card.number", "5454545454545454")];

/// A bakery with a channel for two brands in euro, one for two brands in yen, and one for one brand in other
/// currencies.
pub struct Bakery {
    pub gateway: TestGateway,
    pub merchant: MerchantClient,
    pub euro: MerchantClient,
    pub yen: MerchantClient,
    pub rest: MerchantClient,
}

impl Bakery {
    /// Starts a gateway with this merchant and its three channels.
    pub fn create() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant()?;
        let channel = |arguments: &[&str]| {
            gateway.create_merchant_with(&[&["--merchant", merchant.entity_id.as_str()], arguments].concat())
        };
        let euro = channel(&["--brands", "VISA,MASTER", "--currencies", "EUR"])?;
        let yen = channel(&["--brands", "VISA,JCB", "--currencies", "JPY"])?;
        // Created last but tried first because of its priority. It accepts little.
        let rest = channel(&["--brands", "VISA", "--currencies", "USD,GBP", "--priority", "1"])?;
        Ok(Self { merchant, euro, yen, rest, gateway })
    }

    /// Returns the names of the channels that can read a payment. The others get 404.
    pub async fn channels_reading(&self, payment: &ApiResponse) -> anyhow::Result<Vec<&str>> {
        let mut readers = Vec::new();
        for (name, channel) in [("euro", &self.euro), ("yen", &self.yen), ("rest", &self.rest)] {
            if channel.get(&format!("v1/payments/{}", payment.id())).await?.status != 404 {
                readers.push(name);
            }
        }
        Ok(readers)
    }
}

/// Returns a client that sends requests for `entity` with the token of `credentials`.
pub fn with_credentials_of(entity: &MerchantClient, credentials: &MerchantClient) -> MerchantClient {
    MerchantClient::new(entity.base.clone(), entity.entity_id.clone(), credentials.token.clone())
}

/// Returns id and `entityId` of each payment in a list, in its order.
fn listed_payments(answer: &ApiResponse) -> Vec<(String, Value)> {
    let payments = answer.json["payments"].as_array().into_iter().flatten();
    payments
        .map(|payment| (payment["id"].as_str().unwrap_or_default().to_owned(), payment["entityId"].clone()))
        .collect()
}

#[tokio::test]
async fn a_merchants_checkout_is_paid_into_a_channel_and_read_by_the_merchant_for_good() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let made = bakery.merchant.create_checkout(&[]).await?;
    let path = format!("v1/checkouts/{}/payment", made.id());
    assert_eq!(bakery.merchant.read_status(made.id()).await?.result_code(), "000.200.000");
    bakery.merchant.submit_card(made.id(), &[("card.number", "4200000000000001")]).await?;
    assert_result(&bakery.merchant.read_status(made.id()).await?, 400, "100.100.101");
    bakery.merchant.submit_card(made.id(), &[]).await?;
    let status = bakery.merchant.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(bakery.channels_reading(&status).await?, ["euro"]);
    // The checkout belongs to the merchant. A channel can only read its own checkouts.
    assert_result(&bakery.euro.get(&path).await?, 404, "200.300.404");
    let own = bakery.euro.create_checkout(&[]).await?;
    bakery.euro.submit_card(own.id(), &[]).await?;
    let told = bakery.euro.read_status(own.id()).await?;
    assert_eq!(bakery.merchant.read_status(own.id()).await?.text, told.text);
    assert_result(&bakery.yen.read_status(own.id()).await?, 404, "200.300.404");
    let Bakery { gateway, merchant, .. } = bakery;
    let gateway = gateway.kill_and_restart(&[])?;
    let again = MerchantClient::new(gateway.base_url(), merchant.entity_id, merchant.token);
    assert_eq!(again.read_status(made.id()).await?.text, status.text);
    Ok(())
}

#[tokio::test]
async fn a_merchants_credentials_cover_its_channels_and_a_channels_cover_itself() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let stranger = bakery.gateway.create_merchant()?;
    let paid = with_credentials_of(&bakery.euro, &bakery.merchant).pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_eq!(bakery.channels_reading(&paid).await?, ["euro"]);
    for (entity, credentials) in [
        (&bakery.merchant, &bakery.euro),
        (&bakery.yen, &bakery.euro),
        (&bakery.euro, &stranger),
        (&stranger, &bakery.merchant),
    ] {
        let seen = with_credentials_of(entity, credentials);
        assert_result(&seen.pay_by_card(&[]).await?, 403, "800.900.201");
        assert_result(&seen.get(&format!("v1/payments/{}", paid.id())).await?, 403, "800.900.201");
    }
    Ok(())
}

#[tokio::test]
async fn a_merchant_finds_the_payments_of_all_its_channels_and_a_channel_its_own() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let order = ("merchantTransactionId", "order-4711");
    let mut made = Vec::new();
    for fields in [vec![order], [&[order], &YEN[..]].concat(), vec![order, ("currency", "GBP")], vec![order]] {
        made.push(bakery.merchant.pay_by_card(&fields).await?.id().to_owned());
    }
    let homes = [&bakery.euro, &bakery.yen, &bakery.rest, &bakery.euro].map(|channel| channel.entity_id.clone());
    let all: Vec<(String, Value)> = made.iter().cloned().zip(homes.map(Value::from)).collect();
    let days = "date.from=2020-01-01&date.to=2099-12-31";
    for query in ["merchantTransactionId=order-4711", days] {
        assert_eq!(listed_payments(&bakery.merchant.get(&format!("v1/query?{query}")).await?), all, "{query}");
        // In its own list, a channel is not named.
        let own = listed_payments(&bakery.euro.get(&format!("v1/query?{query}")).await?);
        assert_eq!(own, [(made[0].clone(), Value::Null), (made[3].clone(), Value::Null)], "{query}");
        let through_merchant =
            with_credentials_of(&bakery.yen, &bakery.merchant).get(&format!("v1/query?{query}")).await?;
        assert_eq!(listed_payments(&through_merchant), [(made[1].clone(), Value::Null)]);
    }
    // Page by page, across the channels.
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = bakery.merchant.get(&format!("v1/query?{days}&limit=1{cursor}")).await?;
        seen.extend(listed_payments(&page));
        match page.json["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, all);
    for (id, home) in &all {
        assert_eq!(bakery.merchant.get(&format!("v1/query/{id}")).await?.id(), id);
        assert_eq!(bakery.merchant.get(&format!("v1/payments/{id}")).await?.id(), id);
        for channel in [&bakery.euro, &bakery.yen, &bakery.rest] {
            let answer = channel.get(&format!("v1/query/{id}")).await?;
            assert_eq!(answer.status, if *home == channel.entity_id.as_str() { 200 } else { 404 }, "{}", answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_running_server_follows_what_is_set() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    assert_result(&shop.pay_by_card(&MASTER).await?, 200, "000.100.110");
    let set = |arguments: &[&str]| {
        gateway.run_command(&[&["entity", "set", "--entity", &shop.entity_id], arguments].concat())
    };
    let shown = set(&["--brands", "VISA,JCB", "--currencies", "EUR", "--name", "Brot & Salz", "--strict", "on"])?;
    assert_eq!(shown["settings"]["channel"]["brands"], serde_json::json!(["VISA", "JCB"]));
    poll_until("the brand is gone", async || Ok((shop.pay_by_card(&MASTER).await?.status == 400).then_some(())))
        .await?;
    assert_result(&shop.pay_by_card(&MASTER).await?, 400, "600.200.500");
    assert_result(&shop.pay_by_card(&[("currency", "USD")]).await?, 400, "600.200.500");
    assert_errors(&shop.pay_by_card(&[("nonsense", "1")]).await?, &["nonsense"]);
    let paid = shop.pay_by_card(&[]).await?;
    assert!(paid.json["descriptor"].as_str().is_some_and(|text| text.ends_with(" Brot & Salz")), "{}", paid.text);
    let shown = set(&["--brands", "all", "--currencies", "all", "--strict", "off"])?;
    assert!(shown["settings"]["channel"]["brands"].is_null(), "{shown}");
    poll_until("the brand is back", async || Ok((shop.pay_by_card(&MASTER).await?.status == 200).then_some(())))
        .await?;
    assert_result(&shop.pay_by_card(&[("currency", "USD"), ("nonsense", "1")]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn an_entity_shows_its_settings_and_its_channels() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let options = ["--merchant", &merchant.entity_id, "--3d", "required", "--risk", "on", "--connector", "simulator"];
    let channel = gateway.create_merchant_with(&options)?;
    let show = |entity: &MerchantClient| gateway.run_command(&["entity", "show", "--entity", &entity.entity_id]);
    let shown = show(&channel)?;
    assert_eq!(
        (&shown["id"], &shown["merchant"]),
        (&channel.entity_id.as_str().into(), &merchant.entity_id.as_str().into())
    );
    let expected =
        serde_json::json!({ "three_d": "required", "risk": true, "connector": "simulator", "priority": 100 });
    assert_eq!(shown["settings"]["channel"], expected);
    assert_eq!(show(&merchant)?["channels"], serde_json::json!([{ "id": channel.entity_id, "name": "Kiln & Tide" }]));
    // Settings that are not given stay unchanged.
    let set = ["entity", "set", "--entity", &channel.entity_id, "--3d", "never", "--connector", "none"];
    let shown = gateway.run_command(&set)?;
    let expected = serde_json::json!({ "three_d": "never", "risk": true, "priority": 100 });
    assert_eq!(shown["settings"]["channel"], expected);
    assert!(!shown.to_string().contains(&channel.token), "{shown}");
    Ok(())
}

#[tokio::test]
async fn entities_that_cannot_be_are_refused() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?;
    let unknown = "0".repeat(32);
    let create = ["entity", "create", "--name", "x"];
    for wrong in [
        ["--merchant", channel.entity_id.as_str()],
        ["--merchant", &unknown],
        ["--merchant", "nonsense"],
        ["--brands", "VISA,NONSENSE"],
        ["--currencies", "XXX"],
        ["--test-modes", "internal"],
        ["--3d", "sometimes"],
        ["--connector", "Acquirer 1"],
        ["--connector", "acquirer-1"],
        ["--priority", "-1"],
    ] {
        assert!(gateway.run_command(&[&create[..], &wrong[..]].concat()).is_err(), "{wrong:?}");
    }
    assert!(gateway.run_command(&[&create[..], &["--merchant", &merchant.entity_id, "--live"]].concat()).is_err());
    assert!(gateway.run_command(&[&create[..], &["--live", "--connector", "simulator"]].concat()).is_err());
    assert!(gateway.run_command(&["entity", "set", "--entity", &unknown, "--risk", "on"]).is_err());
    assert!(gateway.run_command(&["entity", "show", "--entity", &unknown]).is_err());
    let entities = gateway.run_command(&["entity", "list"])?;
    assert_eq!(entities.as_array().map(Vec::len), Some(2), "{entities}");
    Ok(())
}

#[tokio::test]
async fn a_live_merchants_channels_are_live() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&LIVE)?;
    let merchant = gateway.create_merchant_with(&["--live"])?.behind_proxy();
    let channel = gateway.create_merchant_with(&["--merchant", &merchant.entity_id])?.behind_proxy();
    assert_eq!(gateway.run_command(&["entity", "show", "--entity", &channel.entity_id])?["live"], true);
    for entity in [&merchant, &channel] {
        assert_result(&entity.pay_by_card(&[("testMode", "INTERNAL")]).await?, 400, "600.200.701");
    }
    Ok(())
}

#[tokio::test]
async fn a_merchant_captures_and_refunds_what_a_channel_took() -> anyhow::Result<()> {
    let bakery = Bakery::create()?;
    let reserved = bakery.merchant.pay_by_card(&[&[("paymentType", "PA")], &YEN[..]].concat()).await?;
    let path = format!("v1/payments/{}", reserved.id());
    let captured = bakery.merchant.post(&path, &[&[("paymentType", "CP")], &YEN[..]].concat()).await?;
    assert_result(&captured, 200, "000.100.110");
    assert_eq!(bakery.channels_reading(&captured).await?, ["yen"]);
    // The channel itself can refund its merchant's payment. Its sibling cannot see it.
    let refund = [("paymentType", "RF"), ("amount", "2.00"), ("currency", "JPY")];
    let path = format!("v1/payments/{}", captured.id());
    assert_result(&bakery.euro.post(&path, &refund).await?, 400, "700.400.520");
    let refunded = bakery.yen.post(&path, &refund).await?;
    assert_result(&refunded, 200, "000.100.110");
    let query = format!("v1/query/{}?includeLinkedTransactions=true", refunded.id());
    let all: Vec<String> = listed_payments(&bakery.merchant.get(&query).await?).into_iter().map(|(id, _)| id).collect();
    assert_eq!(all, [reserved.id(), captured.id(), refunded.id()]);
    Ok(())
}

#[tokio::test]
async fn people_read_an_entitys_settings_line_by_line() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let merchant = gateway.create_merchant()?;
    let channel =
        gateway.create_merchant_with(&["--merchant", &merchant.entity_id, "--brands", "VISA,JCB", "--risk", "on"])?;
    let data = gateway.data_folder();
    let read = async |arguments: &[&str]| -> anyhow::Result<String> {
        let output = run_tillgate(&[arguments, &["--data", data.to_str().unwrap_or_default()]].concat()).await?;
        anyhow::ensure!(output.status.success(), "{output:?}");
        Ok(String::from_utf8(output.stdout)?)
    };
    let shown = read(&["entity", "show", "--entity", &channel.entity_id]).await?;
    let of = format!("channel of  {}", merchant.entity_id);
    for line in [
        of.as_str(),
        "brands      VISA,JCB",
        "currencies  all",
        "risk check  before the connector",
        "3-D Secure  when enrolled",
    ] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
    let shown = read(&["entity", "show", "--entity", &merchant.entity_id]).await?;
    assert!(shown.contains(&format!("channel     {}", channel.entity_id)), "{shown}");
    let list = read(&["entity", "list"]).await?;
    assert!(list.contains(&format!("channel of {}", merchant.entity_id)), "{list}");
    Ok(())
}
