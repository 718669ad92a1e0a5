//! Checks that all parameters that an operation needs are present and consistent.

mod account;
mod operation;
mod person;
mod presence;

use super::ParameterError;
use super::set::Parameters;
use crate::format::choice;
use crate::money::{Amount, AmountError, Currency};

pub use operation::Operation;
pub use presence::{Presence, has_eci_and_cavv, has_external_three_ds};

/// Requirements beyond the formats, from the entity's settings and from the way in which the payment will be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requirements {
    /// Any customer parameter requires given name and surname, as in the specification.
    pub customer_names_required: bool,
    /// The gateway itself will authenticate the shopper with 3-D Secure, version 2, which needs the browser's data and
    /// the billing address.
    pub runs_three_ds: bool,
    /// The hosted form has sent the data that it could collect for that authentication. Data that a page without
    /// scripts, or without fields for an address, cannot collect are not required.
    pub collected_by_form: bool,
    /// Presence of the cardholder in the payment.
    pub presence: Presence,
}

impl Default for Requirements {
    fn default() -> Self {
        Self {
            customer_names_required: true,
            runs_three_ds: false,
            collected_by_form: false,
            presence: Presence::default(),
        }
    }
}

/// Returns the faults of the parameters: those that the operation needs and that are missing, and those that do not fit
/// each other or the operation. [`super::check_formats`] checks the formats.
pub fn check_complete(
    parameters: &Parameters,
    operation: Operation,
    requirements: &Requirements,
) -> Vec<ParameterError> {
    let mut check = CompletenessCheck { parameters, requirements, errors: Vec::new() };
    check.check_operation(operation);
    check.check_amounts();
    check.errors
}

impl CompletenessCheck<'_> {
    /// Adds the faults of an operation, apart from those of amounts.
    fn check_operation(&mut self, operation: Operation) {
        match operation {
            Operation::CreateCheckout => self.check_new_checkout(),
            Operation::UpdateCheckout => {
                self.check_payment_type(operation);
                self.refuse_merchant_initiated();
                for (name, value) in self.parameters.with_prefix("overridePaymentType[") {
                    self.errors.push(ParameterError::new(
                        name,
                        Some(value),
                        "may be set only when a checkout is created",
                    ));
                }
            }
            Operation::Payment => self.check_new_payment(),
            Operation::PaymentByRegistration => {
                self.require_basic_payment(operation);
                self.refuse_reference();
                self.refuse_account();
                self.check_presence();
                self.check_consistency();
            }
            Operation::CreateRegistration => {
                self.check_account();
                self.check_initial_payment();
                self.check_external_three_ds();
                self.check_consistency();
            }
            Operation::Capture | Operation::Increment | Operation::Refund => {
                self.require_basic_payment(operation);
                self.check_consistency();
            }
            Operation::Reversal | Operation::ChargebackReversal => {
                self.require("paymentType");
                self.check_payment_type(operation);
                self.check_consistency();
            }
            Operation::Chargeback => {
                self.require("chargebackResultCode");
                self.check_consistency();
            }
            Operation::Schedule => {
                self.require("registrationId");
                self.require_basic_payment(operation);
                if Presence::from_server_request(self.parameters) == Presence::Merchant {
                    self.refuse_code_and_three_ds();
                }
                self.check_consistency();
            }
            Operation::Report => self.check_report(),
        }
    }

    /// Adds the faults of a new checkout. One that only stores an account needs no payment.
    fn check_new_checkout(&mut self) {
        let tokenization = self.has_value("createRegistration", "true") && !self.parameters.contains("paymentType");
        if !tokenization {
            self.require_basic_payment(Operation::CreateCheckout);
        }
        self.refuse_merchant_initiated();
    }

    /// Adds the faults of a new payment.
    fn check_new_payment(&mut self) {
        self.require_basic_payment(Operation::Payment);
        self.refuse_reference();
        // A newly entered account takes precedence over the stored one.
        if self.has_parameter("registrationId") && !self.has_parameter("card.number") {
            self.refuse_account();
        } else {
            self.check_account();
        }
        self.check_presence();
        self.check_consistency();
    }
}

/// Returns the faults of the parameters that 3-D Secure needs in addition, after all other checks: the browser's data
/// and the address if the gateway runs it, and the terms of a standing instruction.
pub fn check_three_ds(parameters: &Parameters, requirements: &Requirements) -> Vec<ParameterError> {
    let mut check = CompletenessCheck { parameters, requirements, errors: Vec::new() };
    check.require_three_ds_data();
    check.require_instruction_terms();
    check.errors
}

