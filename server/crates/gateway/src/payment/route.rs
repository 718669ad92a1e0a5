//! Second stage: selects connector and authenticator, by the mode of the request and the settings of its channel, and
//! checks that the connector offers the order.

use tillgate_connector::{MissingCapability, Order, PaymentRoute};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::Parameters;

use super::super::Gateway;

impl Gateway {
    /// Returns connector and authenticator for a payment of `payer`, the entity that processes it: a merchant without
    /// channels, or a channel. An unknown connector gives one that declines everything.
    ///
    /// # Errors
    /// If `testMode` was sent to a live entity.
    pub(crate) fn select_route(&self, payer: &Entity, parameters: &Parameters) -> Result<PaymentRoute, Refusal> {
        Ok(self
            .connectors
            .select_route(&payer.settings.channel, ProcessingMode::from_parameters(payer.live, parameters)?))
    }

    /// Returns the route of an existing payment: by its connector if that is external, otherwise by the current
    /// settings of its entity. `None` if its entity or its external connector no longer exists, or if it has a
    /// `testMode` and its entity is live now.
    pub(crate) fn route_of(&self, payment: &Payment) -> Option<PaymentRoute> {
        let entity = self.directory.find_entity(&payment.entity)?;
        let route = self.select_route(&entity, &payment.parameters).ok()?;
        match &payment.connector {
            // The channel may use another connector by now, but only the payment's own one knows the payment.
            Some(name) => Some(PaymentRoute { connector: self.connectors.find_external(name, route.mode)?, ..route }),
            None => Some(route),
        }
    }
}

/// Checks that a connector offers payment type, brand and currency of an order, before any request is sent.
///
/// # Errors
/// A refusal that names the parameter.
pub(super) fn check_capabilities(order: &Order, route: &PaymentRoute) -> Result<(), Refusal> {
    let checked =
        route.connector.capabilities().check_payment(order.payment_type, order.brand, order.amount.currency());
    checked.map_err(refuse_missing_capability)
}

/// Converts a missing capability of a connector to a refusal.
pub(crate) fn refuse_missing_capability(missing: MissingCapability) -> Refusal {
    let MissingCapability { code, parameter, value, message } = missing;
    Refusal::not_configured(code).with_parameter(parameter, &value, message)
}
