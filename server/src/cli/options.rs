//! What an operator may choose for an entity: one list of options, for the commands that make and change entities.

use anyhow::{Context as _, ensure};
use clap::Args;
use jiff::SignedDuration;

use super::channel::{ChannelOptions, OnOff};
use crate::connector::registry::is_for_sandboxes_only;
use crate::domain::entity::Entity;
use crate::domain::id::EntityId;
use crate::store::AdminStore;

/// The word that allows every origin.
const ANY: &str = "any";
/// The word that makes a channel an entity of its own.
const NONE: &str = "none";

/// What is not given stays as it is; a new entity is a sandbox with nothing chosen.
#[derive(Debug, Args)]
pub(super) struct EntityOptions {
    /// Real money. An entity that has taken or stored anything stays what it is.
    #[arg(long)]
    live: bool,
    /// No real money, which is what an entity is without --live.
    #[arg(long, conflicts_with = "live")]
    sandbox: bool,
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
    /// The merchant whose channel it becomes: payments of the merchant go to the first channel that takes them. `none` makes
    /// a channel stand for itself again.
    #[arg(long, value_name = "ENTITY_ID|none", value_parser = merchant)]
    merchant: Option<Merchant>,
    #[command(flatten)]
    channel: ChannelOptions,
}

/// Whose channel an entity becomes.
#[derive(Debug, Clone)]
enum Merchant {
    Of(EntityId),
    Nobody,
}

impl EntityOptions {
    /// Whether a merchant is named, who has to be there already.
    pub(super) fn names_merchant(&self) -> bool {
        matches!(self.merchant, Some(Merchant::Of(_)))
    }

    /// Puts what was given in place of what was there. Returns the channels that become live, or sandbox, with their
    /// merchant.
    ///
    /// # Errors
    /// A merchant that cannot be one, or a change between sandbox and live of what has been used.
    pub(super) fn apply(&self, store: &AdminStore, entity: &mut Entity) -> anyhow::Result<Vec<Entity>> {
        let settings = &mut entity.settings;
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
        let channels: Vec<Entity> = store.channels(&entity.id)?;
        match &self.merchant {
            Some(Merchant::Of(merchant)) => {
                ensure!(*merchant != entity.id, "{merchant} cannot be its own merchant");
                ensure!(channels.is_empty(), "{} has channels, and cannot be one", entity.id);
                let owner = existing(store, merchant)?;
                ensure!(entity.ahead <= owner.ahead, "the clock of {} is behind: clocks go forward only", owner.id);
                entity.ahead = owner.ahead;
                entity.merchant = Some(merchant.clone());
            }
            Some(Merchant::Nobody) => entity.merchant = None,
            None => {}
        }
        let changed = self.apply_kind(store, entity, channels)?;
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

    /// Sandbox or live: a channel is what its merchant is.
    fn apply_kind(
        &self,
        store: &AdminStore,
        entity: &mut Entity,
        channels: Vec<Entity>,
    ) -> anyhow::Result<Vec<Entity>> {
        let merchant = entity.merchant.as_ref().map(|id| existing(store, id)).transpose()?;
        let asked = (self.live || self.sandbox).then_some(self.live);
        let live = match &merchant {
            Some(merchant) => {
                let id = &merchant.id;
                ensure!(merchant.merchant.is_none(), "{id} is a channel itself, and a channel has no channels");
                let kind = if merchant.live { "live" } else { "a sandbox" };
                ensure!(asked.is_none_or(|live| live == merchant.live), "{id} is {kind}, and so are its channels");
                merchant.live
            }
            None => asked.unwrap_or(entity.live),
        };
        if live == entity.live {
            return Ok(Vec::new());
        }
        // Test payments could be refunded with real money afterwards, and real ones nowhere.
        let known = store.entity(&entity.id)?;
        for entity in channels.iter().chain(&known) {
            let kind = if entity.live { "live" } else { "a sandbox" };
            let used = store.is_used(&entity.id)?;
            ensure!(!used, "{} is {kind} and has been used: it stays so, make another entity", entity.id);
        }
        entity.live = live;
        entity.ahead = SignedDuration::ZERO;
        Ok(channels.into_iter().map(|channel| Entity { live, ahead: SignedDuration::ZERO, ..channel }).collect())
    }
}

/// An entity that has to be there.
pub(super) fn existing(store: &AdminStore, id: &EntityId) -> anyhow::Result<Entity> {
    store.entity(id)?.with_context(|| format!("there is no entity {id}"))
}

fn merchant(text: &str) -> Result<Merchant, String> {
    if text == NONE {
        return Ok(Merchant::Nobody);
    }
    let id = EntityId::parse(text);
    id.map(Merchant::Of).ok_or_else(|| "an entity id has 32 lowercase hexadecimal characters".to_owned())
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
