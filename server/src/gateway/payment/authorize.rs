//! Asks the connector to authorise a payment, unless that has been decided before. A connector that leaves this process is
//! asked later, when the payment has been written.

use tillgate_shared::result::codes;

use super::super::{Failure, Gateway, random};
use super::three_ds::{ThreeDsContext, ThreeDsDecision};
use super::{Identity, Intake};
use crate::connector::three_ds::transaction_id;
use crate::connector::{ConnectorResult, Outcome, Route, ShopperPage};
use crate::domain::authentication::{Authentication, Version};
use crate::domain::payment::PaymentType;

/// A payment with the connector's result.
pub(super) struct Authorized {
    /// The result; pending if the shopper has to act first, or the outcome is unknown.
    pub(super) result: ConnectorResult,
    /// The page that the shopper has to visit.
    pub(super) visit: Option<ShopperVisit>,
    /// True if the connector leaves this process: it is asked once the payment has been written ([`super::ask`]).
    pub(super) is_to_be_asked: bool,
}

/// A page that the shopper has to visit before there is an outcome.
pub(super) enum ShopperVisit {
    /// The page on which the cardholder is authenticated.
    Authentication(Authentication),
    /// The brand's page.
    Brand(ShopperPage),
}

impl From<Outcome> for Authorized {
    fn from(outcome: Outcome) -> Self {
        let (result, visit) = match outcome {
            Outcome::Approved(result) | Outcome::Declined(result) | Outcome::Pending(result) => (result, None),
            Outcome::Redirect(result, page) => (result, Some(ShopperVisit::Brand(page))),
            Outcome::Unknown => (codes::PENDING.into(), None),
        };
        Self { result, visit, is_to_be_asked: false }
    }
}

impl Gateway {
    /// Has a payment authorised or credited. A soft decline of a shopper who sits before the hosted form is answered with a
    /// challenge.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(super) async fn authorize(
        &self,
        decision: ThreeDsDecision,
        context: Option<ThreeDsContext>,
        intake: &Intake,
        route: &Route,
        identity: &Identity,
        in_form: bool,
    ) -> Result<Authorized, Failure> {
        let waits = |authentication| Authorized {
            result: codes::PENDING.into(),
            visit: Some(ShopperVisit::Authentication(authentication)),
            is_to_be_asked: false,
        };
        match decision {
            ThreeDsDecision::Decline(code) => return Ok(Outcome::from(code).into()),
            ThreeDsDecision::Wait(authentication) => return Ok(waits(authentication)),
            ThreeDsDecision::Authorize => {}
        }
        let order = &intake.order;
        let capabilities = route.connector.capabilities();
        if !capabilities.takes(order.payment_type, order.brand, order.amount.currency()) {
            return Ok(Outcome::from(codes::METHOD_NOT_CONFIGURED).into());
        }
        if capabilities.leaves_process {
            return Ok(Authorized { result: codes::PENDING.into(), visit: None, is_to_be_asked: true });
        }
        let request = identity.request(order);
        if order.payment_type == PaymentType::Credit {
            return Ok(route.connector.credit(&request).await.into());
        }
        let authorized = Authorized::from(route.connector.authorize(&request).await);
        match context.filter(|_| in_form && order.brand.synchronous()) {
            Some(context) if authorized.result.code == codes::SOFT_DECLINED => {
                let version = context.version().unwrap_or(Version::V22);
                Ok(waits(Authentication::with_challenge(version, transaction_id(version, random()?))))
            }
            _ => Ok(authorized),
        }
    }
}
