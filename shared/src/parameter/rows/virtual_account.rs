//! Accounts at the brand itself.

use super::super::Need::Required;
use super::super::{Group, Parameter};
use super::verbatim;

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    Parameter::new(Group::VirtualAccount, "virtualAccount.accountId", Required, verbatim(1, 100),
        "The shopper's account at the brand, for ways to pay that have one.").by_browser().once(),
];
