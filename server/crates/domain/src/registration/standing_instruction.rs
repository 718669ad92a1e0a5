//! Standing instructions: agreements with a cardholder about later payments that the merchant initiates.
//!
//! The first payment (INITIAL, by the cardholder) opens an instruction under the `initialTransactionId` in its
//! response. Every later payment by the merchant (REPEATED, MIT) names that id. This module checks that it is not after
//! the expiry, not sooner than the frequency allows, and not beyond the number of installments (specification, document
//! 3).

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use tillgate_shared::parameter::{Parameters, Presence};

use crate::id::{EntityId, PaymentId, RegistrationId};
use crate::refusal::Refusal;

const EXPIRY: &str = "standingInstruction.expiry";
const FREQUENCY: &str = "standingInstruction.frequency";
const INSTALLMENTS: &str = "standingInstruction.numberOfInstallments";
/// Name of the parameter and response field that links the payments of a standing instruction.
pub const INITIAL_TRANSACTION: &str = "standingInstruction.initialTransactionId";

/// Role of a payment in a standing instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionRole {
    /// Not part of a standing instruction, or the cardholder is present and pays with a stored credential.
    Single,
    /// The cardholder agrees to the standing instruction.
    First,
    /// The merchant charges while the cardholder is absent.
    Repeated,
}

impl InstructionRole {
    /// Reads the mode and the source. An INITIAL payment opens an instruction unless its source is MIT. A REPEATED one
    /// is a charge if `presence` says that the merchant initiates it, which the caller derives from the sender of the
    /// request. Every other payment is [`Self::Single`].
    pub fn from_parameters(parameters: &Parameters, presence: Presence) -> Self {
        let source = parameters.get("standingInstruction.source");
        match parameters.get("standingInstruction.mode") {
            Some("INITIAL") if source != Some("MIT") => Self::First,
            Some("REPEATED") if presence == Presence::Merchant => Self::Repeated,
            _ => Self::Single,
        }
    }
}

/// Effect of a pending payment's outcome on a standing instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PendingInstruction {
    /// Opens this instruction if the payment succeeds.
    First(StandingInstruction),
    /// The payment already counts as a charge of the standing instruction, so that no other one takes its place. The
    /// charge is removed if the payment fails.
    Charge {
        /// The instruction's `initialTransactionId`.
        initial: String,
        /// The date of the charge.
        day: Date,
        /// The date of the previous charge.
        before: Option<Date>,
    },
}

/// Limits of the charges by a merchant: end date, interval and number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InstructionTerms {
    /// The last date for a charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry: Option<Date>,
    /// Minimum number of days from one charge to the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frequency: Option<u16>,
    /// Maximum number of charges, including the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installments: Option<u16>,
}

impl InstructionTerms {
    /// Reads the terms from a request. Missing and unreadable ones are `None`. An unscheduled instruction has no
    /// interval. The number of installments applies only to installment plans and to instructions without a type.
    pub fn from_parameters(parameters: &Parameters) -> Self {
        let instruction_type = parameters.get("standingInstruction.type");
        let number = |name: &str| parameters.get(name).and_then(|text| text.parse().ok());
        Self {
            expiry: parameters.get(EXPIRY).and_then(|text| text.parse().ok()),
            frequency: number(FREQUENCY).filter(|_| instruction_type != Some("UNSCHEDULED")),
            installments: number(INSTALLMENTS).filter(|_| matches!(instruction_type, None | Some("INSTALLMENT"))),
        }
    }

    /// Combines the agreed terms with those of a later request: the earlier expiry, the longer interval, the lower
    /// number of installments. A merchant cannot loosen the agreement alone.
    fn tighten_with(self, requested: Self) -> Self {
        let earlier = |a: Option<Date>, b: Option<Date>| a.into_iter().chain(b).min();
        Self {
            expiry: earlier(self.expiry, requested.expiry),
            frequency: self.frequency.max(requested.frequency),
            installments: self.installments.into_iter().chain(requested.installments).min(),
        }
    }
}

/// A standing instruction and the charges made on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingInstruction {
    /// The `initialTransactionId`.
    pub initial: String,
    /// The entity that owns it.
    pub entity: EntityId,
    /// The payment that opened it. `None` if it was opened elsewhere or without a payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    /// The registration that stores the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration: Option<RegistrationId>,
    /// The part of the account that responses show. `None` for an instruction from before this was stored. Only this
    /// part is compared: a charge or registration with wrong hidden digits must not be distinguishable from one with
    /// the right digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
    /// The agreed terms.
    pub terms: InstructionTerms,
    /// Number of charges so far.
    pub charges: u32,
    /// The date of the latest charge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest: Option<Date>,
}

