//! Card on file: what a cardholder agreed to once, and what a merchant may then do without them.
//!
//! The first payment (INITIAL, by the cardholder) opens a chain under the `initialTransactionId` in its answer. Every later
//! payment by the merchant (REPEATED, MIT) names it and is judged here: not after the expiry, not sooner than the frequency
//! allows, not more often than there are installments (specification, document 3).

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::{Parameters, Presence};

use super::id::{EntityId, PaymentId, RegistrationId};
use super::refusal::Refusal;

const EXPIRY: &str = "standingInstruction.expiry";
const FREQUENCY: &str = "standingInstruction.frequency";
const INSTALLMENTS: &str = "standingInstruction.numberOfInstallments";
/// The name of the parameter, and of the response field, that ties a chain together.
pub const INITIAL_TRANSACTION: &str = "standingInstruction.initialTransactionId";

/// What a payment is in the life of an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// No part of any, or the cardholder is there and pays with what is stored.
    Single,
    /// The cardholder agrees.
    First,
    /// The merchant charges, the cardholder is absent.
    Repeated,
}

impl Step {
    /// Reads mode and source. Where no source is named, a first payment is the cardholder's and a repeated one the
    /// merchant's, as the specification describes the modes. `presence` is decided by the sender.
    pub fn of(parameters: &Parameters, presence: Presence) -> Self {
        let source = parameters.get("standingInstruction.source");
        match parameters.get("standingInstruction.mode") {
            Some("INITIAL") if source != Some("MIT") => Self::First,
            Some("REPEATED") if presence == Presence::Merchant => Self::Repeated,
            _ => Self::Single,
        }
    }
}

/// What the answer of a pending payment does to an agreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pending {
    /// It opens this chain when it succeeds.
    First(Chain),
    /// It is a charge of a chain already, so that no two take the same place, and gives it back when it fails.
    Charge {
        /// The chain's `initialTransactionId`.
        initial: String,
        /// The day of the charge.
        day: Date,
        /// The day of the one before.
        before: Option<Date>,
    },
}

/// How often, how long and how many times a merchant may charge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Terms {
    /// The last day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Date>,
    /// Days from one charge to the next, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<u16>,
    /// Charges in all, the first one included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installments: Option<u16>,
}

impl Terms {
    /// Reads them from a request. An unscheduled agreement has no interval, and only installments are counted.
    pub fn of(parameters: &Parameters) -> Self {
        let kind = parameters.get("standingInstruction.type");
        let number = |name: &str| parameters.get(name).and_then(|text| text.parse().ok());
        Self {
            expiry: parameters.get(EXPIRY).and_then(|text| text.parse().ok()),
            frequency: number(FREQUENCY).filter(|_| kind != Some("UNSCHEDULED")),
            installments: number(INSTALLMENTS).filter(|_| matches!(kind, None | Some("INSTALLMENT"))),
        }
    }

    /// What was agreed, and what a later request says, whichever is stricter: a merchant cannot loosen it alone.
    fn and(self, said: Self) -> Self {
        let earlier = |one: Option<Date>, other: Option<Date>| one.into_iter().chain(other).min();
        Self {
            expiry: earlier(self.expiry, said.expiry),
            frequency: self.frequency.max(said.frequency),
            installments: self.installments.into_iter().chain(said.installments).min(),
        }
    }
}

/// An agreement and the charges made on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// Its `initialTransactionId`.
    pub initial: String,
    /// Whose it is.
    pub entity: EntityId,
    /// The payment that opened it; none for one that was opened elsewhere, or without a payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The registration that the account is stored in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationId>,
    /// The part of the account that answers show; none of a chain from before this was kept. No more is compared: a charge
    /// or a registration with the wrong hidden digits must not differ from one with the right ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// What was agreed.
    pub terms: Terms,
    /// Charges so far.
    pub charges: u32,
    /// The day of the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<Date>,
}

