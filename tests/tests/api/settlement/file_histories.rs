//! Random settlement files: duplicates, broken lines, parts, any order, files that overlap. Payments, records and
//! ledger agree to the cent afterwards, in currencies with no, two and three decimals.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::settlement::files::*;
use crate::settlement::ledger::{Chance, format_amount};
use crate::settlement::settlements::{hundredths, read_balances, read_records};
use crate::support::*;

/// Sums in hundredths by currency.
type Sums = BTreeMap<String, i64>;

/// A random history: what the payments have moved, and the lines of the institute.
#[derive(Default)]
struct FileHistory {
    moved: Sums,
    /// The lines that are not broken, by their reference.
    lines: BTreeMap<String, String>,
    broken: Vec<String>,
}

impl FileHistory {
    /// Adds a line with the next reference.
    fn add_line(&mut self, line: &FileLine<'_>) {
        let reference = format!("L-{:04}", self.lines.len());
        let text = FileLine { reference: &reference, ..line.clone() }.format();
        self.lines.insert(reference, text);
    }

    /// Makes a payment, sometimes refunds it, and adds lines about it.
    async fn live_through(&mut self, shop: &MerchantClient, chance: &mut Chance, number: u32) -> anyhow::Result<()> {
        let (currency, step) = *chance.choose(&[("EUR", 1), ("JPY", 100), ("KWD", 1)]);
        let whole = i64::try_from((chance.below(9_000) + 100) * step)?;
        let (amount, order) = (format_amount(whole), format!("order-{number:04}"));
        let fields =
            [("testMode", "EXTERNAL"), ("amount", &amount), ("currency", currency), ("merchantTransactionId", &order)];
        let paid = shop.pay_by_card(&fields).await?;
        assert_result(&paid, 200, "000.100.112");
        *self.moved.entry(currency.to_owned()).or_default() += whole;
        let fee = format_amount(i64::try_from(chance.below(3) * step)?);
        let base = FileLine { amount: &amount, currency, fee: &fee, ..Default::default() };
        match chance.below(6) {
            0 => self.add_line(&FileLine { connector_id: connector_id(&paid), ..base.clone() }),
            1 => self.add_line(&FileLine { payment: paid.id(), ..base.clone() }),
            2 => self.add_line(&FileLine { order: &order, ..base.clone() }),
            3 => {
                // In two parts, and the second one once too often.
                let part = i64::try_from(step)? * (whole / i64::try_from(step)? / 3 + 1);
                for amount in [part, whole - part, whole - part] {
                    let amount = format_amount(amount);
                    self.add_line(&FileLine { payment: paid.id(), amount: &amount, ..base.clone() });
                }
            }
            4 => self.add_line(&FileLine { order: "order-none", ..base.clone() }),
            _ => {}
        }
        match chance.below(4) {
            0 => {
                let answer =
                    follow_up(shop, paid.id(), &[("paymentType", "RF"), ("amount", &amount), ("currency", currency)])
                        .await?;
                assert_result(&answer, 200, "000.100.112");
                *self.moved.entry(currency.to_owned()).or_default() -= whole;
                self.add_line(&FileLine { kinds: "SETTLED;REFUND", order: &order, ..base });
            }
            1 => {
                self.add_line(&FileLine { kinds: "CHARGEBACK;DEBIT", payment: paid.id(), ..base.clone() });
                if chance.below(2) == 0 {
                    self.add_line(&FileLine { kinds: "CHARGEBACK REVERSAL;DEBIT", payment: paid.id(), ..base });
                }
            }
            2 => self.broken.push(FileLine { amount: "1.005", ..base }.format()),
            _ => {}
        }
        Ok(())
    }

    /// Returns a file with some of the lines in any order, some twice, and the broken ones between.
    fn shuffle_file(&self, chance: &mut Chance, percent: u64) -> String {
        let mut lines: Vec<&String> = Vec::new();
        for line in self.lines.values() {
            if chance.below(100) < percent {
                lines.push(line);
            }
            if chance.below(10) == 0 && percent < 100 {
                lines.push(line);
            }
        }
        lines.extend(&self.broken);
        for place in (1..lines.len()).rev() {
            let other = usize::try_from(chance.below(place as u64 + 1)).unwrap_or(0);
            lines.swap(place, other);
        }
        let lines: Vec<&str> = lines.into_iter().map(String::as_str).collect();
        format!("{HEADER}\n{}\n", lines.join("\n"))
    }
}

