//! Scopes of access tokens against every parameter of the catalogue: rights are asked of what happens, and not of how a
//! request words it.

use std::collections::BTreeSet;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Method;
use tillgate_shared::parameter::all_parameters;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway, encode_form};

use crate::access::tokens::create_token;
use crate::checkout::browser_parameters::{concrete_name, sample_value};
use crate::checkout::presence::CONCURRENT_REQUESTS;
use crate::support::*;

/// Payment types that pay money out or belong to that work.
const PAY_OUT: [&str; 5] = ["CD", "RF", "RV", "CB", "CR"];
const ORDER: [(&str, &str); 3] = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];

/// Returns every parameter of the catalogue with a valid value, and with each payment type that its format allows and
/// that pays out.
fn all_worded_requests() -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (number, row) in all_parameters().enumerate() {
        let name = concrete_name(row.name);
        let codes = PAY_OUT.iter().filter(|code| row.format.check_value(code).is_ok());
        let is_list_of_types = row.format.check_value("DB").is_ok() && row.format.check_value("probe-7").is_err();
        fields.extend(codes.take(if is_list_of_types { 5 } else { 1 }).map(|code| (name.clone(), (*code).to_owned())));
        fields.push((name, sample_value(row.format, number, 0)));
    }
    fields.retain(|(name, _)| name != "entityId" && !name.starts_with("authentication."));
    fields
}

/// Returns the fields with one more, which replaces the field of the same name.
fn with_field<'a>(fields: &[(&'a str, &'a str)], name: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let kept = fields.iter().copied().filter(|(known, _)| *known != name);
    kept.chain([(name, value)]).collect()
}

/// Returns the types of all stored payments of a merchant.
fn stored_types(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<BTreeSet<String>> {
    let database = open_database(gateway)?;
    let query = "SELECT DISTINCT json_extract(CAST(document AS TEXT), '$.payment_type') FROM payment WHERE entity = ?1";
    let mut statement = database.prepare(query)?;
    let types = statement.query_map([&shop.entity_id], |row| row.get(0))?;
    Ok(types.collect::<Result<_, _>>()?)
}

#[tokio::test]
async fn a_token_that_may_only_take_payments_pays_nothing_out_whatever_its_parameters_say() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--attempts-per-checkout", "0", "--sandbox-factor", "0"])?;
    let shop = gateway.create_merchant()?;
    let limited = create_token(&gateway, &shop, &["--scope", "pay"]).await?;
    let card = tillgate_tests::CARD;
    let account = card.iter().copied().filter(|(name, _)| *name != "paymentBrand").collect::<Vec<_>>();
    let paid = shop.pay_by_card(&[]).await?;
    let standing = [("standingInstruction.mode", "INITIAL"), ("createRegistration", "true")];
    let stored = shop.pay_by_card(&standing).await?;
    let registration = stored.json["registrationId"].as_str().unwrap_or_default().to_owned();
    let payout = shop.create_checkout(&[("paymentType", "CD")]).await?;
    let open = shop.create_checkout(&[]).await?;
    let order_by_card = [&ORDER[..], &card].concat();
    let by_registration = [&ORDER[..], &[("standingInstruction.mode", "REPEATED")]].concat();
    let schedule = [
        ("amount", "5.00"),
        ("currency", "EUR"),
        ("registrationId", registration.as_str()),
        ("job.expression", "0 0 12 * * ?"),
    ];
    let routes: [(String, &[(&str, &str)]); 8] = [
        ("v1/checkouts".to_owned(), &ORDER),
        (format!("v1/checkouts/{}", open.id()), &[]),
        (format!("v1/checkouts/{}", payout.id()), &[("amount", "900.00")]),
        ("v1/payments".to_owned(), &order_by_card),
        (format!("v1/payments/{}", paid.id()), &[("amount", "1.00"), ("currency", "EUR")]),
        ("v1/registrations".to_owned(), &account),
        (format!("v1/registrations/{registration}/payments"), &by_registration),
        ("v1/schedules".to_owned(), &schedule),
    ];
    let worded = all_worded_requests();
    let cases = worded.iter().flat_map(|field| routes.iter().map(move |route| (field, route)));
    let sent = cases.filter(|((name, value), (path, _))| {
        // A token for payments may make a payment of what was a payout.
        let ends_payout = path.contains(payout.id()) && name == "paymentType" && !PAY_OUT.contains(&value.as_str());
        !ends_payout
    });
    let sent = sent.map(async |((name, value), (path, fields))| {
        let answer = limited.post(path, &with_field(fields, name, value)).await?;
        assert!(answer.status < 500, "{path} {name}={value}: {}", answer.text);
        let is_made = path == "v1/checkouts" && answer.status == 200;
        if is_made {
            shop.submit_card(answer.id(), &[]).await?;
        }
        anyhow::Ok((is_made, (answer.status, answer.result_code()) == (403, "800.900.301")))
    });
    let sent: Vec<(bool, bool)> = stream::iter(sent).buffer_unordered(CONCURRENT_REQUESTS).try_collect().await?;
    let made = sent.iter().filter(|(is_made, _)| *is_made).count();
    let refused = sent.iter().filter(|(_, is_refused)| *is_refused).count();
    assert!(made > 100 && refused > 300, "{made} checkouts, {refused} refusals");
    shop.submit_card(open.id(), &[]).await?;
    shop.advance_clock("48h").await?;
    let types = stored_types(&gateway, &shop)?;
    assert!(types.contains("DB") && PAY_OUT.iter().all(|code| !types.contains(*code)), "{types:?}");
    Ok(())
}