impl Chain {
    /// Takes one more charge on a day.
    ///
    /// # Errors
    /// 700.100.710 for an account that shows another number than the agreed one; 600.200.501, with the parameter that forbids it, for a charge
    /// after the expiry, too soon, or one too many.
    pub fn charged(&self, account: &str, said: Terms, today: Date) -> Result<Self, Refusal> {
        if !self.is_of(Some(account)) {
            return Err(Refusal::other_account());
        }
        let terms = self.terms.and(said);
        self.check_open(terms, today)?;
        if let (Some(frequency), Some(latest)) = (terms.frequency, self.latest)
            && days(latest, today) < i64::from(frequency)
        {
            let message = "fewer days have passed since the latest charge";
            return Err(Refusal::not_agreed(FREQUENCY, &frequency.to_string(), message));
        }
        if let Some(installments) = terms.installments
            && self.charges >= u32::from(installments)
        {
            return Err(Refusal::not_agreed(
                INSTALLMENTS,
                &installments.to_string(),
                "that many charges have been made already",
            ));
        }
        Ok(Self { charges: self.charges + 1, latest: Some(today), ..self.clone() })
    }
}

impl Chain {
    /// Returns true if an account may be the agreed one, by the part of it that answers show.
    pub fn is_of(&self, shown: Option<&str>) -> bool {
        self.shown.is_none() || self.shown.as_deref() == shown
    }

    /// Gives back a charge of a day that came to nothing, after another one or as the first.
    #[must_use]
    pub fn given_back(&self, day: Date, before: Option<Date>) -> Self {
        let latest = if self.latest == Some(day) { before } else { self.latest };
        Self { charges: self.charges.saturating_sub(1), latest, ..self.clone() }
    }

    /// Whether charges may be made on a day at all.
    ///
    /// # Errors
    /// 600.200.501 when the last day has passed.
    pub fn check_open(&self, terms: Terms, today: Date) -> Result<(), Refusal> {
        match terms.expiry {
            Some(expiry) if today > expiry => {
                Err(Refusal::not_agreed(EXPIRY, &expiry.to_string(), "the last day for a charge has passed"))
            }
            _ => Ok(()),
        }
    }
}

