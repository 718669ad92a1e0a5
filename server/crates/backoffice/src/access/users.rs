//! Users, for administrators: the list, one user, and the acts. An administrator of an entity sees and changes the
//! users whose roles are all on that entity or below it; any other user looks like one that does not exist.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use tillgate_domain::access::role::{Permission, Reach, RoleGrant};
use tillgate_domain::access::user::{User, UserState};
use tillgate_domain::id::UserId;
use tillgate_gateway::Failure;
use tillgate_gateway::access::actor::Actor;
use tillgate_gateway::access::rights::{ACTOR, holds_on, manages};
use tillgate_gateway::access::users::{Changed, Invited, NewUser, UserAct, invitation_path};
use tillgate_gateway::administration::ActError;
use tillgate_store::Cancellation;
use tillgate_store::access::user::UserKey;

use super::client::OfficeClient;
use super::fields::Fields;
use super::problem::Problem;
use super::signed_in::SignedIn;
use super::user_forms;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::{Page, Section};
use crate::{BASE, OfficeState};

/// A request of an administrator about users.
pub(super) struct UserPages<'a> {
    pub(super) state: &'a OfficeState,
    pub(super) client: &'a OfficeClient,
    pub(super) signed_in: &'a SignedIn,
}

impl UserPages<'_> {
    /// Returns true if the administrator may see and change a user.
    fn manages(&self, user: &User) -> bool {
        manages(&self.state.app.gateway.directory, &self.signed_in.permissions, user)
    }

    /// Loads a user whom the administrator manages.
    fn load_user(&self, id: &str) -> Result<User, Box<Response>> {
        let loaded = match UserId::parse(id) {
            Some(id) => self.state.app.gateway.store.load_user(&UserKey::Id(id)),
            None => Ok(None),
        };
        match loaded {
            Ok(found) => found
                .map(|found| found.stored.user)
                .filter(|user| self.manages(user))
                .ok_or_else(|| Box::new(self.refuse(&Problem::NotFound))),
            Err(error) => Err(Box::new(self.refuse(&Problem::failed(&error.into())))),
        }
    }

    /// Loads a user for an act. Administrators cannot change their own access: a link replaces password and second
    /// factor without asking for one, so a stolen session must not get its own, and the last administrator must stay.
    fn load_other_user(&self, id: &str) -> Result<User, Box<Response>> {
        let user = self.load_user(id)?;
        if user.id == self.signed_in.user.id {
            return Err(Box::new(self.render_user(&user, Some(self.client.texts.get("users.not_yourself")))));
        }
        Ok(user)
    }

    /// Loads the users of all tenants on a thread for long reads, so that they delay no payment.
    async fn load_users(&self) -> Result<Vec<User>, Failure> {
        let app = Arc::clone(&self.state.app);
        let read = move |_: &Cancellation<'_>| app.gateway.store.load_users();
        Ok(self.state.app.gateway.store.long_reads.run_read(&self.signed_in.user.id, read).await??)
    }

    fn refuse(&self, problem: &Problem) -> Response {
        problem.render(self.client.texts, Some(&self.signed_in.user.name))
    }

    /// Reads a role with its entity from a form. Returns `None` if the administrator may not give it.
    fn read_grant(&self, fields: &Fields) -> Option<RoleGrant> {
        let (role, reach) = (fields.get("role").parse().ok()?, Reach::parse(fields.get("reach"))?);
        let directory = &self.state.app.gateway.directory;
        let may = holds_on(directory, &self.signed_in.permissions, Permission::ManageUsers, &reach);
        may.then_some(RoleGrant { role, reach })
    }

    fn actor(&self) -> Actor {
        Actor::of_session(&self.signed_in.session, self.client.address)
    }

    /// Renders a page about users.
    fn render(&self, status: StatusCode, title: &str, main: Markup) -> Response {
        let (texts, user) = (self.client.texts, Some(&*self.signed_in.user.name));
        let page = Page { texts, title, section: Section::Other, user, search: "", main };
        (status, page.render()).into_response()
    }

    /// Renders the list, with the fault of the form below it.
    async fn render_list(&self, sent: &Fields, fault: Option<&str>) -> Response {
        let mut users = match self.load_users().await {
            Ok(users) => users,
            Err(failure) => return self.refuse(&Problem::failed(&failure)),
        };
        users.retain(|user| self.manages(user));
        let texts = self.client.texts;
        let title = texts.get("users.title");
        let main = html! {
            h1 { (title) }
            @if let Some(fault) = fault { (notice(Tone::Bad, &html! { (fault) })) }
            (user_forms::user_table(self, &users))
            (user_forms::creation_form(self, sent))
        };
        let status = if fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        self.render(status, title, main)
    }

    /// Renders a user, with the fault of an act.
    fn render_user(&self, user: &User, fault: Option<&str>) -> Response {
        let main = html! {
            h1 { (user.name) }
            @if let Some(fault) = fault { (notice(Tone::Bad, &html! { (fault) })) }
            (user_forms::user_details(self, user, user.id == self.signed_in.user.id))
        };
        let status = if fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        self.render(status, &user.name, main)
    }

    /// Renders the link of an invitation, which is known only now.
    fn render_link(&self, invited: &Invited) -> Response {
        let texts = self.client.texts;
        let title = texts.get("users.link");
        let link = format!("{}{}", self.client.base, invitation_path(&invited.token));
        let main = html! {
            h1 { (title) }
            p { (texts.fill("users.link_text", &[("mail", &invited.user.mail)])) }
            p { code id="link" { (link) } }
            p { a href={ (BASE) "/users/" (invited.user.id) } { (invited.user.name) } }
        };
        self.render(StatusCode::OK, title, main)
    }

    /// Leads back to a user after an act. Shows the link of a user whom the act has reset, or the reason why
    /// nothing was changed.
    async fn after_act(&self, user: &User, outcome: Result<Changed, ActError>) -> Response {
        match outcome {
            Ok(Changed { user, token: Some(token) }) => self.render_link(&Invited { user, token }),
            Ok(_) => Redirect::to(&format!("{BASE}/users/{}", user.id)).into_response(),
            Err(error) => self.fail(&error, async |message| self.render_user(user, Some(message))).await,
        }
    }

    /// Shows the reason why nothing was changed. `show` renders a refusal with its message.
    async fn fail(&self, error: &ActError, show: impl AsyncFnOnce(&str) -> Response) -> Response {
        match error {
            // Somebody who lost the right meanwhile does not see the page of the user either.
            ActError::Refused { parameter: ACTOR, .. } => self.refuse(&Problem::NotFound),
            ActError::Refused { message, .. } => show(message).await,
            error => {
                tracing::error!(%error, "an act on a user of the back office failed");
                self.refuse(&Problem::Unavailable)
            }
        }
    }
}

