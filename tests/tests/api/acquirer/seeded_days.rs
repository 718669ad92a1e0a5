//! Days of traffic over ISO 8583 that a seed determines, with faults of the host, of its connections and of its
//! answers. At the end of a day nothing is pending, and the host's settlement file settles everything to the cent.
//!
//! `TILLGATE_SEEDS=1000` runs more days than the usual ones, and `TILLGATE_SEED=7` only that one.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::Value;
use tillgate_tests::poll_until;

use crate::acquirer::lines::{DIALECTS, LineScene, find_iso_address};
use crate::settlement::files::{assert_verified, counts, import_path, read_euros};
use crate::settlement::settlements::hundredths;
use crate::support::*;

/// Days of the usual tests.
const DAYS: u64 = 20;
/// Acts of a day.
const ACTS: Range<usize> = 12..24;
/// Faults of answers that a host can plan for an operation.
const FAULTS: [&str; 9] = ["slow", "silent", "cut", "twice", "late", "garbage", "dropped", "forged", "mismatched"];

/// A payment of the day that the gateway has approved.
struct Approved {
    id: String,
    kind: &'static str,
    /// Part that is neither captured nor refunded, in hundredths.
    open: u64,
    amount: u64,
}

/// A day of traffic.
struct SeededDay {
    scene: LineScene,
    random: fastrand::Rng,
    approved: Vec<Approved>,
    /// Ids of all payments, whatever their outcome was at first.
    all: Vec<String>,
    /// Ids of the reversed payments, by those of their reversals.
    reversals: BTreeMap<String, String>,
}

