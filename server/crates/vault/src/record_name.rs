//! Names of sealed records. A record opens only under its name, which says what it is for and whose it is: a row that
//! is moved to another owner, use or server does not open there.
//!
//! A name has parts, separated by `|`. The last one is the whole name in the first format.

use super::FORMAT_WITH_OWNER;

/// Returns the name of the number with which a payment was made.
pub fn payment_card(entity: &str, payment: &str) -> String {
    format!("card|{entity}|{payment}")
}

/// Returns the name of the account of a registration.
pub fn registered_account(entity: &str, registration: &str) -> String {
    format!("account|{entity}|{registration}")
}

/// Returns the part of a name to which a record of a format is bound.
pub(super) fn bound_name(name: &str, format: u8) -> &str {
    if format == FORMAT_WITH_OWNER { name } else { name.rsplit('|').next().unwrap_or(name) }
}
