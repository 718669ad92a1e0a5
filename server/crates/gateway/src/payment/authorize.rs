//! Asks the connector to authorize a payment, unless 3-D Secure has decided already. An external connector is asked
//! later, after the payment is written.

use tillgate_connector::three_ds::new_transaction_id;
use tillgate_connector::{ConnectorOutcome, ConnectorResult, PaymentRoute, ShopperPage};
use tillgate_domain::id::PageId;
use tillgate_domain::payment::PaymentType;
use tillgate_domain::three_ds::{ThreeDsSession, ThreeDsVersion};
use tillgate_shared::result::codes;

use super::super::{Failure, Gateway, random_bytes};
use super::debit_steps::{find_first_step, order_of_step};
use super::three_ds::{PendingThreeDs, ThreeDsContext, ThreeDsDecision};
use super::{Intake, PaymentIdentity};

/// A payment with the connector's result.
pub(super) struct AuthorizationResult {
    /// The result. It is pending if the shopper has to act first, or if the outcome is unknown.
    pub(super) result: ConnectorResult,
    /// The page that the shopper has to visit.
    pub(super) required_page: Option<RequiredPage>,
    /// True if the connector is external: it is asked after the payment is written ([`super::connector_request`]).
    pub(super) awaits_connector: bool,
}

/// A page that the shopper has to visit before there is an outcome.
pub(super) enum RequiredPage {
    /// The page on which the cardholder is authenticated.
    ThreeDs(Box<PendingThreeDs>),
    /// The brand's page.
    Brand(ShopperPage),
}

impl From<ConnectorOutcome> for AuthorizationResult {
    fn from(outcome: ConnectorOutcome) -> Self {
        let (result, required_page) = match outcome {
            ConnectorOutcome::Approved(result)
            | ConnectorOutcome::Declined(result)
            | ConnectorOutcome::Pending(result) => (result, None),
            ConnectorOutcome::Redirect(result, page) => (result, Some(RequiredPage::Brand(page))),
            ConnectorOutcome::Unknown => (codes::PENDING.into(), None),
        };
        Self { result, required_page, awaits_connector: false }
    }
}

impl Gateway {
    /// Authorizes or credits a payment at an in-process connector, or declines it or leaves it pending as `decision`
    /// says. Asks no external connector: its payment is pending (`awaits_connector`). A soft decline of a card in the
    /// hosted form becomes a pending payment with a challenge.
    pub(super) async fn authorize(
        &self,
        decision: ThreeDsDecision,
        context: Option<ThreeDsContext>,
        intake: &Intake,
        route: &PaymentRoute,
        identity: &PaymentIdentity,
        in_form: bool,
    ) -> Result<AuthorizationResult, Failure> {
        let await_shopper = |pending| AuthorizationResult {
            result: codes::PENDING.into(),
            required_page: Some(RequiredPage::ThreeDs(pending)),
            awaits_connector: false,
        };
        match decision {
            ThreeDsDecision::Decline(code) => return Ok(ConnectorOutcome::from(code).into()),
            ThreeDsDecision::Wait(pending) => return Ok(await_shopper(pending)),
            ThreeDsDecision::Authorize => {}
        }
        let order = &intake.order;
        // The payment is written before its request is sent. Otherwise a crash in between would lose a payment that was
        // charged.
        if route.connector.capabilities().is_external {
            return Ok(AuthorizationResult {
                result: codes::PENDING.into(),
                required_page: None,
                awaits_connector: true,
            });
        }
        // The risk check comes between the two steps, so only the preauthorization is requested here.
        let asked = order_of_step(order, find_first_step(&intake.payer, order.payment_type, route));
        let request = identity.order_request(&asked);
        if order.payment_type == PaymentType::Credit {
            return Ok(route.connector.credit(&request).await.into());
        }
        let authorized = AuthorizationResult::from(route.connector.authorize(&request).await);
        match context.filter(|_| in_form && order.brand.is_synchronous()) {
            Some(context) if authorized.result.code == codes::SOFT_DECLINED => {
                let version = context.enrolled_version().unwrap_or(ThreeDsVersion::V22);
                let session = ThreeDsSession::with_challenge(version, new_transaction_id(version, random_bytes()?));
                let page = PageId::new(identity.now, random_bytes()?);
                Ok(await_shopper(Box::new(PendingThreeDs { session, page })))
            }
            _ => Ok(authorized),
        }
    }
}
