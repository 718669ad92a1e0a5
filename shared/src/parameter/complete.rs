//! What must be there, and what does not go together: judged for an operation, on everything that has been sent.

use super::ParameterError;
use super::set::Parameters;
use crate::brand::{Brand, Kind, detect};
use crate::format::choice;
use crate::money::{Amount, AmountError, Currency};

/// What a request is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A merchant makes a checkout; what the shopper adds later is not asked for.
    CreateCheckout,
    /// A merchant adds to a checkout; judged on the update alone.
    UpdateCheckout,
    /// A payment, by the form or server to server; judged on everything merged.
    Payment,
}

/// What an entity asks for beyond the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// Any customer parameter requires given name and surname, as the specification has it.
    pub customer_names_required: bool,
}

impl Default for Requirements {
    fn default() -> Self {
        Self { customer_names_required: true }
    }
}

/// Payment types that begin a payment; the others refer to an earlier one.
const INITIAL_TYPES: &[&str] = &["PA", "DB", "CD"];
/// What the form or the gateway finds out by itself; it asks for no names.
const COLLECTED: [&str; 3] = ["customer.browser.", "customer.browserFingerprint.", "customer.ip"];
/// Addresses, and whether their street must be more than digits: the specification says so of billing only.
const ADDRESSES: [(&str, bool); 4] =
    [("billing.", true), ("shipping.", false), ("merchant.billing.", true), ("merchant.shipping.", false)];
/// Brands that charge a bank account by a mandate. Other bank brands send the shopper to the bank or hand out a slip,
/// and know the account without us, or need none.
const DIRECT_DEBITS: [&str; 2] = ["DIRECTDEBIT_SEPA", "SEPA"];
/// Where a person's identity document is named.
const PERSONS: [&str; 2] = ["customer.", "shipping.customer."];

/// Judges whether everything is there that the operation needs, and whether what is there goes together. Formats are
/// judged by [`super::check_formats`]; what has the wrong format is left alone here.
pub fn check_complete(
    parameters: &Parameters,
    operation: Operation,
    requirements: &Requirements,
) -> Vec<ParameterError> {
    let mut check = Check { parameters, errors: Vec::new() };
    match operation {
        Operation::CreateCheckout => {
            let tokenisation = check.is("createRegistration", "true") && !parameters.contains("paymentType");
            if !tokenisation {
                check.basic_payment();
            }
            check.amount();
        }
        Operation::UpdateCheckout => {
            check.amount();
            check.initial_type();
            for (name, value) in parameters.with_prefix("overridePaymentType[") {
                check.errors.push(ParameterError::new(name, Some(value), "may be set only when a checkout is created"));
            }
        }
        Operation::Payment => {
            check.basic_payment();
            check.amount();
            check.account();
            if requirements.customer_names_required {
                check.customer_names();
            }
            for person in PERSONS {
                if parameters.with_prefix(person).next().is_some() {
                    check.identification(person);
                }
            }
            for (address, named_street) in ADDRESSES {
                if parameters.with_prefix(address).next().is_some() {
                    check.house_number(address);
                    if named_street {
                        check.street(address);
                    }
                }
            }
            check.job();
            check.standing_instruction();
        }
    }
    check.errors
}

struct Check<'a> {
    parameters: &'a Parameters,
    errors: Vec<ParameterError>,
}

