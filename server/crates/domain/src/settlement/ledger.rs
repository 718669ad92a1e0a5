//! The ledger: double entry for every movement of money. A payment moves money when it is approved; a settlement moves
//! it again. Payments that the gateway itself voids move none. Balances are sums of movements, so they are read and
//! never computed again from payments.
//!
//! Debits are positive and credits are negative. The sum of a movement over all accounts is zero. The direction of a
//! payment's money, also of a chargeback's, is in the row of its type ([`PaymentType`]).

use serde::{Deserialize, Serialize};
use tillgate_shared::money::{Amount, Currency};

use crate::id::{EntityId, PaymentId};
use crate::payment::{Payment, PaymentType};

/// Sums by account, in hundredths of a currency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LedgerSums {
    /// Money of shoppers that a clearing institute has yet to settle. An asset.
    #[serde(skip_serializing_if = "is_zero")]
    pub receivable: i64,
    /// Money that is owed to the merchant. A liability, so it is negative.
    #[serde(skip_serializing_if = "is_zero")]
    pub payable: i64,
    /// Fees that were kept. Income, so it is negative.
    #[serde(skip_serializing_if = "is_zero")]
    pub fees: i64,
    /// Part of settlements that is kept for a time. A liability, so it is negative.
    #[serde(skip_serializing_if = "is_zero")]
    pub reserve: i64,
    /// Settled money that was not paid out: that of fees and reserves. An asset.
    #[serde(skip_serializing_if = "is_zero")]
    pub cash: i64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_zero(sum: &i64) -> bool {
    *sum == 0
}

impl LedgerSums {
    /// Returns the sums of an amount that a shopper owes (positive) or gets back (negative).
    pub fn for_receivable(hundredths: i64) -> Self {
        Self { receivable: hundredths, payable: -hundredths, ..Self::default() }
    }

    /// Returns the sums in the order of [`ACCOUNT_NAMES`].
    pub fn to_array(self) -> [i64; 5] {
        [self.receivable, self.payable, self.fees, self.reserve, self.cash]
    }

    /// Returns the sums of an array in the order of [`ACCOUNT_NAMES`].
    pub fn from_array([receivable, payable, fees, reserve, cash]: [i64; 5]) -> Self {
        Self { receivable, payable, fees, reserve, cash }
    }

    /// Returns true if debits and credits are equal.
    pub fn is_balanced(self) -> bool {
        self.to_array().into_iter().map(i128::from).sum::<i128>() == 0
    }

    /// Returns these sums plus others, or `None` if one does not fit.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let mut sums = self.to_array();
        for (sum, added) in sums.iter_mut().zip(other.to_array()) {
            *sum = sum.checked_add(added)?;
        }
        Some(Self::from_array(sums))
    }
}

/// An account of the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerAccount(usize);

impl LedgerAccount {
    /// Returns all accounts, in the order of [`ACCOUNT_NAMES`].
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ACCOUNT_NAMES.len()).map(Self)
    }

    /// Finds an account by its name. `None` if there is none with this name.
    pub fn parse(name: &str) -> Option<Self> {
        ACCOUNT_NAMES.iter().position(|known| *known == name).map(Self)
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        ACCOUNT_NAMES.get(self.0).copied().unwrap_or_default()
    }

    /// Returns the sum of the account, in hundredths.
    pub fn of_sums(self, sums: LedgerSums) -> i64 {
        sums.to_array().get(self.0).copied().unwrap_or_default()
    }
}

/// Names of the accounts.
pub const ACCOUNT_NAMES: [&str; 5] = ["receivable", "payable", "fees", "reserve", "cash"];

/// A movement in one currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Movement {
    /// The currency.
    pub currency: Currency,
    /// The changes of the accounts.
    pub sums: LedgerSums,
}

/// An approved payment, reduced to what its movement depends on.
#[derive(Debug, Clone, Copy)]
pub struct ApprovedPayment<'a> {
    /// Its id.
    pub id: &'a PaymentId,
    /// Its entity.
    pub entity: &'a EntityId,
    /// The payment type.
    pub payment_type: PaymentType,
    /// The amount.
    pub amount: Amount,
    /// The payment that it refers to.
    pub referenced: Option<&'a PaymentId>,
}

