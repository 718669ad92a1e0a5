//! Limits of the data that browsers can store in the gateway: in a submit, in the forms of summary pages, and in the
//! attempts of a checkout.

use serde_json::Value;
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{ParameterGroup, all_parameters};
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::checkout::browser_parameters::concrete_name;
use crate::checkout::presence::{FormFields, SubmitFlow};
use crate::request::catalogue::repeated_value;
use crate::support::*;

const KIB: usize = 1024;
/// Documented limits.
const CUSTOM_NAMES: usize = 50;
const CUSTOM_BYTES: usize = 16 * KIB;
const FORM_BYTES: usize = 64 * KIB;
/// More bytes than the card and the flow of a submit add.
const OTHER_BYTES: usize = 512;
const ENTITY_BYTES: usize = 8 * KIB * KIB;

fn borrow_fields(fields: &FormFields) -> Vec<(&str, &str)> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Returns `count` custom parameters of a shopper. Name and value of each have `bytes` bytes together.
fn custom_parameters(count: usize, bytes: usize) -> FormFields {
    let one = |number: usize| {
        let name = format!("customParameters[SHOPPER_{number:03}]");
        let value = "x".repeat(bytes - name.len());
        (name, value)
    };
    (0..count).map(one).collect()
}

/// Returns the number of bytes of all names and values.
fn count_bytes(fields: &[(String, String)]) -> usize {
    fields.iter().map(|(name, value)| name.len() + value.len()).sum()
}

/// Returns parameters that a browser may set, each with the longest text of four-byte characters, until they exceed the
/// maximum size of a form.
fn longest_fields() -> FormFields {
    let mut all = FormFields::new();
    for row in all_parameters().filter(|row| {
        row.browser && !matches!(row.group, ParameterGroup::Card | ParameterGroup::Form | ParameterGroup::Custom)
    }) {
        if let Format::Text { max, .. } | Format::Verbatim { max, .. } | Format::Lines { max, .. } = row.format {
            let field = (concrete_name(row.name), "😀".repeat(max.into()));
            // The card and the flow add some bytes of their own, and the last field has to be the one that is too much.
            let reached = count_bytes(&all) + count_bytes(std::slice::from_ref(&field));
            if !(FORM_BYTES - OTHER_BYTES..=FORM_BYTES).contains(&reached) {
                all.push(field);
            }
        }
        if count_bytes(&all) > FORM_BYTES {
            break;
        }
    }
    all
}

/// Submits a card with additional fields in this flow, and returns the response of the submit. Flows other than summary
/// and registration are submitted as in the hosted form.
async fn submit_card(
    shop: &MerchantClient,
    flow: SubmitFlow,
    id: &str,
    fields: &[(&str, &str)],
) -> anyhow::Result<ApiResponse> {
    match flow {
        SubmitFlow::Summary => shop.submit_card(id, &[fields, &[("useSummaryPage", "true")]].concat()).await,
        SubmitFlow::Registration => {
            let all = [&tillgate_tests::CARD[..], fields].concat();
            shop.post_as_browser(&format!("v1/checkouts/{id}/registration"), &all).await
        }
        _ => shop.submit_card(id, fields).await,
    }
}

