//! The people who acted. Entries of the audit log and payments have the id of a user; the name is shown to those who
//! manage the user.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tillgate_domain::access::role::{Permission, Permissions};
use tillgate_domain::access::user::User;
use tillgate_domain::id::UserId;
use tillgate_gateway::access::audit_log::AuditedAct;
use tillgate_gateway::access::rights::manages;
use tillgate_gateway::payment::story::PaymentStory;
use tillgate_gateway::{App, Failure};
use tillgate_store::access::user::UserKey;

use crate::layout::texts::Texts;
use crate::office::Office;

/// The prefix of users among those who act.
const USER: &str = "user ";

/// Names of users by their ids.
#[derive(Default)]
pub(crate) struct KnownPeople(BTreeMap<String, String>);

/// Loads the names that a reader may see.
pub(crate) struct NameReader {
    reader: UserId,
    permissions: Permissions,
}

impl NameReader {
    /// Prepares a read for the user of a request.
    pub(crate) fn new(office: &Office) -> Self {
        Self { reader: office.signed_in.user.id.clone(), permissions: office.signed_in.permissions.clone() }
    }

    /// Loads the names of the people in some entries: those who act, and users who were changed.
    pub(crate) fn load(&self, app: &App, acts: &[AuditedAct]) -> Result<KnownPeople, Failure> {
        let changed = acts.iter().map(|act| &act.entry.content).filter(|content| content.action.starts_with(USER));
        let changed = changed.map(|content| content.subject.as_str());
        let actors = acts.iter().filter_map(|act| act.entry.content.actor.as_deref());
        self.load_ids(app, changed.chain(actors.filter_map(|actor| actor.strip_prefix(USER))))
    }

    /// Loads the names of those who acted in the steps of a payment.
    pub(crate) fn load_of_story(&self, app: &App, story: &PaymentStory) -> Result<KnownPeople, Failure> {
        let payments = story.attempts.iter().chain(&story.related).chain([&story.payment]);
        let actors = payments.filter_map(|payment| payment.actor.as_deref());
        let actors = actors.chain(story.entries.iter().filter_map(|(_, entry)| entry.actor.as_deref()));
        let steps = story.disputes.iter().flat_map(|dispute| &dispute.steps);
        let actors = actors.chain(steps.filter_map(|step| step.actor.as_deref()));
        self.load_ids(app, actors.filter_map(|actor| actor.strip_prefix(USER)))
    }

    fn load_ids<'a>(&self, app: &App, ids: impl Iterator<Item = &'a str>) -> Result<KnownPeople, Failure> {
        let mut names = BTreeMap::new();
        for id in ids {
            if let (false, Some(user)) = (names.contains_key(id), UserId::parse(id)) {
                names.insert(id.to_owned(), self.load_name(app, user)?);
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
    pub(crate) fn may_name(&self, app: &App, user: &User) -> bool {
        user.id == self.reader || manages(&app.gateway.directory, &self.permissions, user)
    }
}

impl KnownPeople {
    /// Makes the names of pages that load no others: the user alone, because the people of the operator are none of a
    /// tenant's business.
    pub(crate) fn of_reader(office: &Office) -> Self {
        let user = &office.signed_in.user;
        Self(BTreeMap::from([(user.id.to_string(), user.name.clone())]))
    }

    /// Returns the name of a user, `None` if it is not known or not to be seen.
    pub(crate) fn find(&self, id: &str) -> Option<&str> {
        self.0.get(id).map(String::as_str)
    }

    /// Returns true if the name of the person who acted is known.
    pub(crate) fn knows_actor(&self, actor: &str) -> bool {
        actor.strip_prefix(USER).is_some_and(|id| self.find(id).is_some())
    }

    /// Returns the address from which somebody acted, if the reader may know the person: the operator's people are none
    /// of a tenant's business.
    pub(crate) fn find_address<'a>(&self, office: &Office, act: &'a AuditedAct) -> Option<&'a str> {
        let sees_all = office.signed_in.permissions.allows_everywhere(Permission::ViewAudit);
        let actor = act.entry.content.actor.as_deref();
        act.address().filter(|_| sees_all || actor.is_none_or(|actor| self.knows_actor(actor)))
    }

    /// Renders the person, program or token that acted.
    pub(crate) fn render_actor(&self, texts: &Texts, actor: Option<&str>) -> Markup {
        let Some(actor) = actor else { return html! { span.soft { (texts.get("audit.gateway_itself")) } } };
        match actor.strip_prefix(USER).and_then(|id| self.find(id)) {
            Some(name) => html! { (name) },
            None => html! { code { (actor) } },
        }
    }
}
