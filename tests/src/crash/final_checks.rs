//! Checks of the gateway after its last restart: the messages to the merchant, and the payments.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use serde_json::Value;

use super::clients::get_answered;
use super::requests::FollowUpType;
use super::{ClientRecords, open_database};
use crate::{MerchantClient, ReceivedRequest, TestGateway};

/// Checks that the merchant received a reminder for each submitted checkout, a notification for each pending payment
/// and every event, each under one id. Returns the number of repeated deliveries.
pub(super) fn check_notifications(
    gateway: &TestGateway,
    records: &ClientRecords,
    received: &[ReceivedRequest],
) -> anyhow::Result<usize> {
    let mut ids_by_target: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for request in received.iter().filter(|request| request.method == "GET") {
        ids_by_target
            .entry(request.target.split('?').next().unwrap_or_default())
            .or_default()
            .insert(request.header("webhook-id"));
    }
    for (target, ids) in &ids_by_target {
        ensure!(ids.len() == 1, "{target} was told as {} things", ids.len());
    }
    for order in &records.submitted {
        ensure!(ids_by_target.contains_key(format!("/back/{order}").as_str()), "nobody was reminded of {order}");
    }
    for (order, _) in records.pending.values() {
        ensure!(ids_by_target.contains_key(format!("/notify/{order}").as_str()), "nobody was told how {order} ended");
    }
    let database = open_database(gateway)?;
    // An event about a schedule has the version of the schedule.
    let query = "SELECT what || coalesce(json_extract(text, '$.id'),
            json_extract(text, '$.schedule.id') || json_extract(text, '$.schedule.version')), id
        FROM (SELECT what, id, CAST(document AS TEXT) AS text FROM message WHERE webhook IS NOT NULL) AS event";
    let mut statement = database.prepare(query)?;
    let events = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let events: Vec<(String, String)> = events.collect::<Result<_, _>>()?;
    let distinct: BTreeSet<&String> = events.iter().map(|(event, _)| event).collect();
    ensure!(distinct.len() == events.len(), "an event was written twice");
    let received_ids: BTreeSet<&str> = received.iter().map(|request| request.header("webhook-id")).collect();
    let missing = events.iter().find(|(_, id)| !received_ids.contains(id.as_str()));
    ensure!(missing.is_none(), "an event never came: {missing:?}");
    Ok(received.len() - received_ids.len())
}

/// Checks that every order has exactly one payment with a final result, and every payment as many follow-up payments as
/// were answered.
pub(super) async fn check_payments(shop: &MerchantClient, records: &ClientRecords) -> anyhow::Result<()> {
    for (order, payment_type) in &records.orders {
        let found =
            get_answered(shop, &format!("v1/query?merchantTransactionId={order}&paymentTypes={payment_type}")).await?;
        let payments = found.json["payments"].as_array().map(Vec::as_slice).unwrap_or_default();
        ensure!(payments.len() == 1, "{order} was paid {} times: {}", payments.len(), found.text);
        let code = payments[0]["result"]["code"].as_str().unwrap_or_default();
        // `900.100.300`: the gateway ended the payment because the acquirer host did not know it. `900.100.600`: the
        // host was down and the gateway could not connect to it, so nothing was sent.
        let is_final = matches!(code, "000.100.110" | "100.396.103" | "000.100.112" | "900.100.300" | "900.100.600");
        ensure!(is_final, "{order} has ended with {code}");
    }
    for ((payment, payment_type), sent) in &records.follow_ups {
        let code = payment_type.code();
        let path = format!("v1/query/{payment}?includeLinkedTransactions=true&paymentTypes={code}");
        let found = get_answered(shop, &path).await?;
        let count = found.json["payments"].as_array().map_or(0, |payments: &Vec<Value>| payments.len());
        ensure!(count == *sent, "{payment} has {count} {code}, and {sent} were answered");
    }
    Ok(())
}

/// Checks that each chargeback has one dispute.
pub(super) fn check_disputes(gateway: &TestGateway, records: &ClientRecords) -> anyhow::Result<()> {
    let charged_back = records.follow_ups.keys().filter(|(_, payment_type)| *payment_type == FollowUpType::Chargeback);
    let expected: BTreeSet<String> = charged_back.map(|(payment, _)| payment.clone()).collect();
    let database = open_database(gateway)?;
    let mut statement = database.prepare("SELECT payment FROM dispute WHERE chargeback IS NOT NULL")?;
    let found: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let distinct: BTreeSet<String> = found.iter().cloned().collect();
    ensure!(distinct.len() == found.len() && distinct == expected, "chargebacks {expected:?}, disputes {found:?}");
    Ok(())
}
