//! The catalogue of parameters: every parameter that a request can carry is described once, as data.
//!
//! From the same rows come the server's checks, the form's checks, the reference pages and the generated tests. A new
//! parameter is a new row in `rows/`; a rule that ties several together is a line in `complete/`.

mod catalogue;
mod check;
mod complete;
mod lists;
mod normalize;
mod rows;
mod set;

use serde::Serialize;

pub use catalogue::{browser_may_set, catalogue, count, find, index, is_keyed};
pub(crate) use check::shown_name;
pub use check::{check_card_numbers, check_formats, unknown};
pub use complete::{
    Operation, Presence, Requirements, authenticated_elsewhere, check_authentication, check_complete,
    has_authentication_result,
};
pub use lists::{MAX_OMITTED, check_lists};
pub use normalize::normalize;
pub use set::Parameters;

use crate::format::Format;

/// A parameter, as the catalogue describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name. `[n]` stands for an index from 0 to 999, `[name]`, `[key]` and `[brand]` for a key of the sender's.
    pub name: &'static str,
    /// The group of the specification that it belongs to.
    pub group: Group,
    /// How its value must look.
    pub format: Format,
    /// How it may look in the compatibility mode, where that is another format.
    pub compatible: Option<Format>,
    /// Two different values of it in one request are refused, also in the compatibility mode.
    pub once: bool,
    /// Whether it must be there.
    pub need: Need,
    /// Whether the shopper's browser may set it.
    pub browser: bool,
    /// Whether its value must never be shown, logged or sent back.
    pub secret: bool,
    /// What counts where it is not sent.
    pub default: Option<DefaultValue>,
    /// What it means, for the reference page.
    pub note: &'static str,
}

/// What counts where a parameter is not sent and the rest of its group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// This value.
    Value(&'static str),
    /// The value of the parameter with this name.
    Of(&'static str),
    /// The time of the request.
    Now,
}

/// Whether a parameter must be there, as the specification says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always, where its group is used.
    Required,
    /// In some situations.
    Conditional,
    /// Never.
    Optional,
}

/// The groups of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Amount, currency, type, brand and references.
    BasicPayment,
    /// Who sends the request, in the form of body fields.
    Authentication,
    /// The card.
    Card,
    /// A wallet's token, or what was in it.
    Wallet,
    /// An account at the brand.
    VirtualAccount,
    /// A bank account and the mandate to debit it.
    BankAccount,
    /// The shopper.
    Customer,
    /// The one who gets the goods.
    ShippingCustomer,
    /// The shopper's address.
    Billing,
    /// The address that the goods go to.
    Shipping,
    /// The company that somebody buys for.
    Corporate,
    /// The merchant, where something else than usual shall be said.
    Merchant,
    /// Where the merchant bills from.
    MerchantBilling,
    /// Where the goods come from.
    MerchantShipping,
    /// What is in the cart.
    CartItems,
    /// What has been paid of the cart already.
    CartPayments,
    /// Flights.
    Airline,
    /// Storing payment data, and using what is stored.
    Registration,
    /// The first payment of a registration from another system.
    RecurringMigration,
    /// 3D authentication, done elsewhere or asked for.
    ThreeDSecure,
    /// Parameters of the sender's own.
    Custom,
    /// Where the shopper and the news are sent to.
    Asynchronous,
    /// The days of a report.
    Reporting,
    /// What payments are asked for by.
    Query,
    /// Gift cards that are sent to somebody.
    GiftCard,
    /// What the risk check shall know.
    Risk,
    /// When a schedule runs.
    Job,
    /// Card on file.
    StandingInstruction,
    /// The reason of a chargeback.
    Chargeback,
    /// What the form sends for itself; accepted and dropped.
    Form,
}

/// Formats that a request is judged by (contract, 0.23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Formats {
    /// Those of the specification.
    #[default]
    Specified,
    /// Those of the compatibility mode, for clients that were written for another gateway.
    Compatible,
}

impl Parameter {
    /// Returns the format of the parameter's values among these.
    pub fn format_in(&self, formats: Formats) -> Format {
        self.compatible.filter(|_| formats == Formats::Compatible).unwrap_or(self.format)
    }
}

impl Group {
    /// Its heading on the reference page.
    pub fn title(self) -> &'static str {
        match self {
            Self::BasicPayment => "Basic payment",
            Self::Authentication => "Authentication in the body",
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
            Self::ThreeDSecure => "3D authentication",
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

/// What is wrong with a parameter, as `parameterErrors` says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParameterError {
    /// The parameter's name.
    pub name: String,
    /// Its value; `None` when it is missing or secret.
    pub value: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// How rows are written: a constructor with what every row has, and one word for each thing out of the ordinary.
impl Parameter {
    const fn new(group: Group, name: &'static str, need: Need, format: Format, note: &'static str) -> Self {
        Self {
            name,
            group,
            format,
            compatible: None,
            once: false,
            need,
            browser: false,
            secret: false,
            default: None,
            note,
        }
    }

    /// The shopper's browser may set it.
    const fn by_browser(self) -> Self {
        Self { browser: true, ..self }
    }

    /// Without it, this counts.
    const fn or(self, default: DefaultValue) -> Self {
        Self { default: Some(default), ..self }
    }

    /// In the compatibility mode, it may look like this.
    const fn compatible(self, format: Format) -> Self {
        Self { compatible: Some(format), ..self }
    }

    /// It has one value in a request.
    const fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// Its value is shown to nobody.
    const fn secret(self) -> Self {
        Self { secret: true, ..self }
    }
}

#[cfg(test)]
mod tests;
