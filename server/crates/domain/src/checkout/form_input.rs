//! Merges the parameters that the shopper's form sends into those of the merchant. A browser is never trusted: it may
//! set only the parameters that the catalogue allows, and never replaces or weakens a value set by the merchant's
//! server.

use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::parameter::{ParameterGroup, Parameters, can_come_from_browser, find_parameter};

use crate::access::entity::EntitySettings;
use crate::checkout::Checkout;
use crate::refusal::Refusal;

const INSTRUCTION: &str = "standingInstruction.";
const MODE: &str = "standingInstruction.mode";
const SOURCE: &str = "standingInstruction.source";
const CUSTOM: &str = "customParameters[";
/// Maximum number of custom parameters in a form.
pub const CUSTOM_NAMES: usize = 50;
/// Maximum size of all custom parameters of a form in bytes, names and values.
pub const CUSTOM_BYTES: usize = 16 * 1024;
/// Maximum size of all parameters that a form may set in bytes, names and values.
pub const FORM_BYTES: usize = 64 * 1024;
const TOKEN: &str = "walletPay.paymentToken";
/// Field of a form with the amount that its button shows, as `92.00 EUR`.
const SHOWN_AMOUNT: &str = "shownAmount";
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
    /// Returns the rights that an entity's settings grant.
    pub fn from_settings(settings: &EntitySettings) -> Self {
        Self { registrations: settings.allows_browser_registrations(), customer_ids: settings.browser_customer_ids }
    }
}

impl Checkout {
    /// Merges the form's parameters into the merchant's, whose values take precedence. Payments of this checkout are
    /// processed with the merged set. Also returns the names of the known parameters that were refused. Unknown
    /// parameters and `walletPay.source` are dropped silently, a wallet's token needs a wallet's brand, and a repeated
    /// payment becomes cardholder-initiated.
    pub fn merged_with_form(&self, form: &Parameters, rights: BrowserRights) -> (Parameters, Vec<&'static str>) {
        let mut merged = self.parameters.clone();
        let mut refused = Vec::new();
        for (name, value) in form.iter() {
            if !can_come_from_browser(name) || !self.allows_browser_parameter(name, value, rights) {
                // Unknown names come from the page's own inputs and could be anything, so they are not reported.
                refused.extend(find_parameter(name).map(|row| row.name));
            } else if !merged.contains(name) {
                merged.set(name, value);
            }
        }
        mark_cardholder_present(&mut merged);
        refused.extend(remove_wallet_parameters(&mut merged));
        (merged, refused)
    }

    /// Checks that the form's button showed the amount that the checkout charges now: the merchant may have changed it
    /// since. A form whose button shows no amount sends none.
    ///
    /// # Errors
    /// 400 that names `shownAmount`.
    pub fn check_shown_amount(&self, form: &Parameters) -> Result<(), Refusal> {
        let Some(shown) = form.get(SHOWN_AMOUNT) else { return Ok(()) };
        let currency = self.parameters.get("currency").unwrap_or_default();
        if self.amount().is_some_and(|amount| format!("{amount} {currency}") == shown) {
            return Ok(());
        }
        let message = "is not the amount of this checkout, which has changed since the form showed it";
        Err(Refusal::invalid_parameter(SHOWN_AMOUNT, Some(shown), message))
    }

    /// Returns true if this checkout accepts a parameter that browsers may set in general: `createRegistration` and
    /// `customer.merchantCustomerId` need a right, and a standing instruction may not be completed or made
    /// merchant-initiated.
    fn allows_browser_parameter(&self, name: &str, value: &str, rights: BrowserRights) -> bool {
        if name.starts_with(INSTRUCTION) {
            // A standing instruction comes either from the merchant or from the page, never from both: an added term
            // can weaken the others.
            let merchant_sent_terms = self.parameters.with_prefix(INSTRUCTION).next().is_some();
            let is_refused = merchant_sent_terms || (name == SOURCE && value == "MIT");
            return !is_refused;
        }
        match name {
            "createRegistration" => self.allows_registration().unwrap_or(rights.registrations),
            "customer.merchantCustomerId" => rights.customer_ids,
            _ => true,
        }
    }

