//! The INTERNAL simulator: documented outcomes, the same answer for the same request, always.
//!
//! In this order: `customParameters[forceResultCode]` gives exactly that code; a number that fails Luhn's check
//! (ISO/IEC 7812-1) 100.100.101; a number of another scheme than the brand 100.100.700; an expired card 100.100.303;
//! a code of the wrong length for the brand 100.100.601; 4111111111111111 the code of external test mode; everything
//! else succeeds.

use jiff::civil::Date;
use tillgate_shared::result::{ResultCode, codes};

use super::Order;

/// The card that answers as if the connector's own test system had.
const EXTERNAL_CARD: &str = "4111111111111111";

/// Decides an order on a day.
pub fn authorize(order: &Order, today: Date) -> ResultCode {
    if let Some(forced) = &order.forced {
        return self::forced(forced);
    }
    if !order.number.luhn_valid() {
        return codes::INVALID_CARD_NUMBER;
    }
    if !order.brand.accepts(order.number.digits()) {
        return codes::NUMBER_NOT_OF_BRAND;
    }
    let this_month = (today.year().unsigned_abs(), today.month().unsigned_abs());
    if order.expiry.is_past(this_month) {
        return codes::CARD_EXPIRED;
    }
    if let Some(code) = &order.code
        && !order.brand.code_lengths().iter().any(|length| usize::from(*length) == code.digits().len())
    {
        return codes::CODE_INVALID;
    }
    if order.number.digits() == EXTERNAL_CARD { codes::TEST_CONNECTOR } else { codes::TEST_INTERNAL }
}

/// Decides what follows an earlier payment: it succeeds, or ends as it is asked to.
pub fn follow(code: Option<&str>) -> ResultCode {
    code.map_or(codes::TEST_INTERNAL, forced)
}

fn forced(code: &str) -> ResultCode {
    ResultCode::find(code).unwrap_or(codes::FORCED_CODE_UNKNOWN)
}
