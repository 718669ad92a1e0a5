//! Brands by risk: the brands that a channel's active rules offer to the shopper of a checkout.
//!
//! The offer is evaluated whenever it is needed: for each document of the form, and for each submit. So it follows
//! every update of the checkout, every payment that is counted and every change of the rules and lists, and nothing of
//! it is stored.
//!
//! An offer is visible before anybody pays, so it reads nothing that a browser sends and no number of a new card or
//! account: otherwise it would tell a stranger, without an attempt, if a guess is on a list or was seen before.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::checkout::Checkout;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::Registration;
use tillgate_risk::{
    AccountSighting, BrandOffer, CheckInput, CheckoutVerdict, Facts, MAX_SCORE, RuleSet, StoredCounters, VelocityKey,
    read_listed_values,
};
use tillgate_shared::brand::{Brand, detect};
use tillgate_shared::parameter::Parameters;
use tillgate_store::entity_directory::ActiveRules;
use tillgate_store::{RiskRowKeys, RiskRowKind};
use tillgate_vault::Sealed;

use crate::Gateway;
use crate::payment::RoutedRequest;
use crate::registration::stored_credentials::account_record;
use crate::risk::listed_account::read_listed_account;

/// The fact for which the account of a registration is opened.
const ACCOUNT_AGE: &str = "account.age";

/// A stored account that a checkout offers, as its offers see it.
pub(crate) struct OfferedAccount {
    /// The time of its registration.
    created: Timestamp,
    /// Its blind index. `None` if no rule or offer reads the account's age.
    index: Option<String>,
}

impl Gateway {
    /// Returns the brands that a channel's rules offer to the shopper at an address, or that they offer for a stored
    /// account. Only the merchant's parameters of the checkout are read, never those of a browser. Everything is
    /// offered without a risk check, and if this release cannot read the active rules: then the check of each payment
    /// fails.
    pub(crate) fn find_brand_offer(
        &self,
        checkout: &Checkout,
        channel: &Entity,
        shopper: IpAddr,
        stored: Option<&OfferedAccount>,
    ) -> BrandOffer {
        let rules = self.directory.risk.find_rules(&channel.id).filter(|_| channel.settings.channel.risk);
        let Some(rules) = rules else { return BrandOffer::default() };
        let Some(active) = rules.active.as_ref().filter(|active| !active.offers().offers().is_empty()) else {
            return BrandOffer::default();
        };
        let at = self.now_of(channel);
        let mut input = CheckInput {
            parameters: checkout.parameters.clone(),
            at,
            amount: checkout.amount(),
            address: Some(shopper),
            registration_age: stored.map(|stored| at.duration_since(stored.created)),
            account_age: stored.and_then(|stored| self.find_account_age(stored, channel, at)),
            ..CheckInput::default()
        };
        let counters = self.read_counters(&rules, &input, channel);
        input.verdict = Some(self.assess_checkout(&rules, active, &input, &counters));
        active.evaluate_offers(&Facts { input: &input, lists: &rules.lists }, &counters)
    }

    /// Reads the counters of a checkout as they are now, and counts nothing. Counters that cannot be read are missing:
    /// the check of the payment fails because of them.
    fn read_counters(&self, rules: &ActiveRules, input: &CheckInput, channel: &Entity) -> StoredCounters {
        let facts = Facts { input, lists: &rules.lists };
        let plan = rules.prepare_counters(|| self.account_index.derive_counter_secret());
        let count = plan.prepare_payment(&facts, &channel.id);
        let keys = count.keys();
        if keys.is_empty() {
            return StoredCounters::default();
        }
        let rows = RiskRowKeys { entity: channel.id.clone(), kind: RiskRowKind::Counter, keys };
        let read = self.store.load_risk_counters(&[rows]).map_err(|error| error.to_string());
        let read = read.and_then(|loaded| count.read_counters(&loaded).map_err(|error| error.to_string()));
        read.unwrap_or_else(|error| {
            tracing::error!(entity = channel.id.as_str(), error, "reading the counters of an offer failed");
            StoredCounters::default()
        })
    }

