//! Sender of a payment or registration, determined by the route of the request. The sender determines whether the
//! cardholder is present; nothing derives it later from the text of parameters.

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::{Scope, Scopes};
use tillgate_domain::checkout::Checkout;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::PaymentType;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::{Parameters, Presence, Requirements, can_come_from_browser};

/// Parameter that the gateway sets in a checkout, unless the merchant has sent it.
pub(crate) const CLIENT_ADDRESS: &str = "customer.ip";

/// Sender of a request to pay or to register.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sender<'a> {
    /// A shopper's browser that submits the form of this checkout.
    Form(&'a Checkout),
    /// A merchant's server.
    Server {
        /// The part of the cardholder, as the request states it.
        presence: Presence,
        /// Identifier of the request.
        ndc: Option<&'a Ndc>,
        /// Scopes of its access token.
        scopes: Scopes,
    },
}

impl<'a> Sender<'a> {
    /// Makes the sender of a merchant's request outside of any checkout. The parameters state the cardholder's part. It
    /// may take money and pay nothing out.
    pub(crate) fn from_server_request(parameters: &Parameters, ndc: Option<&'a Ndc>) -> Self {
        let scopes = Scopes::from_iter([Scope::Pay]);
        Self::Server { presence: Presence::from_server_request(parameters), ndc, scopes }
    }

    /// Makes the same sender with the scopes of its access token.
    pub(crate) fn with_scopes(self, scopes: Scopes) -> Self {
        match self {
            Self::Server { presence, ndc, .. } => Self::Server { presence, ndc, scopes },
            Self::Form(_) => self,
        }
    }

    /// Checks that the sender may make a payment of this type, which is the type that runs. A form may lead to what the
    /// access tokens that created and updated its checkout may do, which was checked at that time.
    ///
    /// # Errors
    /// 403 with the name of the missing scope.
    pub(crate) fn check_payment_type(self, payment_type: PaymentType) -> Result<(), Refusal> {
        match self {
            Self::Form(_) => Ok(()),
            Self::Server { scopes, .. } => scopes.check_payment_type(payment_type),
        }
    }

    /// Returns the identifier of a server's request. `None` for a form: payments from a form carry their checkout's id.
    pub(crate) fn ndc(self) -> Option<&'a Ndc> {
        match self {
            Self::Form(_) => None,
            Self::Server { ndc, .. } => ndc,
        }
    }

    /// Returns the checkout whose form was submitted, `None` for a merchant's server.
    pub(crate) fn checkout(self) -> Option<&'a Checkout> {
        match self {
            Self::Form(checkout) => Some(checkout),
            Self::Server { .. } => None,
        }
    }

    /// Returns true if the shopper's browser has set a parameter of the request. The merchant's own values take
    /// precedence, and the gateway sets the address of the client.
    pub(crate) fn is_from_browser(self, name: &str) -> bool {
        let is_sent = |checkout: &Checkout| !checkout.parameters.contains(name) && can_come_from_browser(name);
        name != CLIENT_ADDRESS && self.checkout().is_some_and(is_sent)
    }

    /// Returns the cardholder's part. In a checkout the shopper is present, whatever the browser sends.
    pub(crate) fn presence(self) -> Presence {
        match self {
            Self::Form(_) => Presence::Cardholder,
            Self::Server { presence, .. } => presence,
        }
    }

    /// Returns the requirements for parameters of a payment, beyond their formats: those of the entity's settings, and
    /// those that depend on the sender.
    pub(crate) fn requirements(self, entity: &Entity) -> Requirements {
        Requirements {
            collected_by_form: self.checkout().is_some(),
            presence: self.presence(),
            ..entity.parameter_requirements()
        }
    }
}
