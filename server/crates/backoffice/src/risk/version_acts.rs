//! Use of a version: to decide, or in shadow mode, and the end of both. Each asks first, and says what changes.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::risk::list::{MAX_REASON, check_reason};
use tillgate_domain::risk::rules::{RiskState, VersionRole};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::risk::versions::ChangeNote;

use super::version_list::describe_inherited;
use super::version_page::{self, VersionPage};
use super::{apply_now, path_of, version_list};
use crate::BASE;
use crate::access::Fields;
use crate::components::dialog::Dialog;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::review::analyst_of;

/// Field with the version that the form was made with.
const SEEN: &str = "seen";
/// Field with the reason.
const REASON: &str = "reason";

/// Returns the name of a role in addresses and texts.
fn role_name(role: VersionRole) -> &'static str {
    role.as_str()
}

fn parse_role(name: &str) -> Option<VersionRole> {
    [VersionRole::Active, VersionRole::Shadow].into_iter().find(|role| role_name(*role) == name)
}

/// Handles `POST /risk/{entity}/versions/{version}/{role}`: lets a version decide, or only record.
pub(super) async fn use_version(
    office: Office,
    Path((id, version, role)): Path<(String, String, String)>,
    fields: Fields,
) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let Some(role) = parse_role(&role) else { return office.show_unknown() };
    let (owner, name) = (entity.id.clone(), version.clone());
    let known = super::examine(&office, &entity, move |acts| Ok(acts.load_rules_text(&owner, &name).is_ok())).await;
    match known {
        Ok(true) => {}
        Ok(false) => return office.show_unknown(),
        Err(response) => return *response,
    }
    match change_use(&office, &entity, (role, Some(version.clone())), &fields).await {
        Ok(()) => {
            let done = if role == VersionRole::Active { "rules_activated" } else { "rules_in_shadow" };
            office.lead_to(&format!("{}/versions/{version}", path_of(&entity)), done)
        }
        Err(error) => {
            let show =
                async |message: &str| version_page::show_page(&office, &entity, &version, 1, Some(message)).await;
            office.show_refusal(&error, show).await
        }
    }
}

/// Handles `POST /risk/{entity}/stop/{role}`: from now on the version of the entity above is used, if there is one.
pub(super) async fn stop_version(office: Office, Path((id, role)): Path<(String, String)>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let Some(role) = parse_role(&role) else { return office.show_unknown() };
    match change_use(&office, &entity, (role, None), &fields).await {
        Ok(()) => office.lead_to(&path_of(&entity), "rules_stopped"),
        Err(error) => {
            let show = async |message: &str| version_list::show_fault(&office, &entity, message).await;
            office.show_refusal(&error, show).await
        }
    }
}

/// Changes the version in a role.
async fn change_use(
    office: &Office,
    entity: &Entity,
    (role, version): (VersionRole, Option<String>),
    fields: &Fields,
) -> Result<(), ActError> {
    let label = office.texts.get("rules.reason");
    let reason =
        check_reason(fields.get(REASON)).map_err(|fault| ActError::refuse(REASON, format!("{label} {fault}")))?;
    let note = ChangeNote { author: analyst_of(&office.signed_in.user), reason };
    let seen = Some(fields.get(SEEN).to_owned()).filter(|seen| !seen.is_empty());
    let owner = entity.clone();
    let change =
        move |acts: &Administration| acts.replace_rules_in_use(&owner, role, version.as_deref(), seen.as_deref(), note);
    office.administer(Permission::ChangeRules, Reach::Entity(entity.id.clone()), change).await?;
    apply_now(office).await;
    Ok(())
}

/// Renders the buttons that use a version, each with its question.
pub(super) fn use_forms(office: &Office, page: &VersionPage) -> Markup {
    let version = &page.summary.version;
    html! {
        @for role in [VersionRole::Shadow, VersionRole::Active] {
            @if page.state.version_in(role) != Some(version) {
                (use_form(office, page, role))
            } @else {
                (stop_form(office, &page.entity, &page.state, role))
            }
        }
    }
}

