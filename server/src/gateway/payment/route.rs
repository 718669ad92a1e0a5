//! Second stage: picks connector and authenticator, by the mode of the request and the settings of the channel that takes it.

use tillgate_shared::parameter::Parameters;

use super::super::Gateway;
use crate::connector::Route;
use crate::domain::entity::Entity;
use crate::domain::mode::Mode;
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;

impl Gateway {
    /// Returns the route of a payment of an entity that takes it: a merchant without channels, or a channel.
    ///
    /// # Errors
    /// A live entity takes no testMode.
    pub(in crate::gateway) fn route(&self, payer: &Entity, parameters: &Parameters) -> Result<Route, Refusal> {
        Ok(self.connectors.route(&payer.settings.channel, Mode::of(payer.live, parameters)?))
    }

    /// Returns the route of a payment that was made before: by its connector if that leaves this process, otherwise by the
    /// present settings of its entity. `None` if there is no such connector any more.
    pub(in crate::gateway) fn route_of(&self, payment: &Payment) -> Option<Route> {
        let entity = self.directory.entity(&payment.entity)?;
        let route = self.route(&entity, &payment.parameters).ok()?;
        match &payment.connector {
            Some(name) => Some(Route { connector: self.connectors.external(name, route.mode)?, ..route }),
            None => Some(route),
        }
    }
}
