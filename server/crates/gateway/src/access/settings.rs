//! Changes of an entity's settings.

use jiff::tz::TimeZone;
use tillgate_domain::access::approval::RefundApproval;
use tillgate_domain::access::creditor_id::{NO_CREDITOR_ID, parse_creditor_id};
use tillgate_domain::access::entity::{DEFAULT_ZONE, Entity, EntitySettings};
use tillgate_domain::access::form_look::LookPart;
use tillgate_domain::access::inheritance;
use tillgate_domain::access::level::Level;
use tillgate_domain::payment::overcapture::Overcapture;
use tillgate_domain::plain_line::PlainLine;
use tillgate_domain::schedule::retry::RetryPlan;
use tillgate_store::AdminStore;

use super::channel_settings::ChannelChange;
use crate::administration::{ActError, load_known_entity};
use crate::registry::is_for_sandboxes_only;

/// The value that allows every origin.
pub(super) const ANY: &str = "any";
/// The value that stands for the default plan of retries.
pub(super) const DEFAULT_PLAN: &str = "default";

/// The value that stands for the gateway's own lifetime of preauthorizations.
pub(super) const DEFAULT_DAYS: &str = "default";
/// Longest lifetime of preauthorizations, in days. Schemes allow no longer one.
const MAX_AUTHORIZATION_DAYS: u8 = 30;

/// The value for which no refund needs a second person.
pub(super) const NO_APPROVAL: &str = "none";

/// A change of settings. What is `None` or empty changes nothing.
#[derive(Debug, Default)]
pub struct SettingsChange {
    /// Names of the settings that the entity inherits from now on, checked by [`parse_inherited`].
    pub inherit: Vec<String>,
    /// True to refuse parameters that the specification does not know.
    pub strict: Option<bool>,
    /// True to accept customer parameters without given name and surname.
    pub customer_names_optional: Option<bool>,
    /// True to decline a payment whose `merchantTransactionId` has been paid.
    pub refuse_duplicates: Option<bool>,
    /// True to let browsers have the account stored.
    pub browser_registrations: Option<bool>,
    /// True to let browsers name their customer.
    pub browser_customer_ids: Option<bool>,
    /// True to tell browsers nothing of declined payments.
    pub hide_declines: Option<bool>,
    /// True to let a sandbox take card numbers that are no test numbers.
    pub sandbox_any_number: Option<bool>,
    /// True for the compatibility mode.
    pub compatible: Option<bool>,
    /// The time zone of schedules, checked by [`parse_time_zone`].
    pub time_zone: Option<String>,
    /// The retries of declined scheduled payments, checked by [`parse_retry_plan`].
    pub schedule_retries: Option<String>,
    /// The refunds that need a second person, checked by [`parse_refund_approval`].
    pub refund_approval: Option<String>,
    /// True if another version of risk rules needs a second person in the back office.
    pub rule_approval: Option<bool>,
    /// True if acts on keys and credentials need a second person in the back office.
    pub key_approval: Option<bool>,
    /// The identifier of the creditor in mandates, checked by [`parse_sepa_creditor_id`].
    pub sepa_creditor_id: Option<String>,
    /// The tolerance of captures.
    pub overcapture: Option<Overcapture>,
    /// The lifetime of preauthorizations, checked by [`parse_authorization_days`].
    pub authorization_days: Option<String>,
    /// The origins whose pages may embed the form, checked by [`parse_origin`].
    pub origins: Vec<String>,
    /// The parts of the form's look, each with its value as [`LookPart::parse`] returns it.
    pub look: Vec<(LookPart, Option<String>)>,
    /// The settings as a channel.
    pub channel: ChannelChange,
}