impl StandingInstruction {
    /// Returns the instruction with a charge on a date more. The `requested` terms apply to this charge only, and only
    /// if they are stricter than the agreed ones.
    ///
    /// # Errors
    /// 400: 700.100.710 for an account that shows another number than the agreed one. 600.200.501, with the parameter
    /// of the violated term, for a charge after the expiry, too soon after the latest one, or beyond the number of
    /// installments.
    pub fn with_charge(&self, account: &str, requested: InstructionTerms, today: Date) -> Result<Self, Refusal> {
        if !self.allows_account(Some(account)) {
            return Err(Refusal::account_mismatch());
        }
        let terms = self.terms.tighten_with(requested);
        self.check_open(terms, today)?;
        if let (Some(frequency), Some(latest)) = (terms.frequency, self.latest)
            && days_between(latest, today) < i64::from(frequency)
        {
            let message = "fewer days have passed since the latest charge";
            return Err(Refusal::violated_term(FREQUENCY, &frequency.to_string(), message));
        }
        if let Some(installments) = terms.installments
            && self.charges >= u32::from(installments)
        {
            return Err(Refusal::violated_term(
                INSTALLMENTS,
                &installments.to_string(),
                "that many charges have been made already",
            ));
        }
        Ok(Self { charges: self.charges + 1, latest: Some(today), ..self.clone() })
    }

    /// Returns true if an account may be charged: responses show the same of it as of the agreed account. An
    /// instruction from before that was stored allows any account, also an unknown one (`None`); other instructions
    /// refuse an unknown one.
    pub fn allows_account(&self, shown: Option<&str>) -> bool {
        self.shown.is_none() || self.shown.as_deref() == shown
    }

    /// Returns the instruction without the charge of a date, whose payment failed. `before` is the date of the previous
    /// charge, if there was one; it becomes the latest one unless another charge has followed.
    #[must_use]
    pub fn without_charge(&self, day: Date, before: Option<Date>) -> Self {
        let latest = if self.latest == Some(day) { before } else { self.latest };
        Self { charges: self.charges.saturating_sub(1), latest, ..self.clone() }
    }

