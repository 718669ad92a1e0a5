//! Bounds on what browsers make the gateway keep: in a submit, in the forms of summary pages, and in the attempts of a
//! checkout.

use serde_json::Value;
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{Group, catalogue};
use tillgate_tests::{Answer, Gateway, Merchant};

use crate::browser_parameters::concrete;
use crate::catalogue::echo;
use crate::presence::{Fields, Way};
use crate::support::*;

const KIB: usize = 1024;
/// Bounds of the documents.
const CUSTOM_NAMES: usize = 50;
const CUSTOM_BYTES: usize = 16 * KIB;
const FORM_BYTES: usize = 64 * KIB;
const ENTITY_BYTES: usize = 8 * KIB * KIB;

fn borrowed(fields: &Fields) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

fn custom(count: usize, bytes: usize) -> Fields {
    let one = |number: usize| {
        let name = format!("customParameters[SHOPPER_{number:03}]");
        let value = "x".repeat(bytes - name.len());
        (name, value)
    };
    (0..count).map(one).collect()
}

fn bytes(fields: &Fields) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// The longest values of parameters that a browser may set, until they are longer than a form may be.
fn longest() -> Fields {
    let mut all = Fields::new();
    for row in catalogue().filter(|row| row.browser && !matches!(row.group, Group::Card | Group::Form | Group::Custom))
    {
        if let Format::Text { max, .. } | Format::Verbatim { max, .. } | Format::Lines { max, .. } = row.format {
            all.push((concrete(row.name), "😀".repeat(max.into())));
        }
        if bytes(&all) > FORM_BYTES {
            break;
        }
    }
    all
}

/// Submits a card with more fields in some way. Returns the submit's own answer.
async fn submit(shop: &Merchant, way: Way, id: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
    match way {
        Way::Summary => shop.submit(id, &[fields, &[("useSummaryPage", "true")]].concat()).await,
        Way::Registration => {
            let all = [&tillgate_tests::CARD[..], fields].concat();
            shop.post_as_browser(&format!("v1/checkouts/{id}/registration"), &all).await
        }
        _ => shop.submit(id, fields).await,
    }
}

#[tokio::test]
async fn a_form_brings_along_no_more_than_it_may_and_is_told_which_parameter_is_too_much() -> anyhow::Result<()> {
    let shop = nameless_shop();
    let within = [custom(CUSTOM_NAMES, 100), custom(8, CUSTOM_BYTES / 8)];
    let (many, much, long) = (custom(CUSTOM_NAMES + 1, 100), custom(9, CUSTOM_BYTES / 8), longest());
    assert!(bytes(&within[1]) == CUSTOM_BYTES && bytes(&long) > FORM_BYTES, "{}", bytes(&long));
    for way in [Way::Form, Way::Summary, Way::Registration] {
        let open = async || match way {
            Way::Registration => shop.post("v1/checkouts", &[("createRegistration", "true")]).await,
            _ => shop.checkout(&[]).await,
        };
        for fields in [&many, &much, &long] {
            let made = open().await?;
            let refused = submit(&shop, way, made.id(), &borrowed(fields)).await?;
            let last = fields.last().map(|(name, _)| name.as_str()).unwrap_or_default();
            assert_errors(&refused, &[last]);
            assert_eq!(stored_payments(Gateway::shared(), made.id())?.len(), 0);
        }
        for fields in &within {
            let made = open().await?;
            assert_answer(&submit(&shop, way, made.id(), &borrowed(fields)).await?, 200, "000.000.100");
        }
    }
    // What the merchant's server sends is its own affair.
    assert_answer(&shop.checkout(&borrowed(&many)).await?, 200, "000.200.100");
    // The form without scripts says it, too.
    let made = shop.checkout(&[]).await?;
    let plain = format!("v1/plainForm.html?checkoutId={}&brands=VISA", made.id());
    let fields = [&tillgate_tests::CARD[..], &[("card.expiry", "05/34")], &borrowed(&many)].concat();
    let body = tillgate_tests::form(fields.iter().copied());
    let request = shop.bare(reqwest::Method::POST, &plain).header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(request.body(body).send().await?.status(), 400);
    assert_eq!(shop.status(made.id()).await?.code(), "000.200.000");
    Ok(())
}

