//! Compares the ledger of an acquirer's host with a gateway's payments, to the cent.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::Database;

/// A payment in the gateway's store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPayment {
    /// Payment id.
    pub id: String,
    /// Payment type, such as `DB`.
    pub payment_type: String,
    /// Amount in minor units.
    pub amount: u64,
    /// Currency.
    pub currency: String,
    /// `result.code`.
    pub code: String,
    /// Id of the payment that it refers to.
    pub referenced: Option<String>,
    /// True if it was preauthorized, checked or reviewed, and then captured.
    pub is_captured_later: bool,
}

/// Reads a gateway's payments at external connectors, and the follow-up payments of these.
///
/// # Errors
/// If the store cannot be read, or holds something that is no payment.
pub fn external_payments(database: &Database) -> anyhow::Result<Vec<GatewayPayment>> {
    let query = "SELECT document FROM payment WHERE json_extract(CAST(document AS TEXT), '$.connector') IS NOT NULL";
    let mut statement = database.prepare(query)?;
    let documents = statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?.collect::<Result<Vec<_>, _>>()?;
    documents.iter().map(|document| parse_payment(&serde_json::from_slice(document)?)).collect()
}

/// Reads a payment from its stored document. Amounts are in currencies with two decimals. Fails if a field is missing.
fn parse_payment(document: &Value) -> anyhow::Result<GatewayPayment> {
    let text = |value: &Value| value.as_str().map(str::to_owned).with_context(|| format!("no payment: {document}"));
    Ok(GatewayPayment {
        id: text(&document["id"])?,
        payment_type: text(&document["payment_type"])?,
        amount: text(&document["amount"][0])?.replace('.', "").parse()?,
        currency: text(&document["amount"][1])?,
        code: text(&document["result"])?,
        referenced: document["referenced"].as_str().map(str::to_owned),
        is_captured_later: document["risk"]["debit_step"] == "capture"
            || document["risk"]["review"]["stage"] == "captured",
    })
}