    /// Returns true if the merchant allows the shopper of this checkout to store the account
    /// (`registrationsCreatable`), false if the merchant refuses it. `None` if the merchant says neither.
    fn allows_registration(&self) -> Option<bool> {
        self.parameters.get("registrationsCreatable").map(|value| value == "true")
    }
}

/// Checks the size of a form, and number and size of its custom parameters, because all may be stored with the payment.
/// Parameters that a browser may not set are not counted.
///
/// # Errors
/// 400 if a limit is exceeded. The refusal names the first parameter above the limit.
pub fn check_size(form: &Parameters) -> Result<(), Refusal> {
    let (mut all, mut custom, mut names) = (0, 0, 0);
    for (name, value) in form.iter().filter(|(name, _)| can_come_from_browser(name)) {
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
        return Err(Refusal::invalid_parameter(name, None, message));
    }
    Ok(())
}

/// Returns the parameters of a form that a later payment needs: those that a browser may set and the merchant has not
/// set, without technical ones of the form, and `shopperResultUrl` in any case.
pub fn payment_form_parameters(checkout: &Checkout, form: &Parameters) -> Parameters {
    let is_accepted = |name: &str| can_come_from_browser(name) && !checkout.parameters.contains(name);
    let is_technical = |name: &str| find_parameter(name).is_some_and(|row| row.group == ParameterGroup::Form);
    form.iter().filter(|(name, _)| *name == "shopperResultUrl" || (is_accepted(name) && !is_technical(name))).collect()
}

/// Makes a repeated payment of a standing instruction cardholder-initiated, because the shopper is present in a form
/// (contract, 0.14).
fn mark_cardholder_present(merged: &mut Parameters) {
    if merged.get(MODE) == Some("REPEATED") {
        merged.set(SOURCE, "CIT");
    }
}

