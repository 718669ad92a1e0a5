//! Wallets: the token, or its source if the merchant decrypted it.

use super::super::Need::Required;
use super::super::{Parameter, ParameterGroup};
use crate::format::{Class, Format};

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    // The maximum length of any value in a request.
    Parameter::new(ParameterGroup::Wallet, "walletPay.paymentToken", Required,
        Format::Characters { class: Class::Ascii, min: 1, max: 16_384 },
        "Encrypted token, unchanged. The gateway decrypts it.").allowed_in_browser().marked_secret().with_single_value(),
    // It comes with 3-D Secure data, which only a server may send.
    Parameter::new(ParameterGroup::Wallet, "walletPay.source", Required, Format::OneOf(&["web", "app"]),
        "Channel in which the shopper used the wallet, if you decrypted the token and send the card's data yourself."),
];