impl Check<'_> {
    fn is(&self, name: &str, value: &str) -> bool {
        self.parameters.get(name) == Some(value)
    }

    fn has(&self, name: &str) -> bool {
        self.parameters.contains(name)
    }

    /// Reports a parameter that is missing.
    fn require(&mut self, name: &str) {
        if self.parameters.get(name).is_none_or(str::is_empty) {
            self.errors.push(ParameterError::missing(name));
        }
    }

    /// Reports a parameter that is missing, unless another one is there instead.
    fn require_either(&mut self, name: &str, other: &str) {
        if !self.has(name) && !self.has(other) {
            self.refuse(name, format!("may not be empty unless {other} is sent"));
        }
    }

    /// Reports a parameter that is there and wrong.
    fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push(ParameterError::new(name, self.parameters.get(name), message));
    }

    fn basic_payment(&mut self) {
        self.require("amount");
        self.require("currency");
        self.require("paymentType");
        self.initial_type();
    }

    /// Captures, reversals and refunds refer to a payment and have requests of their own.
    fn initial_type(&mut self) {
        if let Some(payment_type @ ("CP" | "RV" | "RF")) = self.parameters.get("paymentType")
            && let Err(message) = choice::check(payment_type, INITIAL_TYPES)
        {
            self.refuse("paymentType", message);
        }
    }

    /// The currency must be able to express the amounts.
    fn amount(&mut self) {
        let Some(currency) = self.parameters.get("currency").and_then(Currency::parse) else { return };
        for name in ["amount", "taxAmount"] {
            if let Some(text) = self.parameters.get(name)
                && let Err(error @ AmountError::Precision(_)) = Amount::parse(text, currency)
            {
                self.refuse(name, error.message());
            }
        }
    }

    /// The account that the brand charges: for cards, number and expiry date.
    fn account(&mut self) {
        let number = self.parameters.get("card.number").unwrap_or_default();
        let kind = match self.parameters.get("paymentBrand") {
            None | Some("") => {
                let cards: Vec<&'static Brand> = Brand::cards().iter().collect();
                if detect(number, &cards).next().is_none() {
                    self.errors.push(ParameterError::missing("paymentBrand"));
                }
                None
            }
            Some(code) => match Brand::find(code) {
                Some(brand) => Some(brand.kind),
                None => return self.refuse("paymentBrand", "is not a brand that this gateway knows"),
            },
        };
        let card = ["card.number", "card.expiryMonth", "card.expiryYear"];
        match kind {
            Some(Kind::Card) if !card.iter().any(|name| self.has(name)) => {
                self.refuse("paymentBrand", "card properties must be set");
            }
            Some(Kind::Card) => card.into_iter().for_each(|name| self.require(name)),
            None if !number.is_empty() => card.into_iter().for_each(|name| self.require(name)),
            Some(Kind::Bank) if DIRECT_DEBITS.iter().any(|code| self.is("paymentBrand", code)) => self.bank_account(),
            _ => {}
        }
    }

    /// A direct debit names the account by number or IBAN, the bank by code or BIC, and the holder. One that is
    /// stored has all of that.
    fn bank_account(&mut self) {
        if self.has("registrationId") {
            return;
        }
        self.require("bankAccount.holder");
        self.require_either("bankAccount.iban", "bankAccount.number");
        self.require_either("bankAccount.bic", "bankAccount.bankCode");
    }

    fn customer_names(&mut self) {
        let sent = self
            .parameters
            .with_prefix("customer.")
            .any(|(name, _)| !COLLECTED.iter().any(|collected| name.starts_with(collected)));
        if sent {
            self.require("customer.givenName");
            self.require("customer.surname");
        }
    }

    /// Kind and number of an identity document come together.
    fn identification(&mut self, person: &str) {
        let (kind, number) = (format!("{person}identificationDocType"), format!("{person}identificationDocId"));
        if self.has(&kind) {
            self.require(&number);
        } else if self.has(&number) {
            self.require(&kind);
        }
    }

    /// A second house number needs a first one.
    fn house_number(&mut self, address: &str) {
        if self.has(&format!("{address}houseNumber2")) {
            self.require(&format!("{address}houseNumber1"));
        }
    }

    /// A street has a name.
    fn street(&mut self, address: &str) {
        let name = |field: &str| format!("{address}{field}");
        // With a house number, street2 is ignored.
        let second = if self.has(&name("houseNumber1")) { None } else { self.parameters.get(&name("street2")) };
        let street1 = self.parameters.get(&name("street1"));
        let mut street =
            street1.into_iter().chain(second).flat_map(str::chars).filter(|c| !c.is_whitespace()).peekable();
        if street.peek().is_some() && street.all(char::is_numeric) {
            let field = if street1.is_some() { "street1" } else { "street2" };
            self.refuse(&name(field), "street1 and street2 together may not be digits only");
        }
    }

    /// Days are counted in the month or in the week.
    fn job(&mut self) {
        if self.has("job.dayOfMonth") && self.has("job.dayOfWeek") {
            self.refuse("job.dayOfWeek", "may not be sent together with job.dayOfMonth");
        }
    }

    /// The first payment proves that the card is there, by its code or by 3D data; a later one without the shopper
    /// cannot.
    fn standing_instruction(&mut self) {
        let shopper_absent =
            self.is("standingInstruction.mode", "REPEATED") && !self.is("standingInstruction.source", "CIT");
        if shopper_absent {
            let proofs = self.parameters.iter().map(|(name, _)| name);
            let proofs: Vec<&str> =
                proofs.filter(|name| *name == "card.cvv" || name.starts_with("threeDSecure.")).collect();
            for name in proofs {
                self.refuse(name, "may not be sent when the shopper is absent (standingInstruction.mode=REPEATED)");
            }
        }
        let proof = ["threeDSecure.", "customer.browser."];
        if self.is("standingInstruction.mode", "INITIAL")
            && self.has("card.number")
            && !self.has("card.cvv")
            && !proof.iter().any(|prefix| self.parameters.with_prefix(prefix).next().is_some())
        {
            self.errors.push(ParameterError::missing("card.cvv"));
        }
    }
}
