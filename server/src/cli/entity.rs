//! `tillgate entity`: who takes money.

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::options::{EntityOptions, existing};
use super::token::{entity_id, issue};
use super::{Common, open_existing};
use crate::domain::channel::{ThreeD, sort};
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;
use crate::gateway::random;
use crate::store::AdminStore;

/// The compatibility mode with what it allows.
const COMPATIBLE: &str = "on: merchantTransactionId from 1 character, telephone numbers of any characters, a name twice, \
                          entityId in the body of a GET, dates with a time";

/// Entities.
#[derive(Debug, Subcommand)]
pub(super) enum EntityCommand {
    /// Create an entity with a first access token, which is shown this once.
    Create(Create),
    /// Change an entity's name and settings; a running server follows within a second.
    Set(Set),
    /// Show an entity with its settings and its channels.
    Show(Show),
    /// List the entities.
    List(List),
}

/// Create an entity.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery' --json\n\nA channel of it, for two brands in euro:\n  tillgate entity create --data ./tillgate-data --name 'Corner Bakery EU' --merchant 8a01… \\\n      --brands VISA,MASTER --currencies EUR"
)]
pub(super) struct Create {
    #[command(flatten)]
    common: Common,
    /// Its name; shoppers see it on their statement.
    #[arg(long, value_parser = name)]
    name: String,
    #[command(flatten)]
    options: EntityOptions,
}

/// Change an entity. What is not given stays as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate entity set --data ./tillgate-data --entity 8a01… --brands VISA,MASTER --currencies all --strict off --3d required"
)]
pub(super) struct Set {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Its name.
    #[arg(long, value_parser = name)]
    name: Option<String>,
    #[command(flatten)]
    options: EntityOptions,
}

/// Show an entity.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity show --data ./tillgate-data --entity 8a01… --json")]
pub(super) struct Show {
    #[command(flatten)]
    common: Common,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
}

/// List the entities.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate entity list --data ./tillgate-data --json")]
pub(super) struct List {
    #[command(flatten)]
    common: Common,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    entity_id: String,
    name: String,
    live: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<String>,
    user_id: String,
    password: String,
    token: String,
}

impl EntityCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Create(command) => command.run(),
            Self::Set(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::List(command) => command.run(),
        }
    }
}

impl Create {
    fn run(self) -> anyhow::Result<()> {
        let store = match self.options.names_merchant() {
            true => open_existing(&self.common.data)?,
            false => AdminStore::open(&self.common.data)?,
        };
        let options = &self.options;
        let (entity, pair) = create(&store, &self.name, |entity| options.apply(&store, entity).map(drop))?;
        let created = Created {
            entity_id: entity.id.to_string(),
            name: entity.name,
            live: entity.live,
            merchant: entity.merchant.map(|merchant| merchant.to_string()),
            token: pair.token(),
            user_id: pair.user_id,
            password: pair.password,
        };
        self.common.print(&created, |created| {
            format!("entityId  {}\ntoken     {}\n\nThe token is shown this once.", created.entity_id, created.token)
        })
    }
}

/// Creates an entity, a sandbox unless `choose` says otherwise, and its first token in one transaction.
pub(super) fn create(
    store: &AdminStore,
    name: &str,
    choose: impl FnOnce(&mut Entity) -> anyhow::Result<()>,
) -> anyhow::Result<(Entity, super::token::Pair)> {
    let now = Timestamp::now();
    store.in_transaction(|store| {
        let mut entity = Entity {
            id: EntityId::new(now, random()?),
            name: name.to_owned(),
            live: false,
            merchant: None,
            ahead: SignedDuration::ZERO,
            settings: Settings::default(),
        };
        choose(&mut entity)?;
        store.add_entity(&entity, now)?;
        let pair = issue(store, &entity.id, "first token", now)?;
        Ok((entity, pair))
    })
}

/// An entity as `entity show` prints it.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    entity: Entity,
    /// Its channels, in the order in which they are asked.
    channels: Vec<ShownChannel>,
    /// True if the compatibility mode is on, for the entity itself or with its merchant.
    compatible: bool,
    /// Settings that a live entity should not have, each with the way to change it.
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ShownChannel {
    id: EntityId,
    name: String,
}

impl Set {
    fn run(self) -> anyhow::Result<()> {
        let id = entity_id(&self.entity)?;
        let store = open_existing(&self.common.data)?;
        let entity = store.in_transaction(|store| {
            let mut entity = existing(store, &id)?;
            if let Some(name) = self.name {
                entity.name = name;
            }
            for channel in self.options.apply(store, &mut entity)? {
                store.update_entity(&channel)?;
            }
            store.update_entity(&entity)?;
            anyhow::Ok(entity)
        })?;
        self.common.print(&shown(&store, entity)?, text)
    }
}