/// Returns the settled money of matched records by currency, and their fees.
fn add_up(records: &[Value]) -> (Sums, Sums) {
    let (mut settled, mut fees) = (Sums::new(), Sums::new());
    for record in records.iter().filter(|record| record["matchedTransactions"]["status"] == "MATCHED") {
        let currency = record["currency"].as_str().unwrap_or_default().to_owned();
        let settlement = &record["settlement"];
        if settlement["fee"].is_string() {
            *fees.entry(currency.clone()).or_default() -= hundredths(&settlement["fee"]);
        }
        // A chargeback has moved its amount itself.
        if record["recordType"] == "SETTLED" {
            let sign = if settlement["cashflow"] == "POS" { 1 } else { -1 };
            *settled.entry(currency).or_default() += sign * hundredths(&record["amount"]);
        }
    }
    (settled, fees)
}

/// Asserts that the open items are what payments have moved and no record has settled.
async fn assert_balanced(shop: &MerchantClient, history: &FileHistory) -> anyhow::Result<()> {
    let records = read_records(shop).await?;
    let (settled, fees) = add_up(&records);
    let mut open = history.moved.clone();
    for (currency, sum) in &settled {
        *open.entry(currency.clone()).or_default() -= sum;
    }
    open.retain(|_, sum| *sum != 0);
    assert_eq!(read_balances(shop, "receivable").await?, open, "open items = payments - records");
    let fees: Sums = fees.into_iter().filter(|(_, sum)| *sum != 0).collect();
    assert_eq!(read_balances(shop, "fees").await?, fees, "fees of records = ledger");
    Ok(())
}

/// Matches the unmatched lines that name exactly one payment which they can settle. Returns their number.
fn match_queue(gateway: &TestGateway, shop: &MerchantClient) -> anyhow::Result<usize> {
    let unmatched =
        gateway.run_command(&["settlement", "unmatched", "--entity", &shop.entity_id, "--limit", "1000"])?;
    let mut matched = 0;
    for line in unmatched["lines"].as_array().into_iter().flatten() {
        let candidates = line["candidates"].as_array().cloned().unwrap_or_default();
        let fitting: Vec<&str> = candidates
            .iter()
            .filter(|candidate| candidate["mismatch"].is_null())
            .filter_map(|candidate| candidate["paymentId"].as_str())
            .collect();
        if let ([payment], Some(record)) = (fitting.as_slice(), line["recordId"].as_str()) {
            gateway.run_command(&["settlement", "match", "--record", record, "--payment", payment])?;
            matched += 1;
        }
    }
    Ok(matched)
}

#[tokio::test]
async fn payments_records_and_ledger_agree_after_random_files_in_any_order() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut matched_later = 0;
    for seed in 1..=3 {
        let (mut chance, shop) = (Chance(seed * 104_729), gateway.create_merchant()?);
        let mut history = FileHistory::default();
        for number in 0..25 {
            history.live_through(&shop, &mut chance, number).await?;
        }
        let mut known = BTreeSet::new();
        for percent in [40, 60, 100] {
            let text = history.shuffle_file(&mut chance, percent);
            let result = import_text(&gateway, &shop, &text, &["--on-error", "skip"])?;
            let found = text.lines().filter_map(|line| line.split(';').next()).filter(|one| one.starts_with("L-"));
            let new = found.filter(|reference| known.insert((*reference).to_owned())).count() as u64;
            let broken = history.broken.len() as u64;
            assert_eq!(counts(&result, ["records", "broken", "changed"]), [new, broken, 0], "seed {seed}: {result}");
            assert_balanced(&shop, &history).await?;
        }
        assert_eq!(known.len(), history.lines.len());
        assert_eq!(read_records(&shop).await?.len(), history.lines.len());
        matched_later += match_queue(&gateway, &shop)?;
        assert_balanced(&shop, &history).await?;
    }
    assert!(matched_later > 0, "a reversal came before its chargeback");
    assert_verified(&gateway)
}
