//! A second opinion on the money of payments. It adds up the stored payments by the meanings that the specification
//! gives to their types, with none of the ledger's functions, so that a mistake of the ledger is not repeated here.
//!
//! An entity has to receive its debits, its captures and its chargeback reversals, less its credits, refunds and
//! chargebacks. A follow-up payment of a payment that was not approved counts as zero, because the gateway voids
//! payments that it does not accept, and no booking exists for them.

use std::collections::{BTreeMap, HashMap};

use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_store::StoreError;
use tillgate_store::read::snapshot::{StoreSnapshot, StoredBalance};

use crate::settlement::verification::Verification;

/// Hundredths by the code of the currency.
type Hundredths = BTreeMap<String, i128>;

/// Movements of settlements by entity, which are left out of the comparison.
#[derive(Default)]
pub(super) struct SecondOpinion {
    settled: HashMap<EntityId, Hundredths>,
}

/// The properties of a payment that decide what it is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Booking {
    payment_type: &'static str,
    code: String,
    currency: &'static str,
    hundredths: i128,
}

/// The payments of an entity, added up one by one.
#[derive(Default)]
struct PaymentTotals {
    sums: Hundredths,
    /// Follow-up payments whose worth depends on another payment, by the id of that one. Most payments have none.
    follow_ups: HashMap<PaymentId, Vec<Booking>>,
}

impl Booking {
    fn from_payment(payment: &Payment) -> Self {
        Self {
            payment_type: payment.payment_type.code(),
            code: payment.result.code().to_owned(),
            currency: payment.amount.currency().code(),
            hundredths: payment.amount.hundredths().into(),
        }
    }

    /// Returns true if the result is a success (000.000, 000.100.1, 000.3, 000.6, and those of 000.400 that are no
    /// refusal), or the reason of a chargeback.
    fn is_approved(&self) -> bool {
        let code = self.code.as_str();
        let begins_with = |beginnings: &[&str]| beginnings.iter().any(|beginning| code.starts_with(beginning));
        match self.payment_type {
            "CB" if begins_with(&["000.100.2"]) => true,
            _ if begins_with(&["000.400.03"]) => false,
            _ if begins_with(&["000.400.11", "000.400.12"]) => code.ends_with('0'),
            _ => begins_with(&["000.000.", "000.100.1", "000.3", "000.6", "000.400.0", "000.400.100"]),
        }
    }

    /// Returns 1 for types that the entity is owed for, −1 for those that it owes for, and 0 for others.
    fn direction(&self) -> i128 {
        match self.payment_type {
            "DB" | "PA.CP" | "CP" | "CR" => 1,
            "CD" | "RF" | "CB" => -1,
            _ => 0,
        }
    }

    fn worth(&self) -> i128 {
        if self.is_approved() { self.direction() * self.hundredths } else { 0 }
    }
}

impl PaymentTotals {
    /// Adds a payment, or keeps it until the one that it refers to is known.
    fn add_payment(&mut self, booking: Booking, referenced: Option<&PaymentId>) {
        match referenced {
            Some(referenced) if booking.is_approved() => {
                self.follow_ups.entry(referenced.clone()).or_default().push(booking);
            }
            _ => self.add_worth(booking.currency, booking.worth()),
        }
    }

    /// Adds the follow-up payments of a payment. `referenced` is `None` if it is not stored.
    fn add_follow_ups(&mut self, follow_ups: &[Booking], referenced: Option<&Booking>) {
        let Some(referenced) = referenced.filter(|referenced| referenced.is_approved()) else { return };
        for booking in follow_ups {
            // A reversal takes back the whole payment, whatever amount it states.
            let worth = if booking.payment_type == "RV" { -referenced.worth() } else { booking.worth() };
            self.add_worth(booking.currency, worth);
        }
    }

    fn add_worth(&mut self, currency: &str, worth: i128) {
        if worth != 0 {
            *self.sums.entry(currency.to_owned()).or_default() += worth;
        }
    }

    /// Adds up the payments of an entity.
    fn read_entity(snapshot: &StoreSnapshot, entity: &EntityId) -> Result<Hundredths, StoreError> {
        let mut totals = Self::default();
        snapshot.for_each_payment(entity, |payment| {
            totals.add_payment(Booking::from_payment(&payment), payment.referenced.as_ref());
            Ok(())
        })?;
        for (id, follow_ups) in std::mem::take(&mut totals.follow_ups) {
            let referenced = snapshot.load_payment(entity, &id)?;
            totals.add_follow_ups(&follow_ups, referenced.as_ref().map(Booking::from_payment).as_ref());
        }
        Ok(totals.sums)
    }
}

impl SecondOpinion {
    /// Notes what an entry of a settlement has moved. Entries about payments and corrections are not asked.
    pub(super) fn add_entry(&mut self, entity: &EntityId, entry: &AuditEntry) {
        if entry.action.starts_with("settlement") {
            let settled = self.settled.entry(entity.clone()).or_default();
            for (currency, sums) in &entry.money {
                *settled.entry(currency.clone()).or_default() += i128::from(sums.receivable);
            }
        }
    }

