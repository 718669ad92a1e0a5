//! Settings of an entity by subject: each with its value and where the value comes from, and the forms that change
//! them.

pub(super) mod groups;

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use maud::html;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::access::entity::{EntityChange, EntityOverview};
use tillgate_gateway::access::rights::holds_on;
use tillgate_gateway::access::setting_table::{SettingGroup, SettingRow, find_row};
use tillgate_gateway::access::settings::parse_name;
use tillgate_gateway::administration::{ActError, Administration};

use super::entity_tree::mode_badge;
use crate::BASE;
use crate::access::Fields;
use crate::layout::page::Section;
use crate::office::Office;

/// The form of the name, which is no setting.
const NAME: &str = "name";
/// Prefix of the field with the value that a form was made with.
pub(super) const WAS: &str = "was-";

/// A refused form.
struct RefusedForm<'a> {
    /// Name of the form: a group, or [`NAME`].
    form: &'a str,
    /// The fields as they were sent.
    sent: &'a Fields,
    /// The messages by the names of their settings.
    faults: Vec<(&'static str, String)>,
    /// The message about the whole form.
    message: String,
}

impl RefusedForm<'_> {
    /// Returns the message about a setting.
    fn find_fault(&self, name: &str) -> Option<&str> {
        self.faults.iter().find(|(known, _)| *known == name).map(|(_, message)| &**message)
    }
}

/// Handles `GET /administration/entities/{id}/settings`.
pub(super) async fn show_settings(office: Office, Path(id): Path<String>) -> Response {
    match office.find_entity(Permission::ManageEntities, &id) {
        Ok(entity) => show_page(&office, &entity, None).await,
        Err(unknown) => *unknown,
    }
}

