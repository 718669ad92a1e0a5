//! Times of risk rules for `cargo xtask bench`: 200 rules with 20 velocity counters.
//!
//! - `risk rules`: prints the rules.
//! - `risk DIR COUNT`: stores this number of counter rows, unless the folder has them already, and prints the times as
//!   JSON: of an evaluation, and of loading, counting and writing the counters of a payment on the writer's thread.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use jiff::{SignedDuration, Timestamp};
use tillgate_engine::Session as _;
use tillgate_engine::sqlite::SqliteSession;
// Brings the allocator of the gateway.
use tillgate as _;
use tillgate_domain::id::EntityId;
use tillgate_risk::{CheckInput, CountedPayment, CounterPlan, Facts, RiskLists, RuleSet};
use tillgate_shared::money::{Amount, Currency};
use tillgate_store::{Changes, RecordKeys, RiskRowKeys, RiskRowKind, bench};

/// Twenty counters over eight combinations of keys. All payments under load have the same card, because a sandbox takes
/// documented numbers only. So no counter counts the different values of a card, which would be those of all shoppers.
const COUNTERS: [&str; 20] = [
    "count(card, 1 h) > 50",
    "count(card, 1 d) > 50",
    "sum(card, 1 d) > 90000",
    "sum(card, 30 d) > 90000",
    "distinct(ip by email, 30 d) > 50",
    "count(email, 1 h) > 50",
    "count(email, 7 d) > 50",
    "distinct(card by email, 1 d) > 50",
    "count(ip, 10 min) > 50",
    "count(ip, 1 d) > 50",
    "distinct(card by ip, 1 h) > 50",
    "count(device, 1 h) > 50",
    "distinct(card by device, 1 d) > 50",
    "sum(device, 1 d) > 90000",
    "count(card, email, 1 d) > 50",
    "count(card, email, 90 d) > 50",
    "count(email, ip, 1 d) > 50",
    "count(device, ip, 1 h) > 50",
    "count(account, 1 d) > 50",
    "sum(account, 90 d) > 90000",
];
/// Number of rules. One in [`FIRING`] fires for the payments of the bench.
const RULES: usize = 200;
const FIRING: usize = 10;
/// Largest amount in a rule, which is less than that of the payments: every rule goes on to its counter.
const MAX_AMOUNT: usize = 90;
/// Rows that a payment of a new shopper adds.
const ROWS_PER_PAYMENT: u64 = 8;
/// Payments in a transaction, as in a group of the writer under load.
const PAYMENTS_PER_COMMIT: u64 = 16;
/// Shoppers who have paid often, and the number of their payments in the last 90 days.
const REGULARS: u64 = 20;
const PAYMENTS_OF_REGULARS: u64 = 100;
/// Numbers of the first regular and of the first new shopper.
const FIRST_REGULAR: u64 = 1 << 40;
const FIRST_NEW: u64 = 1 << 41;
/// Payments that are measured.
const MEASURED: u64 = 4_000;

/// Runs the measurement in the arguments, or fails with the usage.
fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["rules"] {
        print!("{}", format_rules());
        return Ok(());
    }
    let [folder, count] = &arguments[..] else { bail!("usage: risk rules | risk DIR COUNT") };
    let mut bench = RiskBench::open(Path::new(folder))?;
    let evaluations = bench.time_evaluations();
    bench.fill(count.parse()?)?;
    let (counts, commits) = bench.time_payments()?;
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    println!(
        "{}",
        serde_json::json!({
            "evaluation_p99": microseconds(percentile(evaluations, 99)),
            "payment_p50": microseconds(percentile(counts.clone(), 50)),
            "payment_p99": microseconds(percentile(counts, 99)),
            "commit_share_p50": microseconds(percentile(commits, 50)),
        })
    );
    Ok(())
}

/// A store, and what counts in it.
struct RiskBench {
    session: SqliteSession,
    rules: RuleSet,
    /// The counters of the rules.
    plan: CounterPlan,
    entity: EntityId,
    lists: RiskLists,
    /// Time of the payments.
    now: Timestamp,
}

