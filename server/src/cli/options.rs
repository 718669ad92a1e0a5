//! Options for the settings of an entity, shared by the commands that create and change entities.

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use jiff::tz::TimeZone;
use tillgate_domain::access::entity::{DEFAULT_ZONE, Entity, EntitySettings};
use tillgate_domain::access::inheritance;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::schedule::retry::RetryPlan;
use tillgate_gateway::registry::is_for_sandboxes_only;
use tillgate_store::AdminStore;

use crate::cli::access::channel::{ChannelOptions, OnOff};
use crate::cli::serve::place::PlaceOptions;

/// The value that allows every origin.
const ANY: &str = "any";
/// The value that stands for the default plan of retries.
const DEFAULT_PLAN: &str = "default";

/// Options that are not given change nothing. A new entity is a sandbox with default settings.
#[derive(Debug, Args)]
pub(super) struct EntityOptions {
    #[command(flatten)]
    place: PlaceOptions,
    /// Refuse parameters that the specification does not know, instead of ignoring them.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    strict: Option<OnOff>,
    /// Accept customer parameters without given name and surname.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    customer_names_optional: Option<OnOff>,
    /// Decline a payment whose merchantTransactionId has been paid, with 800.110.100.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    refuse_duplicates: Option<OnOff>,
    /// Let browsers have the account stored (createRegistration), which is the default. registrationsCreatable decides
    /// for one checkout.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    browser_registrations: Option<OnOff>,
    /// Let browsers say which customer they are (customer.merchantCustomerId).
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    browser_customer_ids: Option<OnOff>,
    /// Let a sandbox take card numbers that are no documented test numbers. For generated data; never send real cards.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    sandbox_any_number: Option<OnOff>,
    /// Compatibility mode, for clients that were written for another gateway of this contract: short references,
    /// telephone numbers with letters, a name twice, entityId in the body of a GET, dates with a time. Channels have
    /// it with their merchant; docs/compatibility.md lists what it allows.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    compatible: Option<OnOff>,
    /// The origins whose pages may embed the form, such as https://shop.example, in place of those before; `any`
    /// allows all.
    #[arg(long = "origin", value_name = "ORIGIN", value_parser = parse_origin)]
    origins: Vec<String>,
    /// The time zone of its schedules, such as Europe/Berlin; UTC without this. Schedules that exist keep theirs.
    #[arg(long, value_name = "ZONE", value_parser = parse_time_zone)]
    time_zone: Option<String>,
    /// The retries of declined scheduled payments by result code, such as 800.100.155=1d,3d;900=1h, `none`, or
    /// `default`.
    #[arg(long, value_name = "PLAN", value_parser = parse_retry_plan)]
    schedule_retries: Option<String>,
    /// The settings, with commas between, that it shall inherit instead of having its own, by the names of their
    /// options.
    #[arg(long, value_name = "OPTIONS", value_delimiter = ',', value_parser = parse_inherited)]
    inherit: Vec<String>,
    #[command(flatten)]
    channel: ChannelOptions,
}

impl EntityOptions {
    /// Returns true if the options put the entity below another one, and not at the top with `none`. Both that entity
    /// and the store have to exist already.
    pub(super) fn has_new_parent(&self) -> bool {
        self.place.has_new_parent()
    }

    /// Replaces the settings that were given, in memory. Returns the entities below the entity that become live, or
    /// sandbox, with it; the caller stores all of them.
    ///
    /// # Errors
    /// If the level or the parent is not possible, an entity that has been used would change between sandbox and live,
    /// the entity is live and gets `--sandbox-any-number`, or the entity or one that becomes live with it has a
    /// connector for sandboxes.
    pub(super) fn apply(&self, store: &AdminStore, entity: &mut Entity) -> anyhow::Result<Vec<Entity>> {
        self.apply_settings(&mut entity.settings);
        let changed = self.place.apply(store, entity)?;
        let id = &entity.id;
        ensure!(
            !entity.live || self.sandbox_any_number != Some(OnOff::On),
            "{id} is live and takes real cards: --sandbox-any-number is for a sandbox"
        );
        ensure!(
            !entity.live || !self.channel.has_test_modes(),
            "{id} is live and has no test modes: --test-modes would have no effect"
        );
        self.check_compatible(store, entity)?;
        check_connector(entity)?;
        changed.iter().try_for_each(check_connector)?;
        Ok(changed)
    }

    /// Checks that `--compatible off` is not given for a channel of a merchant that has the mode on: a channel has the
    /// mode with its merchant.
    fn check_compatible(&self, store: &AdminStore, entity: &Entity) -> anyhow::Result<()> {
        let merchant =
            entity.parent.as_ref().filter(|_| entity.level == Level::Channel && self.compatible == Some(OnOff::Off));
        let merchant = merchant.map(|id| load_existing_entity(store, id)).transpose()?;
        if let Some(merchant) = merchant.filter(|merchant| merchant.settings.compatible) {
            bail!("{} has the compatibility mode with its merchant {}: set it there", entity.id, merchant.id);
        }
        Ok(())
    }

