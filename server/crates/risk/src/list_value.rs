//! Values of list entries, normalized exactly as the values of velocity keys: both come from the same function.

use ipnet::IpNet;
use tillgate_domain::ip_text;
use tillgate_domain::spelling::fold_mail_address;
use tillgate_shared::parameter::Parameters;

use super::{CheckInput, Facts, RiskLists, VelocityKey};

/// Largest length of a value in a list, in bytes.
pub const MAX_LIST_VALUE: usize = 2_048;

/// A value of a payment that lists may contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedValue {
    /// The name of its key.
    pub key: &'static str,
    /// The value.
    pub value: String,
    /// True if only the shopper's browser states it.
    pub is_from_browser: bool,
}

/// Returns the values of a payment that lists may contain.
pub fn read_listed_values(facts: &Facts<'_>) -> Vec<ListedValue> {
    let read = |(name, key): &(&'static str, VelocityKey)| {
        Some(ListedValue { key: name, value: key.read_value(facts)?, is_from_browser: key.is_from_browser(facts) })
    };
    VelocityKey::NAMED.iter().filter_map(read).collect()
}

/// Finds the key of lists with a name. Returns `None` if there is none.
pub fn find_list_key(name: &str) -> Option<(&'static str, VelocityKey)> {
    VelocityKey::NAMED.into_iter().find(|(known, _)| *known == name)
}

/// Normalizes a value for a list, so that it equals the key's value for payments. For `card` and `account` it is the
/// blind index. An address is written as street, postcode and country with `|` between.
///
/// # Errors
/// If no payment can have the value. The message follows the name of the value.
pub fn normalize_list_value(key: &VelocityKey, text: &str) -> Result<String, String> {
    if text.len() > MAX_LIST_VALUE {
        return Err(format!("may have {MAX_LIST_VALUE} bytes at most"));
    }
    let mut input = CheckInput::default();
    fill_input(&mut input, key, if *key == VelocityKey::Device { text } else { text.trim() })?;
    let value = key.read_value(&Facts { input: &input, lists: &RiskLists::default() });
    let is_empty = |value: &String| value.chars().all(|c| c == '|' || c.is_whitespace());
    value.filter(|value| !is_empty(value)).ok_or_else(|| "may not be empty".to_owned())
}

/// Sets in a payment what gives its key this value.
fn fill_input(input: &mut CheckInput, key: &VelocityKey, text: &str) -> Result<(), String> {
    let set = |parameters: &mut Parameters, name: &str, value: &str| parameters.set(name, value.to_owned());
    match key {
        VelocityKey::Card | VelocityKey::Account => {
            let is_index = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if !is_index {
                return Err("must be a blind index, 64 lowercase hexadecimal digits".to_owned());
            }
            let index = if *key == VelocityKey::Card { &mut input.card } else { &mut input.account };
            *index = Some(text.to_owned());
        }
        VelocityKey::Email => {
            if fold_mail_address(text).is_none() {
                return Err("must be an email address, such as jo@shop.example".to_owned());
            }
            set(&mut input.parameters, "customer.email", text);
        }
        VelocityKey::Ip => {
            let address = ip_text::parse_address(text);
            input.address = Some(address.ok_or_else(|| "must be an IP address, such as 203.0.113.7".to_owned())?);
        }
        VelocityKey::Network => input.address = Some(parse_network(text)?.addr()),
        VelocityKey::Device => set(&mut input.parameters, "customer.browserFingerprint.id", text),
        VelocityKey::Holder => set(&mut input.parameters, "card.holder", text),
        VelocityKey::Address => {
            let parts: Vec<&str> = text.split('|').collect();
            let &[street, postcode, country] = parts.as_slice() else {
                return Err("must be street, postcode and country with | between".to_owned());
            };
            set(&mut input.parameters, "billing.street1", street);
            set(&mut input.parameters, "billing.postcode", postcode);
            set(&mut input.parameters, "billing.country", country);
        }
        VelocityKey::Parameter(_) => return Err("has a key that lists do not have".to_owned()),
    }
    Ok(())
}

/// Reads a /24 of IPv4 or a /48 of IPv6, the networks that payments are counted by.
fn parse_network(text: &str) -> Result<IpNet, String> {
    let network = ip_text::parse_network(text).ok();
    let fits = |network: &IpNet| network.prefix_len() == if network.addr().is_ipv4() { 24 } else { 48 };
    network.filter(fits).ok_or_else(|| "must be a /24 of IPv4 or a /48 of IPv6, such as 203.0.113.0/24".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn find_key(name: &str) -> VelocityKey {
        VelocityKey::NAMED.into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    #[test]
    fn a_value_equals_that_of_the_payments_it_is_for() {
        let index = "0f".repeat(32);
        for (key, text, value) in [
            ("email", " Jo@Shop.Example ", "jo@shop.example"),
            ("email", "jo@shop.example.", "jo@shop.example"),
            ("email", "\"jo\"@shop.example", "jo@shop.example"),
            ("email", "Jo <jo@shop.example>", "jo@shop.example"),
            ("email", "ｊｏ＠shop.example", "jo@shop.example"),
            ("email", "jo@xn--mll-hoa.example", "jo@müll.example"),
            ("ip", "[2001:db8::1]", "2001:db8::1"),
            ("ip", "fe80::1%eth0", "fe80::1"),
            ("network", "::ffff:203.0.113.0/120", "203.0.113.0/24"),
            ("holder", "ＡNNE  MU\u{308}LLER", "anne müller"),
            ("address", "Ｍain St. 1|D-123|DE", "mainst1|d123|de"),
            ("ip", "::ffff:203.0.113.7", "203.0.113.7"),
            ("ip", "2001:DB8::1", "2001:db8::1"),
            ("network", "203.0.113.9/24", "203.0.113.0/24"),
            ("network", "2001:db8:0:1::/48", "2001:db8::/48"),
            ("device", "A b", "A b"),
            ("holder", " Jo  DOE ", "jo doe"),
            ("address", "Main St. 1|D-123|de", "mainst1|d123|de"),
            ("card", &index, &index),
            ("account", &index, &index),
        ] {
            assert_eq!(normalize_list_value(&find_key(key), text).unwrap(), value, "{key} {text}");
        }
    }

    #[test]
    fn a_value_that_no_payment_has_is_refused() {
        for (key, text) in [
            ("email", "shop.example"),
            ("email", ""),
            ("email", "@shop.example"),
            ("ip", "203.0.113.0/24"),
            ("network", "203.0.113.0/25"),
            ("network", "::ffff:203.0.113.0/24"),
            ("email", "jo@shop.example, x@evil.example"),
            ("email", "jo doe@shop.example"),
            ("network", "203.0.113.7"),
            ("device", "  "),
            ("holder", ""),
            ("address", "Main St. 1, 123"),
            ("address", "|.|-"),
            ("card", "4200000000000000"),
            ("account", ""),
        ] {
            assert!(normalize_list_value(&find_key(key), text).is_err(), "{key} {text}");
        }
        assert!(normalize_list_value(&find_key("device"), &"x".repeat(MAX_LIST_VALUE + 1)).is_err());
    }
}