impl Show {
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = existing(&store, &entity_id(&self.entity)?)?;
        self.common.print(&shown(&store, entity)?, text)
    }
}

fn shown(store: &AdminStore, entity: Entity) -> anyhow::Result<Shown> {
    let mut channels = store.channels(&entity.id)?;
    sort(&mut channels);
    let channels =
        channels.iter().map(|channel| ShownChannel { id: channel.id.clone(), name: channel.name.clone() }).collect();
    let merchant = entity.merchant.as_ref().map(|id| store.entity(id)).transpose()?.flatten();
    let inherits = merchant.as_ref().is_some_and(|merchant| !merchant.settings.origins.is_empty());
    let warnings = warnings(&entity, inherits);
    let compatible = entity.settings.compatible || merchant.is_some_and(|merchant| merchant.settings.compatible);
    Ok(Shown { entity, channels, compatible, warnings })
}

fn warnings(entity: &Entity, inherits_origins: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if entity.live && entity.settings.origins.is_empty() && !inherits_origins {
        warnings.push(format!(
            "any page may show the card form in a frame: name the shop's origins with `tillgate entity set --entity {} --origin https://shop.example`",
            entity.id
        ));
    }
    warnings
}

fn text(shown: &Shown) -> String {
    let Shown { entity, channels, compatible, warnings } = shown;
    let settings = &entity.settings;
    let channel = &settings.channel;
    let some = |list: &[String], none: &str| if list.is_empty() { none.to_owned() } else { list.join(",") };
    let on = |flag: bool| if flag { "on" } else { "off" };
    let by = |browser: bool| if browser { "by browsers too" } else { "by the merchant" }.to_owned();
    let three_d = match channel.three_d {
        ThreeD::Required => "required",
        ThreeD::WhenEnrolled => "when enrolled",
        ThreeD::Never => "never",
    };
    let mut lines = vec![
        ("entityId", entity.id.to_string()),
        ("name", entity.name.clone()),
        ("kind", if entity.live { "live" } else { "sandbox" }.to_owned()),
    ];
    lines.extend(entity.merchant.as_ref().map(|merchant| ("channel of", merchant.to_string())));
    lines.extend(channels.iter().map(|channel| ("channel", format!("{}  {}", channel.id, channel.name))));
    lines.extend([
        ("brands", some(&channel.brands, "all")),
        ("currencies", some(&channel.currencies, "all")),
        ("test modes", some(&channel.test_modes, "all")),
        ("3D", three_d.to_owned()),
        ("risk check", on(channel.risk).to_owned()),
        ("code", if channel.require_cvv { "required" } else { "optional" }.to_owned()),
        ("stored code", if channel.registrations_require_cvv { "required" } else { "optional" }.to_owned()),
        ("connector", channel.connector.clone().unwrap_or_else(|| "none".to_owned())),
        ("priority", channel.priority.to_string()),
        ("strict", on(settings.strict).to_owned()),
        ("names", if settings.customer_names_optional { "optional" } else { "required" }.to_owned()),
        ("duplicates", if settings.refuse_duplicates { "refused" } else { "taken" }.to_owned()),
        ("registering", by(settings.browser_registrations)),
        ("customer id", by(settings.browser_customer_ids)),
        ("numbers", if settings.sandbox_any_number || entity.live { "any" } else { "test numbers" }.to_owned()),
        ("origins", some(&settings.origins, "any")),
        ("compatible", if *compatible { COMPATIBLE } else { "off" }.to_owned()),
    ]);
    lines.extend(warnings.iter().map(|warning| ("warning", warning.clone())));
    lines.into_iter().map(|(name, value)| format!("{name:<11} {value}")).collect::<Vec<_>>().join("\n")
}

impl List {
    fn run(self) -> anyhow::Result<()> {
        let entities = open_existing(&self.common.data)?.entities()?;
        self.common.print(&entities, |entities| {
            let lines = entities.iter().map(|entity| {
                let kind = if entity.live { "live   " } else { "sandbox" };
                let of =
                    entity.merchant.as_ref().map(|merchant| format!("  channel of {merchant}")).unwrap_or_default();
                format!("{}  {kind}  {}{of}", entity.id, entity.name)
            });
            lines.collect::<Vec<_>>().join("\n")
        })
    }
}

/// Checks a name: something to read, on one line, that fits on a statement.
fn name(text: &str) -> Result<String, String> {
    let length = text.trim().chars().count();
    if (1..=100).contains(&length) && !text.chars().any(char::is_control) {
        Ok(text.trim().to_owned())
    } else {
        Err("a name has 1 to 100 characters on one line".to_owned())
    }
}
