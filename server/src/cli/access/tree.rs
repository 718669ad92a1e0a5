//! Output of `entity show` and `entity list`, including ancestors and inherited settings.

use serde::Serialize;
use tillgate_domain::access::channel::Channel;
use tillgate_domain::access::entity::{DEFAULT_ZONE, Entity, EntitySettings};
use tillgate_domain::access::form_look::{FormLook, LookPart};
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::{ReviewPolicy, RiskErrorPolicy, RiskSettings, ScreeningPoint};
use tillgate_domain::schedule::retry::RetryPlan;
use tillgate_domain::three_ds::ThreeDsPolicy;
use tillgate_gateway::access::entity::EntityOverview;

/// Description of the compatibility mode.
const COMPATIBLE: &str = "on: merchantTransactionId from 1 character, phone numbers of any characters, repeated names, \
                          entityId in the body of a GET, dates with a time";

/// The output of `entity show`.
#[derive(Serialize)]
pub(in crate::cli) struct EntityOutput {
    /// The entity with its own settings.
    #[serde(flatten)]
    entity: Entity,
    /// The merchant of a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<EntityId>,
    /// The ancestors, nearest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    above: Vec<RelatedEntity>,
    /// The children of a PSP or a division.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    below: Vec<RelatedEntity>,
    /// The channels, in routing order.
    channels: Vec<ChannelOutput>,
    /// The inherited settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inherited: Vec<InheritedSetting>,
    /// The effective settings, if any are inherited.
    #[serde(skip_serializing_if = "Option::is_none")]
    effective: Option<EntitySettings>,
    /// The effective look of the form, with the parts that a channel has from its merchant.
    #[serde(skip_serializing_if = "FormLook::is_default")]
    look: FormLook,
    /// True if the compatibility mode is on for the entity itself or for its merchant.
    compatible: bool,
    /// Settings that a live entity should not have, each with the way to change it.
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct ChannelOutput {
    id: EntityId,
    name: String,
}

/// An ancestor or a child of the shown entity.
#[derive(Serialize)]
struct RelatedEntity {
    id: EntityId,
    level: Level,
    name: String,
}

/// An inherited setting with the entity that defines it.
#[derive(Serialize)]
struct InheritedSetting {
    setting: &'static str,
    from: RelatedEntity,
}

impl From<&Entity> for RelatedEntity {
    fn from(entity: &Entity) -> Self {
        Self { id: entity.id.clone(), level: entity.level, name: entity.name.clone() }
    }
}

/// Builds the output for an entity.
pub(in crate::cli) fn describe_entity(overview: EntityOverview) -> EntityOutput {
    let EntityOverview { entity, above, below, channels, inherited, effective, look, compatible, has_open_form } =
        overview;
    let inherited: Vec<InheritedSetting> =
        inherited.iter().map(|(setting, from)| InheritedSetting { setting, from: from.into() }).collect();
    let mut warnings = Vec::new();
    if has_open_form {
        warnings.push(format!(
            "any page may show the card form in a frame: name the shop's origins with `tillgate entity set --entity {} --origin https://shop.example`",
            entity.id
        ));
    }
    EntityOutput {
        merchant: entity.parent_merchant().cloned(),
        entity,
        above: above.iter().map(RelatedEntity::from).collect(),
        below: below.iter().map(RelatedEntity::from).collect(),
        channels: channels.into_iter().map(|channel| ChannelOutput { id: channel.id, name: channel.name }).collect(),
        effective: (!inherited.is_empty()).then_some(effective),
        inherited,
        look,
        compatible,
        warnings,
    }
}

/// Formats an entity as text, a line for each fact, with its effective settings.
pub(in crate::cli) fn format_entity(shown: &EntityOutput) -> String {
    let EntityOutput { entity, channels, compatible, .. } = shown;
    let id_and_name = |relative: &RelatedEntity| format!("{}  {}", relative.id, relative.name);
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
    lines.extend(above.map(|above| ("below", format!("{} {}", above.level, id_and_name(above)))));
    lines.extend(shown.below.iter().map(|below| (below.level.as_str(), id_and_name(below))));
    lines.extend(channels.iter().map(|channel| ("channel", format!("{}  {}", channel.id, channel.name))));
    lines.extend(format_settings(entity, shown.effective.as_ref().unwrap_or(&entity.settings), *compatible));
    lines.push(("form look", describe_look(&shown.look)));
    lines.extend(shown.inherited.iter().map(|InheritedSetting { setting, from }| {
        ("inherited", format!("{setting} from {} {}", from.level, id_and_name(from)))
    }));
    lines.extend(shown.warnings.iter().map(|warning| ("warning", warning.clone())));
    lines.into_iter().map(|(name, value)| format!("{name:<11} {value}")).collect::<Vec<_>>().join("\n")
}

/// Returns the settings as labels and values. `compatible` is the effective compatibility mode, because a channel has
/// that of its merchant.
fn format_settings(entity: &Entity, settings: &EntitySettings, compatible: bool) -> Vec<(&'static str, String)> {
    let channel = &settings.channel;
    let join_or = |list: &[String], none: &str| if list.is_empty() { none.to_owned() } else { list.join(",") };
    let on_off = |flag: bool| if flag { "on" } else { "off" };
    let allowed_by = |browser: bool| if browser { "by merchant and browsers" } else { "by the merchant" }.to_owned();
    let three_d = match channel.three_d {
        ThreeDsPolicy::Required => "required",
        ThreeDsPolicy::WhenEnrolled => "when enrolled",
        ThreeDsPolicy::Never => "never",
    };
    vec![
        ("brands", join_or(&channel.brands, "all")),
        ("currencies", join_or(&channel.currencies, "all")),
        ("test modes", join_or(&channel.test_modes, "all")),
        ("3-D Secure", three_d.to_owned()),
        ("risk check", describe_risk_check(channel)),
        ("cvv", if channel.require_cvv { "required" } else { "optional" }.to_owned()),
        ("stored cvv", if channel.registrations_require_cvv { "required" } else { "optional" }.to_owned()),
        ("connector", channel.connector.clone().unwrap_or_else(|| "none".to_owned())),
        ("acquirer id", channel.acquirer_merchant.clone().unwrap_or_else(|| entity.id.to_string())),
        ("creditor id", settings.sepa_creditor_id.clone().unwrap_or_else(|| "none".to_owned())),
        ("overcapture", format!("{} %", settings.overcapture)),
        ("authorized", settings.authorization_days.map_or_else(|| "default".to_owned(), |days| format!("{days} days"))),
        ("priority", channel.priority.to_string()),
        ("strict", on_off(settings.strict).to_owned()),
        ("names", if settings.customer_names_optional { "optional" } else { "required" }.to_owned()),
        ("duplicates", if settings.refuse_duplicates { "refused" } else { "taken" }.to_owned()),
        ("registering", allowed_by(settings.allows_browser_registrations())),
        ("customer id", allowed_by(settings.browser_customer_ids)),
        ("declines", if settings.hide_declines { "hidden" } else { "told" }.to_owned()),
        ("numbers", if settings.sandbox_any_number || entity.live { "any" } else { "test numbers" }.to_owned()),
        ("time zone", settings.time_zone.clone().unwrap_or_else(|| DEFAULT_ZONE.to_owned())),
        ("retries", settings.schedule_retries.clone().unwrap_or_else(|| RetryPlan::default().to_string())),
        ("approvals", describe_approvals(settings)),
        ("origins", join_or(&settings.origins, "any")),
        ("compatible", if compatible { COMPATIBLE } else { "off" }.to_owned()),
    ]
}

/// Returns the acts that need a second person.
fn describe_approvals(settings: &EntitySettings) -> String {
    let refunds = settings.refund_approval.as_ref().map(|limits| format!("refunds {limits}"));
    let switches = [(settings.rule_approval, "rules"), (settings.key_approval, "keys")];
    let switched = switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name.to_owned());
    let acts: Vec<String> = refunds.into_iter().chain(switched).collect();
    if acts.is_empty() { "none".to_owned() } else { acts.join(", ") }
}