    /// Judges what is known of a checkout by rules and lists. Entries that cannot be read are left out.
    fn assess_checkout(
        &self,
        rules: &ActiveRules,
        active: &RuleSet,
        input: &CheckInput,
        counters: &StoredCounters,
    ) -> CheckoutVerdict {
        let facts = Facts { input, lists: &rules.lists };
        // Rules that take too many steps have failed, and an offer hides its brands rather than show them by mistake.
        let evaluate = || active.evaluate(&facts, counters).map_or(MAX_SCORE, |assessment| assessment.score);
        let score = if active.reads_fact("score") { evaluate() } else { 0 };
        let reads_lists = ["list.allow", "list.review", "list.deny"].iter().any(|name| active.reads_fact(name));
        let hits = if reads_lists && rules.has_list_entries {
            self.store.find_list_hits(&rules.list_owners, &read_listed_values(&facts), input.at)
        } else {
            Ok(Vec::new())
        };
        let hits = hits.unwrap_or_else(|error| {
            tracing::error!(%error, "reading the lists of an offer failed");
            Vec::new()
        });
        CheckoutVerdict { score, lists: hits.into_iter().map(|hit| hit.list).collect() }
    }

    /// Finds the age of a stored account with its merchant. `None` if no rule or offer reads it, or it cannot be read.
    fn find_account_age(
        &self,
        stored: &OfferedAccount,
        channel: &Entity,
        at: Timestamp,
    ) -> Option<jiff::SignedDuration> {
        let (index, secret) = (stored.index.as_ref()?, self.account_index.derive_counter_secret());
        let sighting = AccountSighting::prepare(index, channel.merchant_or_self(), &secret, at);
        let (entity, keys) = (sighting.merchant().clone(), vec![sighting.key()]);
        let rows = RiskRowKeys { entity, kind: RiskRowKind::Account, keys };
        sighting.read_age(&self.store.load_risk_counters(&[rows]).ok()?).age.ok()
    }

    /// Describes a stored account for the offers of a channel. `account` returns its parameters.
    pub(crate) fn describe_offered_account(
        &self,
        registration: &Registration,
        channel: &Entity,
        account: impl FnOnce() -> Option<Parameters>,
    ) -> OfferedAccount {
        let rules = self.directory.risk.find_rules(&channel.id);
        let reads_age = rules.is_some_and(|rules| rules.rule_sets().any(|rules| rules.reads_fact(ACCOUNT_AGE)));
        let account = if reads_age { account() } else { None };
        let identity = account.and_then(|mut account| {
            account.set("paymentBrand", registration.brand.as_str());
            read_listed_account(&VelocityKey::Account, &account)
        });
        let index = identity.map(|identity| self.account_index.index_account(&identity));
        OfferedAccount { created: registration.created, index }
    }

    /// Checks that a submitted form has a brand that its shopper is offered. A card whose number belongs to a hidden
    /// brand is refused under other names too, unless these have ranges with the number in it. `used` is the stored
    /// account that the shopper has chosen; its parameters are among those of the request.
    ///
    /// # Errors
    /// 400 with 600.200.500 and `paymentBrand`.
    pub(crate) fn check_offered_brand(
        &self,
        checkout: &Checkout,
        received: &RoutedRequest,
        used: Option<&Registration>,
        shopper: IpAddr,
    ) -> Result<(), Refusal> {
        let account = || Some(received.parameters.clone());
        let stored = used.map(|used| self.describe_offered_account(used, &received.payer, account));
        let offer = self.find_brand_offer(checkout, &received.payer, shopper, stored.as_ref());
        // An unknown brand is refused when the order is read.
        let Some(brand) = received.brand else { return Ok(()) };
        let cards: Vec<&'static Brand> = Brand::cards().iter().collect();
        let digits = received.number.as_ref().map_or("", |number| number.digits());
        let fitting: Vec<&'static Brand> = detect(digits, &cards).collect();
        let is_hidden_number = fitting.first().is_some_and(|first| offer.hides(first)) && !fitting.contains(&brand);
        if offer.allows(brand) && !is_hidden_number { Ok(()) } else { Err(Refusal::brand_not_offered(brand.code)) }
    }

    /// Returns true if a stored account of a checkout is offered to the shopper.
    pub(crate) fn offers_registration(
        &self,
        checkout: &Checkout,
        entity: &Arc<Entity>,
        (registration, sealed): (&Registration, Option<&Sealed>),
        shopper: IpAddr,
    ) -> bool {
        let Some(brand) = Brand::find(&registration.brand) else { return true };
        let holder = self.channel_of_registration(entity, registration);
        let Some(payer) = self.find_payer(holder.as_ref().unwrap_or(entity), checkout, brand) else { return true };
        let account = || self.vault.open_account(&account_record(registration), sealed?).ok();
        let stored = self.describe_offered_account(registration, &payer, account);
        self.find_brand_offer(checkout, &payer, shopper, Some(&stored)).allows(brand)
    }
}