#[tokio::test]
async fn a_form_brings_along_no_more_than_it_may_and_is_told_which_parameter_is_too_much() -> anyhow::Result<()> {
    let shop = nameless_shop();
    let within = [custom_parameters(CUSTOM_NAMES, 100), custom_parameters(8, CUSTOM_BYTES / 8)];
    let (many, much, long) =
        (custom_parameters(CUSTOM_NAMES + 1, 100), custom_parameters(9, CUSTOM_BYTES / 8), longest_fields());
    assert!(count_bytes(&within[1]) == CUSTOM_BYTES && count_bytes(&long) > FORM_BYTES, "{}", count_bytes(&long));
    for way in [SubmitFlow::Form, SubmitFlow::Summary, SubmitFlow::Registration] {
        let open = async || match way {
            SubmitFlow::Registration => shop.post("v1/checkouts", &[("createRegistration", "true")]).await,
            _ => shop.create_checkout(&[]).await,
        };
        for fields in [&many, &much, &long] {
            let made = open().await?;
            let refused = submit_card(&shop, way, made.id(), &borrow_fields(fields)).await?;
            let last = fields.last().map(|(name, _)| name.as_str()).unwrap_or_default();
            assert_errors(&refused, &[last]);
            assert_eq!(stored_payments(TestGateway::shared(), made.id())?.len(), 0);
        }
        for fields in &within {
            let made = open().await?;
            assert_result(&submit_card(&shop, way, made.id(), &borrow_fields(fields)).await?, 200, "000.000.100");
        }
    }
    // The limit does not apply to the merchant's server.
    assert_result(&shop.create_checkout(&borrow_fields(&many)).await?, 200, "000.200.100");
    // The form without scripts shows the refusal too.
    let made = shop.create_checkout(&[]).await?;
    let plain = format!("v1/plainForm.html?checkoutId={}&brands=VISA", made.id());
    let fields = [&tillgate_tests::CARD[..], &[("card.expiry", "05/34")], &borrow_fields(&many)].concat();
    let body = tillgate_tests::encode_form(fields.iter().copied());
    let request =
        shop.bare_request(reqwest::Method::POST, &plain).header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(request.body(body).send().await?.status(), 400);
    assert_eq!(shop.read_status(made.id()).await?.result_code(), "000.200.000");
    Ok(())
}

#[tokio::test]
async fn forms_that_wait_for_a_confirmation_take_a_share_of_memory_and_no_more() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (shop, other) = (gateway.create_merchant()?, gateway.create_merchant()?);
    let mut fields = custom_parameters(8, CUSTOM_BYTES / 8);
    fields.push(("customer.browserFingerprint.value".to_owned(), "😀".repeat(4096)));
    fields.push(("walletPay.paymentToken".to_owned(), "x".repeat(16_000)));
    let (size, fields) = (count_bytes(&fields), borrow_fields(&fields));
    let mut saved = Vec::new();
    let refused = loop {
        let made = shop.create_checkout(&[]).await?;
        let answer = submit_card(&shop, SubmitFlow::Summary, made.id(), &fields).await?;
        if answer.status != 200 {
            break answer;
        }
        saved.push(made.id().to_owned());
        assert!(saved.len() * size < 2 * ENTITY_BYTES, "nothing is refused: {} forms of {size} bytes", saved.len());
    };
    assert_result(&refused, 429, "800.120.100");
    let wait: u32 = refused.headers["retry-after"].to_str()?.parse()?;
    assert!((1..=1801).contains(&wait), "{wait}");
    // The refused entity had used more than half of its share, and the share of another merchant is unaffected.
    assert!(saved.len() * size > ENTITY_BYTES / 2, "{} forms of {size} bytes", saved.len());
    let made = other.create_checkout(&[]).await?;
    assert_result(&submit_card(&other, SubmitFlow::Summary, made.id(), &fields).await?, 200, "000.000.100");
    // Replacing a form needs no additional memory, and confirming one releases its memory.
    assert_result(&submit_card(&shop, SubmitFlow::Summary, &saved[0], &fields).await?, 200, "000.000.100");
    let confirmed = shop.post(&format!("v1/checkouts/{}/confirm", saved[0]), &[]).await?;
    assert_result(&confirmed, 200, "000.100.110");
    assert_eq!(confirmed.json["customer"]["browserFingerprint"]["value"], "😀".repeat(4096));
    let made = shop.create_checkout(&[]).await?;
    assert_result(&submit_card(&shop, SubmitFlow::Summary, made.id(), &fields).await?, 200, "000.000.100");
    Ok(())
}