/// Days from one day to another.
fn days(from: Date, to: Date) -> i64 {
    from.duration_until(to).as_hours() / 24
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;
    use tillgate_shared::result::codes;

    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| (format!("standingInstruction.{name}"), *value)).collect()
    }

    fn day(text: &str) -> Date {
        text.parse().unwrap()
    }

    fn chain(terms: Terms) -> Chain {
        Chain {
            initial: "A".to_owned(),
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            payment: None,
            registration: None,
            shown: Some("same".to_owned()),
            terms,
            charges: 1,
            latest: Some(day("2026-01-31")),
        }
    }

    fn refused(outcome: Result<Chain, Refusal>) -> String {
        let refusal = outcome.unwrap_err();
        assert_eq!(refusal.code, codes::RECURRING_NOT_ALLOWED);
        refusal.parameters[0].name.trim_start_matches("standingInstruction.").to_owned()
    }

    #[test]
    fn mode_and_source_say_what_a_payment_is() {
        for (pairs, step) in [
            (&[][..], Step::Single),
            (&[("mode", "INITIAL")], Step::First),
            (&[("mode", "INITIAL"), ("source", "CIT")], Step::First),
            (&[("mode", "INITIAL"), ("source", "MIT")], Step::Single),
            (&[("mode", "REPEATED")], Step::Repeated),
            (&[("mode", "REPEATED"), ("source", "MIT")], Step::Repeated),
            (&[("mode", "REPEATED"), ("source", "CIT")], Step::Single),
        ] {
            let parameters = parameters(pairs);
            assert_eq!(Step::of(&parameters, Presence::of_server_request(&parameters)), step, "{pairs:?}");
            assert_ne!(Step::of(&parameters, Presence::Cardholder), Step::Repeated, "{pairs:?}");
        }
    }

    #[test]
    fn an_unscheduled_agreement_has_no_interval_and_only_installments_are_counted() {
        let all = |kind| Terms::of(&parameters(&[("type", kind), ("frequency", "30"), ("numberOfInstallments", "3")]));
        assert_eq!(all("UNSCHEDULED"), Terms::default());
        assert_eq!(all("RECURRING"), Terms { frequency: Some(30), ..Terms::default() });
        assert_eq!(all("INSTALLMENT"), Terms { frequency: Some(30), installments: Some(3), ..Terms::default() });
    }

    #[test]
    fn a_charge_is_taken_through_the_day_of_the_expiry_and_not_after() {
        let agreed = chain(Terms { expiry: Some(day("2026-06-30")), ..Terms::default() });
        assert!(agreed.charged("same", Terms::default(), day("2026-06-30")).is_ok());
        assert_eq!(refused(agreed.charged("same", Terms::default(), day("2026-07-01"))), "expiry");
    }

    #[test]
    fn a_charge_waits_for_the_days_that_were_agreed() {
        let agreed = chain(Terms { frequency: Some(28), ..Terms::default() });
        assert_eq!(refused(agreed.charged("same", Terms::default(), day("2026-02-27"))), "frequency");
        assert!(agreed.charged("same", Terms::default(), day("2026-02-28")).is_ok());
    }

    #[test]
    fn a_merchant_can_make_the_terms_stricter_and_never_looser() {
        let agreed = chain(Terms { expiry: Some(day("2026-06-30")), frequency: Some(7), installments: Some(2) });
        let said = Terms { expiry: Some(day("2030-01-01")), frequency: Some(1), installments: Some(99) };
        assert_eq!(refused(agreed.charged("same", said, day("2026-07-01"))), "expiry");
        assert_eq!(refused(agreed.charged("same", said, day("2026-02-02"))), "frequency");
        let second = agreed.charged("same", said, day("2026-02-07")).unwrap();
        assert_eq!(refused(second.charged("same", said, day("2026-02-14"))), "numberOfInstallments");
        let stricter = Terms { frequency: Some(30), ..Terms::default() };
        assert_eq!(refused(agreed.charged("same", stricter, day("2026-02-07"))), "frequency");
    }

    #[test]
    fn a_charge_that_came_to_nothing_leaves_room_for_another_and_no_later_charge_is_forgotten() {
        let agreed = chain(Terms { frequency: Some(7), installments: Some(3), ..Terms::default() });
        let first = agreed.charged("same", Terms::default(), day("2026-02-07")).unwrap();
        assert_eq!(first.given_back(day("2026-02-07"), agreed.latest), agreed);
        let second = first.charged("same", Terms::default(), day("2026-02-14")).unwrap();
        let left = second.given_back(day("2026-02-07"), agreed.latest);
        assert_eq!((left.charges, left.latest), (2, Some(day("2026-02-14"))));
    }

    #[test]
    fn another_account_than_the_agreed_one_is_refused() {
        let refusal = chain(Terms::default()).charged("other", Terms::default(), day("2026-02-07")).unwrap_err();
        assert_eq!(refusal.code.code(), "700.100.710");
        // A chain from before does not say whose it is.
        let old = Chain { shown: None, ..chain(Terms::default()) };
        assert!(old.charged("other", Terms::default(), day("2026-02-07")).is_ok());
    }

    proptest! {
        #[test]
        fn no_history_of_charges_breaks_the_terms(
            frequency in 0_u16..40,
            installments in 0_u16..12,
            length in 0_i32..400,
            steps in prop::collection::vec(0_i32..30, 0..60),
        ) {
            let start = day("2026-01-31");
            let expiry = start.saturating_add(jiff::Span::new().days(length));
            let terms = Terms { expiry: Some(expiry), frequency: Some(frequency), installments: Some(installments) };
            let mut chain = chain(terms);
            let mut today = start;
            let mut taken = vec![start];
            for step in steps {
                today = today.saturating_add(jiff::Span::new().days(step));
                if let Ok(next) = chain.charged("same", Terms::default(), today) {
                    chain = next;
                    taken.push(today);
                }
            }
            prop_assert!(taken.len() <= usize::from(installments).max(1));
            prop_assert!(taken.iter().skip(1).all(|taken| *taken <= expiry));
            prop_assert!(taken.windows(2).all(|pair| days(pair[0], pair[1]) >= i64::from(frequency)));
        }
    }
}
