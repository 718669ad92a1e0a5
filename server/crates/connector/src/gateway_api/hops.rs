//! The number of gateways that have passed a payment on. It ends the way of a payment through gateways that lead to
//! each other.
//!
//! The number is a parameter of the payment and not a header: a payment may be sent after a challenge or a restart,
//! when the headers of its request are long forgotten, and the parameters are stored with it.

use tillgate_shared::parameter::Parameters;

/// Name of the parameter with the number. Browsers cannot set it.
pub(super) const PARAMETER: &str = "customParameters[tillgate.hops]";

/// Maximum number of gateways that pass a payment on, one after the other.
pub(super) const MAX_HOPS: u8 = 4;

/// Reads the number of gateways that have passed a payment on before this one. 0 if the payment is a merchant's own. A
/// number that cannot be read counts as the largest one, so that it never continues a circle.
pub fn read_hops(parameters: &Parameters) -> u8 {
    parameters.get(PARAMETER).map_or(0, |text| text.parse().unwrap_or(u8::MAX))
}
