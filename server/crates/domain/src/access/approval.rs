//! Acts that need a second person: the setting that says which, and the requests that wait for the second person.

pub mod act;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};
use tillgate_shared::money::{Amount, Currency};

use crate::access::approval::act::ApprovalAct;
use crate::id::{ApprovalId, EntityId, UserId};
use crate::payment::{ModificationType, Payment, PaymentType};

/// Time for which a request waits for a second person, and after the approval for the user who carries it out.
pub const APPROVAL_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// Largest number of requests of an entity and of one kind that wait at the same time.
pub const MAX_OPEN_APPROVALS: u64 = 1_000;
/// Largest number of currencies of a limit.
const MAX_LIMITS: usize = 50;
/// The value for which no refund needs a second person.
const NONE: &str = "none";
/// The value for which every refund needs one.
const ALL: &str = "all";

/// Refunds that need a second person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RefundApproval {
    /// None of them.
    #[default]
    None,
    /// Those of payments of which more than this amount would be refunded in all, by currency in hundredths. Refunds in
    /// another currency always need one.
    Above(BTreeMap<&'static str, i64>),
    /// All of them.
    All,
}

impl RefundApproval {
    /// Returns true if a refund needs a second person. `sum` is what the payment would have been refunded with it, so
    /// that a large refund cannot be split into small ones.
    pub fn needs_second_person(&self, sum: Amount) -> bool {
        match self {
            Self::None => false,
            Self::Above(limits) => limits.get(sum.currency().code()).is_none_or(|limit| sum.hundredths() > *limit),
            Self::All => true,
        }
    }
}

impl fmt::Display for RefundApproval {
    /// Formats the value of the setting: `none`, `all`, or limits such as `500.00 EUR, 600.00 USD`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str(NONE),
            Self::All => f.write_str(ALL),
            Self::Above(limits) => {
                for (index, (currency, limit)) in limits.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{}.{:02} {currency}", limit / 100, limit % 100)?;
                }
                Ok(())
            }
        }
    }
}

impl FromStr for RefundApproval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || "must be none, all, or amounts such as 500.00 EUR, 600.00 USD".to_owned();
        match text.trim() {
            NONE => return Ok(Self::None),
            ALL => return Ok(Self::All),
            _ => {}
        }
        let mut limits = BTreeMap::new();
        for limit in text.split(',') {
            let mut words = limit.split_whitespace();
            let (Some(number), Some(code), None) = (words.next(), words.next(), words.next()) else {
                return Err(fault());
            };
            let currency = Currency::parse(code).ok_or_else(|| format!("has an unknown currency {code}"))?;
            let amount = Amount::parse(number, currency).map_err(|_| fault())?;
            if limits.insert(currency.code(), amount.hundredths()).is_some() {
                return Err(format!("names {code} twice"));
            }
        }
        if limits.len() > MAX_LIMITS {
            Err(format!("has at most {MAX_LIMITS} currencies"))
        } else {
            Ok(Self::Above(limits))
        }
    }
}

/// Returns what an order would have been refunded after an act on one of its payments. `related` are all payments of
/// the order, so that captures of one reservation are no way around a limit. `None` if the act gives no money back: a
/// capture, or a reversal that only releases a reservation.
pub fn sum_of_refunds(
    payment: &Payment,
    related: &[Payment],
    modification: ModificationType,
    amount: Option<Amount>,
) -> Option<Amount> {
    let amount = match modification {
        ModificationType::Refund => amount?,
        ModificationType::Reversal if payment.payment_type != PaymentType::Preauthorization => payment.amount,
        _ => return None,
    };
    let is_refund = |one: &&Payment| one.payment_type == PaymentType::Refund && one.is_approved_or_pending();
    let earlier = related.iter().filter(is_refund).map(|one| one.amount.hundredths());
    let sum = earlier.fold(amount.hundredths(), i64::saturating_add);
    Amount::from_hundredths(sum, amount.currency()).or(Some(amount))
}

/// State of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalState {
    /// It waits for a second person.
    Open,
    /// A second person has approved it. The act ran or is running, or waits for the user who asked.
    Approved,
    /// The user who asked has carried it out after the approval.
    Used,
    /// A second person has declined it.
    Declined,
    /// The person who asked has withdrawn it.
    Withdrawn,
    /// Its time is over without a decision, or without being carried out after the approval.
    Expired,
}

impl ApprovalState {
    /// Every state that is stored.
    const STORED: [Self; 5] = [Self::Open, Self::Approved, Self::Used, Self::Declined, Self::Withdrawn];