#[tokio::test]
async fn no_parameter_lets_a_token_without_the_scope_pay_change_or_register_anything() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let paid = shop.pay_by_card(&[]).await?;
    let card = [&ORDER[..], &tillgate_tests::CARD].concat();
    for scope in ["read", "admin", "review"] {
        let limited = create_token(&gateway, &shop, &["--scope", scope]).await?;
        let paths = ["v1/checkouts", "v1/payments", "v1/registrations", &format!("v1/payments/{}", paid.id())];
        for ((name, value), path) in all_worded_requests().iter().zip(paths.iter().cycle()) {
            let answer = limited.post(path, &with_field(&card, name, value)).await?;
            // A parameter may be refused for its format before the scope is looked at.
            let is_refused = matches!(answer.status, 400 | 403);
            assert!(is_refused && answer.json.get("id").is_none(), "{scope} {path} {name}: {}", answer.text);
        }
    }
    let database = open_database(&gateway)?;
    for (table, expected) in [("payment", 1), ("registration", 0), ("checkout", 0), ("schedule", 0)] {
        let count: i64 = database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
        assert_eq!(count, expected, "{table}");
    }
    Ok(())
}

#[tokio::test]
async fn a_checkout_that_may_pay_out_needs_the_right_to_pay_out_at_each_of_its_steps() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let pay = create_token(&gateway, &shop, &["--scope", "pay", "--scope", "read"]).await?;
    let both = create_token(&gateway, &shop, &["--scope", "pay", "--scope", "refund"]).await?;
    for (payout, runs) in [
        (("paymentType", "CD"), "CD"),
        (("overridePaymentType[VISA]", "CD"), "CD"),
        (("overridePaymentType[AMEX]", "CD"), "DB"),
    ] {
        let refused = pay.create_checkout(&[payout]).await?;
        assert_result(&refused, 403, "800.900.301");
        assert!(refused.text.contains("refund"), "{}", refused.text);

        let made = both.create_checkout(&[payout]).await?;
        assert_result(&made, 200, "000.200.100");
        let path = format!("v1/checkouts/{}", made.id());
        for update in [("amount", "900.00"), ("descriptor", "MORE"), ("merchantInvoiceId", "invoice-9")] {
            assert_result(&pay.post(&path, &[update]).await?, 403, "800.900.301");
            assert_result(&both.post(&path, &[update]).await?, 200, "000.200.101");
        }

        let saved = shop.submit_card(made.id(), &[("useSummaryPage", "true")]).await?;
        assert_eq!(saved.json["flow"], "saved", "{}", saved.text);
        assert_result(&pay.post(&format!("{path}/confirm"), &[]).await?, 403, "800.900.301");
        assert!(stored_payments(&gateway, made.id())?.is_empty());
        assert_result(&both.post(&format!("{path}/confirm"), &[]).await?, 200, "000.100.110");
        assert_eq!(shop.read_status(made.id()).await?.json["paymentType"], runs);
    }
    Ok(())
}

#[tokio::test]
async fn a_token_without_the_right_gets_no_stored_response_about_a_payout() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let pay = create_token(&gateway, &shop, &["--scope", "pay"]).await?;
    let create_with_key = async |shop: &MerchantClient| {
        let payout = [("entityId", shop.entity_id.as_str()), ("overridePaymentType[VISA]", "CD")];
        let fields = [&payout[..], &ORDER].concat();
        let request = shop.bare_request(Method::POST, "v1/checkouts").bearer_auth(&shop.token);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let body = encode_form(fields.iter().copied());
        ApiResponse::read_from(request.header("idempotency-key", "k").body(body).send().await?).await
    };
    assert_result(&create_with_key(&shop).await?, 200, "000.200.100");
    assert_result(&create_with_key(&pay).await?, 403, "800.900.301");
    Ok(())
}