#[tokio::test]
async fn forms_that_wait_for_a_confirmation_take_a_share_of_memory_and_no_more() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let (shop, other) = (gateway.merchant()?, gateway.merchant()?);
    let mut fields = custom(8, CUSTOM_BYTES / 8);
    fields.push(("customer.browserFingerprint.value".to_owned(), "😀".repeat(4096)));
    fields.push(("walletPay.paymentToken".to_owned(), "x".repeat(16_000)));
    let (size, fields) = (bytes(&fields), borrowed(&fields));
    let mut saved = Vec::new();
    let refused = loop {
        let made = shop.checkout(&[]).await?;
        let answer = submit(&shop, Way::Summary, made.id(), &fields).await?;
        if answer.status != 200 {
            break answer;
        }
        saved.push(made.id().to_owned());
        assert!(saved.len() * size < 2 * ENTITY_BYTES, "nothing is refused: {} forms of {size} bytes", saved.len());
    };
    assert_answer(&refused, 429, "800.120.100");
    let wait: u32 = refused.headers["retry-after"].to_str()?.parse()?;
    assert!((1..=1801).contains(&wait), "{wait}");
    // Neither the rest of the memory nor another merchant's share is gone.
    assert!(saved.len() * size > ENTITY_BYTES / 2, "{} forms of {size} bytes", saved.len());
    let made = other.checkout(&[]).await?;
    assert_answer(&submit(&other, Way::Summary, made.id(), &fields).await?, 200, "000.000.100");
    // A form in place of an earlier one needs no more room, and a confirmed one gives its room back.
    assert_answer(&submit(&shop, Way::Summary, &saved[0], &fields).await?, 200, "000.000.100");
    let confirmed = shop.post(&format!("v1/checkouts/{}/confirm", saved[0]), &[]).await?;
    assert_answer(&confirmed, 200, "000.100.110");
    assert_eq!(confirmed.json["customer"]["browserFingerprint"]["value"], "😀".repeat(4096));
    let made = shop.checkout(&[]).await?;
    assert_answer(&submit(&shop, Way::Summary, made.id(), &fields).await?, 200, "000.000.100");
    Ok(())
}

