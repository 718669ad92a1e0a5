//! Reads for lists of payments, newest first, of which only the listed fields are decoded.
//!
//! An index leads to the payments of each entity in the order of their ids: all of them, those with a reference, or
//! those with a search term. The visitor ends the read, so the cost of a page is bounded by its caller.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::payment::{PaymentType, Text, result_code};
use tillgate_domain::risk::RiskOutcome;
use tillgate_engine::{Rows, Session, params};
use tillgate_shared::result::ResultCode;

use crate::document::decode_document;
use crate::payment::queries::MAX_ID;
use crate::payment::search::SearchTerm;
use crate::{Cancellation, Store, StoreError};

/// Number of payments that are read in one snapshot. A long snapshot would keep the WAL from being truncated.
const PAYMENTS_PER_SNAPSHOT: usize = 500;

/// The fields of a stored payment that lists show and filter.
#[derive(Debug, Deserialize)]
pub struct ListedPayment<'a> {
    /// Its id.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// The entity that owns it.
    pub entity: Text<'a>,
    /// The payment that it captures, reverses, refunds or charges back.
    pub referenced: Option<Text<'a>>,
    /// The time of creation.
    pub created: Timestamp,
    /// The payment type.
    pub payment_type: PaymentType,
    /// The brand's code.
    pub brand: Text<'a>,
    /// The amount and its currency, such as `92.00` and `EUR`.
    pub amount: (Text<'a>, Text<'a>),
    /// The outcome.
    #[serde(with = "result_code")]
    pub result: ResultCode,
    /// The account.
    pub account: ListedAccount<'a>,
    /// The merchant's reference and the customer.
    pub parameters: ListedParameters<'a>,
    /// The registration that it created or used.
    #[serde(borrow, default)]
    pub registration: Option<Text<'a>>,
    /// The schedule that it is a run of.
    #[serde(borrow, default)]
    pub schedule: Option<Text<'a>>,
    /// The risk check.
    #[serde(default)]
    pub risk: Option<ListedRisk>,
}

/// The risk check of a listed payment.
#[derive(Debug, Deserialize)]
pub struct ListedRisk {
    /// The decision. `None` until the payment was checked.
    #[serde(default)]
    pub decision: Option<ListedDecision>,
}

/// The decision of a risk check of a listed payment.
#[derive(Debug, Deserialize)]
pub struct ListedDecision {
    /// The outcome.
    pub outcome: RiskOutcome,
}

/// The account of a listed payment.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ListedAccount<'a> {
    /// A card.
    #[serde(borrow)]
    Card(LastFour<'a>),
    /// A bank account.
    Bank(LastFour<'a>),
    /// An account with a provider.
    Virtual(IgnoredAny),
    /// An account that only the provider knows.
    Unknown,
}

/// The visible parts of an account number.
#[derive(Debug, Deserialize)]
pub struct LastFour<'a> {
    /// The first six digits of a card number.
    #[serde(borrow, default)]
    pub bin: Option<Text<'a>>,
    /// The last four characters.
    #[serde(borrow, default)]
    pub last4: Option<Text<'a>>,
}

/// The parameters of a listed payment.
#[derive(Debug, Deserialize)]
pub struct ListedParameters<'a> {
    /// `merchantTransactionId`.
    #[serde(borrow, rename = "merchantTransactionId")]
    pub reference: Option<Text<'a>>,
    /// `customer.email`.
    #[serde(rename = "customer.email")]
    pub mail: Option<Text<'a>>,
    /// `customer.ip`.
    #[serde(rename = "customer.ip")]
    pub address: Option<Text<'a>>,
}

impl ListedPayment<'_> {
    /// Returns the last four characters of its account number.
    pub fn last_four(&self) -> Option<&str> {
        match &self.account {
            ListedAccount::Card(account) | ListedAccount::Bank(account) => account.last4.as_deref(),
            ListedAccount::Virtual(_) | ListedAccount::Unknown => None,
        }
    }

    /// Returns the outcome of its risk check. `None` if it was not checked.
    pub fn risk_outcome(&self) -> Option<RiskOutcome> {
        self.risk.as_ref()?.decision.as_ref().map(|decision| decision.outcome)
    }

    /// Returns the first six digits of its card number.
    pub fn bin(&self) -> Option<&str> {
        match &self.account {
            ListedAccount::Card(card) => card.bin.as_deref(),
            ListedAccount::Bank(_) | ListedAccount::Virtual(_) | ListedAccount::Unknown => None,
        }
    }
}