/// Type, amount and currency of moved or reserved money.
type MoneyEffect = (&'static str, u64, String);

/// Compares the moved and reserved money in the ledger and in the gateway.
///
/// # Errors
/// If a payment is pending, or if there is a difference. The error contains the first one.
pub fn compare_ledger(ledger: &[Value], payments: &[GatewayPayment]) -> anyhow::Result<()> {
    let pending = payments.iter().find(|payment| payment.code.starts_with("000.200."));
    ensure!(pending.is_none(), "a payment is still pending: {pending:?}");
    let host = host_effects(ledger)?;
    let gateway = expected_effects(payments);
    for (id, effect) in &host {
        ensure!(gateway.get(id) == Some(effect), "{id}: the host has {effect:?}, the gateway {:?}", gateway.get(id));
    }
    for (id, effect) in &gateway {
        ensure!(host.contains_key(id), "{id}: the gateway has {effect:?}, the host nothing");
    }
    Ok(())
}

/// Returns the effects in the host's ledger that were approved and not reversed, by payment id. Fails if a payment has
/// two.
fn host_effects(ledger: &[Value]) -> anyhow::Result<BTreeMap<String, MoneyEffect>> {
    let mut effects = BTreeMap::new();
    for entry in ledger.iter().filter(|entry| entry["approved"] == true && entry["reversed"] == false) {
        let text = |name: &str| entry[name].as_str().map(str::to_owned).with_context(|| format!("no {name}: {entry}"));
        let payment_type = match text("kind")?.as_str() {
            "authorization" | "increment" => "PA",
            "debit" => "DB",
            "credit" => "CD",
            "capture" => "CP",
            "refund" => "RF",
            _ => continue,
        };
        let amount = entry["amount"].as_u64().with_context(|| format!("no amount: {entry}"))?;
        let before = effects.insert(text("paymentId")?, (payment_type, amount, text("currency")?));
        ensure!(before.is_none(), "the host has booked a payment twice: {entry}");
    }
    Ok(effects)
}

/// Returns type, amount and currency that the host should have booked for each approved payment, by payment id.
/// Reservations are included. A `PA.CP` is a debit, unless it was captured after its check; such a payment is a
/// reservation and a capture, which has a reference of its own. A reversal has no effect of its own; it removes the
/// effects of the payment that it refers to.
fn expected_effects(payments: &[GatewayPayment]) -> BTreeMap<String, MoneyEffect> {
    let approved = |payment: &&GatewayPayment| matches!(payment.code.as_str(), "000.100.112" | "000.000.000");
    let mut effects = BTreeMap::new();
    for payment in payments.iter().filter(approved) {
        if payment.is_captured_later {
            let capture = ("CP", payment.amount, payment.currency.clone());
            effects.insert(capture_reference(&payment.id), capture);
        }
        let payment_type = match payment.payment_type.as_str() {
            "DB" | "PA.CP" if payment.is_captured_later => "PA",
            "PA" => "PA",
            "DB" | "PA.CP" => "DB",
            "CD" => "CD",
            "CP" => "CP",
            "RF" => "RF",
            _ => continue,
        };
        effects.insert(payment.id.clone(), (payment_type, payment.amount, payment.currency.clone()));
    }
    for reversal in payments.iter().filter(approved).filter(|payment| payment.payment_type == "RV") {
        if let Some(referenced) = &reversal.referenced {
            effects.remove(referenced);
            effects.remove(&capture_reference(referenced));
            // The reversal of a preauthorization takes its increments with it.
            let increments =
                payments.iter().filter(|one| one.payment_type == "PA" && one.referenced.as_ref() == Some(referenced));
            increments.for_each(|increment| drop(effects.remove(&increment.id)));
        }
    }
    effects
}

/// Returns the reference of the request that captures a payment after its check.
fn capture_reference(payment: &str) -> String {
    format!("{payment}-capture")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns an approved entry in EUR.
    fn ledger_entry(id: &str, kind: &str, amount: u64, reversed: bool) -> Value {
        json!({ "paymentId": id, "kind": kind, "amount": amount, "currency": "EUR", "approved": true, "reversed": reversed })
    }

    /// Returns a payment in EUR.
    fn gateway_payment(
        id: &str,
        payment_type: &str,
        amount: u64,
        code: &str,
        referenced: Option<&str>,
    ) -> GatewayPayment {
        GatewayPayment {
            id: id.to_owned(),
            payment_type: payment_type.to_owned(),
            amount,
            currency: "EUR".to_owned(),
            code: code.to_owned(),
            referenced: referenced.map(str::to_owned),
            is_captured_later: false,
        }
    }

    #[test]
    fn a_debit_that_is_captured_after_its_check_is_a_reservation_and_a_capture() {
        const GOOD: &str = "000.100.112";
        let books = |reversed| {
            [ledger_entry("a", "authorization", 9200, reversed), ledger_entry("a-capture", "capture", 9200, reversed)]
        };
        let one_step = gateway_payment("a", "PA.CP", 9200, GOOD, None);
        let two_steps = GatewayPayment { is_captured_later: true, ..one_step.clone() };
        assert!(compare_ledger(&books(false), std::slice::from_ref(&two_steps)).is_ok());
        assert!(compare_ledger(&books(false), &[one_step]).is_err());
        assert!(
            compare_ledger(&books(false)[..1], std::slice::from_ref(&two_steps)).is_err(),
            "the capture is missing"
        );
        let reversal = gateway_payment("v", "RV", 9200, GOOD, Some("a"));
        assert!(compare_ledger(&books(true), &[two_steps.clone(), reversal.clone()]).is_ok());
        assert!(compare_ledger(&books(false), &[two_steps, reversal]).is_err());
    }

    #[test]
    fn equal_books_are_equal_and_any_cent_is_a_difference() {
        const GOOD: &str = "000.100.112";
        let ledger = [
            ledger_entry("a", "debit", 9200, false),
            ledger_entry("b", "authorization", 100, true),
            ledger_entry("v", "reversal", 100, false),
        ];
        let payments = [
            gateway_payment("a", "PA.CP", 9200, GOOD, None),
            gateway_payment("b", "PA", 100, GOOD, None),
            gateway_payment("v", "RV", 100, GOOD, Some("b")),
            gateway_payment("d", "DB", 5, "800.100.155", None),
        ];
        assert!(compare_ledger(&ledger, &payments).is_ok());
        for changed in [
            gateway_payment("a", "DB", 9199, GOOD, None),
            gateway_payment("a", "PA", 9200, GOOD, None),
            gateway_payment("a", "DB", 9200, "800.100.155", None),
            gateway_payment("a", "DB", 9200, "000.200.000", None),
        ] {
            let mut payments = payments.to_vec();
            payments[0] = changed;
            assert!(compare_ledger(&ledger, &payments).is_err(), "{:?}", payments[0]);
        }
        assert!(compare_ledger(&ledger[1..], &payments).is_err(), "the host lacks a payment");
        assert!(compare_ledger(&[&ledger[..], &ledger[..1]].concat(), &payments).is_err(), "one is there twice");
    }
}
