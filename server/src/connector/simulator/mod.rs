//! The INTERNAL simulator: documented outcomes, the same answer for the same request, always.
//!
//! A card number that is not among the [`test_numbers`] is declined, unless the entity takes any: it may be a real one.
//! Otherwise `customParameters[forceResultCode]` gives exactly that code, whatever the account. Without it the kind of account
//! decides, in [`card`] (also cards out of wallets) and in [`bank`], by the values in [`test_data`]; an account with a provider, and one that only the
//! provider knows, is always good.
//!
//! A brand that answers at once is then done: 000.100.110. One that does not sends the shopper to a page of its own:
//! 000.200.000, and a redirect to our page that stands in for the brand's. Where the shopper transfers the money, the
//! answer names the account to transfer it to. A registration, and a charge without the shopper of an account with a
//! provider, send nobody away.

mod bank;
mod card;
mod page;
pub mod test_data;
pub mod test_numbers;

use jiff::civil::Date;
use tillgate_shared::result::{ResultCode, codes};

pub use page::{PAGE, PageAnswer};

use super::{Answer, FullAccount, Order};
use crate::domain::payment::TransferAccount;

/// Decides an order on a day.
pub fn authorize(order: &Order, today: Date) -> Answer {
    let answer = judge(order, today);
    // What is good so far is decided on the brand's page, if it has one; a forced outcome is there at once.
    let mut answer = if order.forced.is_none() && order.shopper_leaves() && answer.result.is_success() {
        Answer { result: codes::PENDING, elsewhere: true, details: Default::default(), ..answer }
    } else {
        answer
    };
    let good = answer.result.is_success() || answer.result.is_pending();
    if good && test_data::TRANSFERS.contains(&order.brand.code) {
        answer.pay_to = Some(collecting_account());
    }
    answer
}

/// Decides whether an account is good on a day.
pub fn verify(order: &Order, today: Date) -> ResultCode {
    judge(order, today).result
}

/// The reason why the simulator does not take an order's card number at all, or `None` if it does.
pub fn refused_number(order: &Order) -> Option<&'static test_data::Outcome> {
    let FullAccount::Card(card) = &order.account else { return None };
    if order.any_number || test_numbers::is_test_number(card.number.digits()) {
        return None;
    }
    Some(if card.number.luhn_valid() { &test_data::NO_TEST_NUMBER } else { &test_data::WRONG_CHECK_DIGIT })
}

/// What the kind of account says, or what is asked for.
fn judge(order: &Order, today: Date) -> Answer {
    let forced = order.forced.as_deref().map(self::forced);
    // No forced outcome either: what succeeds or is pending is kept.
    if let Some(refused) = refused_number(order) {
        return refused.answer();
    }
    match &order.account {
        FullAccount::Card(card) => card::authorize(order, card, forced, today),
        FullAccount::Bank(account) => bank::authorize(order, account, forced, today),
        FullAccount::Virtual(_) | FullAccount::Unknown => match forced {
            Some(code) => code.into(),
            None => test_data::GOOD.answer(),
        },
    }
}

/// Decides what follows an earlier payment: it succeeds, or ends as it is asked to.
pub fn follow(code: Option<&str>) -> ResultCode {
    code.map_or(codes::TEST_INTERNAL, forced)
}

fn forced(code: &str) -> ResultCode {
    ResultCode::find(code).unwrap_or(codes::FORCED_CODE_UNKNOWN)
}

/// The account that simulated transfers go to.
fn collecting_account() -> TransferAccount {
    TransferAccount {
        holder: "Tillgate Simulator".to_owned(),
        number: "DE23100000001234567890".to_owned(),
        bic: "MARKDEF1100".to_owned(),
        country: "DE".to_owned(),
    }
}
