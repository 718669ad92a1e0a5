//! Sender of a payment or registration, decided where the request comes in. Whether the cardholder is present follows from
//! the sender; nothing later derives it from the text of parameters.

use tillgate_shared::parameter::{Parameters, Presence, Requirements};

use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::ndc::Ndc;

/// Sender of a request to pay or to register.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sender<'a> {
    /// A shopper's browser that submits the form of this checkout.
    Form(&'a Checkout),
    /// A merchant's server.
    Server {
        /// The part of the cardholder, as the request states it.
        presence: Presence,
        /// Identifier of the request.
        ndc: Option<&'a Ndc>,
    },
}

impl<'a> Sender<'a> {
    /// The merchant's server, outside of any checkout.
    pub(super) fn server(parameters: &Parameters, ndc: Option<&'a Ndc>) -> Self {
        Self::Server { presence: Presence::of_server_request(parameters), ndc }
    }

    /// Returns the identifier of a server's request; what a form makes carries its checkout's id.
    pub(super) fn ndc(self) -> Option<&'a Ndc> {
        match self {
            Self::Form(_) => None,
            Self::Server { ndc, .. } => ndc,
        }
    }

    /// Returns the checkout whose form was submitted, `None` for a merchant's server.
    pub(super) fn checkout(self) -> Option<&'a Checkout> {
        match self {
            Self::Form(checkout) => Some(checkout),
            Self::Server { .. } => None,
        }
    }

    /// Returns the cardholder's part: in a checkout the shopper is present, whatever the browser sends.
    pub(super) fn presence(self) -> Presence {
        match self {
            Self::Form(_) => Presence::Cardholder,
            Self::Server { presence, .. } => presence,
        }
    }

    /// Returns what an entity asks of a payment by this sender beyond the formats.
    pub(super) fn requirements(self, entity: &Entity) -> Requirements {
        Requirements {
            collected_by_form: self.checkout().is_some(),
            presence: self.presence(),
            ..entity.requirements()
        }
    }
}
