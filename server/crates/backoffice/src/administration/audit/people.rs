//! The people in entries of the audit log. An entry has the id of a user; the name is shown to those who manage the
//! user.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tillgate_domain::access::role::Permissions;
use tillgate_domain::access::user::User;
use tillgate_domain::id::UserId;
use tillgate_gateway::access::audit_log::AuditedAct;
use tillgate_gateway::access::rights::manages;
use tillgate_gateway::{App, Failure};
use tillgate_store::access::user::UserKey;

use crate::layout::texts::Texts;
use crate::office::Office;

/// The prefix of users among those who act.
const USER: &str = "user ";

/// Names of users by their ids.
#[derive(Default)]
pub(super) struct KnownPeople(BTreeMap<String, String>);

/// Loads the names that a reader may see.
pub(super) struct NameReader {
    reader: UserId,
    permissions: Permissions,
}

impl NameReader {
    /// Prepares a read for the user of a request.
    pub(super) fn new(office: &Office) -> Self {
        Self { reader: office.signed_in.user.id.clone(), permissions: office.signed_in.permissions.clone() }
    }

    /// Loads the names of the people in some entries: those who act, and users who were changed.
    pub(super) fn load(&self, app: &App, acts: &[AuditedAct]) -> Result<KnownPeople, Failure> {
        let mut names = BTreeMap::new();
        for act in acts {
            let content = &act.entry.content;
            let changed = content.action.starts_with(USER).then_some(content.subject.as_str());
            let actor = content.actor.as_deref().and_then(|actor| actor.strip_prefix(USER));
            for id in changed.into_iter().chain(actor) {
                if let (false, Some(user)) = (names.contains_key(id), UserId::parse(id)) {
                    names.insert(id.to_owned(), self.load_name(app, user)?);
                }
            }
        }
        Ok(KnownPeople(names.into_iter().filter_map(|(id, name)| Some((id, name?))).collect()))
    }

    /// Loads the name of a user. Returns `None` if the reader may not see it.
    fn load_name(&self, app: &App, id: UserId) -> Result<Option<String>, Failure> {
        let found = app.gateway.store.load_user(&UserKey::Id(id))?.map(|found| found.stored.user);
        Ok(found.filter(|user| self.may_name(app, user)).map(|user| user.name))
    }

    /// Returns true if the reader may see the name of a user: the reader's own, and those of the users that the reader
    /// manages.
    pub(super) fn may_name(&self, app: &App, user: &User) -> bool {
        user.id == self.reader || manages(&app.gateway.directory, &self.permissions, user)
    }
}

impl KnownPeople {
    /// Returns the name of a user, `None` if it is not known or not to be seen.
    pub(super) fn find(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// Returns true if the name of the person who acted is known.
    pub(super) fn knows_actor(&self, actor: &str) -> bool {
        actor.strip_prefix(USER).is_some_and(|id| self.find(id).is_some())
    }

    /// Renders the person, program or token that acted.
    pub(super) fn render_actor(&self, texts: &Texts, actor: Option<&str>) -> Markup {
        let Some(actor) = actor else { return html! { span.soft { (texts.get("audit.gateway_itself")) } } };
        match actor.strip_prefix(USER).and_then(|id| self.find(id)) {
            Some(name) => html! { (name) },
            None => html! { code { (actor) } },
        }
    }
}
