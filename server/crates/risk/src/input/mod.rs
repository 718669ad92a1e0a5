//! Input of an assessment: the facts that the gateway gives, and the operator's lists.

pub(super) mod read;

use std::collections::BTreeSet;
use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp, Zoned};
use tillgate_domain::ip_text;
use tillgate_domain::risk::list::RiskListKind;
use tillgate_domain::spelling::fold_text;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use super::fact::{Value, parse_decimal};
use super::{BinTable, DomainList, NetworkTable};

/// The payment to assess. Unknown fields are `None`, and the facts that need them are missing.
#[derive(Debug, Clone, Default)]
pub struct CheckInput {
    /// Parameters of the request and of the registration. Those that may not reach the check are not read.
    pub parameters: Parameters,
    /// Names of the parameters that the shopper's browser set.
    pub from_browser: BTreeSet<String>,
    /// Names of the parameters that the gateway set.
    pub from_gateway: BTreeSet<String>,
    /// Time of the check.
    pub at: Timestamp,
    /// Amount of the payment.
    pub amount: Option<Amount>,
    /// Code of the brand.
    pub brand: Option<String>,
    /// First digits of the card number. Rules read six of them.
    pub bin: Option<String>,
    /// Country of the card's issuer, two letters.
    pub card_country: Option<String>,
    /// Funding of the card: `credit`, `debit`, `prepaid` or `charge`.
    pub card_funding: Option<String>,
    /// Answer of the address check.
    pub avs: Option<char>,
    /// Answer of the security code's check.
    pub cvv: Option<char>,
    /// Transaction status of 3-D Secure.
    pub three_ds_result: Option<char>,
    /// ECI of 3-D Secure, two digits.
    pub eci: Option<String>,
    /// True if the issuer bears the loss of a fraud.
    pub liability_shifted: Option<bool>,
    /// Address of the shopper's client as the gateway saw it. `None` for a request of the merchant's server.
    pub address: Option<IpAddr>,
    /// Time since the account was first seen.
    pub account_age: Option<SignedDuration>,
    /// Time since the stored account was registered.
    pub registration_age: Option<SignedDuration>,
    /// Blind index of the card number, the velocity key `card`. Never the number.
    pub card: Option<String>,
    /// Blind index of the bank account, virtual account or card, the velocity key `account`.
    pub account: Option<String>,
    /// The knowledge of the risk system about a checkout, for its offers. `None` for a payment.
    pub verdict: Option<CheckoutVerdict>,
}

/// Judgement of rules and lists about a checkout that nobody has paid yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutVerdict {
    /// Score of the rules.
    pub score: i32,
    /// Lists with an entry for the checkout.
    pub lists: Vec<RiskListKind>,
}

/// The operator's lists. An empty list means that nothing is known.
#[derive(Debug, Clone, Default)]
pub struct RiskLists {
    /// Countries of networks.
    pub networks: NetworkTable,
    /// Domains of disposable e-mail addresses.
    pub disposable: DomainList,
    /// Countries and fundings of cards.
    pub bins: BinTable,
}

/// A payment and the operator's lists, from which every fact follows.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// The payment.
    pub input: &'a CheckInput,
    /// The operator's lists.
    pub lists: &'a RiskLists,
}

/// Facts, and the time of the check in the zone of the rules.
pub(super) struct Reading<'a> {
    pub(super) facts: Facts<'a>,
    pub(super) time: Zoned,
}

impl Reading<'_> {
    /// Reads a parameter as text.
    pub(super) fn read_text(&self, name: &str) -> Option<Value> {
        self.facts.input.parameters.get(name).map(Value::from_text)
    }

    /// Reads a parameter as number.
    pub(super) fn read_number(&self, name: &str) -> Option<Value> {
        self.facts.input.parameters.get(name).and_then(parse_decimal).map(Value::Number)
    }

    /// Returns true if a list has an entry for the checkout. `None` for a payment.
    pub(super) fn is_on_list(&self, list: RiskListKind) -> Option<Value> {
        let verdict = self.facts.input.verdict.as_ref()?;
        Some(Value::Flag(verdict.lists.contains(&list)))
    }

    /// Returns true if two parameters differ in their letters and digits. `None` if one of them is missing.
    pub(super) fn compare_parameters(&self, one: &str, other: &str) -> Option<Value> {
        let parameters = &self.facts.input.parameters;
        Some(Value::Flag(is_different(parameters.get(one)?, parameters.get(other)?)))
    }
}

/// Returns true if two texts differ in their letters and digits, whose case and width are ignored.
fn is_different(one: &str, other: &str) -> bool {
    let letters = |text: &str| fold_text(text).chars().filter(|c| c.is_alphanumeric()).collect();
    let (one, other): (String, String) = (letters(one), letters(other));
    one != other
}

impl Facts<'_> {
    /// Returns the amount to assess, in hundredths: `risk.amount` if it was sent.
    pub(super) fn find_hundredths(&self) -> Option<i64> {
        let amount = self.input.amount?;
        let other =
            self.input.parameters.get("risk.amount").and_then(|text| Amount::parse(text, amount.currency()).ok());
        Some(other.unwrap_or(amount).hundredths())
    }

    /// Returns the shopper's address: the one that the gateway saw, otherwise `customer.ip`.
    pub(super) fn find_address(&self) -> Option<IpAddr> {
        let sent = || ip_text::parse_address(self.input.parameters.get("customer.ip")?);
        self.input.address.or_else(sent).map(|address: IpAddr| address.to_canonical())
    }

    /// Returns the network of the shopper's address: its /24, or its /48 for IPv6.
    pub(super) fn find_network(&self) -> Option<String> {
        let address = self.find_address()?;
        let length = if address.is_ipv4() { 24 } else { 48 };
        ipnet::IpNet::new(address, length).ok().map(|network| network.trunc().to_string())
    }

    /// Returns the device's fingerprint, with the name of its parameter.
    pub(super) fn find_device(&self) -> Option<(&'static str, &str)> {
        let names =
            ["customer.browserFingerprint.id", "customer.browserFingerprint.value", "customer.browser.deviceId"];
        names.into_iter().find_map(|name| Some((name, self.input.parameters.get(name)?)))
    }
}