fn stored_bytes(gateway: &Gateway, table: &str) -> anyhow::Result<Vec<usize>> {
    let database = database(gateway)?;
    let mut statement = database.prepare(&format!("SELECT length(document) FROM {table} ORDER BY id"))?;
    let lengths = statement.query_map([], |row| row.get::<_, u32>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(lengths.into_iter().map(|length| length as usize).collect())
}

#[tokio::test]
async fn the_attempts_of_a_checkout_store_its_parameters_once_and_repeat_all_of_them() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let mut own: Fields = (0..60)
        .map(|number| (format!("customParameters[basket_{number:02}]"), format!("{number}").repeat(500)))
        .collect();
    own.extend(
        (0..40).map(|number| (format!("cart.items[{number}].name"), format!("{}{number}", "Teapot ".repeat(30)))),
    );
    let decline = ("customParameters[forceResultCode]", "800.100.151");
    let reference = ("merchantTransactionId", "order-4711");
    let made = shop.checkout(&[&borrowed(&own)[..], &[decline, reference]].concat()).await?;
    assert_answer(&made, 200, "000.200.100");
    // After the fifth try the merchant changes its mind about one parameter, and brings another.
    let changed = [("customParameters[basket_07]", "changed"), ("customParameters[basket_new]", "new")];
    let mut attempts = Vec::new();
    for number in 0..10 {
        if number == 5 {
            let path = format!("v1/checkouts/{}", made.id());
            assert_answer(&shop.post(&path, &changed).await?, 200, "000.200.101");
        }
        if number == 9 {
            let paid = [("customParameters[forceResultCode]", "000.100.110")];
            shop.post(&format!("v1/checkouts/{}", made.id()), &paid).await?;
        }
        // The first shopper has a wish that the others do not have.
        let wish =
            (if number == 0 { "customParameters[SHOPPER_wish]" } else { "customParameters[SHOPPER_other]" }, "x");
        shop.submit(made.id(), &[wish]).await?;
        attempts.push(shop.status(made.id()).await?);
    }
    let sizes = stored_bytes(&gateway, "payment")?;
    assert_eq!(sizes.len(), 10);
    assert!(sizes[1..].iter().all(|size| size * 10 < sizes[0]), "{sizes:?}");
    let query = shop.get("v1/query?merchantTransactionId=order-4711&limit=20").await?;
    let days = "v1/query?date.from=2000-01-01&date.to=2999-12-31&limit=20";
    assert_eq!(shop.get(days).await?.json["payments"], query.json["payments"]);
    for (number, attempt) in attempts.iter().enumerate() {
        let read = shop.get(&format!("v1/payments/{}", attempt.id())).await?;
        let found: Vec<&Value> = query.json["payments"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|it| it["id"] == attempt.json["id"])
            .collect();
        assert_eq!(found.len(), 1, "{number}");
        let queried = Answer { json: found[0].clone(), ..read.clone() };
        for answer in [attempt, &read, &queried] {
            for (name, value) in &own {
                let expected = if number >= 5 && name == changed[0].0 { changed[0].1 } else { value };
                assert_eq!(*echo(answer, name), expected, "{number} {name}");
            }
            let told = &answer.json["customParameters"];
            assert_eq!(told["basket_new"].as_str(), (number >= 5).then_some("new"), "{number}");
            assert_eq!(told["SHOPPER_wish"].as_str(), (number == 0).then_some("x"), "{number}");
            assert_eq!(told["SHOPPER_other"].as_str(), (number > 0).then_some("x"), "{number}");
        }
    }
    assert_eq!(attempts[9].code(), "000.100.110");
    // A refund says what it was sent, and no more.
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR"), ("customParameters[refund]", "yes")];
    let refunded = shop.post(&format!("v1/payments/{}", attempts[9].id()), &refund).await?;
    assert_answer(&refunded, 200, "000.100.110");
    let read = shop.get(&format!("v1/payments/{}", refunded.id())).await?;
    assert_eq!(read.json["customParameters"], serde_json::json!({ "refund": "yes" }), "{}", read.text);
    Ok(())
}

#[tokio::test]
async fn an_attempt_that_waited_for_its_shopper_still_repeats_what_it_shares() -> anyhow::Result<()> {
    let shop = shop();
    let own = [("customParameters[basket]", "teapot"), crate::threeds::BACK];
    let made = shop.checkout(&own).await?;
    shop.submit(made.id(), &[("card.number", "4200000000000001")]).await?;
    let submitted = shop.submit(made.id(), &[("card.number", "4200000000000018")]).await?;
    let url = crate::threeds::redirect(&submitted, "url");
    let (_, page) = crate::threeds::visit(&shop, url).await?;
    let answer = [("transaction", crate::threeds::transaction(&page)), ("returnCode", "000.100.110")];
    crate::threeds::post(&shop, url, &answer).await?;
    let status = shop.status(made.id()).await?;
    assert_answer(&status, 200, "000.100.110");
    assert_eq!(status.json["customParameters"]["basket"], "teapot");
    assert_eq!(status.json["threeDSecure"]["eci"], "05");
    let stored = stored_payments(Gateway::shared(), made.id())?;
    assert!(stored[0]["parameters"]["customParameters[basket]"].is_string(), "{}", stored[0]);
    assert!(stored[1]["parameters"]["customParameters[basket]"].is_null(), "{}", stored[1]);
    Ok(())
}