/// The index that leads to the payments of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentIndex {
    /// All payments of an entity.
    All,
    /// Those with a `merchantTransactionId`.
    Reference(String),
    /// Those with a search term.
    Term(SearchTerm),
}

impl PaymentIndex {
    /// Returns the query with its last argument.
    fn query(&self) -> (&'static str, String) {
        match self {
            Self::All => (
                "SELECT id, document FROM payment WHERE entity = ?1 AND id >= ?2 AND id < ?3 AND ?4 = '' ORDER BY id DESC",
                String::new(),
            ),
            Self::Reference(reference) => (
                "SELECT payment.id, payment.document FROM payment_reference AS found
                 JOIN payment ON payment.entity = found.entity AND payment.id = found.payment
                 WHERE found.entity = ?1 AND found.payment >= ?2 AND found.payment < ?3 AND found.reference = ?4
                 ORDER BY found.payment DESC",
                reference.clone(),
            ),
            Self::Term(term) => (
                "SELECT payment.id, payment.document FROM payment_search AS found
                 JOIN payment ON payment.entity = found.entity AND payment.id = found.payment
                 WHERE found.entity = ?1 AND found.payment >= ?2 AND found.payment < ?3 AND found.term = ?4
                 ORDER BY found.payment DESC",
                term.to_stored(),
            ),
        }
    }
}

