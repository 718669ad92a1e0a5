//! All parameters of the catalogue, sent by a merchant's server in one request: stored, repeated and readable later.

use serde_json::Value;
use tillgate_shared::parameter::{Parameter, ParameterGroup, all_parameters};
use tillgate_tests::ApiResponse;

use crate::checkout::browser_parameters::{concrete_name, sample_value};
use crate::support::*;

/// Returns the value with which a response repeats a parameter, or null. The text in brackets is an index of a list or
/// the name of a member.
pub fn repeated_value<'a>(answer: &'a ApiResponse, name: &str) -> &'a Value {
    let path = name.replace('[', ".").replace(']', "");
    path.split('.').fold(&answer.json, |place, step| match step.parse::<usize>() {
        Ok(index) if place.is_array() => &place[index],
        _ => &place[step],
    })
}

/// Returns true if a payment repeats the row under its own name. Accounts and registrations are shown in a reduced
/// form, amount and type belong to the payment itself, credentials and technical fields are dropped.
fn is_repeated(row: &Parameter) -> bool {
    let elsewhere = matches!(
        row.group,
        ParameterGroup::Authentication
            | ParameterGroup::Card
            | ParameterGroup::Wallet
            | ParameterGroup::VirtualAccount
            | ParameterGroup::BankAccount
            | ParameterGroup::Registration
            | ParameterGroup::Reporting
            | ParameterGroup::Chargeback
            | ParameterGroup::Form
    );
    let own = [
        "entityId",
        "amount",
        "currency",
        "paymentBrand",
        "paymentType",
        "overridePaymentType[brand]",
        "referencedPaymentId",
        "descriptor",
        "integrity",
        // The acquirer sets this for a first payment.
        "standingInstruction.initialTransactionId",
        // Excludes dayOfMonth.
        "job.dayOfWeek",
    ];
    // The second line of a street is ignored beside a house number.
    let is_ignored = row.name.ends_with(".street2");
    !elsewhere && !row.secret && !is_ignored && row.group.title() != "Queries" && !own.contains(&row.name)
}

/// Returns all parameters that a merchant may send with a payment and that are repeated, each with a different value.
pub fn repeated_parameters() -> Vec<(String, String)> {
    let rows = all_parameters().enumerate().filter(|(_, row)| is_repeated(row));
    let fields: Vec<(String, String)> = rows
        .map(|(number, row)| {
            let value = match row.name {
                "testMode" => "INTERNAL".to_owned(),
                // Version 2.2.0 introduced the exemption flag.
                "threeDSecure.version" => "2.2.0".to_owned(),
                _ => sample_value(row.format, number, 0),
            };
            (concrete_name(row.name), value)
        })
        .collect();
    assert!(fields.len() > 300, "{}", fields.len());
    fields
}

