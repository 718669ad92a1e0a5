//! The look of an entity's payment form: six settings in one form, and beside it a preview of the form with the values
//! that are typed.

pub(super) mod preview;

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::form_look::{FormLook, LookPart};
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::access::entity::EntityOverview;
use tillgate_gateway::access::setting_table::{DescribedSetting, SettingGroup, SettingRow, find_row};
use tillgate_gateway::administration::{ActError, Administration};

use self::preview::TypedLook;
use super::entity_tree::mode_badge;
use super::settings::groups::{look_value, source_badge, source_text};
use super::settings::{ReadForm, WAS, apply_change, read_rows};
use crate::BASE;
use crate::access::{Fields, FramePart};
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::layout::page::Section;
use crate::office::Office;

/// A refused form: the messages by the names of their settings, and the message about the whole form.
struct RefusedLook {
    faults: Vec<(&'static str, String)>,
    message: String,
}

/// Handles `GET /administration/entities/{id}/look`. The query has the values to show before they are saved.
pub(super) async fn show_look(office: Office, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    match office.find_entity(Permission::ViewPayments, &id) {
        Ok(entity) => show_page(&office, &entity, &TypedLook::read(&query.unwrap_or_default()), None).await,
        Err(unknown) => *unknown,
    }
}

/// Handles `POST /administration/entities/{id}/look`.
pub(super) async fn change_look(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ManageEntities, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let typed = TypedLook::of_fields(&fields);
    let refuse = async |faults, message: String| {
        show_page(&office, &entity, &typed, Some(RefusedLook { faults, message })).await
    };
    let lead_back = |done| office.lead_to(&format!("/administration/entities/{}/look", entity.id), done);
    let (change, reaches) = match read_rows(&office, &entity, look_rows(), &fields) {
        Ok(ReadForm { change: None, .. }) => return lead_back("settings_unchanged"),
        Ok(ReadForm { change: Some(change), reaches }) => (change, reaches),
        Err(faults) => return refuse(faults, office.texts.get("settings.refused").to_owned()).await,
    };
    match apply_change(&office, &entity, change, reaches).await {
        Ok(()) => lead_back("settings_changed"),
        Err(ActError::Refused { parameter, message }) if LookPart::find(parameter).is_some() => {
            refuse(vec![(parameter, message)], office.texts.get("settings.refused").to_owned()).await
        }
        Err(error) => office.show_refusal(&error, async |message| refuse(Vec::new(), message.to_owned()).await).await,
    }
}

/// Iterates over the settings of the look.
fn look_rows() -> impl Iterator<Item = &'static SettingRow> {
    LookPart::ALL.into_iter().filter_map(|part| find_row(part.setting()))
}

/// Loads an entity with its settings as they are stored.
async fn load_overview(office: &Office, entity: &Entity) -> Result<EntityOverview, ActError> {
    let id = entity.id.clone();
    let load = move |administration: &Administration| administration.describe_entity(administration.load_entity(&id)?);
    office.examine(Permission::ViewPayments, Reach::Entity(entity.id.clone()), load).await
}

/// Shows the page with values that were typed.
async fn show_page(office: &Office, entity: &Entity, typed: &TypedLook, refused: Option<RefusedLook>) -> Response {
    let texts = office.texts;
    let overview = match load_overview(office, entity).await {
        Ok(overview) => overview,
        Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
    };
    let name = &overview.entity.name;
    let title = texts.fill("look.title", &[("name", name)]);
    let main = html! {
        div.title {
            @if office.allows_on(Permission::ManageTokens, &entity.id) {
                p.crumb {
                    a href={ (BASE) "/administration" } { (texts.get("administration.title")) } " › "
                    a href={ (BASE) "/administration/entities/" (entity.id) } { (name) } " › " (texts.get("look.link"))
                }
            }
            h1 { (title) }
            (mode_badge(texts, &overview.entity))
            p { (texts.get("look.text")) }
        }
        div.look {
            (render_settings(office, &overview, typed, refused.as_ref()))
            section.card aria-labelledby="look-preview" {
                header { h2 id="look-preview" { (texts.get("look.preview")) } }
                iframe id="preview" src=(typed.address(&entity.id)) title=(texts.get("look.preview")) {}
                div.body { p.soft.small { (texts.get("look.differences")) } }
            }
        }
    };
    let mut response = match refused {
        Some(refused) => office.show_fault(Section::Administration, &title, &refused.message, &main),
        None => office.show_page(Section::Administration, &title, main),
    };
    response.extensions_mut().insert(FramePart::Outer);
    response
}

