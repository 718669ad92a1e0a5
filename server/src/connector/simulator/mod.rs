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

mod authenticator;
mod bank;
mod card;
pub mod directory;
pub mod issuer;
mod page;
pub mod test_data;
pub mod test_numbers;

use async_trait::async_trait;
use jiff::civil::Date;
use tillgate_shared::result::{ResultCode, codes};

pub use page::{PAGE, PageAnswer};

use super::{
    Capabilities, Connector, ConnectorResult, FullAccount, Inquiry, Modification, Order, OrderRequest, Outcome,
    ShopperPage,
};
use crate::domain::payment::TransferAccount;

/// Its name, which `--connector` takes.
pub const NAME: &str = "simulator";

/// The simulator, a pure function of each request.
pub struct Simulator;

const CAPABILITIES: Capabilities = Capabilities::EVERYTHING_IN_PROCESS;

/// The page that stands in for a brand's, below the public address.
const SHOPPER_PAGE: ShopperPage = ShopperPage::Own("v1/simulator/");

#[async_trait]
impl Connector for Simulator {
    fn name(&self) -> &str {
        NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn refused_account(&self, order: &Order) -> Option<ResultCode> {
        refused_number(order).map(|outcome| outcome.result)
    }

    fn known_decline(&self, request: &OrderRequest<'_>) -> Option<ResultCode> {
        let code = judge(request.order, request.today).code;
        // A soft decline asks for the authentication.
        (code != codes::SOFT_DECLINED && !code.is_success()).then_some(code)
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> Outcome {
        let order = request.order;
        let mut result = judge(order, request.today);
        // An order that is good so far is decided on the brand's page, if it has one; a forced outcome is there at once.
        let leaves = order.forced.is_none() && order.requires_redirect() && result.code.is_success();
        if leaves {
            result = ConnectorResult { code: codes::PENDING, details: Default::default(), ..result };
        }
        let good = result.code.is_success() || result.code.is_pending();
        if good && test_data::TRANSFERS.contains(&order.brand.code) {
            result.transfer_account = Some(collecting_account());
        }
        if leaves { Outcome::Redirect(result, SHOPPER_PAGE) } else { Outcome::of(result) }
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> Outcome {
        self.authorize(request).await
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> Outcome {
        Outcome::of(judge(request.order, request.today))
    }

    async fn capture(&self, modification: &Modification) -> Outcome {
        follow_up(modification)
    }

    async fn refund(&self, modification: &Modification) -> Outcome {
        follow_up(modification)
    }

    async fn reverse(&self, modification: &Modification) -> Outcome {
        follow_up(modification)
    }

    async fn inquire(&self, _: &Inquiry) -> Outcome {
        // It keeps no books, and never leaves a request without an outcome.
        Outcome::Unknown
    }
}

/// The reason why the simulator does not take an order's card number at all, or `None` if it does.
fn refused_number(order: &Order) -> Option<&'static test_data::Outcome> {
    let FullAccount::Card(card) = &order.account else { return None };
    if order.any_number || test_numbers::is_test_number(card.number.digits()) {
        return None;
    }
    Some(if card.number.luhn_valid() { &test_data::NO_TEST_NUMBER } else { &test_data::WRONG_CHECK_DIGIT })
}

/// What the kind of account says, or what is asked for.
fn judge(order: &Order, today: Date) -> ConnectorResult {
    let forced = order.forced.as_deref().map(self::forced);
    // No forced outcome either: what succeeds or is pending is kept.
    if let Some(refused) = refused_number(order) {
        return refused.result();
    }
    match &order.account {
        FullAccount::Card(card) => card::authorize(order, card, forced, today),
        FullAccount::Bank(account) => bank::authorize(order, account, forced, today),
        FullAccount::Virtual(_) | FullAccount::Unknown => match forced {
            Some(code) => code.into(),
            None => test_data::GOOD.result(),
        },
    }
}

/// Decides a modification: it succeeds, or ends as it is asked to.
fn follow_up(modification: &Modification) -> Outcome {
    modification.forced.as_deref().map_or(codes::TEST_INTERNAL, forced).into()
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
