//! Users, for administrators: the list, one user, and the acts. An administrator of an entity sees and changes the
//! users whose roles are all on that entity or below it; any other user looks like one that does not exist.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::html;
use tillgate_domain::access::role::{Permission, Reach, RoleGrant};
use tillgate_domain::access::user::{User, UserState};
use tillgate_domain::id::UserId;
use tillgate_gateway::access::rights::{holds_on, manages};
use tillgate_gateway::access::users::{Changed, Invited, NewUser, UserAct, invitation_path};
use tillgate_gateway::administration::ActError;
use tillgate_store::access::user::UserKey;

use super::fields::Fields;
use super::user_forms;
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::Section;
use crate::office::Office;

impl Office {
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
                .ok_or_else(|| Box::new(self.show_unknown())),
            Err(error) => Err(Box::new(self.show_failure(&error.into()))),
        }
    }

    /// Loads a user for an act. Administrators cannot change their own access: a link replaces password and second
    /// factor without asking for one, so a stolen session must not get its own, and the last administrator must stay.
    fn load_other_user(&self, id: &str) -> Result<User, Box<Response>> {
        let user = self.load_user(id)?;
        if user.id == self.signed_in.user.id {
            return Err(Box::new(self.render_user(&user, Some(self.texts.get("users.not_yourself")))));
        }
        Ok(user)
    }

    /// Reads a role with its entity from a form. Returns `None` if the administrator may not give it.
    fn read_grant(&self, fields: &Fields) -> Option<RoleGrant> {
        let (role, reach) = (fields.get("role").parse().ok()?, Reach::parse(fields.get("reach"))?);
        let directory = &self.state.app.gateway.directory;
        let may = holds_on(directory, &self.signed_in.permissions, Permission::ManageUsers, &reach);
        may.then_some(RoleGrant { role, reach })
    }

    /// Renders the list, with the fault of the form below it.
    async fn render_list(&self, sent: &Fields, fault: Option<&str>) -> Response {
        let mut users = match self.read(|app, _| Ok(app.gateway.store.load_users()?)).await {
            Ok(users) => users,
            Err(failure) => return self.show_failure(&failure),
        };
        users.retain(|user| self.manages(user));
        let texts = self.texts;
        let title = texts.get("users.title");
        let main = html! {
            h1 { (title) }
            @if let Some(fault) = fault { (notice(Tone::Bad, &html! { (fault) })) }
            (user_forms::user_table(self, &users))
            (user_forms::creation_form(self, sent))
        };
        let status = if fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        self.show_with_status(status, Section::Other, title, main)
    }

    /// Renders a user, with the fault of an act.
    fn render_user(&self, user: &User, fault: Option<&str>) -> Response {
        let main = html! {
            h1 { (user.name) }
            @if let Some(fault) = fault { (notice(Tone::Bad, &html! { (fault) })) }
            (user_forms::user_details(self, user, user.id == self.signed_in.user.id))
        };
        let status = if fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
        self.show_with_status(status, Section::Other, &user.name, main)
    }

    /// Renders the link of an invitation, which is known only now.
    fn render_link(&self, invited: &Invited) -> Response {
        let texts = self.texts;
        let title = texts.get("users.link");
        let link = format!("{}{}", self.client.base, invitation_path(&invited.token));
        let main = html! {
            h1 { (title) }
            p { (texts.fill("users.link_text", &[("mail", &invited.user.mail)])) }
            p { code id="link" { (link) } }
            p { a href={ (BASE) "/users/" (invited.user.id) } { (invited.user.name) } }
        };
        self.show_page(Section::Other, title, main)
    }

    /// Leads back to a user after an act. Shows the link of a user whom the act has reset, or the reason why
    /// nothing was changed.
    async fn after_act(&self, user: &User, outcome: Result<Changed, ActError>) -> Response {
        match outcome {
            Ok(Changed { user, token: Some(token) }) => self.render_link(&Invited { user, token }),
            Ok(_) => Redirect::to(&format!("{BASE}/users/{}", user.id)).into_response(),
            Err(error) => self.show_refusal(&error, async |message| self.render_user(user, Some(message))).await,
        }
    }
}

/// Shows the users.
pub(super) async fn list_users(office: Office) -> Response {
    office.render_list(&Fields::default(), None).await
}

/// Creates a user, and shows the link of the invitation.
pub(super) async fn create_user(office: Office, fields: Fields) -> Response {
    let Some(grant) = office.read_grant(&fields) else {
        return office.render_list(&fields, Some(office.texts.get("users.no_role"))).await;
    };
    let new = NewUser { mail: fields.get("mail").to_owned(), name: fields.get("name").to_owned(), grants: vec![grant] };
    match office.state.app.gateway.create_user(new, office.actor()).await {
        Ok(invited) => office.render_link(&invited),
        Err(error) => {
            office.show_refusal(&error, async |message| office.render_list(&fields, Some(message)).await).await
        }
    }
}

/// Shows a user.
pub(super) async fn show_user(office: Office, Path(id): Path<String>) -> Response {
    match office.load_user(&id) {
        Ok(user) => office.render_user(&user, None),
        Err(refused) => *refused,
    }
}

/// Makes a new invitation of a user, and shows its link.
pub(super) async fn invite_user(office: Office, Path(id): Path<String>) -> Response {
    let user = match office.load_other_user(&id) {
        Ok(user) => user,
        Err(refused) => return *refused,
    };
    match office.state.app.gateway.invite_user(user.id.clone(), office.actor()).await {
        Ok(invited) => office.render_link(&invited),
        Err(error) => office.show_refusal(&error, async |message| office.render_user(&user, Some(message))).await,
    }
}

/// Disables or enables a user.
pub(super) async fn change_state(office: Office, Path(id): Path<String>) -> Response {
    let user = match office.load_other_user(&id) {
        Ok(user) => user,
        Err(refused) => return *refused,
    };
    let act = if user.state == UserState::Disabled { UserAct::Enable } else { UserAct::Disable };
    let outcome = office.state.app.gateway.change_user(user.id.clone(), act, office.actor()).await;
    office.after_act(&user, outcome).await
}

/// Gives or takes a role of a user.
pub(super) async fn change_role(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let user = match office.load_other_user(&id) {
        Ok(user) => user,
        Err(refused) => return *refused,
    };
    let Some(grant) = office.read_grant(&fields) else {
        return office.render_user(&user, Some(office.texts.get("users.no_role")));
    };
    let act = match fields.get("act") {
        "remove" => UserAct::RemoveRole(grant),
        _ => UserAct::AddRole(grant),
    };
    let outcome = office.state.app.gateway.change_user(user.id.clone(), act, office.actor()).await;
    office.after_act(&user, outcome).await
}