impl SettingsChange {
    /// Resets the inherited settings, then replaces those that were given and marks them as the entity's own.
    pub(super) fn apply(&self, settings: &mut EntitySettings) {
        for setting in self.inherit.iter().filter_map(|name| inheritance::find_setting(name)) {
            setting.reset_to_inherited(settings);
        }
        let set = |setting: &mut bool, given: Option<bool>| *setting = given.unwrap_or(*setting);
        set(&mut settings.strict, self.strict);
        set(&mut settings.customer_names_optional, self.customer_names_optional);
        set(&mut settings.refuse_duplicates, self.refuse_duplicates);
        settings.browser_registrations = self.browser_registrations.or(settings.browser_registrations);
        set(&mut settings.browser_customer_ids, self.browser_customer_ids);
        set(&mut settings.hide_declines, self.hide_declines);
        set(&mut settings.sandbox_any_number, self.sandbox_any_number);
        set(&mut settings.compatible, self.compatible);
        if let Some(zone) = &self.time_zone {
            settings.time_zone = Some(zone.clone()).filter(|zone| zone != DEFAULT_ZONE);
        }
        if let Some(plan) = &self.schedule_retries {
            settings.schedule_retries = Some(plan.clone()).filter(|plan| plan != DEFAULT_PLAN);
        }
        if let Some(approval) = &self.refund_approval {
            settings.refund_approval = Some(approval.clone()).filter(|approval| approval != NO_APPROVAL);
        }
        set(&mut settings.rule_approval, self.rule_approval);
        set(&mut settings.key_approval, self.key_approval);
        if let Some(id) = &self.sepa_creditor_id {
            settings.sepa_creditor_id = Some(id.clone()).filter(|id| id != NO_CREDITOR_ID);
        }
        settings.overcapture = self.overcapture.unwrap_or(settings.overcapture);
        if let Some(days) = &self.authorization_days {
            settings.authorization_days = days.parse().ok();
        }
        if self.origins.iter().any(|origin| origin == ANY) {
            settings.origins.clear();
        } else if !self.origins.is_empty() {
            settings.origins.clone_from(&self.origins);
        }
        for (part, value) in &self.look {
            settings.form_look.set(*part, value.clone());
        }
        self.channel.apply(&mut settings.channel);
        for setting in self.given_settings().filter_map(inheritance::find_setting) {
            setting.mark_chosen(settings);
        }
    }

    /// Returns the names of the inheritable settings that were given.
    fn given_settings(&self) -> impl Iterator<Item = &'static str> {
        let own = [
            ("strict", self.strict.is_some()),
            ("customer-names-optional", self.customer_names_optional.is_some()),
            ("refuse-duplicates", self.refuse_duplicates.is_some()),
            ("browser-registrations", self.browser_registrations.is_some()),
            ("browser-customer-ids", self.browser_customer_ids.is_some()),
            ("hide-declines", self.hide_declines.is_some()),
            ("sandbox-any-number", self.sandbox_any_number.is_some()),
            ("compatible", self.compatible.is_some()),
            ("time-zone", self.time_zone.is_some()),
            ("schedule-retries", self.schedule_retries.is_some()),
            ("refund-approval", self.refund_approval.is_some()),
            ("rule-approval", self.rule_approval.is_some()),
            ("key-approval", self.key_approval.is_some()),
            ("sepa-creditor-id", self.sepa_creditor_id.is_some()),
            ("overcapture", self.overcapture.is_some()),
            ("authorization-days", self.authorization_days.is_some()),
            ("origin", !self.origins.is_empty()),
        ];
        let own = own.into_iter().chain(self.channel.given_settings());
        let look = self.look.iter().map(|(part, _)| part.setting());
        own.filter_map(|(name, given)| given.then_some(name)).chain(look)
    }

    /// Checks that the settings that were given have an effect for the entity in its new place.
    ///
    /// # Errors
    /// If the entity is live and would take any number or get test modes, or if it is a channel whose merchant has the
    /// compatibility mode on.
    pub(super) fn check_effect(&self, store: &AdminStore, entity: &Entity) -> Result<(), ActError> {
        let id = &entity.id;
        if entity.live && self.sandbox_any_number == Some(true) {
            let message =
                format!("{id} is live and accepts real cards: only a sandbox can be set to accept any card number");
            return Err(ActError::refuse("sandbox-any-number", message));
        }
        if entity.live && self.channel.has_test_modes() {
            let message = format!("{id} is live, so test modes would have no effect");
            return Err(ActError::refuse("test-modes", message));
        }
        // A channel has the mode with its merchant.
        let merchant =
            entity.parent.as_ref().filter(|_| entity.level == Level::Channel && self.compatible == Some(false));
        let merchant = merchant.map(|id| load_known_entity(store, id)).transpose()?;
        if let Some(merchant) = merchant.filter(|merchant| merchant.settings.compatible) {
            let message = format!("{id} has the compatibility mode with its merchant {}: set it there", merchant.id);
            return Err(ActError::refuse("compatible", message));
        }
        Ok(())
    }
}

