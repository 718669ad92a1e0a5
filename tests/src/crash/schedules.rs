//! Schedules that are due while the gateway is killed.

use std::collections::BTreeSet;

use anyhow::ensure;

use super::open_database;
use crate::{CARD, MerchantClient, TestGateway};

/// Number of schedules.
const COUNT: usize = 6;
/// Terms under which a stored card may be charged.
const AGREEMENT: [(&str, &str); 3] = [
    ("standingInstruction.mode", "INITIAL"),
    ("standingInstruction.source", "CIT"),
    ("standingInstruction.type", "UNSCHEDULED"),
];

/// Creates schedules that are due every minute. Returns their ids.
pub(super) async fn create_schedules(shop: &MerchantClient) -> anyhow::Result<Vec<String>> {
    let stored = shop.post("v1/registrations", &[&CARD[..], &AGREEMENT].concat()).await?;
    let fields = [
        ("registrationId", stored.id()),
        ("amount", "1.00"),
        ("currency", "EUR"),
        ("paymentType", "DB"),
        ("job.minute", "*"),
        ("job.missedRuns", "ALL"),
    ];
    let mut schedules = Vec::new();
    for _ in 0..COUNT {
        let created = shop.post("scheduling/v1/schedules", &fields).await?;
        ensure!(created.status == 200, "{}", created.text);
        schedules.push(created.id().to_owned());
    }
    Ok(schedules)
}

/// Ends schedules.
pub(super) async fn end_schedules(shop: &MerchantClient, schedules: &[String]) -> anyhow::Result<()> {
    for id in schedules {
        let ended = shop.post(&format!("scheduling/v1/schedules/{id}/deschedule"), &[("paymentType", "DS")]).await?;
        ensure!(ended.status == 200, "{}", ended.text);
    }
    Ok(())
}

/// Checks that each schedule has charged each of its occurrences once, with one payment, and at least one in each
/// round.
pub(super) fn check_runs(gateway: &TestGateway, schedules: &[String], rounds: u32) -> anyhow::Result<()> {
    let database = open_database(gateway)?;
    for id in schedules {
        let read = |query: &str| -> anyhow::Result<Vec<String>> {
            let mut statement = database.prepare(query)?;
            let rows = statement.query_map([id], |row| row.get(0))?;
            Ok(rows.collect::<Result<_, _>>()?)
        };
        let occurrences = read("SELECT CAST(occurrence AS TEXT) FROM schedule_run WHERE schedule = ?1")?;
        let charged =
            read("SELECT json_extract(CAST(document AS TEXT), '$.payment') FROM schedule_run WHERE schedule = ?1")?;
        let paid = read("SELECT id FROM payment WHERE json_extract(CAST(document AS TEXT), '$.schedule') = ?1")?;
        let distinct: BTreeSet<&String> = occurrences.iter().collect();
        ensure!(distinct.len() == occurrences.len(), "an occurrence of {id} has two attempts: {occurrences:?}");
        ensure!(occurrences.len() >= rounds as usize, "{id} has {} runs in {rounds} rounds", occurrences.len());
        let (charged, paid) = (BTreeSet::from_iter(charged), BTreeSet::from_iter(paid));
        ensure!(charged == paid && paid.len() == occurrences.len(), "{id}: runs {charged:?}, payments {paid:?}");
    }
    Ok(())
}
