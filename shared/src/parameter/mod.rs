//! The parameter catalogue: every parameter of a request is described once, as data.
//!
//! The server's checks, the form's checks, the reference pages and generated tests are made from the same rows. A new
//! parameter is a new row in `rows/`; a rule about several parameters is a line in `complete/`.

mod catalogue;
mod check;
mod complete;
mod lists;
mod normalize;
mod rows;
mod set;

use serde::Serialize;

pub use catalogue::{all_parameters, can_come_from_browser, count_parameters, find_parameter, is_keyed, parse_index};
pub(crate) use check::displayable_name;
pub use check::{check_card_numbers, check_formats, unknown_names};
pub use complete::{
    Operation, Presence, Requirements, check_complete, check_three_ds, has_eci_and_cavv, has_external_three_ds,
};
pub use lists::{MAX_OMITTED, check_lists};
pub use normalize::normalize_parameters;
pub use set::Parameters;

use crate::format::Format;

/// A parameter in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name. `[n]` stands for an index from 0 to 999, `[name]`, `[key]` and `[brand]` for the sender's own key.
    pub name: &'static str,
    /// Its group in the specification.
    pub group: ParameterGroup,
    /// The format of its value.
    pub format: Format,
    /// Its format in the compatibility mode, if it differs.
    pub compatible_format: Option<Format>,
    /// True if two different values in one request are refused, even in the compatibility mode.
    pub single_valued: bool,
    /// Says if it is required.
    pub need: Need,
    /// True if the shopper's browser may set it.
    pub browser: bool,
    /// True if its value must never be shown, logged or returned.
    pub secret: bool,
    /// Its default value.
    pub default: Option<DefaultValue>,
    /// Its meaning, for the reference page.
    pub note: &'static str,
}

/// Default value of a parameter, if it is not sent and others of its group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// This value.
    Value(&'static str),
    /// The value of the parameter with this name.
    SameAs(&'static str),
    /// The time of the request.
    Now,
}

/// Requirement of a parameter, as stated in the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always, if its group is used.
    Required,
    /// In some situations.
    Conditional,
    /// Never.
    Optional,
}

/// Groups of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterGroup {
    /// Amount, currency, type, brand and references.
    BasicPayment,
    /// Credentials of the sender, in the body.
    Authentication,
    /// The card.
    Card,
    /// A wallet's token, or its decrypted content.
    Wallet,
    /// An account at the brand.
    VirtualAccount,
    /// A bank account and the mandate to debit it.
    BankAccount,
    /// The shopper.
    Customer,
    /// The recipient of the goods.
    ShippingCustomer,
    /// The shopper's address.
    Billing,
    /// The address to which the goods are sent.
    Shipping,
    /// The company that the shopper buys for.
    Corporate,
    /// The merchant, if the statement should show other data than usual.
    Merchant,
    /// The merchant's billing address.
    MerchantBilling,
    /// The address from which the goods are sent.
    MerchantShipping,
    /// The items of the cart.
    CartItems,
    /// Earlier payments for the cart.
    CartPayments,
    /// Flights.
    Airline,
    /// Storing payment data, and using stored data.
    Registration,
    /// The first payment of a registration from another system.
    RecurringMigration,
    /// 3-D Secure: external results, and requests for an authentication.
    ThreeDs,
    /// The sender's own parameters.
    Custom,
    /// Addresses for the shopper's return and for notifications.
    Asynchronous,
    /// The days of a report.
    Reporting,
    /// Search parameters of queries.
    Query,
    /// Gift cards for recipients.
    GiftCard,
    /// Data for the risk check.
    Risk,
    /// Times of a schedule.
    Job,
    /// Stored credentials.
    StandingInstruction,
    /// The reason of a chargeback.
    Chargeback,
    /// Fields that the form sends for itself; accepted and dropped.
    Form,
}

/// Sets of formats for checking a request (contract, 0.23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatSet {
    /// The formats of the specification.
    #[default]
    Specified,
    /// The formats of the compatibility mode, for clients that were written for another gateway.
    Compatible,
}

impl Parameter {
    /// Returns the format of the parameter's values in this set. Without a compatible format it is the specified one.
    pub fn format_in(&self, formats: FormatSet) -> Format {
        self.compatible_format.filter(|_| formats == FormatSet::Compatible).unwrap_or(self.format)
    }
}

impl ParameterGroup {
    /// Returns its heading on the reference page.
    pub fn title(self) -> &'static str {
        match self {
            Self::BasicPayment => "Basic payment",
            Self::Authentication => "Credentials in the body",
            Self::Card => "Card account",
            Self::Wallet => "Wallet payment",
            Self::VirtualAccount => "Virtual account",
            Self::BankAccount => "Bank account",
            Self::Customer => "Customer",
            Self::ShippingCustomer => "Shipping customer",
            Self::Billing => "Billing address",
            Self::Shipping => "Shipping address",
            Self::Corporate => "Corporate",
            Self::Merchant => "Merchant",
            Self::MerchantBilling => "Merchant billing address",
            Self::MerchantShipping => "Merchant shipping address",
            Self::CartItems => "Cart items",
            Self::CartPayments => "Cart payments",
            Self::Airline => "Airline",
            Self::Registration => "Tokenization and registration",
            Self::RecurringMigration => "Recurring migration",
            Self::ThreeDs => "3-D Secure",
            Self::Custom => "Custom parameters",
            Self::Asynchronous => "Asynchronous payments",
            Self::Reporting => "Reporting",
            Self::Query => "Queries",
            Self::GiftCard => "Gift card",
            Self::Risk => "Risk",
            Self::Job => "Job scheduling",
            Self::StandingInstruction => "Card on file (standing instruction)",
            Self::Chargeback => "Chargeback",
            Self::Form => "Technical fields of the form",
        }
    }
}

/// Fault of a parameter, as in `parameterErrors`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParameterError {
    /// Name of the parameter.
    pub name: String,
    /// Its value. `None` if it is missing or secret.
    pub value: Option<String>,
    /// Description of the fault.
    pub message: String,
}

/// Constructor of rows with the columns that every row has, and a method for each other column.
impl Parameter {
    /// Creates a row without default and compatible format. It is not secret, not for browsers, and not single-valued.
    const fn new(group: ParameterGroup, name: &'static str, need: Need, format: Format, note: &'static str) -> Self {
        Self {
            name,
            group,
            format,
            compatible_format: None,
            single_valued: false,
            need,
            browser: false,
            secret: false,
            default: None,
            note,
        }
    }

    /// Allows the shopper's browser to set it.
    const fn allowed_in_browser(self) -> Self {
        Self { browser: true, ..self }
    }

    /// Sets its default value.
    const fn with_default(self, default: DefaultValue) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Sets its format in the compatibility mode.
    const fn with_compatible_format(self, format: Format) -> Self {
        Self { compatible_format: Some(format), ..self }
    }

    /// Allows only one value in a request.
    const fn with_single_value(self) -> Self {
        Self { single_valued: true, ..self }
    }

    /// Marks its value as secret.
    const fn marked_secret(self) -> Self {
        Self { secret: true, ..self }
    }
}

#[cfg(test)]
mod tests;
