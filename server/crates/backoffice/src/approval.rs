//! Acts that wait for a second person: the list, the page of one request, the decision about it, and the act of the
//! user who asked.

mod act_facts;
mod asking;
mod decision;
mod use_form;

pub(crate) use act_facts::describe_act;
pub(crate) use asking::ApprovalScope;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::{ApprovalId, UserId};
use tillgate_gateway::App;
use tillgate_gateway::Failure;
use tillgate_store::access::user::UserKey;

use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::{Tone, badge};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;
use crate::{BASE, OfficeState};

const DECIDE: Need = Need::AnyOf(&[
    Permission::ChangePayments,
    Permission::ChangeRules,
    Permission::ManageTokens,
    Permission::ChangeDeliveries,
]);
/// Number of open requests, and of those that have ended, on the page.
const SHOWN: (u32, u32) = (100, 30);

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/approvals", DECIDE),
    row("GET", "/approvals/{id}", DECIDE),
    row("POST", "/approvals/{id}/approve", DECIDE).after_factor(),
    row("POST", "/approvals/{id}/decline", DECIDE),
    row("POST", "/approvals/{id}/withdraw", DECIDE),
    row("POST", "/approvals/{id}/use", DECIDE).after_factor(),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/approvals", get(show_requests))
        .route("/approvals/{id}", get(show_request))
        .route("/approvals/{id}/approve", post(decision::approve))
        .route("/approvals/{id}/decline", post(decision::decline))
        .route("/approvals/{id}/withdraw", post(decision::withdraw))
        .route("/approvals/{id}/use", post(use_form::carry_out))
}

/// Names of users by their ids.
type UserNames = BTreeMap<UserId, String>;

/// Loads the names of the users of some requests.
fn load_names(app: &App, requests: &[ApprovalRequest]) -> Result<UserNames, Failure> {
    let mut names = UserNames::new();
    for id in requests.iter().flat_map(|request| [Some(&request.asker), request.decider.as_ref()]).flatten() {
        if !names.contains_key(id) {
            let found = app.gateway.store.load_user(&UserKey::Id(id.clone()))?;
            names.insert(id.clone(), found.map_or_else(|| id.to_string(), |loaded| loaded.stored.user.name));
        }
    }
    Ok(names)
}

/// Loads a request that the user may see. One of another tenant is as unknown as one that does not exist.
async fn load_request(office: &Office, id: &str) -> Result<(ApprovalRequest, UserNames), Box<Response>> {
    let Some(id) = ApprovalId::parse(id) else { return Err(Box::new(office.show_unknown())) };
    let read = move |app: &App, _: &tillgate_store::Cancellation<'_>| {
        let found = app.gateway.store.load_approval(&id)?;
        let names = load_names(app, found.as_slice())?;
        Ok(found.map(|request| (request, names)))
    };
    match office.read(read).await {
        Ok(found) => found
            .filter(|(request, _)| office.allows_on(request.act.kind().permission(), &request.entity))
            .ok_or_else(|| Box::new(office.show_unknown())),
        Err(failure) => Err(Box::new(office.show_failure(&failure))),
    }
}

/// Handles `GET /approvals`.
async fn show_requests(office: Office) -> Response {
    let scope = ApprovalScope::new(&office);
    let read = move |app: &App, _: &tillgate_store::Cancellation<'_>| {
        let (open, ended) = (scope.load(app, true, SHOWN.0)?, scope.load(app, false, SHOWN.1)?);
        let mut names = load_names(app, &open)?;
        names.extend(load_names(app, &ended)?);
        Ok((open, ended, names))
    };
    let (open, ended, names) = match office.read(read).await {
        Ok(loaded) => loaded,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("approvals.title");
    let main = html! {
        div.title { h1 { (title) } p { (texts.get("approvals.text")) } }
        div.card {
            header { h2 { (texts.get("approvals.open")) } }
            (render_table(&office, "approvals.open", &open, &names))
        }
        @if !ended.is_empty() {
            div.card {
                header { h2 { (texts.get("approvals.ended")) } }
                (render_table(&office, "approvals.ended", &ended, &names))
            }
        }
    };
    office.show_page(Section::Other, title, main)
}

fn render_table(office: &Office, caption: &str, requests: &[ApprovalRequest], names: &UserNames) -> Markup {
    let texts = office.texts;
    if requests.is_empty() {
        return empty(texts.get("approvals.none"), texts.get("approvals.none_advice"));
    }
    let row = |request: &ApprovalRequest| {
        vec![
            html! { a href={ (BASE) "/approvals/" (request.id) } { span.cut { (describe_act(texts, &request.act)) } } },
            state_badge(texts, request),
            html! { span.wrap { (name_of(names, &request.asker)) } },
            time(office, request, request.created),
        ]
    };
    Table {
        caption: texts.get(caption),
        hides_caption: true,
        is_linked: true,
        columns: vec![
            Column::new(texts.get("approvals.act")),
            Column::new(texts.get("approvals.state")),
            Column::new(texts.get("approvals.asker")).from(Shown::Medium),
            Column::new(texts.get("approvals.asked")).from(Shown::Wide),
        ],
        rows: requests.iter().map(row).collect(),
    }
    .render()
}

/// Handles `GET /approvals/{id}`.
async fn show_request(office: Office, Path(id): Path<String>) -> Response {
    match load_request(&office, &id).await {
        Ok((request, names)) => decision::show_page(&office, &request, &names, None, ""),
        Err(refused) => *refused,
    }
}

fn name_of<'a>(names: &'a UserNames, user: &'a UserId) -> &'a str {
    names.get(user).map_or(user.as_str(), String::as_str)
}

/// Renders the state of a request.
fn state_badge(texts: &Texts, request: &ApprovalRequest) -> Markup {
    match request.state_at(Timestamp::now()) {
        ApprovalState::Open => badge(Tone::Warn, texts.get("approvals.is_open")),
        ApprovalState::Approved => badge(Tone::Good, texts.get("approvals.is_approved")),
        ApprovalState::Used => badge(Tone::Good, texts.get("approvals.is_used")),
        ApprovalState::Declined => badge(Tone::Bad, texts.get("approvals.is_declined")),
        ApprovalState::Withdrawn => badge(Tone::Calm, texts.get("approvals.is_withdrawn")),
        ApprovalState::Expired => badge(Tone::Calm, texts.get("approvals.is_expired")),
    }
}

/// Formats a time in the zone of the entity of a request.
fn time(office: &Office, request: &ApprovalRequest, moment: Timestamp) -> Markup {
    let entity = office.app().gateway.directory.find_entity(&request.entity);
    let zone = find_zone("", entity.as_slice());
    crate::components::time::time(office.texts, &zone, moment)
}