struct CompletenessCheck<'a> {
    parameters: &'a Parameters,
    requirements: &'a Requirements,
    errors: Vec<ParameterError>,
}

impl CompletenessCheck<'_> {
    fn has_value(&self, name: &str, value: &str) -> bool {
        self.parameters.get(name) == Some(value)
    }

    fn has_parameter(&self, name: &str) -> bool {
        self.parameters.contains(name)
    }

    fn has_prefix(&self, prefix: &str) -> bool {
        self.parameters.with_prefix(prefix).next().is_some()
    }

    /// Reports a parameter that is missing or empty.
    fn require(&mut self, name: &str) {
        if self.parameters.get(name).is_none_or(str::is_empty) {
            self.errors.push(ParameterError::missing(name));
        }
    }

    /// Reports a missing parameter, unless the other one is present. The error has the first name.
    fn require_either(&mut self, name: &str, other: &str) {
        if !self.has_parameter(name) && !self.has_parameter(other) {
            self.refuse(name, format!("may not be empty unless {other} is sent"));
        }
    }

    /// Reports a parameter with its value and this message.
    fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.errors.push(ParameterError::new(name, self.parameters.get(name), message));
    }

    /// Requires amount, currency and payment type, and a type of the operation.
    fn require_basic_payment(&mut self, operation: Operation) {
        self.require("amount");
        self.require("currency");
        self.require("paymentType");
        self.check_payment_type(operation);
    }

    /// Checks that the payment type is one of those of the operation. A missing or empty one is not reported here.
    fn check_payment_type(&mut self, operation: Operation) {
        let Some(sent) = self.parameters.get("paymentType").filter(|sent| !sent.is_empty()) else { return };
        if let Err(message) = choice::check(sent, operation.payment_types()) {
            self.refuse("paymentType", message);
        }
    }

    /// Checks that a checkout is no merchant-initiated charge: its shopper is present (contract, 0.14).
    fn refuse_merchant_initiated(&mut self) {
        if self.has_value("standingInstruction.source", "MIT") {
            self.refuse("standingInstruction.source", "must be CIT in a checkout: its shopper is present");
        }
    }

    /// Checks that a new payment refers to no earlier one.
    fn refuse_reference(&mut self) {
        if self.has_parameter("referencedPaymentId") {
            self.refuse(
                "referencedPaymentId",
                "goes with the payment types CP, RV and RF, and with an increment of a PA",
            );
        }
    }

    /// Checks that the currency can express `amount` and `taxAmount`. Skips unknown currencies and malformed amounts.
    fn check_amounts(&mut self) {
        let Some(currency) = self.parameters.get("currency").and_then(Currency::parse) else { return };
        for name in ["amount", "taxAmount"] {
            if let Some(text) = self.parameters.get(name)
                && let Err(error @ AmountError::Precision(_)) = Amount::parse(text, currency)
            {
                self.refuse(name, error.message());
            }
        }
    }

    /// Checks what does not depend on the operation: people, addresses, migrated registrations and schedules.
    fn check_consistency(&mut self) {
        self.check_people();
        self.check_addresses();
        self.check_recurring_migration();
        self.check_job();
    }

    /// Checks that the days of a schedule are not given both in the month and in the week, and that it does not end
    /// before its start.
    fn check_job(&mut self) {
        if self.has_parameter("job.dayOfMonth") && self.has_parameter("job.dayOfWeek") {
            self.refuse("job.dayOfWeek", "may not be sent together with job.dayOfMonth");
        }
        self.check_order("job.startDate", "job.endDate");
    }

    /// Requires the first and the last day of a report, in this order.
    fn check_report(&mut self) {
        self.require("date.from");
        self.require("date.to");
        self.check_order("date.from", "date.to");
    }

    /// Reports `last` if its text sorts before that of `first`, which is the order of time for days or times in one
    /// format. A missing one is not reported.
    fn check_order(&mut self, first: &str, last: &str) {
        if let (Some(from), Some(to)) = (self.parameters.get(first), self.parameters.get(last))
            && to < from
        {
            self.refuse(last, format!("may not be before {first}"));
        }
    }

    /// Requires `recurringMigration.paymentType` if any `recurringMigration.` parameter is sent.
    fn check_recurring_migration(&mut self) {
        if self.has_prefix("recurringMigration.") {
            self.require("recurringMigration.paymentType");
        }
    }
}