/// Checks that a live entity has no connector of its own that is for sandboxes only.
pub(super) fn check_connector(entity: &Entity) -> Result<(), ActError> {
    let name = entity.settings.channel.connector.as_deref().filter(|_| entity.live);
    let Some(name) = name.filter(|name| is_for_sandboxes_only(name)) else { return Ok(()) };
    let message = format!(
        "{} cannot be live with its connector {name}, which moves no real money: set another connector",
        entity.id
    );
    Err(ActError::refuse("connector", message))
}

/// Checks which refunds need a second person: `none`, `all`, or amounts such as `500.00 EUR, 600.00 USD`. Returns them
/// in their usual form.
///
/// # Errors
/// A message about the value.
pub fn parse_refund_approval(text: &str) -> Result<String, String> {
    text.parse::<RefundApproval>().map(|approval| approval.to_string()).map_err(|fault| format!("the value {fault}"))
}

/// Checks a creditor identifier, or the word `none`.
///
/// # Errors
/// A message about the identifier.
pub fn parse_sepa_creditor_id(text: &str) -> Result<String, String> {
    if text == NO_CREDITOR_ID { Ok(text.to_owned()) } else { parse_creditor_id(text) }
}

/// Checks the days for which a preauthorization can be captured: 1 to 30, or the word `default`.
///
/// # Errors
/// A message about the value.
pub fn parse_authorization_days(text: &str) -> Result<String, String> {
    let days = text.parse::<u8>().ok().filter(|days| (1..=MAX_AUTHORIZATION_DAYS).contains(days));
    match days {
        Some(days) => Ok(days.to_string()),
        None if text == DEFAULT_DAYS => Ok(text.to_owned()),
        None => Err(format!("a preauthorization lasts 1 to {MAX_AUTHORIZATION_DAYS} days, or {DEFAULT_DAYS}")),
    }
}

/// Checks an entity's name and removes the spaces around it: 1 to 100 characters on one line.
///
/// # Errors
/// A message about the name.
pub fn parse_name(text: &str) -> Result<String, String> {
    // A line break at either end is refused, not removed: it is more often a mistake in a script.
    let text = text.trim_matches(|c: char| c.is_whitespace() && !c.is_control());
    PlainLine::<100>::parse_filled(text)
        .map(String::from)
        .map_err(|_| "a name has 1 to 100 characters on one line".to_owned())
}

/// Checks the name of a time zone.
///
/// # Errors
/// A message that follows the name of the setting.
pub fn parse_time_zone(text: &str) -> Result<String, String> {
    let known = TimeZone::get(text).ok().and_then(|zone| zone.iana_name().map(str::to_owned));
    known.ok_or_else(|| "is no time zone of the IANA database, such as Europe/Berlin".to_owned())
}

/// Checks a plan of retries, or the word `default`.
///
/// # Errors
/// A message about the plan.
pub fn parse_retry_plan(text: &str) -> Result<String, String> {
    if text == DEFAULT_PLAN { Ok(text.to_owned()) } else { Ok(text.parse::<RetryPlan>()?.to_string()) }
}

/// Checks the name of a setting that can be inherited.
///
/// # Errors
/// A message with the names that exist.
pub fn parse_inherited(text: &str) -> Result<String, String> {
    let known = inheritance::find_setting(text).map(|setting| setting.name.to_owned());
    known.ok_or_else(|| {
        let names: Vec<&str> = inheritance::SETTINGS.iter().map(|setting| setting.name).collect();
        format!("is no setting that is inherited, which are {}", names.join(", "))
    })
}

/// Checks an origin, or the word `any`: scheme, host and optional port, nothing else, because it is copied into a
/// policy header unchanged.
///
/// # Errors
/// A message about origins.
pub fn parse_origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let valid = host.is_some_and(|host| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
    });
    if valid || text == ANY {
        Ok(text.to_owned())
    } else {
        Err("an origin looks like https://shop.example or http://localhost:8080; the word any allows all".to_owned())
    }
}
