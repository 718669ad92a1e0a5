//! Search in a list, a new entry, and the removal of one.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::{IntoResponse as _, Redirect, Response};
use jiff::SignedDuration;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::risk::list::{ListSource, RiskListKind, check_reason, parse_lifetime};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::risk::list_entries::{EntryPlace, EntryValue};
use tillgate_gateway::risk::versions::ChangeNote;
use tillgate_risk::{VelocityKey, find_list_key};
use zeroize::Zeroizing;

use super::list_page::{ListPlace, RefusedEntry, list_path, show_page};
use super::{apply_now, read_refusal};
use crate::BASE;
use crate::access::Fields;
use crate::office::Office;
use crate::review::analyst_of;

/// The list of a form.
struct NamedList {
    entity: Arc<Entity>,
    list: RiskListKind,
}

/// Finds the list that an address names.
fn find_list(office: &Office, permission: Permission, (id, list): (&str, &str)) -> Result<NamedList, Box<Response>> {
    let entity = office.find_entity(permission, id)?;
    let list = RiskListKind::parse(list).ok_or_else(|| Box::new(office.show_unknown()))?;
    Ok(NamedList { entity, list })
}

impl NamedList {
    /// Shows the list again, with the message about a field.
    async fn show_fault(&self, office: &Office, refused: RefusedEntry<'_>) -> Response {
        show_page(office, &self.entity, self.list, ListPlace::default(), Some(refused)).await
    }

    /// Shows why an act is refused.
    async fn show_error(&self, office: &Office, error: ActError, sent: &Fields, is_new: bool) -> Response {
        let show = |field: String, message| {
            let field = if is_new && field == "value" { "value_new".to_owned() } else { field };
            RefusedEntry { sent, is_new, field, message }
        };
        match read_refusal(error) {
            Ok((field, message)) => self.show_fault(office, show(field, message)).await,
            Err(ActError::Refused { parameter, message }) if parameter != tillgate_gateway::access::rights::ACTOR => {
                self.show_fault(office, show(parameter.to_owned(), message)).await
            }
            Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
        }
    }
}

/// Handles `POST /risk/{entity}/lists/{list}/search`: leads to the entry with a value, or to the entries of a key.
pub(super) async fn search(office: Office, Path((id, list)): Path<(String, String)>, fields: Fields) -> Response {
    let named = match find_list(&office, Permission::ViewRules, (&id, &list)) {
        Ok(named) => named,
        Err(unknown) => return *unknown,
    };
    let lead = |values: &[(&str, &str)]| {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(values).finish();
        Redirect::to(&format!("{BASE}{}?{query}", list_path(&named.entity, named.list))).into_response()
    };
    let Some((name, key)) = find_list_key(fields.get("key")) else {
        if fields.get("value").trim().is_empty() {
            return lead(&[]);
        }
        let message = office.texts.get("risk_lists.choose_key").to_owned();
        let refused = RefusedEntry { sent: &fields, is_new: false, field: "key".to_owned(), message };
        return named.show_fault(&office, refused).await;
    };
    if fields.get("value").trim().is_empty() {
        return lead(&[("key", name)]);
    }
    let (app, owner) = (Arc::clone(office.app()), Arc::clone(&named.entity));
    let text = Zeroizing::new(fields.get("value").to_owned());
    let find = move |_: &Administration| Ok(app.gateway.find_list_value(&owner, (name, &key), &text)?);
    match office.examine(Permission::ViewRules, Reach::Entity(named.entity.id.clone()), find).await {
        Ok(value) => lead(&[("key", name), ("value", &value)]),
        Err(error) => named.show_error(&office, error, &fields, false).await,
    }
}