/// Handles `POST /administration/entities/{id}/settings/{form}`: changes the settings of a group, or the name.
pub(super) async fn change_settings(
    office: Office,
    Path((id, form)): Path<(String, String)>,
    fields: Fields,
) -> Response {
    let entity = match office.find_entity(Permission::ManageEntities, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let read = match (SettingGroup::parse(&form), &*form) {
        (Some(group), _) => read_rows(&office, &entity, group.rows(), &fields),
        (None, NAME) => read_name(&fields),
        (None, _) => return office.show_unknown(),
    };
    let refuse = async |faults: Vec<(&'static str, String)>, message: String| {
        let refused = RefusedForm { form: &form, sent: &fields, faults, message };
        show_page(&office, &entity, Some(refused)).await
    };
    let (change, reaches) = match read {
        Ok(ReadForm { change: None, .. }) => return lead_back(&office, &entity, "settings_unchanged"),
        Ok(ReadForm { change: Some(change), reaches }) => (change, reaches),
        Err(faults) => return refuse(faults, office.texts.get("settings.refused").to_owned()).await,
    };
    match apply_change(&office, &entity, change, reaches).await {
        Ok(()) => lead_back(&office, &entity, "settings_changed"),
        Err(ActError::Refused { parameter, message }) if is_in_form(parameter, &form) => {
            refuse(vec![(parameter, message)], office.texts.get("settings.refused").to_owned()).await
        }
        Err(error) => office.show_refusal(&error, async |message| refuse(Vec::new(), message.to_owned()).await).await,
    }
}

/// Returns true if a form has the field of a setting.
fn is_in_form(setting: &str, form: &str) -> bool {
    find_row(setting).is_some_and(|row| row.group.as_str() == form)
}

/// Changes an entity. The permission is checked again for each part of the tree on which the change needs it.
pub(super) async fn apply_change(
    office: &Office,
    entity: &Entity,
    change: EntityChange,
    reaches: Vec<Reach>,
) -> Result<(), ActError> {
    let (id, app, actor) = (entity.id.clone(), Arc::clone(office.app()), office.actor());
    let apply = move |administration: &Administration| {
        for reach in &reaches {
            app.gateway.open_administration(&actor, (Permission::ManageEntities, reach))?;
        }
        administration.change_entity(&id, &change, |_| Ok(())).map(|_| ())
    };
    office.administer(Permission::ManageEntities, Reach::Entity(entity.id.clone()), apply).await
}

fn lead_back(office: &Office, entity: &Entity, done: &str) -> Response {
    office.lead_to(&format!("/administration/entities/{}/settings", entity.id), done)
}

/// A form that was read.
pub(super) struct ReadForm {
    /// The change. `None` if the form changes nothing.
    pub(super) change: Option<EntityChange>,
    /// The parts of the tree on which the change needs the permission as well.
    pub(super) reaches: Vec<Reach>,
}

/// Reads the form of the name.
///
/// # Errors
/// The message about it.
fn read_name(fields: &Fields) -> Result<ReadForm, Vec<(&'static str, String)>> {
    let name = parse_name(fields.get(NAME)).map_err(|message| vec![(NAME, message)])?;
    let is_changed = name != fields.get(&format!("{WAS}{NAME}"));
    let change = EntityChange { name: Some(name), ..EntityChange::default() };
    Ok(ReadForm { change: is_changed.then_some(change), reaches: Vec::new() })
}

/// Reads the fields of settings. A field that still has the value with which the form was made changes nothing, so that
/// a form never undoes the change that somebody else has made meanwhile. An empty field is inherited from now on.
///
/// # Errors
/// The messages about the fields.
pub(super) fn read_rows(
    office: &Office,
    entity: &Entity,
    rows: impl Iterator<Item = &'static SettingRow>,
    fields: &Fields,
) -> Result<ReadForm, Vec<(&'static str, String)>> {
    let mut change = EntityChange::default();
    let (mut faults, mut reaches, mut is_changed) = (Vec::new(), Vec::new(), false);
    for row in rows {
        let (value, was) = (fields.get(row.name).trim(), fields.get(&format!("{WAS}{}", row.name)));
        if value == was {
            continue;
        }
        is_changed = true;
        if !may_change(office, entity, row) {
            faults.push((row.name, office.texts.get("settings.above_only").to_owned()));
        } else if !value.is_empty() {
            faults.extend(row.set(&mut change.settings, value).err().map(|message| (row.name, message)));
        } else if row.is_inheritable() {
            change.settings.inherit.push(row.name.to_owned());
        } else {
            faults.push((row.name, office.texts.get("settings.needs_value").to_owned()));
        }
        if row.is_from_above {
            reaches.push(row.required_reach(&office.app().gateway.directory, entity));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(ReadForm { change: is_changed.then_some(change), reaches })
}

/// Returns true if the user may change a setting of an entity.
fn may_change(office: &Office, entity: &Entity, row: &SettingRow) -> bool {
    let directory = &office.app().gateway.directory;
    let reach = row.required_reach(directory, entity);
    holds_on(directory, &office.signed_in.permissions, Permission::ManageEntities, &reach)
}

/// Loads an entity with its settings as they are stored.
async fn load_overview(office: &Office, entity: &Entity) -> Result<EntityOverview, ActError> {
    let id = entity.id.clone();
    let load = move |administration: &Administration| administration.describe_entity(administration.load_entity(&id)?);
    office.examine(Permission::ManageEntities, Reach::Entity(entity.id.clone()), load).await
}

/// Shows the page. `refused` is a form that was refused.
async fn show_page(office: &Office, entity: &Entity, refused: Option<RefusedForm<'_>>) -> Response {
    let texts = office.texts;
    let overview = match load_overview(office, entity).await {
        Ok(overview) => overview,
        Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
    };
    let main = html! {
        div.title {
            p.crumb {
                a href={ (BASE) "/administration" } { (texts.get("administration.title")) } " › "
                (texts.get("administration.crumb")) " › "
                a href={ (BASE) "/administration/entities/" (entity.id) } { (overview.entity.name) } " › "
                (texts.get("settings.link"))
            }
            h1 { (texts.fill("settings.title", &[("name", &overview.entity.name)])) }
            (mode_badge(texts, &overview.entity))
            p { (texts.get("settings.text")) }
        }
        div.stack {
            (groups::render_name(office, &overview, refused.as_ref()))
            @for group in SettingGroup::ALL { (groups::render_group(office, &overview, group, refused.as_ref())) }
        }
    };
    let title = texts.fill("settings.title", &[("name", &overview.entity.name)]);
    match refused {
        Some(refused) => office.show_fault(Section::Administration, &title, &refused.message, &main),
        None => office.show_page(Section::Administration, &title, main),
    }
}
