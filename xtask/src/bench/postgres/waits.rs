//! Waits of a node for answers under the lock of a merchant, from the log of a cluster that logs all statements. A log
//! does not tell which statements were sent before the earlier one was answered, so the rule of the store is repeated
//! here: only the failure of an insertion counts, unless it is that of the payment or of the mark, so it travels with
//! the next statement.

use std::collections::BTreeMap;

/// Part of the statement that begins a transaction with the lock of a merchant.
const LOCK_OF_OWNER: &str = "pg_advisory_xact_lock(hashtextextended(";
/// First words of statements that travel with the next one.
const TRAVELLING: &str = "INSERT INTO ";
/// First words of the first statement that writes for a request. The answers to those that the request before has sent
/// were awaited by then.
const FIRST_OF_REQUEST: &str = "INSERT INTO payment (";
/// First words of the statement that comes after all requests of a transaction.
const MARK: &str = "INSERT INTO commit_mark ";

/// Waits of the transactions under the lock of a merchant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockedWaits {
    /// Number of transactions that were committed.
    pub transactions: usize,
    /// Number of waits, by the first word of the statement whose answer is awaited, in lowercase for those at the end
    /// of a request. What begins a transaction with its locks is one statement.
    pub by_word: BTreeMap<String, usize>,
}

/// A transaction that has not ended.
#[derive(Debug, Default)]
struct OpenTransaction {
    waits: Vec<String>,
    /// True if a statement was sent and nothing has been awaited since.
    has_sent: bool,
}

impl OpenTransaction {
    /// Adds a statement and the wait that it causes, if there is one.
    fn add(&mut self, statement: &str) {
        let word = first_word(statement);
        if (statement.starts_with(FIRST_OF_REQUEST) || statement.starts_with(MARK)) && self.has_sent {
            self.waits.push(word.to_lowercase());
            self.has_sent = false;
        }
        let is_awaited = [FIRST_OF_REQUEST, MARK].iter().any(|first| statement.starts_with(first));
        self.has_sent = statement.starts_with(TRAVELLING) && !is_awaited;
        if !self.has_sent {
            self.waits.push(word.to_owned());
        }
    }
}

impl LockedWaits {
    /// Counts the waits in the lines of a log. Each line begins with the process of the session. Transactions that were
    /// undone, or have not ended, are left out.
    pub fn count(log: &str) -> Self {
        let mut counted = Self::default();
        let mut open: BTreeMap<&str, OpenTransaction> = BTreeMap::new();
        for (process, statement) in split_statements(log) {
            match first_word(&statement) {
                // The first transaction of a session may have begun before the log.
                "BEGIN" => {
                    open.remove(process);
                    if statement.contains(LOCK_OF_OWNER) {
                        open.entry(process).or_default().add(&statement);
                    }
                }
                "ROLLBACK" => drop(open.remove(process)),
                "COMMIT" => {
                    let Some(mut ended) = open.remove(process) else { continue };
                    ended.add(&statement);
                    counted.transactions += 1;
                    for word in ended.waits {
                        *counted.by_word.entry(word).or_default() += 1;
                    }
                }
                _ => {
                    if let Some(transaction) = open.get_mut(process) {
                        transaction.add(&statement);
                    }
                }
            }
        }
        counted
    }

    /// Returns the number of waits.
    pub fn len(&self) -> usize {
        self.by_word.values().sum()
    }
}

fn first_word(statement: &str) -> &str {
    statement.split([' ', ';', '\n']).next().unwrap_or_default()
}

/// Splits a log into statements, each with the process of its session. Other messages are left out.
fn split_statements(log: &str) -> Vec<(&str, String)> {
    let mut statements: Vec<(&str, String)> = Vec::new();
    for line in log.lines() {
        // The further lines of a message are indented.
        if let Some(more) = line.strip_prefix('\t') {
            if let Some((_, statement)) = statements.last_mut() {
                statement.push('\n');
                statement.push_str(more);
            }
            continue;
        }
        let Some((process, message)) = line.split_once(" LOG:  ") else { continue };
        let prepared = message.strip_prefix("execute ").and_then(|named| named.split_once(": "));
        if let Some(statement) = message.strip_prefix("statement: ").or(prepared.map(|(_, statement)| statement)) {
            statements.push((process, statement.to_owned()));
        }
    }
    statements
}

/// Waits of each payment, and of each transaction besides.
#[derive(Debug, Clone, Copy)]
pub struct WaitCosts {
    /// Waits of each payment.
    pub payment: f64,
    /// Further waits of each transaction.
    pub transaction: f64,
}

impl WaitCosts {
    /// Finds the costs from two runs of as many payments, one with a transaction for each payment, and one with fewer.
    /// NaN if the number of transactions does not differ.
    #[allow(clippy::cast_precision_loss)]
    pub fn of_runs(payments: usize, single: &LockedWaits, grouped: &LockedWaits) -> Self {
        let difference = |of: fn(&LockedWaits) -> usize| of(single) as f64 - of(grouped) as f64;
        let transaction = difference(LockedWaits::len) / difference(|run| run.transactions);
        let payment = (grouped.len() as f64 - transaction * grouped.transactions as f64) / payments as f64;
        Self { payment, transaction }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
7 LOG:  execute s4: SELECT before
8 LOG:  statement: BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock_shared(1);
\t                 SELECT pg_advisory_xact_lock(hashtextextended('m', 1))
7 LOG:  statement: BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock_shared(1)
8 LOG:  execute s1: SELECT a
\tFROM b: c
7 LOG:  execute s1: DELETE FROM b
8 LOG:  checkpoint starting: time
8 LOG:  execute s3: INSERT INTO payment (id) VALUES ($1)
8 LOG:  execute s2: INSERT INTO b VALUES ($1)
8 LOG:  execute s2: INSERT INTO b VALUES ($1)
8 LOG:  execute s5: UPDATE c
8 LOG:  execute s2: INSERT INTO b VALUES ($1)
8 LOG:  execute s3: INSERT INTO payment (id) VALUES ($1)
8 LOG:  execute s2: INSERT INTO b VALUES ($1)
8 LOG:  execute s6: INSERT INTO commit_mark (writer) VALUES ($1)
8 LOG:  statement: COMMIT
7 LOG:  statement: COMMIT
8 LOG:  statement: BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('m', 1))
8 LOG:  statement: ROLLBACK
8 LOG:  statement: COMMIT
";

    #[test]
    fn only_committed_transactions_with_the_lock_of_a_merchant_count_and_insertions_travel_along() {
        let waits = [("BEGIN", 1), ("COMMIT", 1), ("INSERT", 3), ("SELECT", 1), ("UPDATE", 1), ("insert", 2)];
        let by_word = waits.map(|(word, count)| (word.to_owned(), count)).into();
        let counted = LockedWaits::count(LOG);
        assert_eq!(counted, LockedWaits { transactions: 1, by_word });
        assert_eq!(counted.len(), 9);
    }

    #[test]
    fn the_waits_of_a_group_are_split_between_payments_and_transactions() {
        let run = |transactions, waits| LockedWaits { transactions, by_word: [("SELECT".to_owned(), waits)].into() };
        let costs = WaitCosts::of_runs(100, &run(100, 2400), &run(10, 2040));
        assert!((costs.payment - 20.0).abs() < 1e-9 && (costs.transaction - 4.0).abs() < 1e-9, "{costs:?}");
    }
}