/// A new entry.
struct NewEntry {
    key: (&'static str, VelocityKey),
    value: Zeroizing<String>,
    source: Option<ListSource>,
    lifetime: Option<SignedDuration>,
    reason: String,
}

/// Reads the form of a new entry.
///
/// # Errors
/// The name of a field, and the message about it.
fn read_entry(office: &Office, fields: &Fields) -> Result<NewEntry, (&'static str, String)> {
    let key = find_list_key(fields.get("key_new"));
    let key = key.ok_or_else(|| ("key_new", office.texts.get("risk_lists.choose_key").to_owned()))?;
    let source = match fields.get("source") {
        "" => None,
        name => Some(ListSource::parse(name).ok_or_else(|| ("source", "server, any".to_owned()))?),
    };
    let lifetime = match fields.get("expires").trim() {
        "" => None,
        text => Some(parse_lifetime(text).map_err(|message| ("expires", message))?),
    };
    let reason = check_reason(fields.get("reason")).map_err(|message| ("reason", message))?;
    Ok(NewEntry { key, value: Zeroizing::new(fields.get("value_new").to_owned()), source, lifetime, reason })
}

/// Handles `POST /risk/{entity}/lists/{list}/add`: adds an entry, or replaces the one with the same value.
pub(super) async fn add(office: Office, Path((id, list)): Path<(String, String)>, fields: Fields) -> Response {
    let named = match find_list(&office, Permission::ChangeRules, (&id, &list)) {
        Ok(named) => named,
        Err(unknown) => return *unknown,
    };
    let new = match read_entry(&office, &fields) {
        Ok(new) => new,
        Err((field, message)) => {
            let refused = RefusedEntry { sent: &fields, is_new: true, field: field.to_owned(), message };
            return named.show_fault(&office, refused).await;
        }
    };
    let author = analyst_of(&office.signed_in.user);
    let (app, owner, list) = (Arc::clone(office.app()), Arc::clone(&named.entity), named.list);
    let add = move |acts: &Administration| {
        let NewEntry { key: (name, key), value, source, lifetime, reason } = new;
        let value = EntryValue::Index(app.gateway.find_list_value(&owner, (name, &key), &value)?);
        let place = EntryPlace { list, key: (name, key), value };
        acts.put_list_entry(&owner, place, (source, lifetime), ChangeNote { author, reason })
    };
    match office.administer(Permission::ChangeRules, Reach::Entity(named.entity.id.clone()), add).await {
        Ok(_) => {
            apply_now(&office).await;
            office.lead_to(&list_path(&named.entity, list), "list_entry_added")
        }
        Err(error) => named.show_error(&office, error, &fields, true).await,
    }
}

/// Handles `POST /risk/{entity}/lists/{list}/remove`: removes the entry with a stored value.
pub(super) async fn remove(office: Office, Path((id, list)): Path<(String, String)>, fields: Fields) -> Response {
    let named = match find_list(&office, Permission::ChangeRules, (&id, &list)) {
        Ok(named) => named,
        Err(unknown) => return *unknown,
    };
    let Some(key) = find_list_key(fields.get("key")) else { return office.show_unknown() };
    let reason = match check_reason(fields.get("removal")) {
        Ok(reason) => reason,
        Err(message) => {
            let message = format!("{} {message}", office.texts.get("rules.reason"));
            let refused = RefusedEntry { sent: &fields, is_new: false, field: "removal".to_owned(), message };
            return named.show_fault(&office, refused).await;
        }
    };
    let place = EntryPlace { list: named.list, key, value: EntryValue::Index(fields.get("value").to_owned()) };
    let note = ChangeNote { author: analyst_of(&office.signed_in.user), reason };
    let owner = Arc::clone(&named.entity);
    let remove = move |acts: &Administration| acts.remove_list_entry(&owner, place, note);
    let path = list_path(&named.entity, named.list);
    match office.administer(Permission::ChangeRules, Reach::Entity(named.entity.id.clone()), remove).await {
        Ok(_) => {
            apply_now(&office).await;
            office.lead_to(&path, "list_entry_removed")
        }
        // A form that is sent twice finds the state that it asks for.
        Err(ActError::Refused { parameter: "value", .. }) => office.lead_to(&path, "list_entry_gone"),
        Err(error) => named.show_error(&office, error, &fields, false).await,
    }
}
