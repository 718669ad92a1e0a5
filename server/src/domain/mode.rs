//! The mode that a payment is processed in: with a simulation, with an acquirer's test system, or with real money.

use tillgate_shared::parameter::Parameters;

use super::refusal::Refusal;

/// The mode of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A simulation (`testMode=INTERNAL`, and the default of a sandbox entity).
    Internal,
    /// An acquirer's test system (`testMode=EXTERNAL`).
    External,
    /// Real money: every payment of a live entity.
    Live,
}

impl Mode {
    /// Returns the mode of a payment of an entity that is `live`, or a sandbox.
    ///
    /// # Errors
    /// A live entity takes no testMode.
    pub fn of(live: bool, parameters: &Parameters) -> Result<Self, Refusal> {
        match (live, parameters.get("testMode")) {
            (true, Some(_)) => Err(Refusal::test_mode_not_allowed()),
            (true, None) => Ok(Self::Live),
            (false, Some("EXTERNAL")) => Ok(Self::External),
            (false, _) => Ok(Self::Internal),
        }
    }
}
