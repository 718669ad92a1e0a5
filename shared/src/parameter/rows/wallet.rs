//! Wallets: the token as the wallet made it, or where its data come from if the merchant decrypted it.

use super::super::Need::Required;
use super::super::{Group, Parameter};
use crate::format::{Class, Format};

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    // As long as a value of a request can be.
    Parameter::new(Group::Wallet, "walletPay.paymentToken", Required,
        Format::Characters { class: Class::Ascii, min: 1, max: 16_384 },
        "The encrypted token, unchanged; the gateway decrypts it.").by_browser().secret().once(),
    // Comes with 3D data, which only a server may send.
    Parameter::new(Group::Wallet, "walletPay.source", Required, Format::OneOf(&["web", "app"]),
        "Where the shopper used the wallet, if you decrypted the token and send the card's data yourself."),
];
