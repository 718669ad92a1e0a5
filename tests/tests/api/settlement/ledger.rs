//! Random histories of months: payments, follow-up payments, days that pass. Reports, payments, settlement lines, files
//! and the ledger agree to the cent, in currencies with no, two and three decimals.

use std::collections::BTreeMap;

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::settlement::settlements::*;
use crate::support::*;

const TERMS: &str = r#"
reserve = { percent = "3.3", days = 9 }

[[fee]]
on = "charge"
percent = "1.37"
tiers = [{ from = "500", percent = "1.11" }]

[[fee]]
on = "refund"
percent = "0.5"

[[fee]]
on = "monthly"
fixed = "4.95"
currency = "EUR"
"#;

/// Numbers that look random and are the same in every run.
pub struct Chance(pub u64);

impl Chance {
    /// Returns a number below a limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The constants of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    pub fn choose<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.below(values.len() as u64)).unwrap_or(0)]
    }
}

/// An approved payment of a history.
struct Made {
    id: String,
    kind: &'static str,
    currency: &'static str,
    hundredths: i64,
}

/// A history, and what it should have moved by currency: positive from shoppers, negative to them.
#[derive(Default)]
struct History {
    made: Vec<Made>,
    moved: BTreeMap<String, i64>,
}

/// Formats hundredths as a request has them.
pub fn format_amount(hundredths: i64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

impl History {
    fn add(&mut self, id: &str, kind: &'static str, currency: &'static str, hundredths: i64) {
        let sign = match kind {
            "DB" | "CP" => 1,
            "PA" => 0,
            _ => -1,
        };
        *self.moved.entry(currency.to_owned()).or_default() += sign * hundredths;
        self.made.push(Made { id: id.to_owned(), kind, currency, hundredths });
    }

    /// Makes a payment of a random type, amount and currency.
    async fn pay(&mut self, shop: &MerchantClient, chance: &mut Chance) -> anyhow::Result<()> {
        let kind = *chance.choose(&["DB", "DB", "DB", "PA", "PA", "CD"]);
        let (currency, step) = *chance.choose(&[("EUR", 1), ("JPY", 100), ("KWD", 1)]);
        let hundredths = i64::try_from((chance.below(50_000) + 1) * step)?;
        let amount = format_amount(hundredths);
        let paid = shop.pay_by_card(&[("paymentType", kind), ("currency", currency), ("amount", &amount)]).await?;
        assert_result(&paid, 200, "000.100.110");
        self.add(paid.id(), kind, currency, hundredths);
        Ok(())
    }

    /// Sends a random follow-up payment about a random payment. It may be refused.
    async fn follow_up(&mut self, shop: &MerchantClient, chance: &mut Chance) -> anyhow::Result<()> {
        if self.made.is_empty() {
            return Ok(());
        }
        let referenced = chance.choose(&self.made);
        let kind = match referenced.kind {
            "PA" => *chance.choose(&["CP", "CP", "RV"]),
            "DB" => *chance.choose(&["RF", "RF", "RV", "CB"]),
            "CP" => *chance.choose(&["RF", "CB"]),
            _ => "RV",
        };
        let (of, currency, whole, id) =
            (referenced.kind, referenced.currency, referenced.hundredths, referenced.id.clone());
        let step = if currency == "JPY" { 100 } else { 1 };
        let is_whole = matches!(kind, "RV" | "CB") || chance.below(3) == 0;
        let part = i64::try_from(chance.below(u64::try_from(whole / step)?) + 1)? * step;
        let hundredths = if is_whole { whole } else { part };
        let amount = format_amount(hundredths);
        let mut fields = vec![("paymentType", kind)];
        if kind != "RV" {
            fields.extend([("amount", &*amount), ("currency", currency)]);
        }
        if kind == "CB" {
            fields.push(("chargebackResultCode", "000.100.203"));
        }
        let answer = shop.post(&format!("v1/payments/{id}"), &fields).await?;
        if answer.status != 200 || !(answer.result_code().starts_with("000.")) {
            return Ok(());
        }
        match (kind, of) {
            ("RV", "DB") => *self.moved.entry(currency.to_owned()).or_default() -= hundredths,
            ("RV", "CD") => *self.moved.entry(currency.to_owned()).or_default() += hundredths,
            ("RV", _) => {}
            _ => self.add(answer.id(), kind, currency, hundredths),
        }
        Ok(())
    }
}

/// Returns the sum of the settled transactions of records by currency, and of their fees.
fn add_up(records: &[Value]) -> (BTreeMap<String, i64>, BTreeMap<String, i64>) {
    let (mut moved, mut fees) = (BTreeMap::new(), BTreeMap::new());
    for record in records.iter().filter(|record| record["transactionType"] != "BATCH") {
        let currency = record["currency"].as_str().unwrap_or_default().to_owned();
        let settlement = &record["settlement"];
        if record["recordType"] == "FEE" {
            *fees.entry(currency).or_default() += hundredths(&settlement["amount"]);
            continue;
        }
        let sign = if settlement["cashflow"] == "POS" { 1 } else { -1 };
        *moved.entry(currency.clone()).or_default() += sign * hundredths(&record["amount"]);
        if settlement["fee"].is_string() {
            *fees.entry(currency).or_default() += hundredths(&settlement["fee"]);
        }
    }
    (moved, fees)
}

/// Removes the currencies with a sum of 0.
fn without_zeros(mut sums: BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    sums.retain(|_, sum| *sum != 0);
    sums
}

/// Adds up a column of a CSV file by another one.
fn add_up_column(csv: &str, (key, value): (&str, &str)) -> BTreeMap<String, i64> {
    let mut lines = csv.lines().map(|line| line.split([',', ';']).collect::<Vec<_>>());
    let header = lines.next().unwrap_or_default();
    let place = |name: &str| header.iter().position(|column| *column == name).unwrap_or(usize::MAX);
    let (key, value) = (place(key), place(value));
    let mut sums = BTreeMap::new();
    for line in lines {
        let cell = |index: usize| Value::from(line.get(index).copied().unwrap_or_default());
        *sums.entry(cell(key).as_str().unwrap_or_default().to_owned()).or_default() += hundredths(&cell(value));
    }
    sums
}

/// The ledger and the reports about the settlements of a shop, by currency.
struct LedgerAndReports {
    /// Fees that were kept, by the ledger.
    fees: BTreeMap<String, i64>,
    /// Amounts that the ledger still owes the shop.
    payable: BTreeMap<String, i64>,
    /// Fees by their report.
    reported_fees: BTreeMap<String, i64>,
    /// Payouts by the report of settlements, before fees and reserves.
    paid_out: BTreeMap<String, i64>,
}

impl LedgerAndReports {
    async fn read(shop: &MerchantClient) -> anyhow::Result<Self> {
        let fees = read_balances(shop, "fees").await?.into_iter().map(|(currency, sum)| (currency, -sum)).collect();
        let csv = shop.get(&format!("reports/v1/fees?{ALWAYS}&format=csv")).await?.text;
        let mut paid_out = BTreeMap::new();
        for batch in &read_rows(shop, "reports/v1/settlements", "settlements").await? {
            let currency = batch["currency"].as_str().unwrap_or_default().to_owned();
            *paid_out.entry(currency).or_default() +=
                hundredths(&batch["paidOut"]) + hundredths(&batch["fees"]) + hundredths(&batch["reserved"])
                    - hundredths(&batch["released"]);
        }
        let payable = read_balances(shop, "payable").await?;
        Ok(Self { fees, payable, reported_fees: add_up_column(&csv, ("currency", "fee")), paid_out })
    }
}

async fn live_through(gateway: &TestGateway, seed: u64) -> anyhow::Result<()> {
    let shop = gateway.create_merchant_with(&["--time-zone", "Asia/Kolkata"])?;
    set_terms(gateway, &shop, TERMS)?;
    let (mut chance, mut history) = (Chance(seed), History::default());
    for _ in 0..60 {
        match chance.below(8) {
            0..=2 => history.pay(&shop, &mut chance).await?,
            3..=6 => history.follow_up(&shop, &mut chance).await?,
            _ => shop.advance_clock(&format!("{}h", chance.below(60) + 1)).await?,
        }
    }
    let (records, mut total) = read_with_records(&shop, async || read_balances(&shop, "receivable").await).await?;
    for (currency, sum) in add_up(&records).0 {
        *total.entry(currency).or_default() += sum;
    }
    assert_eq!(without_zeros(total), without_zeros(history.moved.clone()), "payments = settlement lines + open items");

    settle_all(&shop, "300h").await?;
    let (records, end) = read_with_records(&shop, async || LedgerAndReports::read(&shop).await).await?;
    let (settled, fees) = add_up(&records);
    assert_eq!(without_zeros(settled), without_zeros(history.moved.clone()), "settlement lines = payments");
    assert_eq!(without_zeros(fees), end.fees, "fees of lines = ledger");
    assert_eq!(without_zeros(end.reported_fees), end.fees, "fees report = ledger");
    assert_eq!(without_zeros(end.paid_out), without_zeros(history.moved), "settlements report = payments");
    assert!(end.payable.is_empty(), "nothing is owed once all is settled: {:?}", end.payable);
    Ok(())
}

#[tokio::test]
async fn payments_lines_reports_and_ledger_of_random_months_agree_to_the_cent() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    for seed in 1..=4 {
        live_through(&gateway, seed * 7_919).await.map_err(|error| error.context(format!("seed {seed}")))?;
    }
    let verified = gateway.run_command(&["verify"])?;
    assert_eq!(verified["faultCount"], 0, "{verified}");
    Ok(())
}
