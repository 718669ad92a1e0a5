//! People and addresses: what of them comes together.

use super::Check;

/// What the form or the gateway finds out by itself; it asks for no names.
const COLLECTED: [&str; 3] = ["customer.browser.", "customer.browserFingerprint.", "customer.ip"];
/// Where a person's identity document is named.
const PERSONS: [&str; 2] = ["customer.", "shipping.customer."];
/// Addresses, and whether their street must be more than digits: the specification says so of billing only.
const ADDRESSES: [(&str, bool); 4] =
    [("billing.", true), ("shipping.", false), ("merchant.billing.", true), ("merchant.shipping.", false)];

impl Check<'_> {
    pub(super) fn people(&mut self) {
        if self.requirements.customer_names_required {
            self.customer_names();
        }
        for person in PERSONS {
            if self.has_any(person) {
                self.identification(person);
            }
        }
    }

    pub(super) fn addresses(&mut self) {
        for (address, named_street) in ADDRESSES {
            if self.has_any(address) {
                self.house_number(address);
                if named_street {
                    self.street(address);
                }
            }
        }
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
}