/// An entity in the output of `entity list`.
#[derive(Serialize)]
pub(in crate::cli) struct EntityListItem {
    #[serde(flatten)]
    entity: Entity,
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant: Option<EntityId>,
}

impl From<Entity> for EntityListItem {
    fn from(entity: Entity) -> Self {
        Self { merchant: entity.parent_merchant().cloned(), entity }
    }
}

/// Formats entities as a tree, with children indented below their parent. Siblings keep the order of `listed`.
pub(in crate::cli) fn format_tree(listed: &[EntityListItem]) -> String {
    let mut lines = Vec::new();
    push_descendants(listed, None, 0, &mut lines);
    lines.join("\n")
}

/// Adds lines for the entities below a parent, at every level; `None` stands for those at the top.
fn push_descendants(listed: &[EntityListItem], parent: Option<&EntityId>, depth: usize, lines: &mut Vec<String>) {
    for EntityListItem { entity, .. } in listed.iter().filter(|listed| listed.entity.parent.as_ref() == parent) {
        let mode = if entity.live { "live   " } else { "sandbox" };
        let about = match (entity.level, entity.parent_merchant()) {
            (_, Some(merchant)) => format!("  channel of {merchant}"),
            (Level::Merchant | Level::Channel, None) => String::new(),
            (level, None) => format!("  {}", level.display_name()),
        };
        lines.push(format!("{:indent$}{}  {mode}  {}{about}", "", entity.id, entity.name, indent = depth * 2));
        push_descendants(listed, Some(&entity.id), depth + 1, lines);
    }
}

/// Describes the look of the form: each part that is not the default with its value.
fn describe_look(look: &FormLook) -> String {
    let describe = |part: LookPart| Some(format!("{} {}", part.setting().trim_start_matches("form-"), look.get(part)?));
    let parts: Vec<String> = LookPart::ALL.into_iter().filter_map(describe).collect();
    if parts.is_empty() { "default".to_owned() } else { parts.join(", ") }
}

/// Describes the risk check of a channel: `off`, or when payments are checked, and what follows from a review and a
/// failure.
fn describe_risk_check(channel: &Channel) -> String {
    let RiskSettings { screen, review, error } = channel.risk_settings;
    let point = match screen {
        ScreeningPoint::Before => "before the connector",
        ScreeningPoint::After => "after the approval",
    };
    let review = match review {
        ReviewPolicy::Decline => "",
        ReviewPolicy::Hold => ", reviews held",
        ReviewPolicy::Authorize => ", reviews authorized and held",
    };
    let failure = match error {
        RiskErrorPolicy::Deny => "",
        RiskErrorPolicy::Accept => ", errors accepted",
    };
    if channel.risk { format!("{point}{review}{failure}") } else { "off".to_owned() }
}