/// Removes the wallet's token if the brand is missing or not a wallet, and returns its name if there was one. Also
/// removes `walletPay.source`, and does not report it: the card data of a checkout comes from the browser, so the
/// merchant's server has not decrypted it.
fn remove_wallet_parameters(merged: &mut Parameters) -> Vec<&'static str> {
    merged.remove(WALLET_SOURCE);
    let is_wallet =
        merged.get("paymentBrand").and_then(Brand::find).is_some_and(|brand| brand.kind == AccountType::Wallet);
    if is_wallet || !merged.contains(TOKEN) {
        return Vec::new();
    }
    merged.retain(|name, _| name != TOKEN);
    vec![TOKEN]
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use crate::checkout::form_input::*;
    use crate::id::{CheckoutId, EntityId};

    fn build_parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().copied().collect()
    }

    fn create_checkout(added: &[(&str, &str)]) -> Checkout {
        let order = [("amount", "92.00"), ("currency", "EUR"), ("paymentType", "DB")];
        Checkout::new(
            CheckoutId::new(Timestamp::UNIX_EPOCH, [1; 10], "tx01"),
            EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
            Timestamp::UNIX_EPOCH,
            "build".to_owned(),
            build_parameters(&[&order[..], added].concat()),
        )
    }

    #[test]
    fn the_merchants_value_wins_over_the_forms_and_the_form_cannot_set_the_price() {
        let form = build_parameters(&[
            ("amount", "0.01"),
            ("currency", "JPY"),
            ("card.holder", "Jane"),
            ("paymentType", "PA"),
        ]);
        let (merged, refused) = create_checkout(&[]).merged_with_form(&form, BrowserRights::default());
        assert_eq!(merged.get("amount"), Some("92.00"));
        assert_eq!(merged.get("card.holder"), Some("Jane"));
        assert_eq!(refused, ["amount", "currency", "paymentType"]);
    }

    #[test]
    fn a_form_that_showed_another_amount_is_refused() {
        let check = |shown: &str| create_checkout(&[]).check_shown_amount(&build_parameters(&[(SHOWN_AMOUNT, shown)]));
        assert!(check("92.00 EUR").is_ok());
        for other in ["91.99 EUR", "92.00 USD", "92 EUR", "92.00", ""] {
            assert!(check(other).is_err(), "{other}");
        }
        assert!(create_checkout(&[]).check_shown_amount(&build_parameters(&[])).is_ok(), "the button shows no amount");
    }

    #[test]
    fn the_shopper_is_present_whatever_the_form_says() {
        for form in [&[(MODE, "REPEATED")][..], &[(MODE, "REPEATED"), (SOURCE, "MIT")]] {
            let (merged, _) = create_checkout(&[]).merged_with_form(&build_parameters(form), BrowserRights::default());
            assert_eq!((merged.get(MODE), merged.get(SOURCE)), (Some("REPEATED"), Some("CIT")), "{form:?}");
        }
        let (merged, refused) =
            create_checkout(&[]).merged_with_form(&build_parameters(&[(SOURCE, "MIT")]), BrowserRights::default());
        assert_eq!((merged.get(SOURCE), refused), (None, vec![SOURCE]));
    }

    #[test]
    fn an_agreement_of_the_merchants_takes_no_term_from_the_form() {
        let checkout = create_checkout(&[(MODE, "INITIAL")]);
        for name in ["type", "source", "expiry", "frequency", "numberOfInstallments", "industryPractice"] {
            let name = format!("{INSTRUCTION}{name}");
            let (merged, refused) =
                checkout.merged_with_form(&build_parameters(&[(&name, "1")]), BrowserRights::default());
            assert_eq!((merged.get(&name), refused.len()), (None, 1), "{name}");
            let (merged, _) =
                create_checkout(&[]).merged_with_form(&build_parameters(&[(&name, "1")]), BrowserRights::default());
            assert_eq!(merged.get(&name), Some("1"), "{name}");
        }
    }

    #[test]
    fn a_wallets_token_counts_for_a_wallets_brand_alone() {
        for (brand, accepted) in [("APPLEPAY", true), ("VISA", false), ("PAYPAL", false), ("NOBODY", false)] {
            let form = build_parameters(&[("paymentBrand", brand), (TOKEN, "t")]);
            let (merged, refused) =
                create_checkout(&[(WALLET_SOURCE, "web")]).merged_with_form(&form, BrowserRights::default());
            assert_eq!((merged.contains(TOKEN), refused.is_empty()), (accepted, accepted), "{brand}");
            assert!(!merged.contains(WALLET_SOURCE), "{brand}");
        }
    }

    #[test]
    fn the_form_stores_an_account_and_names_the_customer_only_where_it_may() {
        const STORE: &str = "createRegistration";
        const CUSTOMER: &str = "customer.merchantCustomerId";
        let form = build_parameters(&[(STORE, "true"), (CUSTOMER, "4711")]);
        let all_rights = BrowserRights { registrations: true, customer_ids: true };
        let allowed = [("registrationsCreatable", "true")];
        let refused = [("registrationsCreatable", "false")];
        for (merchant, rights, stores, names) in [
            (&[][..], BrowserRights::default(), None, None),
            (&allowed, BrowserRights::default(), Some("true"), None),
            (&[], all_rights, Some("true"), Some("4711")),
            (&refused, all_rights, None, Some("4711")),
            (&[(STORE, "false"), (CUSTOMER, "1")], all_rights, Some("false"), Some("1")),
            (&[(STORE, "false"), allowed[0]], BrowserRights::default(), Some("false"), None),
        ] {
            let (merged, _) = create_checkout(merchant).merged_with_form(&form, rights);
            assert_eq!((merged.get(STORE), merged.get(CUSTOMER)), (stores, names), "{merchant:?} {rights:?}");
        }
    }
}
