//! The groups of settings: what applies and where it comes from, and the form that opens below.

use maud::{Markup, html};
use tillgate_domain::access::form_look::LookPart;
use tillgate_domain::access::role::Permission;
use tillgate_gateway::access::entity::EntityOverview;
use tillgate_gateway::access::setting_table::{DescribedSetting, SettingGroup, SettingKind};

use super::{NAME, RefusedForm, WAS, may_change};
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::facts::facts;
use crate::components::field::{Choice, Field};
use crate::layout::texts::Texts;
use crate::office::Office;

/// Renders the name with its form.
pub(super) fn render_name(office: &Office, overview: &EntityOverview, refused: Option<&RefusedForm<'_>>) -> Markup {
    let texts = office.texts;
    let refused = refused.filter(|refused| refused.form == NAME);
    let name = &overview.entity.name;
    let value = refused.map_or(&**name, |refused| refused.sent.get(NAME));
    let was = refused.map_or(&**name, |refused| refused.sent.get("was-name"));
    let field = Field {
        name: NAME,
        label: texts.get("administration.name"),
        value,
        hint: Some(texts.get("settings.name_hint")),
        error: refused.and_then(|refused| refused.find_fault(NAME)),
        max_length: Some(100),
        ..Field::default()
    };
    let fields = html! { (field.input("text")) input type="hidden" name={ (WAS) (NAME) } value=(was); };
    let shown = facts(&[(texts.get("administration.name"), Some(html! { (name) }))]);
    render_card(office, overview, NAME, &shown, &fields, refused.is_some())
}

/// Renders a group with its form.
pub(super) fn render_group(
    office: &Office,
    overview: &EntityOverview,
    group: SettingGroup,
    refused: Option<&RefusedForm<'_>>,
) -> Markup {
    let texts = office.texts;
    let refused = refused.filter(|refused| refused.form == group.as_str());
    let settings = overview.describe_settings(group);
    let labels: Vec<String> = settings.iter().map(|setting| format!("setting.{}", setting.row.name)).collect();
    let rows: Vec<(&str, Option<Markup>)> = settings
        .iter()
        .zip(&labels)
        .map(|(setting, label)| (texts.get(label), Some(render_value(office, overview, setting))))
        .collect();
    let fields = html! {
        @for setting in &settings { (render_field(office, overview, setting, refused)) }
        @if settings.iter().any(|setting| !may_change(office, &overview.entity, setting.row)) {
            p.soft.small { (texts.get("settings.others_above_only")) }
        }
    };
    render_card(office, overview, group.as_str(), &facts(&rows), &fields, refused.is_some())
}

/// Renders the card of a form, which opens below the values.
fn render_card(
    office: &Office,
    overview: &EntityOverview,
    form: &str,
    shown: &Markup,
    fields: &Markup,
    is_open: bool,
) -> Markup {
    let texts = office.texts;
    let title = texts.get(&format!("settings_group.{form}")).to_owned();
    let heading = format!("group-{form}");
    let action = format!("{BASE}/administration/entities/{}/settings/{form}", overview.entity.id);
    html! {
        section.card aria-labelledby=(heading) {
            header { h2 id=(heading) { (title) } }
            div.body { (shown) }
            details.change open[is_open] {
                summary { (texts.get("settings.change")) span.hidden-text { ": " (title) } }
                form method="post" action=(action) {
                    div.fields { (fields) }
                    div.send { button.primary type="submit" { (texts.get("settings.save")) } }
                }
            }
        }
    }
}

/// Returns a value as people read it.
fn value_text(texts: &Texts, value: &str) -> String {
    texts.find(&format!("setting_value.{value}")).unwrap_or(value).to_owned()
}

