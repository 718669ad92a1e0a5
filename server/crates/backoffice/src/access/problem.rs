//! Pages about what cannot be done, with the reason and the way out.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::html;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::access::user::{User, UserState};
use tillgate_gateway::Failure;

use super::client::OfficeClient;
use super::signed_in::SignedIn;
use crate::layout::page::{Page, Section};
use crate::layout::texts::Texts;
use crate::{BASE, OfficeState};

/// Reason why a page is not shown.
pub enum Problem {
    /// There is no such page, or none for this user.
    NotFound,
    /// Another site made the request.
    OtherSite,
    /// The browser does not use HTTPS.
    Insecure,
    /// The user lacks a permission, which these administrators can give.
    NotAllowed(Permission, Vec<String>),
    /// The gateway cannot answer now.
    Unavailable,
}

impl Problem {
    /// Reports a failure, which is logged.
    pub fn failed(error: &Failure) -> Self {
        tracing::error!(%error, "a page of the back office failed to load its data");
        Self::Unavailable
    }

    /// Names the missing permission, and the administrators who can give it: those of the entities on which the user
    /// has a role, or else those of the gateway. No others, so that nobody learns of other tenants.
    pub fn missing_permission(state: &OfficeState, signed_in: &SignedIn, permission: Permission) -> Self {
        let users = state.app.gateway.store.load_users().unwrap_or_default();
        let grants = signed_in.permissions.grants();
        let can_give = |user: &&User| {
            user.state == UserState::Active
                && grants.iter().any(|grant| holds_on(state, user, Permission::ManageUsers, &grant.reach))
        };
        let givers = users.iter().filter(can_give).map(|user| format!("{} <{}>", user.name, user.mail)).collect();
        Self::NotAllowed(permission, givers)
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::OtherSite | Self::Insecure | Self::NotAllowed(..) => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn key(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::OtherSite => "other_site",
            Self::Insecure => "insecure",
            Self::NotAllowed(..) => "not_allowed",
            Self::Unavailable => "unavailable",
        }
    }

    /// Renders the page. `user` is the name of the signed-in user.
    pub fn render(&self, texts: &Texts, user: Option<&str>) -> Response {
        let title_key = format!("problem.{}", self.key());
        let title = texts.get(&title_key);
        let main = html! {
            h1 { (title) }
            p { (texts.get(&format!("problem.{}_text", self.key()))) }
            @if let Self::NotAllowed(permission, givers) = self {
                p {
                    (texts.get("problem.permission")) " "
                    strong data-permission=(permission.as_str()) {
                        (texts.get(&format!("permission.{}", permission.as_str())))
                    }
                }
                @if givers.is_empty() {
                    p { (texts.get("problem.no_giver")) }
                } @else {
                    p { (texts.get("problem.givers")) }
                    ul { @for giver in givers { li { (giver) } } }
                }
            }
            @if !matches!(self, Self::Insecure) {
                p { a href=(BASE) { (texts.get("problem.home")) } }
            }
        };
        let page = Page { texts, title, section: Section::Other, user, search: "", main };
        (self.status(), page.render()).into_response()
    }
}

/// Returns true if a user has a permission on all of a part of the tree.
pub(super) fn holds_on(state: &OfficeState, user: &User, permission: Permission, reach: &Reach) -> bool {
    let directory = &state.app.gateway.directory;
    match reach {
        Reach::Gateway => user.permissions.allows_everywhere(permission),
        Reach::Entity(id) => {
            let above = directory.find_entity(id).map(|entity| directory.find_ancestors(&entity)).unwrap_or_default();
            user.permissions.allows_on(permission, std::iter::once(id).chain(above.iter().map(|above| &above.id)))
        }
    }
}

/// Shows that there is no such page.
pub async fn show_missing_page(client: OfficeClient) -> Response {
    Problem::NotFound.render(client.texts, None)
}
