//! Checks the account that a payment charges or a registration stores: the parameters that it needs, by the kind of its
//! brand.

use super::{CompletenessCheck, Presence};
use crate::brand::{AccountType, Brand, FormKind, detect};
use crate::format::iban;
use crate::parameter::ParameterError;

/// Parameters that every card needs.
const CARD: [&str; 3] = ["card.number", "card.expiryMonth", "card.expiryYear"];
/// Parameters of the date until which a card is valid.
const EXPIRY: [&str; 2] = ["card.expiryMonth", "card.expiryYear"];
/// Parameters of an account that a registration holds, so a payment with it may not send others. The holder may be sent
/// (`overrideHolder`), the code is always sent again, and a card may have got a new date.
const STORED: [&str; 6] = [
    "card.number",
    "bankAccount.number",
    "bankAccount.iban",
    "virtualAccount.accountId",
    "walletPay.paymentToken",
    "walletPay.source",
];

impl CompletenessCheck<'_> {
    /// Reports the faults of the account, by the kind of its brand. The brand may be missing if the number is that of a
    /// known card brand. An unknown brand is reported alone.
    pub(super) fn check_account(&mut self) {
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
            None => self.require_card(),
            Some(Brand { kind: AccountType::Card, .. }) if !CARD.iter().any(|name| self.has_parameter(name)) => {
                self.refuse("paymentBrand", "card properties must be set");
            }
            Some(Brand { kind: AccountType::Card, .. }) => self.require_card(),
            Some(brand) if brand.kind == AccountType::Wallet && brand.is_synchronous() => self.check_wallet(),
            // Other bank brands redirect the shopper to the bank or issue a payment slip. They know the account
            // themselves, or need none.
            Some(Brand { form: FormKind::DirectDebit, .. }) => self.require_bank_account(),
            Some(brand) if brand.requires_field("accountId") => self.require("virtualAccount.accountId"),
            // If the result comes later, the shopper enters the account on the brand's own page.
            _ => {}
        }
    }

    /// Reports each part of an account that is sent, because the registration holds it. Holder and code may be sent,
    /// and so may the new date of a card, month and year together.
    pub(super) fn refuse_account(&mut self) {
        for name in STORED {
            self.refuse_stored(name);
        }
        if self.account_type() != AccountType::Card {
            EXPIRY.into_iter().for_each(|name| self.refuse_stored(name));
        } else if EXPIRY.iter().any(|name| self.has_parameter(name)) {
            EXPIRY.into_iter().for_each(|name| self.require(name));
        }
    }

    /// Reports a parameter of an account that is sent although the registration holds it.
    fn refuse_stored(&mut self, name: &str) {
        if self.has_parameter(name) {
            self.refuse(name, "may not be sent: the registration holds the account");
        }
    }

    /// Returns the kind of account that will be charged. Without a brand, or with an unknown one, it is a card.
    pub(super) fn account_type(&self) -> AccountType {
        self.parameters.get("paymentBrand").and_then(Brand::find).map_or(AccountType::Card, |brand| brand.kind)
    }

    /// Requires the number and the expiry date of a card, and 3-D Secure data if it comes from a decrypted wallet
    /// token.
    fn require_card(&mut self) {
        CARD.into_iter().for_each(|name| self.require(name));
        if self.is_decrypted_wallet() {
            self.require_wallet_three_ds();
        }
    }

    /// Returns true if the card comes from a wallet's token that the merchant's server decrypted. In a checkout the
    /// card comes from the browser, so this is impossible.
    pub(super) fn is_decrypted_wallet(&self) -> bool {
        self.has_parameter("walletPay.source") && !self.requirements.collected_by_form
    }

    /// Checks that a wallet payment has either a token for us to decrypt, or a card that the merchant decrypted with
    /// its 3-D Secure data, and not both. The form sends a token.
    fn check_wallet(&mut self) {
        if self.requirements.collected_by_form {
            return self.require("walletPay.paymentToken");
        }
        if !self.has_parameter("walletPay.source") {
            return self.require_either("walletPay.paymentToken", "walletPay.source");
        }
        if self.has_parameter("walletPay.paymentToken") {
            return self.refuse("walletPay.source", "may not be sent together with walletPay.paymentToken");
        }
        CARD.into_iter().for_each(|name| self.require(name));
        self.require_wallet_three_ds();
    }

    /// Requires the CAVV and the ECI of a decrypted wallet token. A later merchant-initiated charge has neither.
    fn require_wallet_three_ds(&mut self) {
        if self.requirements.presence == Presence::Merchant {
            return;
        }
        self.require("threeDSecure.verificationId");
        self.require("threeDSecure.eci");
    }

    /// Checks that a direct debit has the account's number or IBAN, the bank's code or BIC, and the holder.
    fn require_bank_account(&mut self) {
        self.require("bankAccount.holder");
        self.require_either("bankAccount.iban", "bankAccount.number");
        // The form asks for the bank only if the IBAN does not name it. A merchant's server sends it in any case, as
        // the specification says.
        let is_named = self.parameters.get("bankAccount.iban").is_some_and(iban::names_bank);
        if !(is_named && self.requirements.collected_by_form) {
            self.require_either("bankAccount.bic", "bankAccount.bankCode");
        }
    }
}
