//! The shopper's form in a checkout: which of its parameters count beside the merchant's. A browser is never trusted: it
//! sets only what the catalogue lets it set, and never replaces or weakens what the merchant's server set.

use tillgate_shared::brand::{Brand, Kind};
use tillgate_shared::parameter::{Group, Parameters, browser_may_set, find};

use super::checkout::Checkout;
use super::entity::Settings;
use super::refusal::Refusal;

const AGREEMENT: &str = "standingInstruction.";
const MODE: &str = "standingInstruction.mode";
const SOURCE: &str = "standingInstruction.source";
const CUSTOM: &str = "customParameters[";
/// Most custom parameters of a form, and their bytes: names and values.
pub const CUSTOM_NAMES: usize = 50;
/// See [`CUSTOM_NAMES`].
pub const CUSTOM_BYTES: usize = 16 * 1024;
/// Most bytes of all that a form may set: names and values.
pub const FORM_BYTES: usize = 64 * 1024;
const TOKEN: &str = "walletPay.paymentToken";
const WALLET_SOURCE: &str = "walletPay.source";

/// Parameters that an entity lets browsers set in all of its checkouts.
#[derive(Debug, Clone, Copy, Default)]
pub struct BrowserRights {
    /// `createRegistration`.
    pub registrations: bool,
    /// `customer.merchantCustomerId`.
    pub customer_ids: bool,
}

impl BrowserRights {
    /// Reads what an entity allows.
    pub fn of(settings: &Settings) -> Self {
        Self { registrations: settings.browser_registrations, customer_ids: settings.browser_customer_ids }
    }
}

impl Checkout {
    /// Merges the form into the merchant's parameters: the set that a payment of this checkout is judged on. The merchant's
    /// value always wins. Returns the known parameters that were refused, too.
    pub fn merged_with_form(&self, form: &Parameters, rights: BrowserRights) -> (Parameters, Vec<&'static str>) {
        let mut merged = self.parameters.clone();
        let mut refused = Vec::new();
        for (name, value) in form.iter() {
            if !browser_may_set(name) || !self.lets_browser_set(name, value, rights) {
                // An unknown name is the page's own, and could be anything.
                refused.extend(find(name).map(|row| row.name));
            } else if !merged.contains(name) {
                merged.set(name, value);
            }
        }
        settle_presence(&mut merged);
        refused.extend(drop_foreign_wallet(&mut merged));
        (merged, refused)
    }

    /// Returns true if a parameter that browsers may set may be set in this checkout.
    fn lets_browser_set(&self, name: &str, value: &str, rights: BrowserRights) -> bool {
        if name.starts_with(AGREEMENT) {
            // An agreement is the merchant's or the page's, never a mixture: a term that is added can weaken the others.
            let of_merchant = self.parameters.with_prefix(AGREEMENT).next().is_some();
            let refused = of_merchant || (name == SOURCE && value == "MIT");
            return !refused;
        }
        match name {
            "createRegistration" => rights.registrations || self.lets_register(),
            "customer.merchantCustomerId" => rights.customer_ids,
            _ => true,
        }
    }

    /// Returns true if the merchant lets the shopper of this checkout store the account.
    fn lets_register(&self) -> bool {
        self.parameters.get("registrationsCreatable") == Some("true")
    }
}

/// Checks how much a form brings along: all of it may be stored with the payment.
///
/// # Errors
/// The first parameter that is too much.
pub fn check_size(form: &Parameters) -> Result<(), Refusal> {
    let (mut all, mut custom, mut names) = (0, 0, 0);
    for (name, value) in form.iter().filter(|(name, _)| browser_may_set(name)) {
        let bytes = name.len() + value.len();
        all += bytes;
        if name.starts_with(CUSTOM) {
            names += 1;
            custom += bytes;
        }
        let message = if names > CUSTOM_NAMES {
            format!("is one of more than {CUSTOM_NAMES} custom parameters in a form")
        } else if custom > CUSTOM_BYTES {
            format!("makes the custom parameters of a form longer than {CUSTOM_BYTES} bytes")
        } else if all > FORM_BYTES {
            format!("makes the form longer than {FORM_BYTES} bytes")
        } else {
            continue;
        };
        return Err(Refusal::parameter(name, None, message));
    }
    Ok(())
}

/// Returns the parameters of a form that a later payment needs: those that count, and the way back.
pub fn needed_of_form(checkout: &Checkout, form: &Parameters) -> Parameters {
    let counts = |name: &str| browser_may_set(name) && !checkout.parameters.contains(name);
    let technical = |name: &str| find(name).is_some_and(|row| row.group == Group::Form);
    form.iter().filter(|(name, _)| *name == "shopperResultUrl" || (counts(name) && !technical(name))).collect()
}

/// States that the shopper is present (contract, 0.14): a repeated payment without a source is the cardholder's here.
fn settle_presence(merged: &mut Parameters) {
    if merged.get(MODE) == Some("REPEATED") {
        merged.set(SOURCE, "CIT");
    }
}

