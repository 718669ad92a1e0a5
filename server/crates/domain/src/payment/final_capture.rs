//! Final captures: the last capture of a preauthorization, which releases what is left.

use tillgate_shared::parameter::Parameters;

use super::{Payment, PaymentType};

/// Name of the parameter that makes a capture the last one.
const FINAL_CAPTURE: &str = "finalCapture";

/// Returns true if the parameters of a capture say that it is the last one.
fn says_final(parameters: &Parameters) -> bool {
    parameters.get(FINAL_CAPTURE) == Some("true")
}

impl Payment {
    /// Returns true if it is the last capture of its preauthorization.
    pub fn is_final_capture(&self) -> bool {
        self.payment_type == PaymentType::Capture && says_final(&self.parameters)
    }
}
