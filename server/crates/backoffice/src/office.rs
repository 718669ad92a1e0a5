//! A request of a signed-in user: what every page and every act of the back office begins with.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Redirect, Response};
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::EntityId;
use tillgate_gateway::access::actor::Actor;
use tillgate_gateway::access::rights::ACTOR;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::{App, Failure};
use tillgate_net::shares::Shares;
use tillgate_store::Cancellation;

use crate::access::{OfficeClient, Problem, SignedIn};
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::components::toast::toast;
use crate::layout::page::{Page, Section};
use crate::layout::texts::Texts;
use crate::{BASE, OfficeState};

/// Parameter of an address that names the act that has led to the page.
const DONE: &str = "done";
/// Maximum number of texts about an act.
const MAX_TOASTS: usize = 3;

/// A request of a signed-in user.
#[derive(Clone)]
pub struct Office {
    /// The state of all pages.
    pub state: Arc<OfficeState>,
    /// The browser.
    pub client: OfficeClient,
    /// The user.
    pub signed_in: SignedIn,
    /// The texts of the user's language.
    pub texts: &'static Texts,
    /// Keys of the texts about the act that has led to the page, with commas between.
    done: Option<String>,
}

impl FromRequestParts<Arc<OfficeState>> for Office {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &Arc<OfficeState>) -> Result<Self, Response> {
        let signed_in = SignedIn::from_request_parts(parts, state).await?;
        let client = OfficeClient::from_request_parts(parts, state).await.map_err(|status| status.into_response())?;
        let query = parts.uri.query().unwrap_or_default();
        let done = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == DONE);
        let done = done.map(|(_, keys)| keys.into_owned());
        Ok(Self { state: Arc::clone(state), texts: client.texts, client, signed_in, done })
    }
}

impl Office {
    /// Returns the application.
    pub fn app(&self) -> &Arc<App> {
        &self.state.app
    }

    /// Returns the user as the person who acts.
    pub fn actor(&self) -> Actor {
        Actor::of_session(&self.signed_in.session, self.client.address)
    }

    /// Returns the entities on which the user has a permission. A list must be limited to them.
    pub fn entities_with(&self, permission: Permission) -> Vec<Arc<Entity>> {
        self.signed_in.entities_with(&self.state, permission)
    }

    /// Finds an entity on which the user has a permission.
    ///
    /// # Errors
    /// The page for an entity that does not exist, which is also that for an entity of another tenant.
    pub fn find_entity(&self, permission: Permission, id: &str) -> Result<Arc<Entity>, Box<Response>> {
        EntityId::parse(id)
            .and_then(|id| self.app().gateway.directory.find_entity(&id))
            .filter(|entity| self.signed_in.allows(&self.state, permission, entity))
            .ok_or_else(|| Box::new(self.show_unknown()))
    }

    /// Returns true if the user has a permission on the entity with this id.
    pub fn allows_on(&self, permission: Permission, id: &EntityId) -> bool {
        let entity = self.app().gateway.directory.find_entity(id);
        entity.is_some_and(|entity| self.signed_in.allows(&self.state, permission, &entity))
    }

