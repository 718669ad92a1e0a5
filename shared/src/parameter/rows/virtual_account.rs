//! Accounts at the brand.

use super::super::Need::Required;
use super::super::{Parameter, ParameterGroup};
use super::verbatim;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(ParameterGroup::VirtualAccount, "virtualAccount.accountId", Required, verbatim(1, 100),
        "Id of the shopper's account with the brand, for brands that have accounts.").allowed_in_browser().with_single_value(),
];
