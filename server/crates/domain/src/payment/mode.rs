//! Processing modes of payments: simulation, acquirer's test system, or real money.

use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use crate::refusal::Refusal;

/// The processing mode of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessingMode {
    /// A simulation (`testMode=INTERNAL`, and the default of a sandbox entity).
    Internal,
    /// An acquirer's test system (`testMode=EXTERNAL`).
    External,
    /// Real money: every payment of a live entity.
    Live,
}

impl ProcessingMode {
    /// Returns the mode of a payment from its parameters. `live` is true for a live entity and false for a sandbox,
    /// whose mode is [`Self::Internal`] unless `testMode` is `EXTERNAL`.
    ///
    /// # Errors
    /// 400 if a live entity sends `testMode`.
    pub fn from_parameters(live: bool, parameters: &Parameters) -> Result<Self, Refusal> {
        match (live, parameters.get("testMode")) {
            (true, Some(_)) => Err(Refusal::test_mode_not_allowed()),
            (true, None) => Ok(Self::Live),
            (false, Some("EXTERNAL")) => Ok(Self::External),
            (false, _) => Ok(Self::Internal),
        }
    }

    /// Returns the code of a success in this mode.
    pub fn accepted_code(self) -> ResultCode {
        match self {
            Self::Live => codes::SUCCESS_LIVE,
            Self::Internal => codes::TEST_INTERNAL,
            Self::External => codes::TEST_CONNECTOR,
        }
    }
}
