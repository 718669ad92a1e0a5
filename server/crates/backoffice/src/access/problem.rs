//! Pages about what cannot be done, with the reason and the way out.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use maud::html;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::access::user::User;
use tillgate_domain::id::EntityId;
use tillgate_gateway::Failure;
use tillgate_store::{Cancellation, Store, StoreError, StoreErrorKind};

use super::client::OfficeClient;
use super::signed_in::SignedIn;
use crate::layout::page::{Page, Section};
use crate::layout::texts::Texts;
use crate::{BASE, OfficeState};

/// Maximum number of named administrators of an entity.
const MAX_GIVERS: u32 = 10;

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
    /// Other reads of the user are waiting.
    Busy,
    /// Another download of the user is running.
    RunningDownload,
    /// Other uploads of the user, or of too many users, are running.
    RunningUpload,
    /// The gateway cannot answer now.
    Unavailable,
}

impl Problem {
    /// Reports a failure. It is logged, unless the user asks for more than the user's share.
    pub fn failed(error: &Failure) -> Self {
        if let Failure::Store(error) = error
            && error.kind() == StoreErrorKind::TooManyReads
        {
            return Self::Busy;
        }
        tracing::error!(%error, "a page of the back office failed to load its data");
        Self::Unavailable
    }

    /// Names the missing permission, and the administrators who can give it. No others, so that nobody learns of other
    /// tenants.
    pub async fn missing_permission(state: &OfficeState, signed_in: &SignedIn, permission: Permission) -> Self {
        let (app, levels) = (Arc::clone(&state.app), collect_levels(state, signed_in));
        // The read looks at the users of all tenants, so it must not run on a thread of payments.
        let read = move |_: &Cancellation<'_>| load_givers(&app.gateway.store, &levels);
        let found = match state.app.gateway.store.long_reads.run_read(&signed_in.user.id, read).await {
            Ok(found) => found,
            Err(error) => Err(error),
        };
        // The page without names is still of use.
        let givers = found.unwrap_or_else(|error| {
            tracing::warn!(%error, "loading the administrators of a user failed");
            Vec::new()
        });
        Self::NotAllowed(permission, givers)
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::OtherSite | Self::Insecure | Self::NotAllowed(..) => StatusCode::FORBIDDEN,
            Self::RunningDownload | Self::RunningUpload => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn key(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::OtherSite => "other_site",
            Self::Insecure => "insecure",
            Self::NotAllowed(..) => "not_allowed",
            Self::Busy => "busy",
            Self::RunningDownload => "running_download",
            Self::RunningUpload => "running_upload",
            Self::Unavailable => "unavailable",
        }
    }

    /// Renders the page for the signed-in user, if there is one.
    pub fn render(&self, texts: &Texts, user: Option<&User>) -> Response {
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
        Page { texts, title, section: Section::Other, user, search: "", main }.into_response(self.status())
    }
}

/// Collects the entities on which the user has a role, each with the entities above it, nearest first.
fn collect_levels(state: &OfficeState, signed_in: &SignedIn) -> Vec<Vec<Reach>> {
    let directory = &state.app.gateway.directory;
    let climb = |id: &EntityId| {
        let above = directory.find_entity(id).map(|entity| directory.find_ancestors(&entity)).unwrap_or_default();
        std::iter::once(id.clone()).chain(above.into_iter().map(|above| above.id)).map(Reach::Entity).collect()
    };
    signed_in.permissions.grants().iter().filter_map(|grant| grant.reach.entity()).map(climb).collect()
}

/// Loads the nearest administrators of each entity, as lines of a page. Loads the administrators of the gateway only if
/// there are no others, because tenants need not know them.
fn load_givers(store: &Store, levels: &[Vec<Reach>]) -> Result<Vec<String>, StoreError> {
    let mut found: Vec<(String, String)> = Vec::new();
    for climb in levels {
        for reach in climb {
            let holders = store.load_holders(Permission::ManageUsers, reach, MAX_GIVERS)?;
            if !holders.is_empty() {
                found.extend(holders);
                break;
            }
        }
    }
    if found.is_empty() {
        found = store.load_holders(Permission::ManageUsers, &Reach::Gateway, MAX_GIVERS)?;
    }
    let mut lines: Vec<String> = found.into_iter().map(|(name, mail)| format!("{name} <{mail}>")).collect();
    lines.sort();
    lines.dedup();
    Ok(lines)
}

/// Shows that there is no such page.
pub async fn show_missing_page(client: OfficeClient) -> Response {
    Problem::NotFound.render(client.texts, None)
}
