//! The configuration of a form: the checkout, its brands and its stored accounts, from the documents of the frames.

use super::Source;
use crate::brand::{AccountType, Flow, FormKind};

/// Reason why a checkout cannot be paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClosedReason {
    /// Name of the error for `onError`.
    pub name: String,
    /// Its message.
    pub message: String,
    /// True if the checkout has been paid.
    pub paid: bool,
}

/// A brand that the checkout offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedBrand {
    /// Its code.
    pub code: String,
    /// Its name for shoppers.
    pub name: String,
    /// The kind of account that it charges.
    pub kind: AccountType,
    /// The way in which its payments get their results.
    pub flow: Flow,
    /// Its form.
    pub form: FormKind,
    /// Keys of its fields. A key that ends with `?` belongs to a field that may stay empty.
    pub fields: Vec<String>,
    /// Keys of fields that the merchant may switch on.
    pub extras: Vec<String>,
    /// False if the page has to bring the wallet's token, because there is no sheet that replaces the wallet's own.
    pub has_sheet: bool,
}

/// A stored account that the shopper may pay with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredAccount {
    /// Id of the registration.
    pub id: String,
    /// Code of its brand.
    pub brand: String,
    /// Name of its brand.
    pub name: String,
    /// True if it is a card.
    pub is_card: bool,
    /// True if it is an account at the brand.
    pub is_virtual: bool,
    /// The way in which its payments get their results.
    pub flow: Option<Flow>,
    /// The last four characters of its number, or empty.
    pub last4: String,
    /// Its expiry date, as shown, or empty.
    pub expiry: String,
    /// Its holder, or empty.
    pub holder: String,
    /// Its e-mail address, or empty.
    pub email: String,
}

/// The configuration of a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The reason why the checkout cannot be paid, if there is one.
    pub closed: Option<ClosedReason>,
    /// Properties of the checkout that merchants' scripts read, as names and values.
    pub checkout: Vec<(String, String)>,
    /// True in a sandbox.
    pub test: bool,
    /// The `ndc` of the checkout.
    pub ndc: String,
    /// Time at which the configuration was made.
    pub timestamp: String,
    /// The brands that the checkout offers, of those that the page names.
    pub brands: Vec<OfferedBrand>,
    /// True if the merchant named stored accounts; the relay frame has them.
    pub has_registrations: bool,
    /// Stored accounts.
    pub registrations: Vec<StoredAccount>,
    /// True if the shopper may fill in the holder of a stored account that has none.
    pub override_holder: bool,
    /// True if the shopper may delete stored accounts.
    pub deletable: bool,
    /// True if other data of the customer needs the names too.
    pub nameless: bool,
    /// True if stored cards need their security code.
    pub require_code: bool,
    /// True if the shopper has to sign a mandate.
    pub mandate: bool,
    /// Name of the merchant to whom the shopper gives a mandate, for people.
    pub creditor: String,
}

impl Config {
    /// Reads a configuration.
    pub fn read(data: &impl Source) -> Self {
        let checkout = data.get("checkout");
        let registrations = data.list("registrations");
        Self {
            closed: data.get("error").map(|error| ClosedReason {
                name: error.text("name"),
                message: error.text("message"),
                paid: error.flag("paid"),
            }),
            checkout: checkout.map(|checkout| read_texts(&checkout)).unwrap_or_default(),
            test: data.flag("test"),
            ndc: data.text("ndc"),
            timestamp: data.text("timestamp"),
            brands: data.get("brands").map(|brands| read_brands(&brands)).unwrap_or_default(),
            has_registrations: data.flag("registrations") || !registrations.is_empty(),
            registrations: registrations.iter().map(StoredAccount::read).collect(),
            override_holder: data.flag("overrideHolder"),
            deletable: data.flag("deletable"),
            nameless: data.flag("nameless"),
            require_code: data.flag("requireCvv"),
            mandate: data.flag("mandate"),
            creditor: data.text("creditor"),
        }
    }

    /// Finds an offered brand.
    pub fn find_brand(&self, code: &str) -> Option<&OfferedBrand> {
        self.brands.iter().find(|brand| brand.code == code)
    }

    /// Returns those of the given brands that are offered cards.
    pub fn offered_cards(&self, codes: &[String]) -> Vec<OfferedBrand> {
        let find_card = |code: &String| self.find_brand(code).filter(|brand| brand.kind == AccountType::Card);
        codes.iter().filter_map(find_card).cloned().collect()
    }

    /// Returns a property of the checkout.
    pub fn find_checkout_property(&self, name: &str) -> Option<&str> {
        self.checkout.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn read_texts(data: &impl Source) -> Vec<(String, String)> {
    let pair = |name: String| data.filled_text(&name).map(|value| (name, value));
    data.keys().into_iter().filter_map(pair).collect()
}

/// Reads brands by their codes. One whose description is not understood is left out.
fn read_brands<S: Source>(data: &S) -> Vec<OfferedBrand> {
    let read = |code: String| {
        let brand: S = data.get(&code)?;
        let kind = AccountType::parse(&brand.text("kind"))?;
        Some(OfferedBrand {
            name: brand.text("name"),
            kind,
            flow: Flow::parse(&brand.text("flow"))?,
            form: if kind == AccountType::Card { FormKind::Card } else { FormKind::parse(&brand.text("form"))? },
            fields: brand.texts("fields"),
            extras: brand.texts("extras"),
            has_sheet: brand.get("sheet").and_then(|value| value.as_flag()) != Some(false),
            code,
        })
    };
    data.keys().into_iter().filter_map(read).collect()
}

impl StoredAccount {
    fn read(data: &impl Source) -> Self {
        let kind = AccountType::parse(&data.text("kind"));
        Self {
            id: data.text("id"),
            brand: data.text("brand"),
            name: data.text("name"),
            is_card: kind == Some(AccountType::Card),
            is_virtual: kind == Some(AccountType::Virtual),
            flow: Flow::parse(&data.text("flow")),
            last4: data.text("last4"),
            expiry: data.text("expiry"),
            holder: data.text("holder"),
            email: data.text("email"),
        }
    }
}