    /// Runs a read on a thread for long reads, so that it delays no payment.
    ///
    /// # Errors
    /// If the read fails, or too many reads are waiting.
    pub async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&App, &Cancellation<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let app = Arc::clone(self.app());
        let read = move |cancelled: &Cancellation<'_>| read(&app, cancelled);
        self.app().gateway.store.long_reads.run_read(&self.signed_in.user.id, read).await?
    }

    /// Runs a read of an administrator on a thread for long reads, after the user's session and permission were checked
    /// again.
    ///
    /// # Errors
    /// If the read is refused or fails, or the user may not read any more.
    pub async fn examine<T: Send + 'static>(
        &self,
        permission: Permission,
        reach: Reach,
        read: impl FnOnce(&Administration) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, ActError> {
        self.examine_cancellable(permission, reach, |administration, _| read(administration)).await
    }

    /// Runs a read as [`Office::examine`] does, which can end early if the browser has gone.
    ///
    /// # Errors
    /// Same as [`Office::examine`].
    pub async fn examine_cancellable<T: Send + 'static>(
        &self,
        permission: Permission,
        reach: Reach,
        read: impl FnOnce(&Administration, &Cancellation<'_>) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, ActError> {
        let actor = self.actor();
        let read = move |app: &App, cancelled: &Cancellation<'_>| {
            read(&app.gateway.open_administration(&actor, (permission, &reach))?, cancelled)
        };
        self.read(move |app, cancelled| Ok(read(app, cancelled))).await?
    }

    /// Runs an act of an administrator on a thread of its own, after the user's session and permission were checked
    /// again. The audit log names the user and the address. Acts of one user run one after the other.
    ///
    /// # Errors
    /// If the act is refused or fails, or the user may not act any more.
    pub async fn administer<T: Send + 'static>(
        &self,
        permission: Permission,
        reach: Reach,
        act: impl FnOnce(&Administration) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, ActError> {
        self.administer_in(&self.state.acts, permission, reach, act).await
    }

    /// Runs an act as [`Office::administer`] does, in a place of another kind, for acts that take long.
    ///
    /// # Errors
    /// Same as [`Office::administer`].
    pub async fn administer_in<T: Send + 'static>(
        &self,
        places: &Shares,
        permission: Permission,
        reach: Reach,
        act: impl FnOnce(&Administration) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, ActError> {
        let (app, actor) = (Arc::clone(self.app()), self.actor());
        // The place is kept until the act has ended, also if the browser has gone.
        let place = places.take(self.signed_in.user.id.as_str()).await;
        let work = move || {
            let _place = place;
            act(&app.gateway.open_administration(&actor, (permission, &reach))?)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(ActError::Failed(Failure::Interrupted)))
    }

    /// Renders a page, with a notice about the act that has led to it.
    pub fn show_page(&self, section: Section, title: &str, main: Markup) -> Response {
        self.show_with_status(StatusCode::OK, section, title, main)
    }

    /// Renders the page of a form again, with the fault of what was sent. `main` is the page with its heading.
    pub fn show_fault(&self, section: Section, title: &str, fault: &str, main: &Markup) -> Response {
        let main = html! { (notice(Tone::Bad, &html! { (fault) })) (main) };
        self.show_with_status(StatusCode::UNPROCESSABLE_ENTITY, section, title, main)
    }

    /// Renders a page with a status, and with a notice about the act that has led to it.
    pub fn show_with_status(&self, status: StatusCode, section: Section, title: &str, main: Markup) -> Response {
        let main = html! { (self.render_toasts()) (main) };
        let user = Some(&self.signed_in.user);
        Page { texts: self.texts, title, section, user, search: "", main }.into_response(status)
    }

    /// Renders what the act that has led to the page has done. Keys without a text are left out.
    fn render_toasts(&self) -> Markup {
        let keys = self.done.as_deref().unwrap_or_default().split(',').take(MAX_TOASTS);
        let find = |key: &str| {
            let undone = || Some((Tone::Warn, self.texts.find(&format!("undone.{key}"))?));
            self.texts.find(&format!("done.{key}")).map(|text| (Tone::Good, text)).or_else(undone)
        };
        let told: Vec<_> = keys.filter_map(find).collect();
        let tone = if told.iter().any(|(tone, _)| *tone == Tone::Warn) { Tone::Warn } else { Tone::Good };
        html! {
            @if !told.is_empty() {
                (toast(tone, &html! { @for (_, text) in &told { p { (text) } } }, self.texts.get("layout.close")))
            }
        }
    }

    /// Leads to a page after an act. `path` is below [`BASE`]; `done` are keys of texts `done`, or `undone` for a part
    /// of the act that failed, with commas between.
    pub fn lead_to(&self, path: &str, done: &str) -> Response {
        let mark = if path.contains('?') { '&' } else { '?' };
        Redirect::to(&format!("{BASE}{path}{mark}{DONE}={done}")).into_response()
    }

    /// Shows that there is no such thing. The answer for a thing of another tenant is the same.
    pub fn show_unknown(&self) -> Response {
        self.show_problem(&Problem::NotFound)
    }

    /// Shows that the data cannot be read, and logs the reason.
    pub fn show_failure(&self, failure: &Failure) -> Response {
        self.show_problem(&Problem::failed(failure))
    }

    /// Shows which permission is missing, for an act on a thing that the user may see.
    pub async fn show_missing_permission(&self, permission: Permission) -> Response {
        self.show_problem(&Problem::missing_permission(&self.state, &self.signed_in, permission).await)
    }

    /// Shows why something cannot be done.
    pub fn show_problem(&self, problem: &Problem) -> Response {
        problem.render(self.texts, Some(&self.signed_in.user))
    }

    /// Shows the reason why an act changed nothing. `show` renders the page of its form with the message of a refusal.
    /// An act that needs a second person is recorded as a request, and the answer leads to it.
    pub async fn show_refusal(&self, error: &ActError, show: impl AsyncFnOnce(&str) -> Response) -> Response {
        let ActError::NeedsApproval { entity, act } = error else { return self.show_plain_refusal(error, show).await };
        match self.ask_for_approval(entity, act, None).await {
            Ok((path, done)) => self.lead_to(&path, done),
            Err(error) => self.show_plain_refusal(&error, show).await,
        }
    }

    async fn show_plain_refusal(&self, error: &ActError, show: impl AsyncFnOnce(&str) -> Response) -> Response {
        match error {
            // Somebody who has lost the right meanwhile does not see the page either.
            ActError::Refused { parameter: ACTOR, .. } => self.show_unknown(),
            ActError::Refused { message, .. } => show(message).await,
            ActError::Failed(failure) => self.show_failure(failure),
            error => {
                tracing::error!(%error, "an act in the back office failed");
                self.show_problem(&Problem::Unavailable)
            }
        }
    }
}
