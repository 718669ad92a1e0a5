//! Checks of a gateway after its last start: what the merchant was told, and what was paid.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use serde_json::Value;

use super::{Books, database};
use crate::{Gateway, Merchant, Received};

/// What the merchant was told: everything, and whatever came twice under one name. Returns how much did.
pub(super) fn told(gateway: &Gateway, books: &Books, received: &[Received]) -> anyhow::Result<usize> {
    let mut names: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for request in received.iter().filter(|request| request.method == "GET") {
        names
            .entry(request.target.split('?').next().unwrap_or_default())
            .or_default()
            .insert(request.header("webhook-id"));
    }
    for (target, ids) in &names {
        ensure!(ids.len() == 1, "{target} was told as {} things", ids.len());
    }
    for order in &books.submitted {
        ensure!(names.contains_key(format!("/back/{order}").as_str()), "nobody was reminded of {order}");
    }
    for (order, _) in books.waiting.values() {
        ensure!(names.contains_key(format!("/notify/{order}").as_str()), "nobody was told how {order} ended");
    }
    let database = database(gateway)?;
    let query =
        "SELECT what || json_extract(CAST(document AS TEXT), '$.id'), id FROM message WHERE webhook IS NOT NULL";
    let mut statement = database.prepare(query)?;
    let events = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let events: Vec<(String, String)> = events.collect::<Result<_, _>>()?;
    let distinct: BTreeSet<&String> = events.iter().map(|(event, _)| event).collect();
    ensure!(distinct.len() == events.len(), "an event was written twice");
    let came: BTreeSet<&str> = received.iter().map(|request| request.header("webhook-id")).collect();
    let missing = events.iter().find(|(_, id)| !came.contains(id.as_str()));
    ensure!(missing.is_none(), "an event never came: {missing:?}");
    Ok(received.len() - came.len())
}

/// Every order was paid once, every refund made once, and nothing is pending.
pub(super) async fn paid(shop: &Merchant, books: &Books) -> anyhow::Result<()> {
    for order in &books.orders {
        let found = shop.get(&format!("v1/query?merchantTransactionId={order}&paymentTypes=DB")).await?;
        let payments = found.json["payments"].as_array().map(Vec::as_slice).unwrap_or_default();
        ensure!(payments.len() == 1, "{order} was paid {} times: {}", payments.len(), found.text);
        let code = payments[0]["result"]["code"].as_str().unwrap_or_default();
        // The last one was given up, because the acquirer's host did not know it.
        let is_final = matches!(code, "000.100.110" | "100.396.103" | "000.100.112" | "900.100.300");
        ensure!(is_final, "{order} has ended with {code}");
    }
    for (payment, refunds) in &books.refunds {
        let found = shop.get(&format!("v1/query/{payment}?includeLinkedTransactions=true&paymentTypes=RF")).await?;
        let made = found.json["payments"].as_array().map_or(0, |payments: &Vec<Value>| payments.len());
        ensure!(made == *refunds, "{payment} was refunded {made} times, and {refunds} times asked to be");
    }
    Ok(())
}
