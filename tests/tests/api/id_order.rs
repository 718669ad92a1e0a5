//! Ids keep their order when the machine's clock goes back, and everything that goes by ids does; what goes by the time does
//! not notice. A sandbox that has lost its clock's advance is in the place of a machine whose clock went back.

use jiff::{SignedDuration, Timestamp};
use tillgate_tests::{Answer, CARD, Gateway, Merchant, until};

use crate::support::*;

/// How far the clock goes back.
const JUMP: SignedDuration = SignedDuration::from_hours(3);

const KINDS: [&str; 5] = ["payment", "follow-up payment", "registration", "registration of a payment", "checkout"];

/// Makes something that gets an id, and returns the id.
async fn make(shop: &Merchant, kind: &str) -> anyhow::Result<String> {
    let answer = match kind {
        "payment" => shop.pay(&[]).await?,
        "follow-up payment" => {
            let paid = shop.pay(&[]).await?;
            let amount = paid.json["amount"].as_str().unwrap_or_default();
            let refund = [("paymentType", "RF"), ("amount", amount), ("currency", "EUR")];
            shop.post(&format!("v1/payments/{}", paid.id()), &refund).await?
        }
        "registration" => shop.post("v1/registrations", &CARD).await?,
        "registration of a payment" => {
            let paid = shop.pay(&[("createRegistration", "true")]).await?;
            return Ok(paid.json["registrationId"].as_str().unwrap_or_default().to_owned());
        }
        _ => shop.checkout(&[]).await?,
    };
    anyhow::ensure!(!answer.id().is_empty() && answer.code().starts_with("000."), "{kind}: {}", answer.text);
    Ok(answer.id().to_owned())
}

/// The time in an id.
fn time(id: &str) -> anyhow::Result<Timestamp> {
    let digits = if id.contains('.') { &id[..12] } else { &id[2..14] };
    Ok(Timestamp::from_millisecond(i64::from_str_radix(digits, 16)?)?)
}

fn ids(answer: &Answer) -> Vec<String> {
    let payments = answer.json["payments"].as_array();
    payments.into_iter().flatten().filter_map(|payment| payment["id"].as_str()).map(str::to_owned).collect()
}

fn warns(gateway: &Gateway) -> bool {
    gateway.log().contains("behind the newest id")
}

#[tokio::test]
async fn an_id_of_any_kind_is_after_all_earlier_ones_although_the_clock_went_back() -> anyhow::Result<()> {
    for newest in KINDS {
        let gateway = Gateway::start()?;
        let shop = gateway.merchant()?;
        shop.advance("3h").await?;
        let before = time(&make(&shop, newest).await?)?;
        assert!(before.duration_since(Timestamp::now()) > JUMP - SignedDuration::from_mins(1));
        let gateway = gateway.restart_after(&[], |data| take_clock_back(data, &shop.entity_id))?;
        // The log gets here a little later than the address.
        until("the gateway warns", async || Ok(warns(&gateway).then_some(()))).await?;
        let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
        let mut last = before;
        for kind in KINDS.into_iter().chain(KINDS) {
            let made = time(&make(&shop, kind).await?)?;
            assert!(made > last, "{kind} at {made}, after a {newest} at {last}");
            assert!(made.duration_since(before) < SignedDuration::from_secs(1), "{kind} at {made}");
            last = made;
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_list_that_is_read_while_the_clock_goes_back_loses_nothing_and_shows_nothing_twice() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    shop.advance("3h").await?;
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(shop.pay(&[]).await?.id().to_owned());
    }
    // Two of one millisecond stand in any order.
    made.sort();
    let day = |hours| (Timestamp::now() + SignedDuration::from_hours(hours)).strftime("%Y-%m-%d").to_string();
    let range = format!("v1/query?date.from={}&date.to={}&limit=3", day(-24), day(24));
    let first = shop.get(&range).await?;
    let mut cursor = first.json["cursor"].as_str().map(str::to_owned);
    let mut seen = ids(&first);

    let gateway = gateway.restart_after(&[], |data| take_clock_back(data, &shop.entity_id))?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    for _ in 0..5 {
        let paid = shop.pay(&[]).await?;
        made.push(paid.id().to_owned());
        // Its time is the machine's, and both of its ids find it.
        let at = Timestamp::strptime("%Y-%m-%d %H:%M:%S%z", paid.json["timestamp"].as_str().unwrap_or_default())?;
        assert!(at.duration_since(Timestamp::now()).abs() < SignedDuration::from_mins(1), "{}", paid.text);
        let short = paid.json["descriptor"].as_str().and_then(|text| text.get(..14)).unwrap_or_default();
        let found = shop.get(&format!("v1/query?shortId={short}")).await?;
        assert!(ids(&found).iter().any(|id| id == paid.id()), "{}", found.text);
        assert_eq!(shop.get(&format!("v1/query/{short}")).await?.json["id"], paid.json["id"]);
    }
    while let Some(next) = cursor {
        let page = shop.get(&format!("{range}&cursor={next}")).await?;
        assert_answer(&page, 200, "000.000.100");
        seen.extend(ids(&page));
        cursor = page.json["cursor"].as_str().map(str::to_owned);
    }
    assert_eq!(seen, made);
    Ok(())
}

#[tokio::test]
async fn a_checkout_expires_after_half_an_hour_of_the_clock_that_went_back() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    shop.advance("3h").await?;
    shop.pay(&[]).await?;
    let gateway = gateway.restart_after(&[], |data| take_clock_back(data, &shop.entity_id))?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    let checkout = shop.checkout(&[]).await?;
    let state = async || anyhow::Ok(shop.status(checkout.id()).await?.json["checkoutState"].clone());
    shop.advance("29m").await?;
    assert_eq!(state().await?, "OPEN");
    shop.advance("1m").await?;
    assert_eq!(state().await?, "EXPIRED");
    Ok(())
}

#[tokio::test]
async fn a_sandbox_that_is_ahead_takes_no_other_entity_along() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let (ahead, usual) = (gateway.merchant()?, gateway.merchant()?);
    let channel = gateway.merchant_with(&["--merchant", &ahead.entity_id])?;
    ahead.advance("40000h").await?;
    for kind in KINDS {
        make(&ahead, kind).await?;
    }
    make(&channel, "payment").await?;
    let is_usual = async |shop: &Merchant| {
        for kind in KINDS {
            let off = time(&make(shop, kind).await?)?.duration_since(Timestamp::now());
            assert!(off.abs() < SignedDuration::from_mins(1), "{kind}: {off:#}");
        }
        anyhow::Ok(())
    };
    is_usual(&usual).await?;
    let gateway = gateway.restart(&[])?;
    assert!(!warns(&gateway), "{}", gateway.log());
    is_usual(&Merchant::new(gateway.base(), usual.entity_id, usual.token)).await?;
    Ok(())
}

#[tokio::test]
async fn ids_at_the_end_of_time_stop_no_gateway() -> anyhow::Result<()> {
    // What no clock has made: the last millisecond of the calendar, and times that no calendar has.
    for id in ["8ae677d21fdbff000000000000000000", "8affffffffffff000000000000000000", "no id"] {
        let gateway = Gateway::start()?;
        let shop = gateway.merchant()?;
        shop.pay(&[]).await?;
        let gateway = gateway.restart_after(&[], |data| {
            let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
            let copied = "INSERT INTO payment SELECT entity, ?1, document FROM payment";
            anyhow::ensure!(database.execute(copied, [id])? == 1);
            Ok(())
        })?;
        let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
        shop.advance("1h").await?;
        assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    }
    Ok(())
}
