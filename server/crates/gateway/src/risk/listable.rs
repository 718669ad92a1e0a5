//! The values of a payment that a person can put on a list: its card or account, the customer's e-mail address, and the
//! address of the shopper's client.

use std::net::IpAddr;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::ip_text::parse_address;
use tillgate_domain::payment::{Account, Payment};
use tillgate_domain::risk::list::{RiskListKind, to_list_value};
use tillgate_risk::{VelocityKey, find_list_key};

use super::list_entries::{EntryPlace, EntryValue};
use super::listed_account::normalize_value;
use crate::Gateway;

/// A value of a payment that a list takes.
pub struct ListableValue {
    /// The key with its name.
    pub key: (&'static str, VelocityKey),
    /// The value for people. Of a card or account, the last four characters.
    pub shown: String,
    /// The value as the lists of the entity store it.
    value: String,
}

impl ListableValue {
    /// Returns the place of the value in a list.
    pub fn into_place(self, list: RiskListKind) -> EntryPlace {
        EntryPlace { list, key: self.key, value: EntryValue::Index(self.value) }
    }
}

impl Gateway {
    /// Finds the values of a payment that the lists of an entity take. The card or account is among them if the risk
    /// check of the payment has read it.
    pub fn find_listable_values(&self, entity: &Entity, payment: &Payment) -> Vec<ListableValue> {
        let (name, end) = match &payment.account {
            Account::Card(card) => ("card", Some(&*card.last4)),
            Account::Bank(bank) => ("account", bank.last4.as_deref()),
            Account::Virtual(_) | Account::Unknown => ("account", None),
        };
        let account = self.find_account_index(payment).and_then(|index| {
            let value = to_list_value(&entity.id, name, &index).into_owned();
            Some(ListableValue { key: find_list_key(name)?, shown: end.unwrap_or_default().to_owned(), value })
        });
        let plain = |name: &str, text: String| {
            let (name, key) = find_list_key(name)?;
            let value = normalize_value(&key, &text).ok()?;
            Some(ListableValue { key: (name, key), shown: text, value })
        };
        let mail = payment.parameters.get("customer.email").and_then(|mail| plain("email", mail.to_owned()));
        let address = client_address(payment).and_then(|address| plain("ip", address.to_string()));
        [account, mail, address].into_iter().flatten().collect()
    }

    /// Returns the blind index of the account of a payment. `None` if its risk check has not read the account.
    pub(crate) fn find_account_index(&self, payment: &Payment) -> Option<String> {
        let masked = payment.risk.as_ref()?.context.masked_index.as_ref()?;
        self.account_index.mask_index(&payment.id, masked)
    }
}

/// Returns the address of the shopper's client: the one that the risk check has seen, or else the merchant's.
pub(crate) fn client_address(payment: &Payment) -> Option<IpAddr> {
    let seen = payment.risk.as_ref().and_then(|risk| risk.context.address);
    let sent = || payment.parameters.get("customer.ip").and_then(parse_address);
    seen.map(|address| address.to_canonical()).or_else(sent)
}
