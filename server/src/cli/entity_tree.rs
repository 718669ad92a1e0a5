//! Entities as `entity show` and `entity list` print them: with the way up, and with the settings that they inherit.

use serde::Serialize;

use crate::domain::channel::{ThreeD, sort};
use crate::domain::entity::{Entity, Settings};
use crate::domain::id::EntityId;
use crate::domain::inheritance::resolve;
use crate::domain::level::Level;
use crate::store::AdminStore;

/// The compatibility mode with what it allows.
const COMPATIBLE: &str = "on: merchantTransactionId from 1 character, telephone numbers of any characters, a name twice, \
                          entityId in the body of a GET, dates with a time";

/// An entity as `entity show` prints it.
#[derive(Serialize)]
pub(super) struct Shown {
    /// The entity with the settings that are its own.
    #[serde(flatten)]
    entity: Entity,
    /// The merchant of a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<EntityId>,
    /// The entities above it, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    above: Vec<Relative>,
    /// The entities directly below a PSP or a division.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    below: Vec<Relative>,
    /// Its channels, in the order in which they are asked.
    channels: Vec<ShownChannel>,
    /// The settings that it inherits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inherited: Vec<Inherited>,
    /// The settings that hold for it, where it inherits any.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<Settings>,
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

/// An entity above or below the shown one.
#[derive(Serialize)]
struct Relative {
    id: EntityId,
    level: Level,
    name: String,
}

/// A setting with the entity that it comes from.
#[derive(Serialize)]
struct Inherited {
    setting: &'static str,
    from: Relative,
}

impl From<&Entity> for Relative {
    fn from(entity: &Entity) -> Self {
        Self { id: entity.id.clone(), level: entity.level, name: entity.name.clone() }
    }
}

/// Collects what is printed about an entity.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn shown(store: &AdminStore, entity: Entity) -> anyhow::Result<Shown> {
    let mut channels = store.channels(&entity.id)?;
    sort(&mut channels);
    let channels =
        channels.iter().map(|channel| ShownChannel { id: channel.id.clone(), name: channel.name.clone() }).collect();
    let below = if entity.level.takes_payments() { Vec::new() } else { store.entities_below(&entity.id)? };
    let below = below.iter().filter(|below| below.parent.as_ref() == Some(&entity.id)).map(Relative::from).collect();
    let above = store.entities_above(&entity)?;
    let line: Vec<&Entity> = above.iter().collect();
    let effective = resolve(&entity, &line);
    // A channel has the origins and the compatibility mode of its merchant, which are what that inherits.
    let merchant = line.split_first().filter(|_| entity.level == Level::Channel);
    let of_merchant = merchant.map(|(merchant, above)| resolve(merchant, above).settings).unwrap_or_default();
    let warnings = warnings(&entity, [&effective.settings, &of_merchant]);
    let compatible = effective.settings.compatible || of_merchant.compatible;
    let inherited: Vec<Inherited> =
        effective.inherited.iter().map(|(setting, from)| Inherited { setting, from: (*from).into() }).collect();
    let effective = (!inherited.is_empty()).then_some(effective.settings);
    let above = above.iter().map(Relative::from).collect();
    let merchant = entity.merchant().cloned();
    Ok(Shown { entity, merchant, above, below, channels, inherited, effective, compatible, warnings })
}

fn warnings(entity: &Entity, effective: [&Settings; 2]) -> Vec<String> {
    let mut warnings = Vec::new();
    let any = effective.iter().all(|settings| settings.origins.is_empty());
    if entity.live && entity.level.takes_payments() && any {
        warnings.push(format!(
            "any page may show the card form in a frame: name the shop's origins with `tillgate entity set --entity {} --origin https://shop.example`",
            entity.id
        ));
    }
    warnings
}

/// An entity as lines for people. The settings are those that hold for it.
pub(super) fn text(shown: &Shown) -> String {
    let Shown { entity, channels, compatible, .. } = shown;
    let named = |relative: &Relative| format!("{}  {}", relative.id, relative.name);
    let mut lines = vec![
        ("entityId", entity.id.to_string()),
        ("name", entity.name.clone()),
        ("kind", if entity.live { "live" } else { "sandbox" }.to_owned()),
    ];
    if entity.level != Level::Merchant && entity.level != Level::Channel {
        lines.push(("level", entity.level.to_string()));
    }
    lines.extend(shown.merchant.as_ref().map(|merchant| ("channel of", merchant.to_string())));
    let above = shown.above.iter().filter(|above| Some(&above.id) != shown.merchant.as_ref());
    lines.extend(above.map(|above| ("below", format!("{} {}", above.level, named(above)))));
    lines.extend(shown.below.iter().map(|below| (below.level.as_str(), named(below))));
    lines.extend(channels.iter().map(|channel| ("channel", format!("{}  {}", channel.id, channel.name))));
    lines.extend(setting_lines(entity, shown.effective.as_ref().unwrap_or(&entity.settings), *compatible));
    lines.extend(
        shown
            .inherited
            .iter()
            .map(|Inherited { setting, from }| ("inherited", format!("{setting} from {} {}", from.level, named(from)))),
    );
    lines.extend(shown.warnings.iter().map(|warning| ("warning", warning.clone())));
    lines.into_iter().map(|(name, value)| format!("{name:<11} {value}")).collect::<Vec<_>>().join("\n")
}

fn setting_lines(entity: &Entity, settings: &Settings, compatible: bool) -> Vec<(&'static str, String)> {
    let channel = &settings.channel;
    let some = |list: &[String], none: &str| if list.is_empty() { none.to_owned() } else { list.join(",") };
    let on = |flag: bool| if flag { "on" } else { "off" };
    let by = |browser: bool| if browser { "by browsers too" } else { "by the merchant" }.to_owned();
    let three_d = match channel.three_d {
        ThreeD::Required => "required",
        ThreeD::WhenEnrolled => "when enrolled",
        ThreeD::Never => "never",
    };
    vec![
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
        ("compatible", if compatible { COMPATIBLE } else { "off" }.to_owned()),
    ]
}

/// An entity as `entity list` prints it.
#[derive(Serialize)]
pub(super) struct Listed {
    #[serde(flatten)]
    entity: Entity,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<EntityId>,
}

impl From<Entity> for Listed {
    fn from(entity: Entity) -> Self {
        Self { merchant: entity.merchant().cloned(), entity }
    }
}

/// Entities as a tree, each below its parent and further to the right. Those of one place are in the order of their ids.
pub(super) fn list_text(listed: &[Listed]) -> String {
    let mut lines = Vec::new();
    push_below(listed, None, 0, &mut lines);
    lines.join("\n")
}

fn push_below(listed: &[Listed], parent: Option<&EntityId>, depth: usize, lines: &mut Vec<String>) {
    for Listed { entity, .. } in listed.iter().filter(|listed| listed.entity.parent.as_ref() == parent) {
        let kind = if entity.live { "live   " } else { "sandbox" };
        let about = match (entity.level, entity.merchant()) {
            (_, Some(merchant)) => format!("  channel of {merchant}"),
            (Level::Merchant | Level::Channel, None) => String::new(),
            (level, None) => format!("  {}", level.title()),
        };
        lines.push(format!("{:indent$}{}  {kind}  {}{about}", "", entity.id, entity.name, indent = depth * 2));
        push_below(listed, Some(&entity.id), depth + 1, lines);
    }
}
