//! Ids keep their order if the machine's clock is set back, and so do features that depend on ids. Features that depend
//! on the time are not affected. The tests use a sandbox whose clock advance was removed, which is equivalent.

use jiff::{SignedDuration, Timestamp};
use tillgate_tests::{ApiResponse, CARD, Database, MerchantClient, TestGateway, poll_until};

use crate::support::*;

/// Time by which the clock is set back.
const JUMP: SignedDuration = SignedDuration::from_hours(3);

const KINDS: [&str; 5] = ["payment", "follow-up payment", "registration", "registration of a payment", "checkout"];

/// Creates an object of one of [`KINDS`] and returns its id. Fails if the gateway refuses it; a payment without the
/// registration returns an empty id.
async fn create_object(shop: &MerchantClient, kind: &str) -> anyhow::Result<String> {
    let answer = match kind {
        "payment" => shop.pay_by_card(&[]).await?,
        "follow-up payment" => {
            let paid = shop.pay_by_card(&[]).await?;
            let amount = paid.json["amount"].as_str().unwrap_or_default();
            let refund = [("paymentType", "RF"), ("amount", amount), ("currency", "EUR")];
            shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?
        }
        "registration" => shop.post("v1/registrations", &CARD).await?,
        "registration of a payment" => {
            let paid = shop.pay_by_card(&[("createRegistration", "true")]).await?;
            return Ok(paid.json["registrationId"].as_str().unwrap_or_default().to_owned());
        }
        _ => shop.create_checkout(&[]).await?,
    };
    anyhow::ensure!(!answer.id().is_empty() && answer.result_code().starts_with("000."), "{kind}: {}", answer.text);
    Ok(answer.id().to_owned())
}

/// Returns the time in an id: at its start in the id of a checkout, after two characters in all others.
fn time_of_id(id: &str) -> anyhow::Result<Timestamp> {
    let digits = if id.contains('.') { &id[..12] } else { &id[2..14] };
    Ok(Timestamp::from_millisecond(i64::from_str_radix(digits, 16)?)?)
}

fn listed_ids(answer: &ApiResponse) -> Vec<String> {
    let payments = answer.json["payments"].as_array();
    payments.into_iter().flatten().filter_map(|payment| payment["id"].as_str()).map(str::to_owned).collect()
}

/// Returns true if the gateway has logged that the clock is behind its newest id.
fn has_clock_warning(gateway: &TestGateway) -> bool {
    gateway.read_log().contains("behind the newest id")
}

