//! The simulator for the mode INTERNAL: documented outcomes, and always the same outcome for the same request.
//!
//! A card number that is not among the documented [`numbers`] is declined, unless the entity accepts any number: it may
//! be a real one. Otherwise `customParameters[forceResultCode]` determines the result code, whatever the account.
//! Without it the outcome depends on the account: [`card`] (also for cards from wallets) and [`bank`] use the
//! values in [`test_data`]; an account with a provider, and an unknown account, always succeed.
//!
//! A synchronous brand then returns 000.100.110. An asynchronous brand redirects the shopper: the simulator returns
//! 000.200.000 and a redirect to a page of the gateway that replaces the brand's. If the shopper transfers the money,
//! the response names the account to transfer it to. Registrations, and charges of an account with a provider without
//! the shopper, do not redirect.
//!
//! The risk check has test data of its own: [`risk`].

mod authenticator;
mod bank;
mod card;
mod directory;
pub(crate) mod issuer;
mod passkey;
mod risk;
mod sandbox;
mod test_tables;

use async_trait::async_trait;
use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

pub use sandbox::SANDBOX;

use tillgate_connector::{
    Capabilities, Connector, ConnectorOutcome, ConnectorResult, FullAccount, Inquiry, Modification, Order,
    OrderRequest, ShopperPage,
};
use tillgate_domain::payment::TransferAccount;
use tillgate_domain::risk::RiskDecision;

use crate::test_data::{self, TestOutcome, published_numbers};

/// The connector's name, for `--connector`.
pub(super) const NAME: &str = "simulator";

/// The simulator. Its outcomes depend on the request alone.
pub struct Simulator;

static CAPABILITIES: Capabilities = Capabilities::without_limits(false);

/// The page that replaces a brand's own page.
const SHOPPER_PAGE: ShopperPage = ShopperPage::Own(sandbox::BRAND_PAGE_ADDRESS);

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
        let code = decide_order(request.order, request.now).code;
        // A soft decline requires authentication, so it is not final.
        (code != codes::SOFT_DECLINED && !code.is_success()).then_some(code)
    }

    fn predefined_risk(&self, parameters: &Parameters) -> Option<RiskDecision> {
        risk::predefined_decision(parameters)
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        let order = request.order;
        let mut result = decide_order(order, request.now);
        // An order without errors is decided on the brand's page, if the brand has one. A forced outcome applies
        // immediately.
        let redirects = order.forced_result_code.is_none() && order.requires_redirect() && result.code.is_success();
        if redirects {
            result = ConnectorResult { code: codes::PENDING, details: Default::default(), ..result };
        }
        let is_accepted = result.code.is_success() || result.code.is_pending();
        if is_accepted && test_data::TRANSFERS.contains(&order.brand.code) {
            result.transfer_account = Some(collecting_account());
        }
        if redirects { ConnectorOutcome::Redirect(result, SHOPPER_PAGE) } else { ConnectorOutcome::from_result(result) }
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.authorize(request).await
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        ConnectorOutcome::from_result(decide_order(request.order, request.now))
    }

    async fn capture(&self, modification: &Modification) -> ConnectorOutcome {
        decide_modification(modification)
    }

    async fn increment(&self, modification: &Modification) -> ConnectorOutcome {
        decide_modification(modification)
    }

    async fn refund(&self, modification: &Modification) -> ConnectorOutcome {
        decide_modification(modification)
    }

    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome {
        decide_modification(modification)
    }

    async fn inquire(&self, _: &Inquiry) -> Option<ConnectorOutcome> {
        // The simulator stores nothing, and each of its requests has an outcome.
        None
    }
}

impl From<&TestOutcome> for ConnectorResult {
    fn from(outcome: &TestOutcome) -> Self {
        Self::from(outcome.result).with_acquirer_response(outcome.acquirer)
    }
}

/// Returns the outcome with which the simulator declines a card number that is no documented test number. `None` if the
/// sandbox accepts any number, or the account is no card.
fn refused_number(order: &Order) -> Option<&'static TestOutcome> {
    let FullAccount::Card(card) = &order.account else { return None };
    if order.accepts_any_number || published_numbers::is_test_number(card.number.digits()) {
        return None;
    }
    Some(if card.number.is_luhn_valid() { &test_data::NO_TEST_NUMBER } else { &test_data::WRONG_CHECK_DIGIT })
}

/// Decides an order: declines a refused card number, else applies the forced outcome, else decides by the account. An
/// account with a provider or an unknown one succeeds.
fn decide_order(order: &Order, now: Timestamp) -> ConnectorResult {
    let forced = order.forced_result_code.as_deref().map(parse_forced_code);
    // A refused number has no forced outcome either, because successful and pending payments store the number.
    if let Some(refused) = refused_number(order) {
        return refused.into();
    }
    match &order.account {
        FullAccount::Card(card) => card::authorize_card(order, card, forced, now),
        FullAccount::Bank(account) => bank::authorize_bank_account(order, account, forced, now),
        FullAccount::Virtual(_) | FullAccount::Unknown => match forced {
            Some(code) => code.into(),
            None => (&test_data::GOOD).into(),
        },
    }
}

/// Decides a modification: it succeeds, or has its forced outcome.
fn decide_modification(modification: &Modification) -> ConnectorOutcome {
    modification.forced_result_code.as_deref().map_or(codes::TEST_INTERNAL, parse_forced_code).into()
}

/// Finds a forced result code. An unknown code becomes the decline `FORCED_CODE_UNKNOWN`.
fn parse_forced_code(code: &str) -> ResultCode {
    ResultCode::find(code).unwrap_or(codes::FORCED_CODE_UNKNOWN)
}

/// Returns the account for simulated transfers.
fn collecting_account() -> TransferAccount {
    TransferAccount {
        holder: "Tillgate Simulator".to_owned(),
        number: "DE23100000001234567890".to_owned(),
        bic: "MARKDEF1100".to_owned(),
        country: "DE".to_owned(),
    }
}