/// Returns the length of each document in a table, ordered by id.
fn document_lengths(gateway: &TestGateway, table: &str) -> anyhow::Result<Vec<usize>> {
    let database = open_database(gateway)?;
    let mut statement = database.prepare(&format!("SELECT length(document) FROM {table} ORDER BY id"))?;
    let lengths = statement.query_map([], |row| row.get::<_, u32>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(lengths.into_iter().map(|length| length as usize).collect())
}

#[tokio::test]
async fn the_attempts_of_a_checkout_store_its_parameters_once_and_repeat_all_of_them() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let mut own: FormFields = (0..60)
        .map(|number| (format!("customParameters[basket_{number:02}]"), format!("{number}").repeat(500)))
        .collect();
    own.extend(
        (0..40).map(|number| (format!("cart.items[{number}].name"), format!("{}{number}", "Teapot ".repeat(30)))),
    );
    let decline = ("customParameters[forceResultCode]", "800.100.151");
    let reference = ("merchantTransactionId", "order-4711");
    let made = shop.create_checkout(&[&borrow_fields(&own)[..], &[decline, reference]].concat()).await?;
    assert_result(&made, 200, "000.200.100");
    // After the fifth attempt, the merchant changes one parameter and adds another.
    let changed = [("customParameters[basket_07]", "changed"), ("customParameters[basket_new]", "new")];
    let mut attempts = Vec::new();
    for number in 0..10 {
        if number == 5 {
            let path = format!("v1/checkouts/{}", made.id());
            assert_result(&shop.post(&path, &changed).await?, 200, "000.200.101");
        }
        if number == 9 {
            let paid = [("customParameters[forceResultCode]", "000.100.110")];
            shop.post(&format!("v1/checkouts/{}", made.id()), &paid).await?;
        }
        // Only the first submit contains this parameter.
        let wish =
            (if number == 0 { "customParameters[SHOPPER_wish]" } else { "customParameters[SHOPPER_other]" }, "x");
        shop.submit_card(made.id(), &[wish]).await?;
        attempts.push(shop.read_status(made.id()).await?);
    }
    let sizes = document_lengths(&gateway, "payment")?;
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
        let queried = ApiResponse { json: found[0].clone(), ..read.clone() };
        for answer in [attempt, &read, &queried] {
            for (name, value) in &own {
                let expected = if number >= 5 && name == changed[0].0 { changed[0].1 } else { value };
                assert_eq!(*repeated_value(answer, name), expected, "{number} {name}");
            }
            let told = &answer.json["customParameters"];
            assert_eq!(told["basket_new"].as_str(), (number >= 5).then_some("new"), "{number}");
            assert_eq!(told["SHOPPER_wish"].as_str(), (number == 0).then_some("x"), "{number}");
            assert_eq!(told["SHOPPER_other"].as_str(), (number > 0).then_some("x"), "{number}");
        }
    }
    assert_eq!(attempts[9].result_code(), "000.100.110");
    // A refund stores only the parameters of its own request.
    let refund = [("paymentType", "RF"), ("amount", "1.00"), ("currency", "EUR"), ("customParameters[refund]", "yes")];
    let refunded = shop.post(&format!("v1/payments/{}", attempts[9].id()), &refund).await?;
    assert_result(&refunded, 200, "000.100.110");
    let read = shop.get(&format!("v1/payments/{}", refunded.id())).await?;
    assert_eq!(read.json["customParameters"], serde_json::json!({ "refund": "yes" }), "{}", read.text);
    Ok(())
}

#[tokio::test]
async fn an_attempt_that_waited_for_its_shopper_still_repeats_what_it_shares() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let own = [("customParameters[basket]", "teapot"), crate::three_ds::BACK];
    let made = shop.create_checkout(&own).await?;
    shop.submit_card(made.id(), &[("card.number", "4200000000000001")]).await?;
    let submitted = shop.submit_card(made.id(), &[("card.number", "4200000000000018")]).await?;
    let url = crate::three_ds::redirect_field(&submitted, "url");
    let (_, page) = crate::three_ds::visit_page(&shop, url).await?;
    let answer = [("transaction", crate::three_ds::challenge_transaction(&page)), ("returnCode", "000.100.110")];
    crate::three_ds::post_to_page(&shop, url, &answer).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_eq!(status.json["customParameters"]["basket"], "teapot");
    assert_eq!(status.json["threeDSecure"]["eci"], "05");
    let stored = stored_payments(TestGateway::shared(), made.id())?;
    assert!(stored[0]["parameters"]["customParameters[basket]"].is_string(), "{}", stored[0]);
    assert!(stored[1]["parameters"]["customParameters[basket]"].is_null(), "{}", stored[1]);
    Ok(())
}