    /// Checks that these terms still allow charges on a date. The day of the expiry is included.
    ///
    /// # Errors
    /// 400 with 600.200.501 if the last date has passed.
    pub fn check_open(&self, terms: InstructionTerms, today: Date) -> Result<(), Refusal> {
        match terms.expiry {
            Some(expiry) if today > expiry => {
                Err(Refusal::violated_term(EXPIRY, &expiry.to_string(), "the last day for a charge has passed"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the number of days between two dates, negative if `to` is earlier.
fn days_between(from: Date, to: Date) -> i64 {
    from.duration_until(to).as_hours() / 24
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;
    use tillgate_shared::result::codes;

    use crate::registration::standing_instruction::*;

    fn build_parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| (format!("standingInstruction.{name}"), *value)).collect()
    }

    fn parse_date(text: &str) -> Date {
        text.parse().unwrap()
    }

    /// Creates an instruction with one charge, on 31 January 2026, for the account "same".
    fn create_instruction(terms: InstructionTerms) -> StandingInstruction {
        StandingInstruction {
            initial: "A".to_owned(),
            entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            payment: None,
            registration: None,
            shown: Some("same".to_owned()),
            terms,
            charges: 1,
            latest: Some(parse_date("2026-01-31")),
        }
    }

    /// Returns the name of the parameter that a refusal with 600.200.501 names, without its prefix. Panics for any
    /// other outcome.
    fn violated_parameter(outcome: Result<StandingInstruction, Refusal>) -> String {
        let refusal = outcome.unwrap_err();
        assert_eq!(refusal.code, codes::RECURRING_NOT_ALLOWED);
        refusal.parameters[0].name.trim_start_matches("standingInstruction.").to_owned()
    }

    #[test]
    fn mode_and_source_say_what_a_payment_is() {
        for (pairs, role) in [
            (&[][..], InstructionRole::Single),
            (&[("mode", "INITIAL")], InstructionRole::First),
            (&[("mode", "INITIAL"), ("source", "CIT")], InstructionRole::First),
            (&[("mode", "INITIAL"), ("source", "MIT")], InstructionRole::Single),
            (&[("mode", "REPEATED")], InstructionRole::Repeated),
            (&[("mode", "REPEATED"), ("source", "MIT")], InstructionRole::Repeated),
            (&[("mode", "REPEATED"), ("source", "CIT")], InstructionRole::Single),
        ] {
            let parameters = build_parameters(pairs);
            assert_eq!(
                InstructionRole::from_parameters(&parameters, Presence::from_server_request(&parameters)),
                role,
                "{pairs:?}"
            );
            assert_ne!(
                InstructionRole::from_parameters(&parameters, Presence::Cardholder),
                InstructionRole::Repeated,
                "{pairs:?}"
            );
        }
    }

    #[test]
    fn an_unscheduled_agreement_has_no_interval_and_only_installments_are_counted() {
        let terms_of = |instruction_type| {
            InstructionTerms::from_parameters(&build_parameters(&[
                ("type", instruction_type),
                ("frequency", "30"),
                ("numberOfInstallments", "3"),
            ]))
        };
        assert_eq!(terms_of("UNSCHEDULED"), InstructionTerms::default());
        assert_eq!(terms_of("RECURRING"), InstructionTerms { frequency: Some(30), ..InstructionTerms::default() });
        assert_eq!(
            terms_of("INSTALLMENT"),
            InstructionTerms { frequency: Some(30), installments: Some(3), ..InstructionTerms::default() }
        );
    }

    #[test]
    fn a_charge_is_taken_through_the_day_of_the_expiry_and_not_after() {
        let instruction = create_instruction(InstructionTerms {
            expiry: Some(parse_date("2026-06-30")),
            ..InstructionTerms::default()
        });
        assert!(instruction.with_charge("same", InstructionTerms::default(), parse_date("2026-06-30")).is_ok());
        assert_eq!(
            violated_parameter(instruction.with_charge("same", InstructionTerms::default(), parse_date("2026-07-01"))),
            "expiry"
        );
    }

    #[test]
    fn a_charge_waits_for_the_days_that_were_agreed() {
        let instruction = create_instruction(InstructionTerms { frequency: Some(28), ..InstructionTerms::default() });
        assert_eq!(
            violated_parameter(instruction.with_charge("same", InstructionTerms::default(), parse_date("2026-02-27"))),
            "frequency"
        );
        assert!(instruction.with_charge("same", InstructionTerms::default(), parse_date("2026-02-28")).is_ok());
    }

    #[test]
    fn a_merchant_can_make_the_terms_stricter_and_never_looser() {
        let instruction = create_instruction(InstructionTerms {
            expiry: Some(parse_date("2026-06-30")),
            frequency: Some(7),
            installments: Some(2),
        });
        let requested =
            InstructionTerms { expiry: Some(parse_date("2030-01-01")), frequency: Some(1), installments: Some(99) };
        assert_eq!(violated_parameter(instruction.with_charge("same", requested, parse_date("2026-07-01"))), "expiry");
        assert_eq!(
            violated_parameter(instruction.with_charge("same", requested, parse_date("2026-02-02"))),
            "frequency"
        );
        let second = instruction.with_charge("same", requested, parse_date("2026-02-07")).unwrap();
        assert_eq!(
            violated_parameter(second.with_charge("same", requested, parse_date("2026-02-14"))),
            "numberOfInstallments"
        );
        let stricter = InstructionTerms { frequency: Some(30), ..InstructionTerms::default() };
        assert_eq!(
            violated_parameter(instruction.with_charge("same", stricter, parse_date("2026-02-07"))),
            "frequency"
        );
    }

    #[test]
    fn a_charge_that_came_to_nothing_leaves_room_for_another_and_no_later_charge_is_forgotten() {
        let instruction = create_instruction(InstructionTerms {
            frequency: Some(7),
            installments: Some(3),
            ..InstructionTerms::default()
        });
        let first = instruction.with_charge("same", InstructionTerms::default(), parse_date("2026-02-07")).unwrap();
        assert_eq!(first.without_charge(parse_date("2026-02-07"), instruction.latest), instruction);
        let second = first.with_charge("same", InstructionTerms::default(), parse_date("2026-02-14")).unwrap();
        let remaining = second.without_charge(parse_date("2026-02-07"), instruction.latest);
        assert_eq!((remaining.charges, remaining.latest), (2, Some(parse_date("2026-02-14"))));
    }

    #[test]
    fn another_account_than_the_agreed_one_is_refused() {
        let refusal = create_instruction(InstructionTerms::default())
            .with_charge("other", InstructionTerms::default(), parse_date("2026-02-07"))
            .unwrap_err();
        assert_eq!(refusal.code.code(), "700.100.710");
        // An instruction from before the account was stored with it accepts any account.
        let old = StandingInstruction { shown: None, ..create_instruction(InstructionTerms::default()) };
        assert!(old.with_charge("other", InstructionTerms::default(), parse_date("2026-02-07")).is_ok());
    }

    proptest! {
        #[test]
        fn no_history_of_charges_breaks_the_terms(
            frequency in 0_u16..40,
            installments in 0_u16..12,
            length in 0_i32..400,
            steps in prop::collection::vec(0_i32..30, 0..60),
        ) {
            let start = parse_date("2026-01-31");
            let expiry = start.saturating_add(jiff::Span::new().days(length));
            let terms = InstructionTerms { expiry: Some(expiry), frequency: Some(frequency), installments: Some(installments) };
            let mut instruction = create_instruction(terms);
            let mut today = start;
            let mut charged = vec![start];
            for step in steps {
                today = today.saturating_add(jiff::Span::new().days(step));
                if let Ok(next) = instruction.with_charge("same", InstructionTerms::default(), today) {
                    instruction = next;
                    charged.push(today);
                }
            }
            prop_assert!(charged.len() <= usize::from(installments).max(1));
            prop_assert!(charged.iter().skip(1).all(|day| *day <= expiry));
            prop_assert!(charged.windows(2).all(|pair| days_between(pair[0], pair[1]) >= i64::from(frequency)));
        }
    }
}