/// Renders the settings: as a form for those who may change them, or else as values.
fn render_settings(
    office: &Office,
    overview: &EntityOverview,
    typed: &TypedLook,
    refused: Option<&RefusedLook>,
) -> Markup {
    let texts = office.texts;
    let described = overview.describe_settings(SettingGroup::Form);
    let settings: Vec<(LookPart, &DescribedSetting<'_>)> =
        described.iter().filter_map(|setting| Some((LookPart::find(setting.row.name)?, setting))).collect();
    let id = &overview.entity.id;
    html! {
        section.card aria-labelledby="look-settings" {
            header { h2 id="look-settings" { (texts.get("look.settings")) } }
            @if office.allows_on(Permission::ManageEntities, id) {
                form method="post" action={ (BASE) "/administration/entities/" (id) "/look" }
                    data-preview=(preview::base_address(id)) {
                    @for (part, setting) in &settings { (render_field(office, overview, *part, setting, typed, refused)) }
                    div.send {
                        button.primary type="submit" { (texts.get("settings.save")) }
                        button type="submit" formmethod="get" { (texts.get("look.show")) }
                    }
                }
            } @else {
                div.body { (render_values(office, overview, &settings)) }
            }
        }
    }
}

/// Renders the values that apply, each with its source.
fn render_values(office: &Office, overview: &EntityOverview, settings: &[(LookPart, &DescribedSetting<'_>)]) -> Markup {
    let labels: Vec<String> = settings.iter().map(|(part, _)| format!("setting.{}", part.setting())).collect();
    let value = |part: LookPart, setting: &DescribedSetting<'_>| {
        let source = source_text(office, overview, setting);
        html! { span.wrap { (look_value(overview, part)) } " " (source_badge(setting, &source)) }
    };
    let rows: Vec<(&str, Option<Markup>)> = settings
        .iter()
        .zip(&labels)
        .map(|((part, setting), label)| (office.texts.get(label), Some(value(*part, setting))))
        .collect();
    facts(&rows)
}

/// Renders the field of a setting. It is empty if the entity has not chosen the value, and then names the value that
/// applies with its source.
fn render_field(
    office: &Office,
    overview: &EntityOverview,
    part: LookPart,
    setting: &DescribedSetting<'_>,
    typed: &TypedLook,
    refused: Option<&RefusedLook>,
) -> Markup {
    let (texts, name) = (office.texts, part.setting());
    let own = if setting.is_own { &*setting.value } else { "" };
    let value = typed.get(part).unwrap_or(own);
    let (label, hint) = (format!("setting.{name}"), format!("setting_hint.{name}"));
    let applies = texts.fill(
        "look.applies",
        &[("value", look_value(overview, part)), ("source", &source_text(office, overview, setting))],
    );
    let hint = format!("{applies} {}", texts.get(&hint));
    let fault = || part.parse(value).err().filter(|_| !value.is_empty());
    let error = match refused {
        Some(refused) => refused.faults.iter().find(|(known, _)| *known == name).map(|(_, message)| message.clone()),
        // A value of the query, which somebody wants to see before it is saved.
        None => fault(),
    };
    let field = Field {
        name,
        label: texts.get(&label),
        value,
        hint: Some(&hint),
        error: error.as_deref(),
        max_length: Some(16),
        ..Field::default()
    };
    let control = if part.is_colour() {
        let mut shown = FormLook::default();
        shown.set(part, part.parse(value).ok().flatten().or_else(|| overview.look.get(part).map(str::to_owned)));
        let picker = texts.fill("look.pick", &[("name", texts.get(&label))]);
        field.colour(&shown.colour(part).to_string(), &picker)
    } else {
        field.input("text")
    };
    let was = typed.was(part).unwrap_or(own);
    html! { (control) input type="hidden" name={ (WAS) (name) } value=(was); }
}