fn use_form(office: &Office, page: &VersionPage, role: VersionRole) -> Markup {
    let (texts, name) = (office.texts, role_name(role));
    let version = &page.summary.version;
    let seen = page.state.version_in(role);
    let affected = count_affected(office, &page.entity, role).to_string();
    let now = match (seen, role) {
        (Some(seen), _) => texts.fill("rules_use.replaces", &[("version", seen)]),
        (None, VersionRole::Active) => {
            texts.fill("rules_use.in_place_of", &[("origin", &describe_inherited(office, &page.entity))])
        }
        (None, VersionRole::Shadow) => texts.get("rules_use.no_shadow").to_owned(),
    };
    let content = html! {
        p { (now) }
        p.soft { (texts.fill(&format!("rules_use.{name}_text"), &[("count", &affected)])) }
        @if seen.is_some() && role == VersionRole::Active {
            @let old = seen.unwrap_or_default();
            p { a href={ (BASE) (path_of(&page.entity)) "/differences?old=" (old) "&new=" (version) } {
                (texts.get("rules.differences"))
            } }
        }
    };
    let action = format!("{BASE}{}/versions/{version}/{name}", path_of(&page.entity));
    let question = texts.fill(&format!("rules_use.{name}_question"), &[("version", version)]);
    let button = texts.get(if role == VersionRole::Active { "rules_use.activate" } else { "rules_use.shadow" });
    let class = if role == VersionRole::Active { "primary" } else { "" };
    confirm(texts, (&format!("use-{name}"), &question, class, button), &content, (&action, seen))
}

/// Renders the buttons that stop the versions in use.
pub(super) fn stop_forms(office: &Office, entity: &Entity, state: &RiskState) -> Markup {
    html! {
        div.acts {
            @for role in [VersionRole::Active, VersionRole::Shadow] {
                @if state.version_in(role).is_some() { (stop_form(office, entity, state, role)) }
            }
        }
    }
}

fn stop_form(office: &Office, entity: &Entity, state: &RiskState, role: VersionRole) -> Markup {
    let (texts, name) = (office.texts, role_name(role));
    let seen = state.version_in(role);
    let affected = count_affected(office, entity, role).to_string();
    let origin = describe_inherited(office, entity);
    let content = html! {
        p.soft { (texts.fill(&format!("rules_stop.{name}_text"), &[("count", &affected), ("origin", &origin)])) }
    };
    let question = texts.fill(&format!("rules_stop.{name}_question"), &[("version", seen.unwrap_or_default())]);
    let button = texts.get(if role == VersionRole::Active { "rules_stop.activate" } else { "rules_stop.shadow" });
    let action = format!("{BASE}{}/stop/{name}", path_of(entity));
    confirm(texts, (&format!("stop-{name}"), &question, "danger", button), &content, (&action, seen))
}

/// Renders a button with its question, and the form with the reason in it.
fn confirm(
    texts: &Texts,
    (name, question, class, button): (&str, &str, &str, &str),
    content: &Markup,
    (action, seen): (&str, Option<&str>),
) -> Markup {
    let form_id = format!("{name}-form");
    let reason_name = format!("{name}-reason");
    let content = html! {
        (content)
        form id=(form_id) method="post" action=(action) {
            input type="hidden" name=(SEEN) value=(seen.unwrap_or_default());
            div.field {
                label for=(reason_name) { (texts.get("rules.reason")) }
                input id=(reason_name) name=(REASON) type="text" maxlength=(MAX_REASON) autocomplete="off";
            }
        }
    };
    let dialog = Dialog { name, title: question, content, close: texts.get("rules_use.keep") };
    let act =
        html! { button.primary[class != "danger"].danger[class == "danger"] type="submit" form=(form_id) { (button) } };
    html! { (dialog.opener(class, button)) (dialog.render(&act)) }
}

/// Counts the merchants and channels that use the version of an entity: itself and those below it without a version
/// of their own or from an entity between.
fn count_affected(office: &Office, entity: &Entity, role: VersionRole) -> usize {
    let directory = &office.app().gateway.directory;
    let all = directory.entities_at_and_below(&entity.id);
    let below: Vec<_> = all.iter().map(|one| &one.id).filter(|id| **id != entity.id).collect();
    let has_other = |one: &Entity| {
        let rules = directory.risk.find_rules(&one.id);
        let owner = rules.and_then(|rules| rules.active_owner.clone());
        role == VersionRole::Active && owner.is_some_and(|owner| below.contains(&&owner))
    };
    all.iter().filter(|one| one.level.allows_payments() && !has_other(one)).count()
}
