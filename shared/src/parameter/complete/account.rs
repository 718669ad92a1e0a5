//! The account that a payment charges or a registration stores: which parameters make one, by the kind of its brand.

use super::{Check, Presence};
use crate::brand::{Brand, FormKind, Kind, detect};
use crate::parameter::ParameterError;

/// What every card needs.
const CARD: [&str; 3] = ["card.number", "card.expiryMonth", "card.expiryYear"];
/// What of an account a registration holds, so that a payment with it may not bring another. The holder may
/// (`overrideHolder`), and the code always comes anew.
const STORED: [&str; 8] = [
    "card.number",
    "card.expiryMonth",
    "card.expiryYear",
    "bankAccount.number",
    "bankAccount.iban",
    "virtualAccount.accountId",
    "walletPay.paymentToken",
    "walletPay.source",
];

impl Check<'_> {
    /// The account, as its brand needs it.
    pub(super) fn account(&mut self) {
        let number = self.parameters.get("card.number").unwrap_or_default();
        let brand = match self.parameters.get("paymentBrand") {
            None | Some("") => {
                let cards: Vec<&'static Brand> = Brand::cards().iter().collect();
                if detect(number, &cards).next().is_none() {
                    self.errors.push(ParameterError::missing("paymentBrand"));
                }
                None
            }
            Some(code) => match Brand::find(code) {
                Some(brand) => Some(brand),
                None => return self.refuse("paymentBrand", "is not a brand that this gateway knows"),
            },
        };
        match brand {
            None if number.is_empty() => {}
            None => self.card(),
            Some(Brand { kind: Kind::Card, .. }) if !CARD.iter().any(|name| self.has(name)) => {
                self.refuse("paymentBrand", "card properties must be set");
            }
            Some(Brand { kind: Kind::Card, .. }) => self.card(),
            Some(brand) if brand.kind == Kind::Wallet && brand.synchronous() => self.wallet(),
            // Other bank brands send the shopper to the bank or hand out a slip, and know the account without us, or need none.
            Some(Brand { form: FormKind::DirectDebit, .. }) => self.bank_account(),
            Some(brand) if brand.requires_field("accountId") => self.require("virtualAccount.accountId"),
            // Where the answer comes later, the shopper says on the brand's own page whose account it is.
            _ => {}
        }
    }

    /// The account of a registration is stored; the request may not bring another.
    pub(super) fn stored_account(&mut self) {
        for name in STORED {
            if self.has(name) {
                self.refuse(name, "may not be sent: the registration holds the account");
            }
        }
    }

    /// The kind of account that will be charged; a card where nothing says otherwise.
    pub(super) fn kind(&self) -> Kind {
        self.parameters.get("paymentBrand").and_then(Brand::find).map_or(Kind::Card, |brand| brand.kind)
    }

    fn card(&mut self) {
        CARD.into_iter().for_each(|name| self.require(name));
        if self.is_decrypted_wallet() {
            self.decrypted();
        }
    }

    /// Returns true if the card was in a wallet's token that the merchant's server decrypted. In a checkout the card comes
    /// from the browser, so it cannot be.
    pub(super) fn is_decrypted_wallet(&self) -> bool {
        self.has("walletPay.source") && !self.requirements.collected_by_form
    }

    /// A wallet hands out a token that we decrypt, or data that the merchant decrypted; never both.
    fn wallet(&mut self) {
        if self.requirements.collected_by_form {
            return self.require("walletPay.paymentToken");
        }
        if !self.has("walletPay.source") {
            return self.require_either("walletPay.paymentToken", "walletPay.source");
        }
        if self.has("walletPay.paymentToken") {
            return self.refuse("walletPay.source", "may not be sent together with walletPay.paymentToken");
        }
        CARD.into_iter().for_each(|name| self.require(name));
        self.decrypted();
    }

    /// What was in a wallet's token besides the card. A later charge without the shopper has no 3D data.
    fn decrypted(&mut self) {
        if self.requirements.presence == Presence::Merchant {
            return;
        }
        self.require("threeDSecure.verificationId");
        self.require("threeDSecure.eci");
    }

    /// A direct debit names the account by number or IBAN, the bank by code or BIC, and the holder.
    fn bank_account(&mut self) {
        self.require("bankAccount.holder");
        self.require_either("bankAccount.iban", "bankAccount.number");
        self.require_either("bankAccount.bic", "bankAccount.bankCode");
    }
}