/// Shows the users.
pub(super) async fn list_users(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
) -> Response {
    let office = UserPages { state: &state, client: &client, signed_in: &signed_in };
    office.render_list(&Fields::default(), None).await
}

/// Creates a user, and shows the link of the invitation.
pub(super) async fn create_user(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    fields: Fields,
) -> Response {
    let office = UserPages { state: &state, client: &client, signed_in: &signed_in };
    let Some(grant) = office.read_grant(&fields) else {
        return office.render_list(&fields, Some(client.texts.get("users.no_role"))).await;
    };
    let new = NewUser { mail: fields.get("mail").to_owned(), name: fields.get("name").to_owned(), grants: vec![grant] };
    match state.app.gateway.create_user(new, office.actor()).await {
        Ok(invited) => office.render_link(&invited),
        Err(error) => office.fail(&error, async |message| office.render_list(&fields, Some(message)).await).await,
    }
}

/// Shows a user.
pub(super) async fn show_user(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    Path(id): Path<String>,
) -> Response {
    let office = UserPages { state: &state, client: &client, signed_in: &signed_in };
    match office.load_user(&id) {
        Ok(user) => office.render_user(&user, None),
        Err(refused) => *refused,
    }
}

/// Makes a new invitation of a user, and shows its link.
pub(super) async fn invite_user(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    Path(id): Path<String>,
) -> Response {
    let office = UserPages { state: &state, client: &client, signed_in: &signed_in };
    let user = match office.load_other_user(&id) {
        Ok(user) => user,
        Err(refused) => return *refused,
    };
    match state.app.gateway.invite_user(user.id.clone(), office.actor()).await {
        Ok(invited) => office.render_link(&invited),
        Err(error) => office.fail(&error, async |message| office.render_user(&user, Some(message))).await,
    }
}

/// Disables or enables a user.
pub(super) async fn change_state(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    Path(id): Path<String>,
) -> Response {
    let office = UserPages { state: &state, client: &client, signed_in: &signed_in };
    let user = match office.load_other_user(&id) {
        Ok(user) => user,
        Err(refused) => return *refused,
    };
    let act = if user.state == UserState::Disabled { UserAct::Enable } else { UserAct::Disable };
    let outcome = state.app.gateway.change_user(user.id.clone(), act, office.actor()).await;
    office.after_act(&user, outcome).await
}

/// Gives or takes a role of a user.
pub(super) async fn change_role(
    State(state): State<Arc<OfficeState>>,
    client: OfficeClient,
    signed_in: SignedIn,
    Path(id): Path<String>,
    fields: Fields,
) -> Response {
    let office = UserPages { state: &state, client: &client, signed_in: &signed_in };
    let user = match office.load_other_user(&id) {
        Ok(user) => user,
        Err(refused) => return *refused,
    };
    let Some(grant) = office.read_grant(&fields) else {
        return office.render_user(&user, Some(client.texts.get("users.no_role")));
    };
    let act = match fields.get("act") {
        "remove" => UserAct::RemoveRole(grant),
        _ => UserAct::AddRole(grant),
    };
    let outcome = state.app.gateway.change_user(user.id.clone(), act, office.actor()).await;
    office.after_act(&user, outcome).await
}