/// Renders a value, and where it comes from.
fn render_value(office: &Office, overview: &EntityOverview, setting: &DescribedSetting<'_>) -> Markup {
    let texts = office.texts;
    // A channel works in the compatibility mode of its merchant.
    let is_merchants = setting.row.name == "compatible" && overview.compatible && setting.value == "off";
    let value = match LookPart::find(setting.row.name) {
        Some(part) => look_value(overview, part),
        None if is_merchants => "on",
        None => &setting.value,
    };
    let source = if is_merchants { texts.get("settings.of_merchant") } else { &source_text(office, overview, setting) };
    html! { span.wrap { (value_text(texts, value)) } " " (source_badge(setting, source)) }
}

/// Renders the badge about the source of a value.
pub(in crate::administration) fn source_badge(setting: &DescribedSetting<'_>, source: &str) -> Markup {
    badge(if setting.is_own { Tone::Good } else { Tone::Calm }, source)
}

/// Returns the value of a part of the form's look that applies, which is also that of the form's style sheet.
pub(in crate::administration) fn look_value(overview: &EntityOverview, part: LookPart) -> &str {
    overview.look.get(part).unwrap_or(part.default_value())
}

/// Describes the source of a value. A channel has the parts of the form's look that it has not chosen from its
/// merchant.
pub(in crate::administration) fn source_text(
    office: &Office,
    overview: &EntityOverview,
    setting: &DescribedSetting<'_>,
) -> String {
    let has_look = LookPart::find(setting.row.name).is_some_and(|part| overview.look.get(part).is_some());
    if setting.is_own {
        office.texts.get("settings.own").to_owned()
    } else if has_look && setting.from.is_none() {
        office.texts.get("settings.of_merchant").to_owned()
    } else {
        inherited_text(office, setting)
    }
}

/// Describes where a value comes from that the entity has not chosen. An entity above is named only to those who may
/// see it.
fn inherited_text(office: &Office, setting: &DescribedSetting<'_>) -> String {
    let texts = office.texts;
    match setting.from {
        None => texts.get("settings.default").to_owned(),
        Some(from) if office.allows_on(Permission::ManageEntities, &from.id) => {
            texts.fill("settings.inherited_from", &[("name", &from.name)])
        }
        Some(_) => texts.get("settings.inherited").to_owned(),
    }
}

/// Renders the field of a setting. It is empty if the setting is inherited.
fn render_field(
    office: &Office,
    overview: &EntityOverview,
    setting: &DescribedSetting<'_>,
    refused: Option<&RefusedForm<'_>>,
) -> Markup {
    let (texts, row) = (office.texts, setting.row);
    if !may_change(office, &overview.entity, row) {
        return html! {};
    }
    let own = if setting.is_own { &*setting.value } else { "" };
    let was_name = format!("{WAS}{}", row.name);
    let (label, hint) = (format!("setting.{}", row.name), format!("setting_hint.{}", row.name));
    let placeholder = format!("{}: {}", inherited_text(office, setting), value_text(texts, &setting.value));
    // The inherited value is known only while it applies.
    let inherited = if setting.is_own { texts.get("settings.inherit") } else { &placeholder };
    let field = Field {
        name: row.name,
        label: texts.get(&label),
        value: refused.map_or(own, |refused| refused.sent.get(row.name)),
        hint: texts.find(&hint),
        error: refused.and_then(|refused| refused.find_fault(row.name)),
        max_length: Some(2000),
        ..Field::default()
    };
    let words = row.words();
    let control = if words.is_empty() {
        let input_mode = (row.kind == SettingKind::Number).then_some("numeric");
        Field { input_mode, ..field }.input("text")
    } else {
        let names: Vec<String> = words.iter().map(|word| value_text(texts, word)).collect();
        let mut choices: Vec<Choice<'_>> = vec![("", inherited)];
        choices.extend(words.iter().copied().zip(names.iter().map(String::as_str)));
        // A value from an older version, or one that was sent, is kept.
        if !choices.iter().any(|(word, _)| *word == field.value) {
            choices.push((field.value, field.value));
        }
        field.select(&choices)
    };
    html! {
        (control)
        input type="hidden" name=(was_name) value=(refused.map_or(own, |refused| refused.sent.get(&was_name)));
    }
}