impl Store {
    /// Visits the payments of several entities in a range, newest first, until the visitor breaks or the read is
    /// cancelled.
    ///
    /// # Errors
    /// If the store cannot be read, or a payment is damaged.
    pub fn visit_latest_payments(
        &self,
        entities: &[EntityId],
        index: &PaymentIndex,
        range: &PaymentRange,
        cancelled: &Cancellation<'_>,
        mut visit: impl FnMut(&ListedPayment<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut rest = range.clone();
        while !cancelled.is_cancelled() {
            let read = |session: &dyn Session| visit_snapshot(session, entities, index, &rest, &mut visit);
            let Some(last) = self.readers.in_snapshot(read)? else { break };
            rest.until = Some(last);
            // Threads of payments may take the processor between two snapshots.
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Loads the types of the approved or pending follow-up payments of a payment.
    pub fn load_follow_up_types(&self, payment: &PaymentId) -> Result<Vec<(PaymentType, i64)>, StoreError> {
        self.run_read(|session| {
            let follow_ups = crate::payment::load::load_follow_ups(session, payment)?;
            let effective = follow_ups.into_iter().filter(|follow_up| follow_up.is_effective);
            Ok(effective.map(|follow_up| (follow_up.payment_type, follow_up.hundredths)).collect())
        })
    }
}

/// Visits the newest payments of a range, at most [`PAYMENTS_PER_SNAPSHOT`]. Returns the last one if that maximum was
/// reached, and `None` if the range has ended or the visitor broke.
fn visit_snapshot(
    session: &dyn Session,
    entities: &[EntityId],
    index: &PaymentIndex,
    range: &PaymentRange,
    visit: &mut impl FnMut(&ListedPayment<'_>) -> ControlFlow<()>,
) -> Result<Option<PaymentId>, StoreError> {
    let (query, argument) = index.query();
    // Each entity has its own cursor, and the cursors are merged. One query for all would sort all their rows.
    let until = range.until.as_ref().map_or(MAX_ID, PaymentId::as_str);
    let begin =
        |entity: &EntityId| session.query(query, params![entity.as_str(), range.from.as_str(), until, argument]);
    let mut cursors: Vec<Rows<'_>> = entities.iter().map(begin).collect::<Result<_, _>>()?;
    let mut heads: BTreeMap<String, usize> = BTreeMap::new();
    for (number, cursor) in cursors.iter_mut().enumerate() {
        advance(&mut heads, cursor, number)?;
    }
    let mut visited = 0;
    while let Some((id, number)) = heads.pop_last() {
        let Some(cursor) = cursors.get_mut(number) else { break };
        if let Some(row) = cursor.current() {
            let document = row.value(1)?.as_blob()?;
            let payment: ListedPayment<'_> = decode_document(document)?;
            if visit(&payment).is_break() {
                return Ok(None);
            }
            visited += 1;
            if visited == PAYMENTS_PER_SNAPSHOT {
                return Ok(PaymentId::parse(&id));
            }
        }
        advance(&mut heads, cursor, number)?;
    }
    Ok(None)
}

/// Moves a cursor to its next row and adds its id to the heads.
fn advance(heads: &mut BTreeMap<String, usize>, cursor: &mut Rows<'_>, number: usize) -> Result<(), StoreError> {
    if let Some(row) = cursor.next()? {
        heads.insert(row.get(0)?, number);
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use tillgate_domain::payment::{Account, CardSummary, Payment};
    use tillgate_shared::money::{Amount, Currency};
    use tillgate_shared::result::codes;

    use super::*;
    use crate::conformance::samples::{empty_directory, sample_entity, sample_time, write_changes};
    use crate::{Changes, Sources};

    /// Creates a payment of an entity with the last four digits of a card and an e-mail address.
    fn create_payment(entity: u8, seconds: i64, last_four: &str, mail: &str) -> Payment {
        let amount = Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap();
        let id = PaymentId::new(sample_time(seconds), [entity; 9]);
        let entity = sample_entity(entity).id;
        let debit = PaymentType::Debit;
        let mut payment = Payment::draft(id, entity, sample_time(seconds), debit, "VISA", amount, codes::TEST_INTERNAL);
        payment.account = Account::Card(CardSummary {
            bin: "420000".to_owned(),
            last4: last_four.to_owned(),
            holder: None,
            expiry_month: "05".to_owned(),
            expiry_year: "2034".to_owned(),
        });
        payment.parameters.set("customer.email", mail);
        payment.parameters.set("merchantTransactionId", format!("order-{}", seconds % 2));
        payment
    }

    /// Returns the seconds of the payments that a list visits.
    fn list(store: &Store, entities: &[u8], index: &PaymentIndex, range: &PaymentRange, limit: usize) -> Vec<i64> {
        let entities: Vec<EntityId> = entities.iter().map(|number| sample_entity(*number).id).collect();
        let mut found = Vec::new();
        let never = || false;
        store
            .visit_latest_payments(&entities, index, range, &Cancellation::new(&never), |payment| {
                found.push(payment.created.as_second() - sample_time(0).as_second());
                if found.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        found
    }

    #[tokio::test]
    async fn payments_of_all_entities_come_newest_first_by_each_index() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        for seconds in 0..6 {
            let entity = u8::try_from(seconds % 3 + 1).unwrap();
            let last_four = if seconds < 3 { "0000" } else { "1111" };
            let mail = if seconds == 4 { "Jane@Shop.Example" } else { "other@shop.example" };
            let payment = create_payment(entity, seconds, last_four, mail);
            write_changes(&store, Changes::default().with_payment(payment)).await.unwrap();
        }
        let all = PaymentRange::all_time();
        assert_eq!(list(&store, &[1, 2, 3], &PaymentIndex::All, &all, 100), [5, 4, 3, 2, 1, 0]);
        assert_eq!(list(&store, &[1, 2], &PaymentIndex::All, &all, 3), [4, 3, 1], "not those of entity 3");
        let until = Some(PaymentId::new(sample_time(4), [0; 9]));
        let earlier = PaymentRange { until, ..PaymentRange::all_time() };
        assert_eq!(list(&store, &[1, 2, 3], &PaymentIndex::All, &earlier, 100), [3, 2, 1, 0]);
        let term = |term| PaymentIndex::Term(term);
        let digits = term(SearchTerm::LastFour("0000".to_owned()));
        assert_eq!(list(&store, &[1, 2, 3], &digits, &all, 100), [2, 1, 0]);
        let mail = term(SearchTerm::Mail("jane@SHOP.example".to_owned()));
        assert_eq!(list(&store, &[1, 2, 3], &mail, &all, 100), [4]);
        let reference = PaymentIndex::Reference("order-1".to_owned());
        assert_eq!(list(&store, &[1, 2, 3], &reference, &all, 100), [5, 3, 1]);
        assert_eq!(list(&store, &[], &PaymentIndex::All, &all, 100), [0_i64; 0]);
    }

    #[tokio::test]
    async fn a_list_steps_through_indexes_without_sorting() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), empty_directory(), Sources::system()).unwrap();
        let term = PaymentIndex::Term(SearchTerm::LastFour(String::new()));
        for index in [PaymentIndex::All, PaymentIndex::Reference(String::new()), term] {
            let (query, _) = index.query();
            let read = |session: &dyn Session| {
                let plan = format!("EXPLAIN QUERY PLAN {query}");
                let steps: Vec<String> = session.query_all(&plan, ["a", "b", "c", "d"], |row| row.get(3))?;
                assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{steps:?}");
                Ok(())
            };
            store.run_read(read).unwrap();
        }
    }
}
