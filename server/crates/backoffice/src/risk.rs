//! Risk rules and lists: the versions of an entity's rules with their differences and results, the editor, dry runs,
//! and the lists.

mod differences;
mod dry_run;
mod dry_run_board;
mod dry_run_report;
mod editor;
mod entities;
mod line_diff;
mod list_acts;
pub(crate) mod list_choice;
mod list_page;
mod lists;
mod numbered_text;
mod version_acts;
mod version_list;
mod version_page;
mod version_results;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::Response;
use axum::routing::{get, post};
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::risk::RiskOutcome;
use tillgate_gateway::Failure;
use tillgate_gateway::administration::{ActError, Administration};

pub use dry_run_board::DryRunBoard;

use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::Tone;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::time::time;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::{BASE, OfficeState};

const VIEW: Need = Need::Permission(Permission::ViewRules);
const CHANGE: Need = Need::Permission(Permission::ChangeRules);

/// Maximum size of a form with a rules file, in bytes. A file has up to 1 MiB, and quotes and line breaks take three
/// bytes in a form. The text of a file that is a little too large is kept on the page.
const FILE_LIMIT: usize = 4 * (1 << 20);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/risk", VIEW),
    row("GET", "/risk/{entity}", VIEW),
    row("GET", "/risk/{entity}/versions/{version}", VIEW),
    row("POST", "/risk/{entity}/versions/{version}/{role}", CHANGE),
    row("POST", "/risk/{entity}/stop/{role}", CHANGE),
    row("GET", "/risk/{entity}/differences", VIEW),
    row("GET", "/risk/{entity}/edit", CHANGE),
    row("POST", "/risk/{entity}/edit", CHANGE),
    row("POST", "/risk/{entity}/check", CHANGE),
    row("GET", "/risk/{entity}/dry-run", VIEW),
    row("POST", "/risk/{entity}/dry-run", CHANGE),
    row("POST", "/risk/{entity}/dry-run/stop", CHANGE),
    row("GET", "/risk/{entity}/lists", VIEW),
    row("GET", "/risk/{entity}/lists/{list}", VIEW),
    row("POST", "/risk/{entity}/lists/{list}/search", VIEW),
    row("POST", "/risk/{entity}/lists/{list}/add", CHANGE),
    row("POST", "/risk/{entity}/lists/{list}/remove", CHANGE),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    let files = Router::new()
        .route("/risk/{entity}/edit", get(editor::show_editor).post(editor::receive_file))
        .route("/risk/{entity}/check", post(editor::check_file))
        .layer(DefaultBodyLimit::max(FILE_LIMIT));
    Router::new()
        .route("/risk", get(entities::show_entities))
        .route("/risk/{entity}", get(version_list::show_versions))
        .route("/risk/{entity}/versions/{version}", get(version_page::show_version))
        .route("/risk/{entity}/versions/{version}/{role}", post(version_acts::use_version))
        .route("/risk/{entity}/stop/{role}", post(version_acts::stop_version))
        .route("/risk/{entity}/differences", get(differences::show_differences))
        .route("/risk/{entity}/dry-run", get(dry_run::show_dry_run).post(dry_run::start))
        .route("/risk/{entity}/dry-run/stop", post(dry_run::stop))
        .route("/risk/{entity}/lists", get(lists::show_lists))
        .route("/risk/{entity}/lists/{list}", get(list_page::show_list))
        .route("/risk/{entity}/lists/{list}/search", post(list_acts::search))
        .route("/risk/{entity}/lists/{list}/add", post(list_acts::add))
        .route("/risk/{entity}/lists/{list}/remove", post(list_acts::remove))
        .merge(files)
}

/// Returns the path of an entity's rules below [`BASE`].
fn path_of(entity: &Entity) -> String {
    format!("/risk/{}", entity.id)
}

/// The pages of an entity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Versions,
    DryRun,
    Lists,
}

/// Renders the title of a page of an entity, with the links to its other pages.
fn page_title(office: &Office, entity: &Entity, area: Area, title: &str, actions: &Markup) -> Markup {
    let texts = office.texts;
    let link = |key: &str, path: &str, is_current: bool| FilterLink {
        text: texts.get(key).to_owned(),
        address: format!("{BASE}{}{path}", path_of(entity)),
        is_current,
    };
    let links = [
        link("rules.versions", "", area == Area::Versions),
        link("dry_run.title", "/dry-run", area == Area::DryRun),
        link("risk_lists.title", "/lists", area == Area::Lists),
    ];
    html! {
        div.title {
            p.crumb {
                a href={ (BASE) "/risk" } { (texts.get("rules.title")) } " › "
                a href={ (BASE) (path_of(entity)) } { (entity.name) }
            }
            h1 { (title) }
            div.actions { (actions) }
        }
        (tabs(texts.get("rules.title"), &links))
    }
}

/// Returns true if the user may change the rules and lists of an entity.
fn may_change(office: &Office, entity: &Entity) -> bool {
    office.allows_on(Permission::ChangeRules, &entity.id)
}

/// Runs a read about an entity, after the user's session and permission were checked again.
async fn examine<T: Send + 'static>(
    office: &Office,
    entity: &Entity,
    read: impl FnOnce(&Administration) -> Result<T, ActError> + Send + 'static,
) -> Result<T, Box<Response>> {
    match office.examine(Permission::ViewRules, Reach::Entity(entity.id.clone()), read).await {
        Ok(read) => Ok(read),
        Err(error) => Err(Box::new(office.show_refusal(&error, async |_| office.show_unknown()).await)),
    }
}

/// Applies changed rules and lists to the payments that begin from now on. Without it, the next sweep applies them.
pub(crate) async fn apply_now(office: &Office) {
    if let Err(error) = office.app().gateway.store.fill_rules().await {
        tracing::warn!(%error, "applying changed risk rules failed");
    }
}

/// Returns the input at fault and the message of a refusal that the API shares. Other errors are returned as they are.
fn read_refusal(error: ActError) -> Result<(String, String), ActError> {
    match error {
        ActError::Failed(Failure::Refused(refusal)) => Ok(match refusal.parameters.first() {
            Some(fault) => (fault.name.clone(), fault.message.clone()),
            None => {
                let text = refusal.description.as_deref().unwrap_or_else(|| refusal.code.description());
                (String::new(), text.to_owned())
            }
        }),
        other => Err(other),
    }
}

/// Returns tone and text of an outcome.
fn describe_outcome(texts: &Texts, outcome: Option<RiskOutcome>) -> (Tone, &str) {
    match outcome {
        None => (Tone::Calm, texts.get("rule_outcome.none")),
        Some(RiskOutcome::Accept) => (Tone::Good, texts.get("rule_outcome.accept")),
        Some(RiskOutcome::Challenge) => (Tone::Warn, texts.get("rule_outcome.challenge")),
        Some(RiskOutcome::Review) => (Tone::Held, texts.get("rule_outcome.review")),
        Some(RiskOutcome::Deny) => (Tone::Bad, texts.get("rule_outcome.deny")),
        Some(RiskOutcome::Error) => (Tone::Bad, texts.get("rule_outcome.error")),
    }
}

/// Returns the time zone of an entity.
fn zone_of(entity: &Entity) -> TimeZone {
    TimeZone::get(entity.zone_name()).unwrap_or(TimeZone::UTC)
}