    /// Compares what an entity's payments are worth with its stored balances, which settlements have moved since.
    pub(super) fn compare_entity(
        &self,
        verification: &mut Verification,
        snapshot: &StoreSnapshot,
        entity: &EntityId,
        balances: &[(EntityId, StoredBalance)],
    ) -> Result<(), StoreError> {
        let worth = PaymentTotals::read_entity(snapshot, entity)?;
        let settled = self.settled.get(entity).cloned().unwrap_or_default();
        let own = balances.iter().filter(|(owner, _)| owner == entity);
        let stored: BTreeMap<&str, _> = own.map(|(_, balance)| (balance.currency.code(), balance.sums)).collect();
        let mut currencies: Vec<&str> = worth.keys().chain(settled.keys()).map(String::as_str).collect();
        currencies.extend(stored.keys());
        currencies.sort_unstable();
        currencies.dedup();
        for currency in currencies {
            let settled = settled.get(currency).copied().unwrap_or_default();
            let worth = worth.get(currency).copied().unwrap_or_default();
            let sums = stored.get(currency).copied().unwrap_or_default();
            let (receivable, payable) = (i128::from(sums.receivable) - settled, -i128::from(sums.payable) - settled);
            if (receivable, payable) != (worth, worth) {
                verification.add_fault(format!(
                    "the payments of {entity} in {currency} are worth {worth}; the ledger has booked {receivable} to \
                     receive and {payable} to pay out for them"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::settlement::verification::second_opinion::*;

    const APPROVED: &str = "000.100.110";
    const VOIDED: &str = "100.400.147";
    const PENDING: &str = "000.200.000";

    fn booking(payment_type: &'static str, code: &str, hundredths: i128) -> Booking {
        Booking { payment_type, code: code.to_owned(), currency: "EUR", hundredths }
    }

    /// Returns what a payment with its follow-up payments is worth.
    fn worth_of(first: &Booking, follow_ups: &[Booking]) -> i128 {
        let mut totals = PaymentTotals::default();
        totals.add_payment(first.clone(), None);
        let approved: Vec<_> = follow_ups.iter().filter(|one| one.is_approved()).cloned().collect();
        totals.add_follow_ups(&approved, Some(first));
        totals.sums.get("EUR").copied().unwrap_or_default()
    }

    #[test]
    fn what_was_voided_is_worth_nothing_with_its_reversal_whatever_its_type() {
        for payment_type in ["PA", "DB", "PA.CP", "CD"] {
            for end in [VOIDED, PENDING, "100.400.500", "100.396.103", "100.400.148"] {
                let first = booking(payment_type, end, 9200);
                assert_eq!(worth_of(&first, &[]), 0, "{payment_type} {end}");
                assert_eq!(worth_of(&first, &[booking("RV", APPROVED, 9200)]), 0, "{payment_type} {end}");
                assert_eq!(worth_of(&first, &[booking("RF", APPROVED, 9200)]), 0, "{payment_type} {end}");
            }
            let first = booking(payment_type, APPROVED, 9200);
            assert_eq!(worth_of(&first, &[booking("RV", APPROVED, 9200)]), 0, "{payment_type} reversed");
            assert_eq!(worth_of(&first, &[booking("RV", PENDING, 9200)]), worth_of(&first, &[]), "{payment_type}");
        }
    }

    #[test]
    fn each_type_moves_money_in_the_direction_that_the_specification_gives_it() {
        for (payment_type, expected) in [("PA", 0), ("DB", 9200), ("PA.CP", 9200), ("CD", -9200)] {
            assert_eq!(worth_of(&booking(payment_type, APPROVED, 9200), &[]), expected, "{payment_type}");
        }
        let debit = booking("DB", APPROVED, 9200);
        assert_eq!(worth_of(&debit, &[booking("RF", APPROVED, 1000), booking("RF", "800.100.151", 500)]), 8200);
        assert_eq!(worth_of(&debit, &[booking("CB", "000.100.203", 9200)]), 0);
        let authorized = booking("PA", APPROVED, 9200);
        assert_eq!(worth_of(&authorized, &[booking("CP", APPROVED, 4000), booking("CP", APPROVED, 5200)]), 9200);
        let chargeback = booking("CB", "000.100.203", 9200);
        assert_eq!(worth_of(&chargeback, &[booking("CR", APPROVED, 9200)]), 0);
        assert_eq!(worth_of(&booking("CD", APPROVED, 500), &[booking("RF", APPROVED, 200)]), -700);
    }

    #[test]
    fn the_groups_of_success_are_those_of_the_table_of_result_codes() {
        use tillgate_shared::result::ResultCode;
        let all = ResultCode::all().map(|code| code.code().to_owned()).collect::<Vec<_>>();
        assert!(all.len() > 300, "{}", all.len());
        for code in all {
            let is_success = ResultCode::find(&code).unwrap().is_success();
            assert_eq!(booking("DB", &code, 1).is_approved(), is_success, "{code}");
        }
    }
}