/// Removes a wallet's parameters where no wallet pays: the brand decides, and the gateway opens the token itself. The card
/// of a checkout comes from the browser, so it is never one that the merchant's server decrypted.
fn drop_foreign_wallet(merged: &mut Parameters) -> Vec<&'static str> {
    merged.remove(WALLET_SOURCE);
    let by_wallet = merged.get("paymentBrand").and_then(Brand::find).is_some_and(|brand| brand.kind == Kind::Wallet);
    if by_wallet || !merged.contains(TOKEN) {
        return Vec::new();
    }
    merged.retain(|name, _| name != TOKEN);
    vec![TOKEN]
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::id::{CheckoutId, EntityId};
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().copied().collect()
    }

    fn checkout(more: &[(&str, &str)]) -> Checkout {
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        Checkout::new(
            CheckoutId::new(Timestamp::UNIX_EPOCH, [1; 10], "tx01"),
            EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            Timestamp::UNIX_EPOCH,
            "build".to_owned(),
            parameters(&[&order[..], more].concat()),
        )
    }

    #[test]
    fn the_merchants_value_wins_over_the_forms_and_the_form_cannot_set_the_price() {
        let form =
            parameters(&[("amount", "0.01"), ("currency", "JPY"), ("card.holder", "Jane"), ("paymentType", "PA")]);
        let (merged, refused) = checkout(&[]).merged_with_form(&form, BrowserRights::default());
        assert_eq!(merged.get("amount"), Some("92.00"));
        assert_eq!(merged.get("card.holder"), Some("Jane"));
        assert_eq!(refused, ["amount", "currency", "paymentType"]);
    }

    #[test]
    fn the_shopper_is_present_whatever_the_form_says() {
        for form in [&[(MODE, "REPEATED")][..], &[(MODE, "REPEATED"), (SOURCE, "MIT")]] {
            let (merged, _) = checkout(&[]).merged_with_form(&parameters(form), BrowserRights::default());
            assert_eq!((merged.get(MODE), merged.get(SOURCE)), (Some("REPEATED"), Some("CIT")), "{form:?}");
        }
        let (merged, refused) =
            checkout(&[]).merged_with_form(&parameters(&[(SOURCE, "MIT")]), BrowserRights::default());
        assert_eq!((merged.get(SOURCE), refused), (None, vec![SOURCE]));
    }

    #[test]
    fn an_agreement_of_the_merchants_takes_no_term_from_the_form() {
        let agreed = checkout(&[(MODE, "INITIAL")]);
        for name in ["type", "source", "expiry", "frequency", "numberOfInstallments", "industryPractice"] {
            let name = format!("{AGREEMENT}{name}");
            let (merged, refused) = agreed.merged_with_form(&parameters(&[(&name, "1")]), BrowserRights::default());
            assert_eq!((merged.get(&name), refused.len()), (None, 1), "{name}");
            let (merged, _) = checkout(&[]).merged_with_form(&parameters(&[(&name, "1")]), BrowserRights::default());
            assert_eq!(merged.get(&name), Some("1"), "{name}");
        }
    }

    #[test]
    fn a_wallets_token_counts_for_a_wallets_brand_alone() {
        for (brand, kept) in [("APPLEPAY", true), ("VISA", false), ("PAYPAL", false), ("NOBODY", false)] {
            let form = parameters(&[("paymentBrand", brand), (TOKEN, "t")]);
            let (merged, refused) =
                checkout(&[(WALLET_SOURCE, "web")]).merged_with_form(&form, BrowserRights::default());
            assert_eq!((merged.contains(TOKEN), refused.is_empty()), (kept, kept), "{brand}");
            assert!(!merged.contains(WALLET_SOURCE), "{brand}");
        }
    }

    #[test]
    fn the_form_stores_an_account_and_names_the_customer_only_where_it_may() {
        const STORE: &str = "createRegistration";
        const CUSTOMER: &str = "customer.merchantCustomerId";
        let form = parameters(&[(STORE, "true"), (CUSTOMER, "4711")]);
        let all = BrowserRights { registrations: true, customer_ids: true };
        let allowed = [("registrationsCreatable", "true")];
        for (set, rights, stores, names) in [
            (&[][..], BrowserRights::default(), None, None),
            (&allowed, BrowserRights::default(), Some("true"), None),
            (&[], all, Some("true"), Some("4711")),
            (&[(STORE, "false"), (CUSTOMER, "1")], all, Some("false"), Some("1")),
            (&[(STORE, "false"), allowed[0]], BrowserRights::default(), Some("false"), None),
        ] {
            let (merged, _) = checkout(set).merged_with_form(&form, rights);
            assert_eq!((merged.get(STORE), merged.get(CUSTOMER)), (stores, names), "{set:?} {rights:?}");
        }
    }
}