impl RiskBench {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let rules = make_rules()?;
        Ok(Self {
            session: bench::open_store_file(folder)?,
            plan: CounterPlan::new(&[&rules], &[7; 32]),
            rules,
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]),
            lists: RiskLists::default(),
            now: Timestamp::now(),
        })
    }

    /// Evaluates the rules for different payments, and returns the times.
    fn time_evaluations(&self) -> Vec<Duration> {
        let evaluate = |number| {
            let input = make_payment(number, self.now);
            let facts = Facts { input: &input, lists: &self.lists };
            let count = self.plan.prepare_payment(&facts, &self.entity);
            let counters = count.count_payment(&[]).counters.unwrap_or_default();
            let started = Instant::now();
            std::hint::black_box(self.rules.evaluate(&facts, &counters).is_ok());
            started.elapsed()
        };
        (0..20_000).map(evaluate).collect()
    }

    /// Counts payments of new shoppers until this number of rows is stored, and then those of the regulars.
    fn fill(&mut self, rows: u64) -> anyhow::Result<()> {
        let stored: i64 = self.session.query_one("SELECT count(*) FROM risk_counter", (), |row| row.get(0))?;
        let stored = u64::try_from(stored)?;
        let payments: Vec<u64> = (stored / ROWS_PER_PAYMENT..rows / ROWS_PER_PAYMENT).collect();
        // The order of the rows is that of hashes, so a larger cache saves most of the time.
        self.session.run_script("PRAGMA cache_size = -1000000")?;
        for group in payments.chunks(50_000) {
            let transaction = self.session.begin()?;
            group.iter().try_for_each(|number| self.count_payment(*number, self.now).map(drop))?;
            transaction.commit()?;
        }
        let transaction = self.session.begin()?;
        for number in 0..REGULARS * PAYMENTS_OF_REGULARS {
            let hours = 90 * 24 / PAYMENTS_OF_REGULARS * (PAYMENTS_OF_REGULARS - number / REGULARS);
            let at = self.now - SignedDuration::from_hours(i64::try_from(hours)?);
            self.count_payment(FIRST_REGULAR + number % REGULARS, at)?;
        }
        transaction.commit()?;
        self.session.run_script("PRAGMA cache_size = -16384; PRAGMA wal_checkpoint(TRUNCATE)")?;
        Ok(())
    }

    /// Counts payments: half of them of new shoppers, a quarter each of shoppers who have paid once before and of
    /// regulars. Returns the time of each, and the share of each in its commit.
    fn time_payments(&self) -> anyhow::Result<(Vec<Duration>, Vec<Duration>)> {
        let (mut counts, mut commits) = (Vec::new(), Vec::new());
        for group in 0..MEASURED / PAYMENTS_PER_COMMIT {
            let transaction = self.session.begin()?;
            for number in group * PAYMENTS_PER_COMMIT..(group + 1) * PAYMENTS_PER_COMMIT {
                let shopper = match number % 4 {
                    0 => FIRST_REGULAR + number / 4 % REGULARS,
                    2 => number * 7,
                    _ => FIRST_NEW + number,
                };
                counts.push(self.count_payment(shopper, self.now)?);
            }
            let started = Instant::now();
            transaction.commit()?;
            commits.push(started.elapsed() / u32::try_from(PAYMENTS_PER_COMMIT)?);
        }
        Ok((counts, commits))
    }

    /// Counts a payment inside of the transaction. Returns the time on the writer's thread.
    fn count_payment(&self, number: u64, at: Timestamp) -> anyhow::Result<Duration> {
        let input = make_payment(number, at);
        let facts = Facts { input: &input, lists: &self.lists };
        let count = self.plan.prepare_payment(&facts, &self.entity);
        let wanted = RiskRowKeys { entity: self.entity.clone(), kind: RiskRowKind::Counter, keys: count.keys() };
        let keys = RecordKeys { risk_counters: vec![wanted], ..RecordKeys::none() };
        let started = Instant::now();
        let loaded = bench::load_records(&keys, &self.session)?;
        let CountedPayment { counters, rows } = count.count_payment(&loaded.risk_counters);
        bench::apply_changes(&Changes::default().with_risk_counters(&self.entity, rows), &self.session)?;
        let took = started.elapsed();
        counters.map(|_| took).context("a stored row cannot be read")
    }
}

/// Makes rules with all of the counters.
fn make_rules() -> anyhow::Result<RuleSet> {
    RuleSet::parse(&format_rules()).map_err(|errors| anyhow::anyhow!("{errors:?}"))
}

/// Returns the file of the rules.
fn format_rules() -> String {
    let rule = |number: usize| {
        let (amount, counter) = (number % MAX_AMOUNT, COUNTERS[number % COUNTERS.len()]);
        let shop = if number.is_multiple_of(FIRING) { "shop".to_owned() } else { number.to_string() };
        format!(
            "[[rule]]\nname = 'rule {number}'\nscore = 1\nwhen = '''amount > {amount} and billing.country != \"DE\" \
             and ({counter} or customer.email ends with \"{shop}.example\")'''\n"
        )
    };
    (0..RULES).map(rule).collect()
}

/// Makes the payment of a shopper at a time.
fn make_payment(shopper: u64, at: Timestamp) -> CheckInput {
    // Counters are stored by hashes, so any text that is different for each shopper does.
    let [email, device] = [format!("{shopper}@shop.example"), format!("device {shopper}")];
    let parameters =
        [("customer.email", &*email), ("customer.browserFingerprint.id", &*device), ("billing.country", "FR")];
    CheckInput {
        parameters: parameters.into_iter().collect(),
        at,
        amount: Currency::parse("EUR").and_then(|currency| Amount::parse("92.00", currency).ok()),
        card: Some(format!("{shopper:064x}")),
        account: Some(format!("{shopper:064x}")),
        address: Some(std::net::Ipv6Addr::from(u128::from(shopper) << 64).into()),
        ..CheckInput::default()
    }
}

/// Returns a percentile (nearest rank), or zero if there are no times.
fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_reaches_its_counter_and_a_tenth_of_them_fires() {
        let rules = make_rules().unwrap();
        let input = make_payment(FIRST_NEW, Timestamp::UNIX_EPOCH);
        let (lists, entity) = (RiskLists::default(), EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]));
        let facts = Facts { input: &input, lists: &lists };
        let count = CounterPlan::new(&[&rules], &[7; 32]).prepare_payment(&facts, &entity);
        let counters = count.count_payment(&[]).counters.unwrap();
        assert_eq!(rules.evaluate(&facts, &counters).unwrap().fired.len(), RULES / FIRING);
        // Without its last comparison every rule fires.
        let all = format_rules().replace("customer.email ends with", "customer.email != ");
        let all = RuleSet::parse(&all).unwrap();
        assert_eq!(all.evaluate(&facts, &counters).unwrap().fired.len(), RULES);
    }
}
