//! Statements under the lock of a merchant, counted in the log of a cluster that logs all of them. A node waits for the
//! answer to each of them before it sends the next one.

use std::collections::BTreeMap;

/// Part of the statement that begins a transaction with the lock of a merchant.
const LOCK_OF_OWNER: &str = "pg_advisory_xact_lock(hashtextextended(";

/// Statements of the transactions under the lock of a merchant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LockedStatements {
    /// Number of transactions that were committed.
    pub transactions: usize,
    /// Number of the statements that were sent separately, by their first word. What begins a transaction with its
    /// locks is one.
    pub by_word: BTreeMap<String, usize>,
}

impl LockedStatements {
    /// Counts the statements in the lines of a log. Each line begins with the process of the session. Transactions that
    /// were undone, or have not ended, are left out.
    pub fn count(log: &str) -> Self {
        let mut counted = Self::default();
        let mut open: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (process, statement) in split_statements(log) {
            let word = statement.split([' ', ';', '\n']).next().unwrap_or_default().to_owned();
            match word.as_str() {
                // The first transaction of a session may have begun before the log.
                "BEGIN" => {
                    open.remove(process);
                    if statement.contains(LOCK_OF_OWNER) {
                        open.insert(process, vec![word]);
                    }
                }
                "ROLLBACK" => drop(open.remove(process)),
                "COMMIT" => {
                    let Some(words) = open.remove(process) else { continue };
                    counted.transactions += 1;
                    for word in words.into_iter().chain([word]) {
                        *counted.by_word.entry(word).or_default() += 1;
                    }
                }
                _ => {
                    if let Some(words) = open.get_mut(process) {
                        words.push(word);
                    }
                }
            }
        }
        counted
    }

    /// Returns the number of statements.
    pub fn len(&self) -> usize {
        self.by_word.values().sum()
    }
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

/// Statements of each payment, and of each transaction besides.
#[derive(Debug, Clone, Copy)]
pub struct StatementCosts {
    /// Statements of each payment.
    pub payment: f64,
    /// Further statements of each transaction.
    pub transaction: f64,
}

impl StatementCosts {
    /// Finds the costs from two runs of as many payments, one with a transaction for each payment, and one with fewer.
    /// NaN if the number of transactions does not differ.
    #[allow(clippy::cast_precision_loss)]
    pub fn of_runs(payments: usize, single: &LockedStatements, grouped: &LockedStatements) -> Self {
        let difference = |of: fn(&LockedStatements) -> usize| of(single) as f64 - of(grouped) as f64;
        let transaction = difference(LockedStatements::len) / difference(|run| run.transactions);
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
8 LOG:  execute s2: INSERT INTO b VALUES ($1)
8 LOG:  statement: COMMIT
7 LOG:  statement: COMMIT
8 LOG:  statement: BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('m', 1))
8 LOG:  statement: ROLLBACK
8 LOG:  statement: COMMIT
";

    #[test]
    fn only_committed_transactions_with_the_lock_of_a_merchant_count() {
        let words = ["BEGIN", "COMMIT", "INSERT", "SELECT"].map(|word| (word.to_owned(), 1));
        let counted = LockedStatements::count(LOG);
        assert_eq!(counted, LockedStatements { transactions: 1, by_word: words.into() });
        assert_eq!(counted.len(), 4);
    }

    #[test]
    fn the_statements_of_a_group_are_split_between_payments_and_transactions() {
        let run = |transactions, statements| LockedStatements {
            transactions,
            by_word: [("SELECT".to_owned(), statements)].into(),
        };
        let costs = StatementCosts::of_runs(100, &run(100, 2400), &run(10, 2040));
        assert!((costs.payment - 20.0).abs() < 1e-9 && (costs.transaction - 4.0).abs() < 1e-9, "{costs:?}");
    }
}