#[tokio::test]
async fn an_id_of_any_kind_is_after_all_earlier_ones_although_the_clock_went_back() -> anyhow::Result<()> {
    for newest in KINDS {
        let gateway = TestGateway::start()?;
        let shop = gateway.create_merchant()?;
        shop.advance_clock("3h").await?;
        let before = time_of_id(&create_object(&shop, newest).await?)?;
        assert!(before.duration_since(Timestamp::now()) > JUMP - SignedDuration::from_mins(1));
        let gateway = gateway.kill_and_restart_after(&[], |data| reset_sandbox_clock(data, &shop.entity_id))?;
        // The log line arrives a little later than the address.
        poll_until("the gateway warns", async || Ok(has_clock_warning(&gateway).then_some(()))).await?;
        let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
        let mut last = before;
        for kind in KINDS.into_iter().chain(KINDS) {
            let made = time_of_id(&create_object(&shop, kind).await?)?;
            assert!(made > last, "{kind} at {made}, after a {newest} at {last}");
            assert!(made.duration_since(before) < SignedDuration::from_secs(1), "{kind} at {made}");
            last = made;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_list_that_is_read_while_the_clock_goes_back_loses_nothing_and_shows_nothing_twice() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.advance_clock("3h").await?;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(shop.pay_by_card(&[]).await?.id().to_owned());
    }
    // Payments of the same millisecond have no fixed order.
    made.sort();
    let day = |hours| (Timestamp::now() + SignedDuration::from_hours(hours)).strftime("%Y-%m-%d").to_string();
    let range = format!("v1/query?date.from={}&date.to={}&limit=3", day(-24), day(24));
    let first = shop.get(&range).await?;
    let mut cursor = first.json["cursor"].as_str().map(str::to_owned);
    let mut seen = listed_ids(&first);

    let gateway = gateway.kill_and_restart_after(&[], |data| reset_sandbox_clock(data, &shop.entity_id))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    for _ in 0..5 {
        let paid = shop.pay_by_card(&[]).await?;
        made.push(paid.id().to_owned());
        // Its time is the machine's time. It is found both by its id and by its short id.
        let at = Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", paid.json["timestamp"].as_str().unwrap_or_default())?;
        assert!(at.duration_since(Timestamp::now()).abs() < SignedDuration::from_mins(1), "{}", paid.text);
        let short = paid.json["descriptor"].as_str().and_then(|text| text.get(..14)).unwrap_or_default();
        let found = shop.get(&format!("v1/query?shortId={short}")).await?;
        assert!(listed_ids(&found).iter().any(|id| id == paid.id()), "{}", found.text);
        assert_eq!(shop.get(&format!("v1/query/{short}")).await?.json["id"], paid.json["id"]);
    }
    while let Some(next) = cursor {
        let page = shop.get(&format!("{range}&cursor={next}")).await?;
        assert_result(&page, 200, "000.000.100");
        seen.extend(listed_ids(&page));
        cursor = page.json["cursor"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, made);
    Ok(())
}

#[tokio::test]
async fn a_checkout_expires_after_half_an_hour_of_the_clock_that_went_back() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    shop.advance_clock("3h").await?;
    shop.pay_by_card(&[]).await?;
    let gateway = gateway.kill_and_restart_after(&[], |data| reset_sandbox_clock(data, &shop.entity_id))?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    let checkout = shop.create_checkout(&[]).await?;
    let state = async || anyhow::Ok(shop.read_status(checkout.id()).await?.json["checkoutState"].clone());
    shop.advance_clock("29m").await?;
    assert_eq!(state().await?, "OPEN");
    shop.advance_clock("1m").await?;
    assert_eq!(state().await?, "EXPIRED");
    Ok(())
}

#[tokio::test]
async fn a_sandbox_that_is_ahead_takes_no_other_entity_along() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (ahead, usual) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let channel = gateway.create_merchant_with(&["--merchant", &ahead.entity_id])?;
    ahead.advance_clock("40000h").await?;
    for kind in KINDS {
        create_object(&ahead, kind).await?;
    }
    create_object(&channel, "payment").await?;
    let is_usual = async |shop: &MerchantClient| {
        for kind in KINDS {
            let off = time_of_id(&create_object(shop, kind).await?)?.duration_since(Timestamp::now());
            assert!(off.abs() < SignedDuration::from_mins(1), "{kind}: {off:#}");
        }
        anyhow::Ok(())
    };
    is_usual(&usual).await?;
    let gateway = gateway.kill_and_restart(&[])?;
    assert!(!has_clock_warning(&gateway), "{}", gateway.read_log());
    is_usual(&MerchantClient::new(gateway.base_url(), usual.entity_id, usual.token)).await?;
    Ok(())
}

#[tokio::test]
async fn ids_at_the_end_of_time_stop_no_gateway() -> anyhow::Result<()> {
    // Times that no clock produces: the last millisecond of the calendar, and times outside of any calendar.
    for id in ["8ae677d21fdbff000000000000000000", "8affffffffffff000000000000000000", "no id"] {
        let gateway = TestGateway::start()?;
        let shop = gateway.create_merchant()?;
        shop.pay_by_card(&[]).await?;
        let gateway = gateway.kill_and_restart_after(&[], |data| {
            let database = Database::open(data)?;
            let copied = "INSERT INTO payment SELECT entity, ?1, document FROM payment";
            anyhow::ensure!(database.execute(copied, [id])? == 1);
            Ok(())
        })?;
        let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
        shop.advance_clock("1h").await?;
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    }
    Ok(())
}
