//! Settings that an operator may choose for an entity: one list of options, for the commands that make and change entities.

use anyhow::{Context as _, ensure};
use clap::Args;

use super::channel::{ChannelOptions, OnOff};
use super::place::PlaceOptions;
use crate::connector::registry::is_for_sandboxes_only;
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;
use crate::domain::inheritance;
use crate::store::AdminStore;

/// The word that allows every origin.
const ANY: &str = "any";

/// What is not given stays as it is; a new entity is a sandbox with nothing chosen.
#[derive(Debug, Args)]
pub(super) struct EntityOptions {
    #[command(flatten)]
    place: PlaceOptions,
    /// Whether parameters that the specification does not know are refused, instead of ignored.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    strict: Option<OnOff>,
    /// Whether customer parameters are taken without given name and surname.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    customer_names_optional: Option<OnOff>,
    /// Whether a payment whose merchantTransactionId has been paid is declined, with 800.110.100.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    refuse_duplicates: Option<OnOff>,
    /// Let browsers have the account stored (createRegistration); registrationsCreatable=true allows it for one
    /// checkout.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    browser_registrations: Option<OnOff>,
    /// Let browsers say which customer they are (customer.merchantCustomerId).
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    browser_customer_ids: Option<OnOff>,
    /// Let a sandbox take card numbers that are no documented test numbers. For generated data; never send real cards.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    sandbox_any_number: Option<OnOff>,
    /// Compatibility mode, for clients that were written for another gateway of this contract: short references, telephone
    /// numbers with letters, a name twice, entityId in the body of a GET, dates with a time. Channels have it with their
    /// merchant; docs/compatibility.md lists what it allows.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    compatible: Option<OnOff>,
    /// The origins whose pages may embed the form, such as https://shop.example, in place of those before; `any` allows all.
    #[arg(long = "origin", value_name = "ORIGIN", value_parser = origin)]
    origins: Vec<String>,
    /// The settings, with commas between, that it shall not have of its own any more but inherit, by the names of their options.
    #[arg(long, value_name = "OPTIONS", value_delimiter = ',', value_parser = inherited)]
    inherit: Vec<String>,
    #[command(flatten)]
    channel: ChannelOptions,
}

impl EntityOptions {
    /// Returns true if a parent is named, which has to be there already.
    pub(super) fn names_parent(&self) -> bool {
        self.place.names_parent()
    }

    /// Puts what was given in place of what was there. Returns the entities below it that become live, or sandbox, with it.
    ///
    /// # Errors
    /// A parent that cannot be one, or a change between sandbox and live of what has been used.
    pub(super) fn apply(&self, store: &AdminStore, entity: &mut Entity) -> anyhow::Result<Vec<Entity>> {
        self.apply_settings(&mut entity.settings);
        let changed = self.place.apply(store, entity)?;
        ensure!(
            !entity.live || self.sandbox_any_number != Some(OnOff::On),
            "{} is live and takes real cards: --sandbox-any-number is for a sandbox",
            entity.id
        );
        if let Some(name) = entity.settings.channel.connector.as_deref().filter(|_| entity.live) {
            ensure!(
                !is_for_sandboxes_only(name),
                "{} is live, and the connector {name} moves no real money: it is for a sandbox",
                entity.id
            );
        }
        Ok(changed)
    }

    fn apply_settings(&self, settings: &mut Settings) {
        for setting in self.inherit.iter().filter_map(|name| inheritance::find(name)) {
            setting.inherit(settings);
        }
        let set = |place: &mut bool, given: Option<OnOff>| *place = given.map_or(*place, |given| given == OnOff::On);
        set(&mut settings.strict, self.strict);
        set(&mut settings.customer_names_optional, self.customer_names_optional);
        set(&mut settings.refuse_duplicates, self.refuse_duplicates);
        set(&mut settings.browser_registrations, self.browser_registrations);
        set(&mut settings.browser_customer_ids, self.browser_customer_ids);
        set(&mut settings.sandbox_any_number, self.sandbox_any_number);
        set(&mut settings.compatible, self.compatible);
        if self.origins.iter().any(|origin| origin == ANY) {
            settings.origins.clear();
        } else if !self.origins.is_empty() {
            settings.origins.clone_from(&self.origins);
        }
        self.channel.apply(&mut settings.channel);
        for setting in self.given().filter_map(inheritance::find) {
            setting.choose(settings);
        }
    }

    /// The settings that were given, by the names of their options.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let own = [
            ("strict", self.strict.is_some()),
            ("customer-names-optional", self.customer_names_optional.is_some()),
            ("refuse-duplicates", self.refuse_duplicates.is_some()),
            ("browser-registrations", self.browser_registrations.is_some()),
            ("browser-customer-ids", self.browser_customer_ids.is_some()),
            ("sandbox-any-number", self.sandbox_any_number.is_some()),
            ("compatible", self.compatible.is_some()),
            ("origin", !self.origins.is_empty()),
        ];
        own.into_iter().chain(self.channel.given()).filter_map(|(name, given)| given.then_some(name))
    }
}

/// An entity that has to be there.
pub(super) fn existing(store: &AdminStore, id: &EntityId) -> anyhow::Result<Entity> {
    store.entity(id)?.with_context(|| format!("there is no entity {id}"))
}

fn inherited(text: &str) -> Result<String, String> {
    let known = inheritance::find(text).map(|setting| setting.name.to_owned());
    known.ok_or_else(|| {
        let names: Vec<&str> = inheritance::SETTINGS.iter().map(|setting| setting.name).collect();
        format!("is no setting that is inherited, which are {}", names.join(", "))
    })
}

/// Checks an origin: scheme, host and perhaps a port, nothing else; it goes into a policy header as it is.
fn origin(text: &str) -> Result<String, String> {
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
