//! What must be there, and what does not go together: judged for an operation, on everything that has been sent.

mod account;
mod operation;
mod person;
mod proof;

use super::ParameterError;
use super::set::Parameters;
use crate::format::choice;
use crate::money::{Amount, AmountError, Currency};

pub use operation::Operation;
pub use proof::{Presence, authenticated_elsewhere, has_authentication_result};

/// What is asked for beyond the formats: by the entity's settings, and by how the payment will be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// Any customer parameter requires given name and surname, as the specification has it.
    pub customer_names_required: bool,
    /// The gateway itself will have the shopper authenticated by 3D, version 2, which needs to know the browser and
    /// the billing address.
    pub authenticates: bool,
    /// The hosted form has told what it could find out for that authentication: what a page without scripts, or without
    /// fields for an address, cannot tell is not asked for.
    pub collected_by_form: bool,
    /// Part of the cardholder in the payment.
    pub presence: Presence,
}

impl Default for Requirements {
    fn default() -> Self {
        Self {
            customer_names_required: true,
            authenticates: false,
            collected_by_form: false,
            presence: Presence::default(),
        }
    }
}

/// Judges whether everything is there that the operation needs, and whether what is there goes together. Formats are
/// judged by [`super::check_formats`]; what has the wrong format is left alone here.
pub fn check_complete(
    parameters: &Parameters,
    operation: Operation,
    requirements: &Requirements,
) -> Vec<ParameterError> {
    let mut check = Check { parameters, requirements, errors: Vec::new() };
    match operation {
        Operation::CreateCheckout => {
            let tokenisation = check.is("createRegistration", "true") && !parameters.contains("paymentType");
            if !tokenisation {
                check.basic_payment(operation);
            }
            check.cardholder_present();
        }
        Operation::UpdateCheckout => {
            check.payment_type(operation);
            check.cardholder_present();
            for (name, value) in parameters.with_prefix("overridePaymentType[") {
                check.errors.push(ParameterError::new(name, Some(value), "may be set only when a checkout is created"));
            }
        }
        Operation::Payment => {
            check.basic_payment(operation);
            check.refers_to_nothing();
            // Someone who fills in a new account has not taken the stored one.
            if check.has("registrationId") && !check.has("card.number") {
                check.stored_account();
            } else {
                check.account();
            }
            check.proofs();
            check.details();
        }
        Operation::PaymentByRegistration => {
            check.basic_payment(operation);
            check.refers_to_nothing();
            check.stored_account();
            check.proofs();
            check.details();
        }
        Operation::CreateRegistration => {
            check.account();
            check.first_of_series();
            check.third_party();
            check.details();
        }
        Operation::Capture | Operation::Refund => {
            check.basic_payment(operation);
            check.details();
        }
        Operation::Reversal => {
            check.require("paymentType");
            check.payment_type(operation);
            check.details();
        }
        Operation::Chargeback => {
            check.require("chargebackResultCode");
            check.details();
        }
        Operation::Schedule => {
            check.require("registrationId");
            check.basic_payment(operation);
            if Presence::of_server_request(parameters) == Presence::Merchant {
                check.without_shopper();
            }
            check.details();
        }
        Operation::Report => check.report(),
    }
    check.amounts();
    check.errors
}

/// Judges what an authentication of the shopper asks for besides, where everything else has been judged already.
pub fn check_authentication(parameters: &Parameters, requirements: &Requirements) -> Vec<ParameterError> {
    let mut check = Check { parameters, requirements, errors: Vec::new() };
    check.authentication();
    check.agreement();
    check.errors
}

struct Check<'a> {
    parameters: &'a Parameters,
    requirements: &'a Requirements,
    errors: Vec<ParameterError>,
}

impl Check<'_> {
    fn is(&self, name: &str, value: &str) -> bool {
        self.parameters.get(name) == Some(value)
    }

    fn has(&self, name: &str) -> bool {
        self.parameters.contains(name)
    }

    fn has_any(&self, prefix: &str) -> bool {
        self.parameters.with_prefix(prefix).next().is_some()
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

    fn basic_payment(&mut self, operation: Operation) {
        self.require("amount");
        self.require("currency");
        self.require("paymentType");
        self.payment_type(operation);
    }

    /// Each request has payment types of its own.
    fn payment_type(&mut self, operation: Operation) {
        let Some(sent) = self.parameters.get("paymentType").filter(|sent| !sent.is_empty()) else { return };
        if let Err(message) = choice::check(sent, operation.payment_types()) {
            self.refuse("paymentType", message);
        }
    }

    /// The shopper of a checkout is present: nobody charges without the shopper there (contract, 0.14).
    fn cardholder_present(&mut self) {
        if self.is("standingInstruction.source", "MIT") {
            self.refuse("standingInstruction.source", "must be CIT in a checkout: its shopper is present");
        }
    }

    /// A payment that begins anew is about no earlier one.
    fn refers_to_nothing(&mut self) {
        if self.has("referencedPaymentId") {
            self.refuse("referencedPaymentId", "goes with the payment types CP, RV and RF");
        }
    }

    /// The currency must be able to express the amounts.
    fn amounts(&mut self) {
        let Some(currency) = self.parameters.get("currency").and_then(Currency::parse) else { return };
        for name in ["amount", "taxAmount"] {
            if let Some(text) = self.parameters.get(name)
                && let Err(error @ AmountError::Precision(_)) = Amount::parse(text, currency)
            {
                self.refuse(name, error.message());
            }
        }
    }

    /// What goes together whatever the operation.
    fn details(&mut self) {
        self.people();
        self.addresses();
        self.recurring_migration();
        self.job();
    }

    /// Days are counted in the month or in the week, and nothing ends before it starts.
    fn job(&mut self) {
        if self.has("job.dayOfMonth") && self.has("job.dayOfWeek") {
            self.refuse("job.dayOfWeek", "may not be sent together with job.dayOfMonth");
        }
        self.in_order("job.startDate", "job.endDate");
    }

    /// A report covers whole days, the first and the last included.
    fn report(&mut self) {
        self.require("date.from");
        self.require("date.to");
        self.in_order("date.from", "date.to");
    }

    /// Days and times are written so that their texts are in order when they are.
    fn in_order(&mut self, first: &str, last: &str) {
        if let (Some(from), Some(to)) = (self.parameters.get(first), self.parameters.get(last))
            && to < from
        {
            self.refuse(last, format!("may not be before {first}"));
        }
    }

    /// The first payment of a registration from another system has a type.
    fn recurring_migration(&mut self) {
        if self.has_any("recurringMigration.") {
            self.require("recurringMigration.paymentType");
        }
    }
}