    /// Resets the settings of `--inherit`, then replaces those that were given and marks them as the entity's own.
    fn apply_settings(&self, settings: &mut EntitySettings) {
        for setting in self.inherit.iter().filter_map(|name| inheritance::find_setting(name)) {
            setting.reset_to_inherited(settings);
        }
        let set =
            |setting: &mut bool, given: Option<OnOff>| *setting = given.map_or(*setting, |given| given == OnOff::On);
        set(&mut settings.strict, self.strict);
        set(&mut settings.customer_names_optional, self.customer_names_optional);
        set(&mut settings.refuse_duplicates, self.refuse_duplicates);
        if let Some(given) = self.browser_registrations {
            settings.browser_registrations = Some(given == OnOff::On);
        }
        set(&mut settings.browser_customer_ids, self.browser_customer_ids);
        set(&mut settings.sandbox_any_number, self.sandbox_any_number);
        set(&mut settings.compatible, self.compatible);
        if let Some(zone) = &self.time_zone {
            settings.time_zone = Some(zone.clone()).filter(|zone| zone != DEFAULT_ZONE);
        }
        if let Some(plan) = &self.schedule_retries {
            settings.schedule_retries = Some(plan.clone()).filter(|plan| plan != DEFAULT_PLAN);
        }
        if self.origins.iter().any(|origin| origin == ANY) {
            settings.origins.clear();
        } else if !self.origins.is_empty() {
            settings.origins.clone_from(&self.origins);
        }
        self.channel.apply(&mut settings.channel);
        for setting in self.given_options().filter_map(inheritance::find_setting) {
            setting.mark_chosen(settings);
        }
    }

    /// Returns the names of the inheritable settings that were given.
    fn given_options(&self) -> impl Iterator<Item = &'static str> {
        let own = [
            ("strict", self.strict.is_some()),
            ("customer-names-optional", self.customer_names_optional.is_some()),
            ("refuse-duplicates", self.refuse_duplicates.is_some()),
            ("browser-registrations", self.browser_registrations.is_some()),
            ("browser-customer-ids", self.browser_customer_ids.is_some()),
            ("sandbox-any-number", self.sandbox_any_number.is_some()),
            ("compatible", self.compatible.is_some()),
            ("time-zone", self.time_zone.is_some()),
            ("schedule-retries", self.schedule_retries.is_some()),
            ("origin", !self.origins.is_empty()),
        ];
        own.into_iter().chain(self.channel.given_options()).filter_map(|(name, given)| given.then_some(name))
    }
}

/// Checks that a live entity has no connector of its own that is for sandboxes only.
fn check_connector(entity: &Entity) -> anyhow::Result<()> {
    if let Some(name) = entity.settings.channel.connector.as_deref().filter(|_| entity.live) {
        ensure!(
            !is_for_sandboxes_only(name),
            "{} cannot be live with its connector {name}, which moves no real money: give it another one",
            entity.id
        );
    }
    Ok(())
}

/// Loads an entity. An unknown id is an error.
pub(super) fn load_existing_entity(store: &AdminStore, id: &EntityId) -> anyhow::Result<Entity> {
    store.load_entity(id)?.with_context(|| format!("there is no entity {id}"))
}

/// Checks the name of a time zone.
fn parse_time_zone(text: &str) -> Result<String, String> {
    let known = TimeZone::get(text).ok().and_then(|zone| zone.iana_name().map(str::to_owned));
    known.ok_or_else(|| "is no time zone of the IANA database, such as Europe/Berlin".to_owned())
}

/// Checks a plan of retries, or the word `default`.
fn parse_retry_plan(text: &str) -> Result<String, String> {
    if text == DEFAULT_PLAN { Ok(text.to_owned()) } else { Ok(text.parse::<RetryPlan>()?.to_string()) }
}

/// Checks the name of a setting that can be inherited.
fn parse_inherited(text: &str) -> Result<String, String> {
    let known = inheritance::find_setting(text).map(|setting| setting.name.to_owned());
    known.ok_or_else(|| {
        let names: Vec<&str> = inheritance::SETTINGS.iter().map(|setting| setting.name).collect();
        format!("is no setting that is inherited, which are {}", names.join(", "))
    })
}

/// Checks an origin, or the word `any`: scheme, host and optional port, nothing else, because it is copied into a
/// policy header unchanged.
fn parse_origin(text: &str) -> Result<String, String> {
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
