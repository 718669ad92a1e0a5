//! Checks the parameters of people and addresses that belong together.

use super::CompletenessCheck;

/// Parameters that the form or the gateway collect by themselves. They require no names.
const COLLECTED: [&str; 3] = ["customer.browser.", "customer.browserFingerprint.", "customer.ip"];
/// Identity documents of persons, each by the names of its kind and its number.
const DOCUMENTS: [(&str, &str); 2] = [
    ("customer.identificationDocType", "customer.identificationDocId"),
    ("shipping.customer.identificationDocType", "shipping.customer.identificationDocId"),
];
/// House numbers of addresses, first and second.
const HOUSE_NUMBERS: [(&str, &str); 4] = [
    ("billing.houseNumber1", "billing.houseNumber2"),
    ("shipping.houseNumber1", "shipping.houseNumber2"),
    ("merchant.billing.houseNumber1", "merchant.billing.houseNumber2"),
    ("merchant.shipping.houseNumber1", "merchant.shipping.houseNumber2"),
];
/// Addresses whose street must contain more than digits, each by the names of its street and its house number. The
/// specification says so for billing only.
const STREETS: [[&str; 3]; 2] = [
    ["billing.street1", "billing.street2", "billing.houseNumber1"],
    ["merchant.billing.street1", "merchant.billing.street2", "merchant.billing.houseNumber1"],
];

impl CompletenessCheck<'_> {
    /// Checks the customer's names, unless the entity does not require them, and the identity documents of all persons.
    pub(super) fn check_people(&mut self) {
        if self.requirements.customer_names_required {
            self.require_customer_names();
        }
        for (kind, number) in DOCUMENTS {
            self.require_together(kind, number);
        }
    }

    /// Checks that a second house number of an address comes with a first one, and the streets for which the
    /// specification has a rule.
    pub(super) fn check_addresses(&mut self) {
        for (first, second) in HOUSE_NUMBERS {
            if self.has_parameter(second) {
                self.require(first);
            }
        }
        for names in STREETS {
            self.check_street(names);
        }
    }

    /// Requires given name and surname if any parameter of the customer is sent that the form or the gateway does not
    /// collect by itself.
    fn require_customer_names(&mut self) {
        let sent = self
            .parameters
            .with_prefix("customer.")
            .any(|(name, _)| !COLLECTED.iter().any(|collected| name.starts_with(collected)));
        if sent {
            self.require("customer.givenName");
            self.require("customer.surname");
        }
    }

    /// Requires both parameters if one of them is sent.
    fn require_together(&mut self, one: &str, other: &str) {
        if self.has_parameter(one) {
            self.require(other);
        } else if self.has_parameter(other) {
            self.require(one);
        }
    }

    /// Checks that both parts of a street together are more than digits. The second part is ignored beside a house
    /// number. An address without a street passes.
    fn check_street(&mut self, [first, second, house_number]: [&str; 3]) {
        let street1 = self.parameters.get(first);
        let street2 = if self.has_parameter(house_number) { None } else { self.parameters.get(second) };
        let mut street =
            street1.into_iter().chain(street2).flat_map(str::chars).filter(|c| !c.is_whitespace()).peekable();
        if street.peek().is_some() && street.all(char::is_numeric) {
            let name = if street1.is_some() { first } else { second };
            self.refuse(name, "street1 and street2 together may not be digits only");
        }
    }
}
