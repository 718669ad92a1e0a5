//! Results of a version of risk rules: the outcomes that it had, or would have had in shadow mode, for the latest
//! payments.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::risk::RiskOutcome;
use tillgate_store::{Cancellation, PaymentIndex};

use crate::{Failure, Gateway};

/// Maximum number of payments that are read.
const MAX_READ: usize = 1_000;
/// Time after which a read ends, on a busy machine before it has read that many.
const MAX_TIME: Duration = Duration::from_millis(150);
/// Number of examples of each change.
const EXAMPLES: usize = 3;

/// Payments with the same outcome of the active version and of the version in shadow mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShadowTally {
    /// The outcome that decided.
    pub decided: RiskOutcome,
    /// The outcome that the version would have had.
    pub shadow: RiskOutcome,
    /// Number of payments.
    pub count: u64,
    /// Ids of the latest of them, if the outcomes differ.
    pub examples: Vec<PaymentId>,
}

/// Results of a version for the latest payments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VersionResults {
    /// Number of payments about which it decided, by outcome, the mildest first.
    pub decided: Vec<(RiskOutcome, u64)>,
    /// Payments that it assessed in shadow mode.
    pub shadow: Vec<ShadowTally>,
    /// Number of payments in which each rule fired, decided or in shadow mode.
    pub fired: BTreeMap<String, u64>,
    /// Number of payments that were read.
    pub read: usize,
    /// The time back to which payments were read. `None` if all were.
    pub since: Option<Timestamp>,
}

impl VersionResults {
    /// Adds a payment if the version assessed it.
    fn add_payment(&mut self, version: &str, payment: &Payment) {
        let Some(risk) = &payment.risk else { return };
        let Some(decision) = &risk.decision else { return };
        if decision.version.as_deref() == Some(version) {
            match self.decided.iter_mut().find(|(outcome, _)| *outcome == decision.outcome) {
                Some((_, count)) => *count += 1,
                None => self.decided.push((decision.outcome, 1)),
            }
            self.count_fired(&decision.fired);
        }
        let Some(shadow) = risk.shadow.as_ref().filter(|shadow| shadow.version == version) else { return };
        self.count_fired(&shadow.fired);
        let is_same = |row: &&mut ShadowTally| (row.decided, row.shadow) == (decision.outcome, shadow.outcome);
        let example = (decision.outcome != shadow.outcome).then(|| payment.id.clone());
        match self.shadow.iter_mut().find(is_same) {
            Some(row) => {
                row.count += 1;
                row.examples.extend(example.filter(|_| row.examples.len() < EXAMPLES));
            }
            None => self.shadow.push(ShadowTally {
                decided: decision.outcome,
                shadow: shadow.outcome,
                count: 1,
                examples: example.into_iter().collect(),
            }),
        }
    }

    fn count_fired(&mut self, fired: &[String]) {
        for name in fired {
            *self.fired.entry(name.clone()).or_default() += 1;
        }
    }
}

impl Gateway {
    /// Counts the outcomes of a version for the latest payments of some entities. Reads at most 1,000 payments.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_version_results(
        &self,
        entities: &[EntityId],
        version: &str,
        cancelled: &Cancellation<'_>,
    ) -> Result<VersionResults, Failure> {
        let (mut found, mut results) = (Vec::new(), VersionResults::default());
        let started = Instant::now();
        let range = PaymentRange::all_time();
        let mut oldest = None;
        self.store.visit_latest_payments(entities, &PaymentIndex::All, &range, cancelled, |payment| {
            if results.read == MAX_READ {
                results.since = oldest;
                return ControlFlow::Break(());
            }
            results.read += 1;
            oldest = Some(payment.created);
            let ids = EntityId::parse(&payment.entity).zip(PaymentId::parse(&payment.id));
            // Captures, reversals and refunds are not checked.
            found.extend(ids.filter(|_| payment.referenced.is_none()).map(|ids| (ids, payment.created)));
            ControlFlow::Continue(())
        })?;
        // The payments are loaded after the visit, which keeps a snapshot open.
        for ((entity, id), created) in found {
            if cancelled.is_cancelled() || started.elapsed() > MAX_TIME {
                results.since = Some(created);
                break;
            }
            if let Some(payment) = self.store.load_payment(&entity, &id)? {
                results.add_payment(version, &payment);
            }
        }
        results.decided.sort_by_key(|(outcome, _)| severity(*outcome));
        results.shadow.sort_by_key(|row| (severity(row.decided), severity(row.shadow)));
        Ok(results)
    }
}

/// Returns the place of an outcome in a list, the mildest first.
fn severity(outcome: RiskOutcome) -> u8 {
    match outcome {
        RiskOutcome::Accept => 0,
        RiskOutcome::Challenge => 1,
        RiskOutcome::Review => 2,
        RiskOutcome::Deny => 3,
        RiskOutcome::Error => 4,
    }
}