impl<'a> ApprovedPayment<'a> {
    /// Reduces a payment. Returns `None` if it is not approved.
    pub fn from_payment(payment: &'a Payment) -> Option<Self> {
        payment.is_approved().then_some(Self {
            id: &payment.id,
            entity: &payment.entity,
            payment_type: payment.payment_type,
            amount: payment.amount,
            referenced: payment.referenced.as_ref(),
        })
    }

    /// Returns the movement. `referenced` is the payment that it refers to.
    pub fn compute_movement(&self, referenced: Option<ReferencedPayment>) -> Movement {
        let hundredths = compute_booking(self.payment_type, referenced, self.amount.hundredths());
        Movement { currency: self.amount.currency(), sums: LedgerSums::for_receivable(hundredths) }
    }
}

/// The payment that a follow-up payment refers to, reduced to what the booking of the follow-up payment depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferencedPayment {
    /// The payment type.
    pub payment_type: PaymentType,
    /// True if it is approved, and therefore in the ledger. False if the gateway has voided it: its connector had
    /// approved it, and it was declined afterwards by its risk check, its review or its capture.
    pub is_approved: bool,
}

impl From<&Payment> for ReferencedPayment {
    fn from(payment: &Payment) -> Self {
        Self { payment_type: payment.payment_type, is_approved: payment.is_approved() }
    }
}

/// Returns true if a payment that refers to `referenced` is booked. The reversal or refund with which the gateway voids
/// a payment takes back what was never booked, so it is not booked either.
pub fn is_booked(referenced: Option<ReferencedPayment>) -> bool {
    referenced.is_none_or(|referenced| referenced.is_approved)
}

/// Returns the amount that an approved payment books, with the sign of its direction: positive from the shopper,
/// negative to the shopper, 0 if no money moves. A reversal books the opposite of what its payment has booked, and a
/// follow-up payment of a payment that was not booked books nothing.
pub fn compute_booking(payment_type: PaymentType, referenced: Option<ReferencedPayment>, hundredths: i64) -> i64 {
    if !is_booked(referenced) {
        return 0;
    }
    payment_type.money_sign(referenced.map(|referenced| referenced.payment_type)) * hundredths
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use crate::settlement::ledger::*;

    fn referenced(payment_type: PaymentType, is_approved: bool) -> Option<ReferencedPayment> {
        Some(ReferencedPayment { payment_type, is_approved })
    }

    #[test]
    fn a_reversal_takes_back_what_its_payment_moved() {
        for (reversed, expected) in [
            (PaymentType::Debit, -900),
            (PaymentType::TwoStepDebit, -900),
            (PaymentType::Credit, 900),
            (PaymentType::Preauthorization, 0),
        ] {
            assert_eq!(compute_booking(PaymentType::Reversal, referenced(reversed, true), 900), expected);
            assert_eq!(compute_booking(PaymentType::Reversal, referenced(reversed, false), 900), 0, "{reversed:?}");
            assert_eq!(compute_booking(PaymentType::Refund, referenced(reversed, false), 900), 0, "{reversed:?}");
        }
    }

    #[test]
    fn an_account_has_its_name_and_its_own_sum() {
        let sums = LedgerSums::from_array([1, 2, 3, 4, 5]);
        let read: Vec<i64> =
            ACCOUNT_NAMES.iter().map(|name| LedgerAccount::parse(name).unwrap().of_sums(sums)).collect();
        assert_eq!(read, [1, 2, 3, 4, 5]);
        assert!(LedgerAccount::all().map(LedgerAccount::name).eq(ACCOUNT_NAMES));
        assert_eq!((LedgerAccount::parse("Payable"), LedgerAccount::parse("")), (None, None));
    }

    proptest! {
        #[test]
        fn a_payment_moves_as_much_to_one_account_as_from_another(
            payment_type in prop::sample::select(PaymentType::ALL.to_vec()),
            initial in prop::option::of((prop::sample::select(PaymentType::INITIAL.to_vec()), any::<bool>())),
            hundredths in 0..=999_999_999_999_i64,
        ) {
            let referenced = initial.and_then(|(payment_type, is_approved)| referenced(payment_type, is_approved));
            let booking = compute_booking(payment_type, referenced, hundredths);
            prop_assert!(booking == 0 || booking.abs() == hundredths);
            prop_assert!(LedgerSums::for_receivable(booking).is_balanced());
        }
    }
}