/// Asserts that a response repeats each parameter with its value.
#[track_caller]
fn assert_repeats(answer: &ApiResponse, sent: &[(&str, &str)]) {
    for (name, value) in sent {
        assert_eq!(repeated_value(answer, name), value, "{name}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_payment_keeps_and_repeats_every_parameter_that_a_merchant_sends() -> anyhow::Result<()> {
    let (shop, fields) = (sandbox_shop(), repeated_parameters());
    let sent: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let paid = shop.pay_by_card(&sent).await?;
    assert_result(&paid, 200, "000.100.110");
    let status = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    let query = shop.get(&format!("v1/query/{}", paid.id())).await?;
    for answer in [&paid, &status, &query] {
        assert_repeats(answer, &sent);
    }
    Ok(())
}

#[tokio::test]
async fn a_declined_payment_and_a_registration_keep_every_parameter_that_a_merchant_sends() -> anyhow::Result<()> {
    let (shop, fields) = (sandbox_shop(), repeated_parameters());
    let sent: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let forced = ("customParameters[forceResultCode]", "800.100.151");
    let declined = shop.pay_by_card(&[&sent[..], &[forced]].concat()).await?;
    assert_result(&declined, 400, "800.100.151");
    // A different holder, because the same card of the same shopper would be the registration of another test.
    let card =
        tillgate_tests::CARD.map(|(name, value)| (name, if name == "card.holder" { "Only Here" } else { value }));
    let registered = shop.post("v1/registrations", &[&card[..], &sent].concat()).await?;
    assert_result(&registered, 200, "000.100.110");
    for (answer, path) in [(&declined, "payments"), (&registered, "registrations")] {
        assert_repeats(answer, &sent);
        assert_repeats(&shop.get(&format!("v1/{path}/{}", answer.id())).await?, &sent);
    }
    Ok(())
}

#[tokio::test]
async fn wishes_about_registrations_are_kept_and_repeated_like_the_rest() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let wishes = [
        ("createRegistration", "true"),
        ("overrideHolder", "true"),
        ("recurring.numberOfInstallments", "12"),
        ("registrations[0].id", stored.id()),
    ];
    let made = shop.create_checkout(&wishes).await?;
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    assert_result(&status, 200, "000.100.110");
    assert_repeats(&status, &wishes);
    Ok(())
}

#[tokio::test]
async fn a_checkout_keeps_every_parameter_that_a_merchant_sends_and_its_status_repeats_it() -> anyhow::Result<()> {
    let (shop, fields) = (sandbox_shop(), repeated_parameters());
    let sent: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let half = sent.len() / 2;
    let created = shop.create_checkout(&sent[..half]).await?;
    assert_result(&created, 200, "000.200.100");
    let updated = shop.post(&format!("v1/checkouts/{}", created.id()), &sent[half..]).await?;
    assert_result(&updated, 200, "000.200.101");
    assert_result(&shop.submit_card(created.id(), &[]).await?, 200, "000.000.100");
    assert_repeats(&shop.read_status(created.id()).await?, &sent);
    Ok(())
}

#[tokio::test]
async fn a_payment_by_registration_and_a_refund_keep_every_parameter_that_a_merchant_sends() -> anyhow::Result<()> {
    let (shop, fields) = (sandbox_shop(), repeated_parameters());
    let sent: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let stored = shop.post("v1/registrations", &tillgate_tests::CARD).await?;
    let order = [("amount", "92.00"), ("currency", "EUR")];
    let with = |kind| [&order[..], &[("paymentType", kind)], &sent].concat();
    let code = [("card.cvv", "123")];
    let path = format!("v1/registrations/{}/payments", stored.id());
    let paid = shop.post(&path, &[&with("DB")[..], &code].concat()).await?;
    assert_result(&paid, 200, "000.100.110");
    assert_repeats(&paid, &sent);
    let refunded = shop.post(&format!("v1/payments/{}", paid.id()), &with("RF")).await?;
    assert_result(&refunded, 200, "000.100.110");
    assert_repeats(&refunded, &sent);
    Ok(())
}

#[tokio::test]
async fn items_of_a_cart_and_flights_are_lists_and_a_key_of_digits_is_none() -> anyhow::Result<()> {
    let sent = [
        ("cart.items[1].name", "Clay"),
        ("cart.items[0].name", "Bowl"),
        ("cart.items[0].recipient.city", "Ulm"),
        ("airline.passengers[0].legs[1].flightNumber", "TG 2"),
        ("airline.passengers[0].legs[0].flightNumber", "TG 1"),
        ("customParameters[123]", "a key of digits"),
    ];
    let paid = sandbox_shop().pay_by_card(&sent).await?;
    assert_result(&paid, 200, "000.100.110");
    let items = &paid.json["cart"]["items"];
    assert_eq!((&items[0]["name"], &items[1]["name"], &items[2]), (&"Bowl".into(), &"Clay".into(), &Value::Null));
    assert_eq!(items[0]["recipient"]["city"], "Ulm");
    let legs = &paid.json["airline"]["passengers"][0]["legs"];
    assert_eq!((&legs[0]["flightNumber"], &legs[1]["flightNumber"]), (&"TG 1".into(), &"TG 2".into()));
    assert_eq!(paid.json["customParameters"]["123"], "a key of digits");
    Ok(())
}

#[tokio::test]
async fn what_counts_without_being_sent_is_told_where_its_group_is_used() -> anyhow::Result<()> {
    let shop = sandbox_shop();
    let used = [
        ("cart.items[0].quantity", "2"),
        ("cart.items[1].quantityUnit", "KG"),
        ("shipping.city", "Ulm"),
        ("merchant.shipping.city", "Ulm"),
        ("risk.accountToken", "x"),
    ];
    let paid = shop.pay_by_card(&used).await?;
    let checkout = shop.create_checkout(&used).await?;
    shop.submit_card(checkout.id(), &[]).await?;
    // A brand that is detected by the number is treated like one that was sent.
    let detected = shop.pay_by_card(&[&used[..], &[("paymentBrand", "")]].concat()).await?;
    let now = jiff::Timestamp::now();
    for answer in [
        &paid,
        &shop.get(&format!("v1/payments/{}", paid.id())).await?,
        &shop.read_status(checkout.id()).await?,
        &detected,
    ] {
        assert_result(answer, 200, "000.100.110");
        for (name, value) in [
            ("cart.items[0].quantityUnit", "COUNT"),
            ("cart.items[1].quantityUnit", "KG"),
            ("shipping.preference", "GET_FROM_FILE"),
            ("merchant.shipping.preference", "GET_FROM_FILE"),
            ("risk.brand", "VISA"),
        ] {
            assert_eq!(repeated_value(answer, name), value, "{name}: {}", answer.text);
        }
        let ordered = repeated_value(answer, "risk.orderTimestamp").as_str().unwrap_or_default();
        let ordered: jiff::Timestamp = format!("{ordered}Z").parse()?;
        assert!(now.duration_since(ordered).as_secs().abs() < 60, "{}", answer.text);
    }
    let own = shop.pay_by_card(&[("shipping.preference", "NO_SHIPPING"), ("risk.brand", "MASTER")]).await?;
    assert_eq!(*repeated_value(&own, "shipping.preference"), "NO_SHIPPING");
    assert_eq!(*repeated_value(&own, "risk.brand"), "MASTER");
    // A request without these parameters has none of them in its response.
    let plain = shop.pay_by_card(&[]).await?;
    for name in ["cart", "shipping", "merchant", "risk", "testMode"] {
        assert!(plain.json[name].is_null(), "{name}: {}", plain.text);
    }
    Ok(())
}
