//! Checks the parameters of people and addresses that belong together.

use super::CompletenessCheck;

/// Parameters that the form or the gateway collect by themselves. They require no names.
const COLLECTED: [&str; 3] = ["customer.browser.", "customer.browserFingerprint.", "customer.ip"];
/// Prefixes of the parameters of persons with an identity document.
const PERSONS: [&str; 2] = ["customer.", "shipping.customer."];
/// Prefixes of addresses, and true if the street must contain more than digits: the specification says so for billing
/// only.
const ADDRESSES: [(&str, bool); 4] =
    [("billing.", true), ("shipping.", false), ("merchant.billing.", true), ("merchant.shipping.", false)];

impl CompletenessCheck<'_> {
    /// Checks the customer's names, unless the entity does not require them, and the identity documents of all persons.
    pub(super) fn check_people(&mut self) {
        if self.requirements.customer_names_required {
            self.require_customer_names();
        }
        for person in PERSONS {
            if self.has_prefix(person) {
                self.check_identity_document(person);
            }
        }
    }

    /// Checks the house numbers of the addresses that are sent, and the street if the specification has a rule for it.
    pub(super) fn check_addresses(&mut self) {
        for (address, checks_street) in ADDRESSES {
            if self.has_prefix(address) {
                self.check_house_number(address);
                if checks_street {
                    self.check_street(address);
                }
            }
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

    /// Checks that an identity document has both kind and number.
    fn check_identity_document(&mut self, person: &str) {
        let (kind, number) = (format!("{person}identificationDocType"), format!("{person}identificationDocId"));
        if self.has_parameter(&kind) {
            self.require(&number);
        } else if self.has_parameter(&number) {
            self.require(&kind);
        }
    }

    /// Checks that a second house number comes with a first one.
    fn check_house_number(&mut self, address: &str) {
        if self.has_parameter(&format!("{address}houseNumber2")) {
            self.require(&format!("{address}houseNumber1"));
        }
    }

    /// Checks that `street1` and `street2` together are more than digits. `street2` is ignored beside a house number.
    /// An address without a street passes.
    fn check_street(&mut self, address: &str) {
        let name = |field: &str| format!("{address}{field}");
        // With a house number, street2 is ignored.
        let second =
            if self.has_parameter(&name("houseNumber1")) { None } else { self.parameters.get(&name("street2")) };
        let street1 = self.parameters.get(&name("street1"));
        let mut street =
            street1.into_iter().chain(second).flat_map(str::chars).filter(|c| !c.is_whitespace()).peekable();
        if street.peek().is_some() && street.all(char::is_numeric) {
            let field = if street1.is_some() { "street1" } else { "street2" };
            self.refuse(&name(field), "street1 and street2 together may not be digits only");
        }
    }
}
