//! Everything that the catalogue knows, sent by a merchant's server at once: kept, repeated and readable later.

use serde_json::Value;
use tillgate_shared::parameter::{Group, Parameter, catalogue};
use tillgate_tests::Answer;

use crate::browser_parameters::{concrete, sample};
use crate::support::*;

/// Where an answer repeats a parameter.
fn echo<'a>(answer: &'a Answer, name: &str) -> &'a Value {
    let path = name.replace('[', ".").replace(']', "");
    path.split('.').fold(&answer.json, |place, step| match step.parse::<usize>() {
        Ok(index) if place.is_array() => &place[index],
        _ => &place[step],
    })
}

/// Rows that a payment repeats under their own names. Accounts and registrations are shown in a reduced form, amount and
/// type are the payment's own, credentials and technical fields are dropped.
fn is_repeated(row: &Parameter) -> bool {
    let elsewhere = matches!(
        row.group,
        Group::Authentication
            | Group::Card
            | Group::Wallet
            | Group::VirtualAccount
            | Group::BankAccount
            | Group::Registration
            | Group::Reporting
            | Group::Chargeback
            | Group::Form
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
        // The acquirer's word on a first payment.
        "standingInstruction.initialTransactionId",
        // Not with dayOfMonth.
        "job.dayOfWeek",
    ];
    !elsewhere && !row.secret && row.group.title() != "Queries" && !own.contains(&row.name)
}

#[tokio::test]
async fn a_payment_keeps_and_repeats_every_parameter_that_a_merchant_sends() -> anyhow::Result<()> {
    let shop = shop();
    let rows = catalogue().enumerate().filter(|(_, row)| is_repeated(row));
    let fields: Vec<(String, String)> = rows
        .map(|(number, row)| {
            let value = match row.name {
                "testMode" => "INTERNAL".to_owned(),
                // The exemption flag came with it.
                "threeDSecure.version" => "2.2.0".to_owned(),
                _ => sample(row.format, number, 0),
            };
            (concrete(row.name), value)
        })
        .collect();
    assert!(fields.len() > 300, "{}", fields.len());
    let sent: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let paid = shop.pay(&sent).await?;
    assert_answer(&paid, 200, "000.100.110");
    let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    for answer in [&paid, &read] {
        for (name, value) in &sent {
            assert_eq!(echo(answer, name), value, "{name}: {}", answer.text);
        }
    }
    Ok(())
}

#[tokio::test]
async fn what_counts_without_being_sent_is_not_repeated_as_if_it_had_been() -> anyhow::Result<()> {
    let paid =
        shop().pay(&[("cart.items[0].quantity", "2"), ("shipping.city", "Ulm"), ("risk.accountToken", "x")]).await?;
    assert_answer(&paid, 200, "000.100.110");
    for name in ["cart.items[0].quantityUnit", "shipping.preference", "risk.brand", "risk.orderTimestamp", "testMode"] {
        assert!(echo(&paid, name).is_null(), "{name}: {}", paid.text);
    }
    assert_eq!(*echo(&paid, "cart.items[0].quantity"), "2");
    Ok(())
}