fn format_amount(hundredths: u64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl SeededDay {
    /// Does one act: a payment, a follow-up payment or a fault.
    async fn act(mut self) -> anyhow::Result<Self> {
        match self.random.u8(..10) {
            0..4 => self.pay().await?,
            4..7 => self.follow_up().await?,
            7..9 => {
                let operation = ["authorize", "capture", "refund", "reverse"][self.random.usize(..4)];
                let fault = FAULTS[self.random.usize(..FAULTS.len())];
                self.scene.host.schedule_fault(operation, fault, self.random.u32(1..3)).await?;
            }
            _ => return self.break_connection().await,
        }
        Ok(self)
    }

    async fn pay(&mut self) -> anyhow::Result<()> {
        let amount = self.random.u64(100..90_000);
        let kind = ["DB", "PA"][self.random.usize(..2)];
        let paid = self.scene.pay(&format_amount(amount), &[("paymentType", kind)]).await?;
        self.all.push(paid.id().to_owned());
        if paid.result_code() == "000.100.112" {
            self.approved.push(Approved { id: paid.id().to_owned(), kind, open: amount, amount });
        }
        Ok(())
    }

    /// Captures, refunds or reverses a payment. Of a payment without a known outcome nothing more is asked.
    async fn follow_up(&mut self) -> anyhow::Result<()> {
        if self.approved.is_empty() {
            return self.pay().await;
        }
        let place = self.random.usize(..self.approved.len());
        let chosen = self.approved.swap_remove(place);
        let is_untouched = chosen.open == chosen.amount;
        if is_untouched && self.random.u8(..4) == 0 {
            let reversed =
                self.scene.shop.post(&format!("v1/payments/{}", chosen.id), &[("paymentType", "RV")]).await?;
            self.all.push(reversed.id().to_owned());
            self.reversals.insert(reversed.id().to_owned(), chosen.id);
            return Ok(());
        }
        let part = self.random.u64(1..=chosen.open);
        let kind = if chosen.kind == "PA" { "CP" } else { "RF" };
        let changed = self.scene.modify(&chosen.id, kind, &format_amount(part)).await?;
        self.all.push(changed.id().to_owned());
        if changed.result_code() == "000.100.112" {
            if kind == "CP" {
                self.approved.push(Approved { id: changed.id().to_owned(), kind: "CP", open: part, amount: part });
            }
            if part < chosen.open {
                self.approved.push(Approved { open: chosen.open - part, ..chosen });
            }
        }
        Ok(())
    }

    /// Cuts the connection, kills the host, or takes the line out for a moment.
    async fn break_connection(mut self) -> anyhow::Result<Self> {
        let kind = self.random.u8(..3);
        if kind == 0 {
            self.scene.gateway.run_command(&["line", "take-out", "first"])?;
            self.pay().await?;
            self.scene.gateway.run_command(&["line", "put-back", "first"])?;
            return Ok(self);
        }
        if kind == 1 {
            self.scene = LineScene { host: self.scene.host.kill_and_restart()?, ..self.scene };
        }
        self.scene.forwarder.set_target(Some(&find_iso_address(&self.scene.host).await?));
        Ok(self)
    }

    /// Lets the hours pass until nothing is pending: neither a payment of the merchant, nor a reversal that nobody has
    /// asked for.
    async fn end(&self) -> anyhow::Result<()> {
        self.scene.wait_for_phase("connected").await?;
        let query = "SELECT count(*) FROM timer WHERE kind = 'ask'";
        poll_until("nothing is pending", async || {
            self.scene.shop.advance_clock("10m").await?;
            let open: u32 = open_database(&self.scene.gateway)?.query_row(query, [], |row| row.get(0))?;
            Ok((open == 0).then_some(()))
        })
        .await?;
        for id in &self.all {
            let payment = self.scene.shop.get(&format!("v1/payments/{id}")).await?;
            assert_ne!(payment.result_code(), "000.200.000", "{}", payment.text);
        }
        Ok(())
    }

    /// Compares the amounts that the host holds with the preauthorizations that the merchant sees as approved and not
    /// reversed. Nothing is held that nobody can capture.
    async fn compare_holds(&self) -> anyhow::Result<()> {
        let mut approved: BTreeMap<String, u64> = BTreeMap::new();
        for id in &self.all {
            let payment = self.scene.shop.get(&format!("v1/payments/{id}")).await?.json;
            if payment["result"]["code"] != "000.100.112" {
                continue;
            }
            if payment["paymentType"] == "PA" {
                approved.insert(id.clone(), hundredths(&payment["amount"]).try_into()?);
            } else if payment["paymentType"] == "RV" {
                approved.remove(&self.reversals[id]);
            }
        }
        let entries = self.scene.entries().await?;
        let held = entries.into_iter().filter(|(kind, _, is_effective)| *is_effective && kind == "authorization");
        let (mut held, mut approved): (Vec<u64>, Vec<u64>) =
            (held.map(|(_, amount, _)| amount).collect(), approved.into_values().collect());
        held.sort_unstable();
        approved.sort_unstable();
        assert_eq!(held, approved);
        Ok(())
    }

    /// Imports the settlement file of the host, and compares: each line has its payment, and no money is left over.
    fn settle(&self, fee: &str) -> anyhow::Result<Value> {
        let file = self.scene.gateway.folder().join("host.csv");
        let (data, path) = (self.scene.host.folder().join("acquirer"), file.to_string_lossy().into_owned());
        let arguments =
            ["acquirer-settlement", "--data", &data.to_string_lossy(), "--output", &path, "--fee", fee, "--json"];
        let written = run_host_command(&arguments)?;
        let imported = import_path(&self.scene.gateway, &self.scene.shop.entity_id, &file, &[])?;
        let lines = written["lines"].as_u64();
        assert_eq!(counts(&imported, ["matched", "notMatched", "multipleMatches"]), [lines.unwrap_or(0), 0, 0]);
        Ok(imported)
    }
}

/// Runs a command of the host, which takes its own data folder.
fn run_host_command(arguments: &[&str]) -> anyhow::Result<Value> {
    let output = std::process::Command::new(tillgate_tests::binary_path()).args(arguments).output()?;
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Runs the day of a seed in a dialect.
async fn run_day(seed: u64, (dialect, key): (&str, Option<&str>)) -> anyhow::Result<()> {
    let scene = LineScene::start_with(dialect, key, 500, &["--slow", "200ms", "--late", "2s"]).await?;
    let random = fastrand::Rng::with_seed(seed);
    let mut day = SeededDay { scene, random, approved: Vec::new(), all: Vec::new(), reversals: BTreeMap::new() };
    let acts = day.random.usize(ACTS);
    for _ in 0..acts {
        day = day.act().await?;
    }
    day.end().await?;
    day.compare_holds().await?;
    day.settle("125")?;
    let sums = [read_euros(&day.scene.shop, "receivable").await?, read_euros(&day.scene.shop, "payable").await?];
    assert_eq!(sums, [0, 0], "captured money without a settlement, and the reverse");
    assert_verified(&day.scene.gateway)
}

/// Runs the days whose number has this remainder, each in the dialect with this number.
async fn run_days(remainder: usize) -> anyhow::Result<()> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("TILLGATE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("TILLGATE_SEEDS").unwrap_or(DAYS),
    };
    for seed in seeds.filter(|seed| usize::try_from(seed % 3).is_ok_and(|rest| rest == remainder)) {
        run_day(seed, DIALECTS[remainder]).await.map_err(|error| error.context(format!("TILLGATE_SEED={seed}")))?;
    }
    Ok(())
}

#[tokio::test]
async fn days_with_faults_end_with_the_same_books_at_the_host_in_ascii() -> anyhow::Result<()> {
    run_days(0).await
}

#[tokio::test]
async fn days_with_faults_end_with_the_same_books_at_the_host_in_bcd() -> anyhow::Result<()> {
    run_days(1).await
}

#[tokio::test]
async fn days_with_faults_end_with_the_same_books_at_the_host_in_ebcdic() -> anyhow::Result<()> {
    run_days(2).await
}