    /// Returns the name, as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Approved => "approved",
            Self::Used => "used",
            Self::Declined => "declined",
            Self::Withdrawn => "withdrawn",
            Self::Expired => "expired",
        }
    }

    /// Parses a stored name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::STORED.into_iter().find(|state| state.as_str() == text)
    }
}

/// A request for a second person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalRequest {
    /// The id.
    pub id: ApprovalId,
    /// The entity that the act concerns.
    pub entity: EntityId,
    /// The act, exactly as it will run.
    pub act: ApprovalAct,
    /// The user who asked.
    pub asker: UserId,
    /// The time of the request, by the machine's clock.
    pub created: Timestamp,
    /// The stored state, and the current one by [`Self::state_at`].
    pub stored_state: ApprovalState,
    /// The user who decided.
    pub decider: Option<UserId>,
    /// The time of the decision.
    pub decided: Option<Timestamp>,
    /// The reason of a refusal, or the outcome of the act. Empty until it is known.
    pub outcome: String,
}

/// A reason for which a request cannot be decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalFault {
    /// The user who asked may not decide.
    OwnRequest,
    /// Only the user who asked may withdraw it, or carry it out.
    NotOwn,
    /// It was decided, withdrawn, carried out, or has expired.
    NotOpen(ApprovalState),
    /// Nobody has approved it yet.
    NotApproved,
}

impl ApprovalRequest {
    /// Returns the time at which it ends: without a decision, or after an approval without being carried out.
    pub fn expires(&self) -> Timestamp {
        let approved = self.decided.filter(|_| self.is_granted());
        approved.unwrap_or(self.created).checked_add(APPROVAL_LIFETIME).unwrap_or(Timestamp::MAX)
    }

    /// Returns true if it is approved, and the user who asked has not carried it out.
    fn is_granted(&self) -> bool {
        self.stored_state == ApprovalState::Approved && self.act.runs_for_asker()
    }

    /// Returns the state at a time.
    pub fn state_at(&self, now: Timestamp) -> ApprovalState {
        let is_waiting = self.stored_state == ApprovalState::Open || self.is_granted();
        if is_waiting && now >= self.expires() { ApprovalState::Expired } else { self.stored_state }
    }

    /// Checks that a user may decide about it now: another one than the user who asked, whatever the session.
    ///
    /// # Errors
    /// The reason against it.
    pub fn check_decision(&self, decider: &UserId, now: Timestamp) -> Result<(), ApprovalFault> {
        match self.state_at(now) {
            _ if *decider == self.asker => Err(ApprovalFault::OwnRequest),
            ApprovalState::Open => Ok(()),
            state => Err(ApprovalFault::NotOpen(state)),
        }
    }

    /// Checks that a user may withdraw it now.
    ///
    /// # Errors
    /// The reason against it.
    pub fn check_withdrawal(&self, user: &UserId, now: Timestamp) -> Result<(), ApprovalFault> {
        match self.state_at(now) {
            _ if *user != self.asker => Err(ApprovalFault::NotOwn),
            ApprovalState::Open => Ok(()),
            state => Err(ApprovalFault::NotOpen(state)),
        }
    }
    /// Checks that a user may carry it out now: the one who asked, once, after another one has approved it.
    ///
    /// # Errors
    /// The reason against it.
    pub fn check_use(&self, user: &UserId, now: Timestamp) -> Result<(), ApprovalFault> {
        match self.state_at(now) {
            _ if *user != self.asker => Err(ApprovalFault::NotOwn),
            ApprovalState::Open => Err(ApprovalFault::NotApproved),
            ApprovalState::Approved if self.act.runs_for_asker() => Ok(()),
            state => Err(ApprovalFault::NotOpen(state)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::access::approval::act::{KeyAct, PendingRefund};
    use crate::id::PaymentId;

    fn amount(text: &str, code: &str) -> Amount {
        Amount::parse(text, Currency::parse(code).unwrap()).unwrap()
    }

    #[test]
    fn a_limit_compares_the_sum_in_its_currency_and_another_currency_always_needs_a_second_person() {
        let limits: RefundApproval = "500.00 EUR, 60000 JPY".parse().unwrap();
        assert_eq!(limits.to_string(), "500.00 EUR, 60000.00 JPY");
        assert_eq!(limits.to_string().parse(), Ok(limits.clone()));
        for (sum, code, expected) in
            [("500.00", "EUR", false), ("500.01", "EUR", true), ("0.01", "USD", true), ("60000", "JPY", false)]
        {
            assert_eq!(limits.needs_second_person(amount(sum, code)), expected, "{sum} {code}");
        }
        assert!(!RefundApproval::None.needs_second_person(amount("999999.00", "EUR")));
        assert!(RefundApproval::All.needs_second_person(amount("0.01", "EUR")));
    }

    #[test]
    fn a_wrong_setting_is_refused() {
        for text in [
            "",
            "500",
            "EUR",
            "500 EUR;",
            "500.001 EUR",
            "-1 EUR",
            "1 EUR, 2 EUR",
            "1 XYZ",
            "1.50 JPY",
            "All",
            "1 EUR,",
        ] {
            assert!(text.parse::<RefundApproval>().is_err(), "{text}");
        }
        assert_eq!(" none ".parse(), Ok(RefundApproval::None));
        assert_eq!("all".parse(), Ok(RefundApproval::All));
    }

    fn refund() -> ApprovalAct {
        ApprovalAct::Refund(PendingRefund {
            payment: PaymentId::new(Timestamp::UNIX_EPOCH, [3; 9]),
            is_reversal: false,
            amount: amount("1.00", "EUR"),
            sum: amount("1.00", "EUR"),
        })
    }

    fn request(state: ApprovalState, act: ApprovalAct) -> ApprovalRequest {
        let created = Timestamp::UNIX_EPOCH;
        ApprovalRequest {
            id: ApprovalId::new(created, [1; 9]),
            entity: EntityId::new(created, [2; 9]),
            act,
            asker: UserId::new(created, [4; 9]),
            created,
            stored_state: state,
            decider: None,
            decided: None,
            outcome: String::new(),
        }
    }

    #[test]
    fn only_another_user_decides_only_the_asker_withdraws_and_both_only_in_time() {
        let (asker, other) = (UserId::new(Timestamp::UNIX_EPOCH, [4; 9]), UserId::new(Timestamp::UNIX_EPOCH, [5; 9]));
        let open = request(ApprovalState::Open, refund());
        let soon = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(23);
        let late = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24);
        assert_eq!(open.check_decision(&other, soon), Ok(()));
        assert_eq!(open.check_decision(&asker, soon), Err(ApprovalFault::OwnRequest));
        assert_eq!(open.check_withdrawal(&asker, soon), Ok(()));
        assert_eq!(open.check_withdrawal(&other, soon), Err(ApprovalFault::NotOwn));
        assert_eq!(open.check_decision(&other, late), Err(ApprovalFault::NotOpen(ApprovalState::Expired)));
        for state in [ApprovalState::Approved, ApprovalState::Declined, ApprovalState::Withdrawn] {
            let decided = request(state, refund());
            assert_eq!(decided.state_at(late), state);
            assert_eq!(decided.check_decision(&other, soon), Err(ApprovalFault::NotOpen(state)));
            assert_eq!(decided.check_withdrawal(&asker, soon), Err(ApprovalFault::NotOpen(state)));
        }
    }
    #[test]
    fn only_the_user_who_asked_carries_an_approved_act_out_once_and_within_a_day_of_the_approval() {
        let (asker, other) = (UserId::new(Timestamp::UNIX_EPOCH, [4; 9]), UserId::new(Timestamp::UNIX_EPOCH, [5; 9]));
        let hours = |hours| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours);
        let key = ApprovalAct::Key(KeyAct::WalletKey);
        let open = request(ApprovalState::Open, key.clone());
        assert_eq!(open.check_use(&asker, hours(1)), Err(ApprovalFault::NotApproved));
        assert_eq!(open.check_use(&asker, hours(24)), Err(ApprovalFault::NotOpen(ApprovalState::Expired)));
        let granted = ApprovalRequest { decided: Some(hours(20)), ..request(ApprovalState::Approved, key.clone()) };
        assert_eq!(granted.check_use(&asker, hours(43)), Ok(()));
        assert_eq!(granted.check_use(&other, hours(43)), Err(ApprovalFault::NotOwn));
        assert_eq!(granted.check_use(&asker, hours(44)), Err(ApprovalFault::NotOpen(ApprovalState::Expired)));
        for state in [ApprovalState::Used, ApprovalState::Declined, ApprovalState::Withdrawn] {
            let ended = ApprovalRequest { decided: Some(hours(20)), ..request(state, key.clone()) };
            assert_eq!(ended.check_use(&asker, hours(21)), Err(ApprovalFault::NotOpen(state)));
            assert_eq!(ended.state_at(hours(99)), state);
        }
        // A refund runs with its approval, so there is nothing left to carry out.
        let refunded = ApprovalRequest { decided: Some(hours(20)), ..request(ApprovalState::Approved, refund()) };
        assert_eq!(refunded.check_use(&asker, hours(21)), Err(ApprovalFault::NotOpen(ApprovalState::Approved)));
        assert_eq!(refunded.state_at(hours(99)), ApprovalState::Approved);
    }
}
