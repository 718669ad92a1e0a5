//! Dry runs: the form that starts one, its progress, and its report.

use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use serde::Deserialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::risk::rules::RiskState;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::risk::dry_run::DryRunProgress;
use tillgate_shared::parameter::Parameters;

use super::dry_run_board::{DryRunState, StartedDryRun};
use super::{Area, dry_run_report, examine, may_change, page_title, path_of, read_refusal, time, zone_of};
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::Tone;
use crate::components::field::{Choice, Field};
use crate::components::notice::notice;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Seconds after which a page with a running dry run is loaded again.
const RELOAD: &str = "2";
/// Days of the period that the form proposes.
const DAYS: i64 = 30;
/// Number of examples of each change in the report.
const EXAMPLES: &str = "5";
/// Names of the fields in the form, and of the parameters that the gateway names in a refusal.
const PERIOD: [(&str, &str); 2] = [("from", "date.from"), ("to", "date.to")];

/// The version that an address proposes.
#[derive(Deserialize)]
pub(super) struct ProposedVersion {
    #[serde(default)]
    version: String,
}

/// Form of a dry run.
struct DryRunForm {
    version: String,
    from: String,
    to: String,
    /// Field at fault, and its message. Without a field, the message is about the whole form.
    fault: Option<(String, String)>,
}

/// Handles `GET /risk/{entity}/dry-run`.
pub(super) async fn show_dry_run(
    office: Office,
    Path(id): Path<String>,
    Query(ProposedVersion { version }): Query<ProposedVersion>,
) -> Response {
    let entity = match office.find_entity(Permission::ViewRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let today = office.app().gateway.now_of(&entity);
    let day = |moment: Timestamp| moment.strftime("%F").to_string();
    let from = day(today - SignedDuration::from_hours(24 * DAYS));
    show_page(&office, &entity, DryRunForm { version, from, to: day(today), fault: None }).await
}

/// Handles `POST /risk/{entity}/dry-run`: starts a dry run.
pub(super) async fn start(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let form = |fault| DryRunForm {
        version: fields.get("version").to_owned(),
        from: fields.get("from").to_owned(),
        to: fields.get("to").to_owned(),
        fault,
    };
    let (app, owner, sent) = (Arc::clone(office.app()), Arc::clone(&entity), form(None));
    let prepare = move |_: &Administration| {
        let period: Parameters = [("date.from", &*sent.from), ("date.to", &*sent.to)].into_iter().collect();
        let own: Parameters = [("examples", EXAMPLES)].into_iter().collect();
        Ok(app.gateway.prepare_dry_run(&owner, &sent.version, &period, &own)?)
    };
    let reach = Reach::Entity(entity.id.clone());
    let error = match office.examine(Permission::ChangeRules, reach, prepare).await {
        Ok((dry_run, slot)) => {
            if office.state.dry_runs.start(&entity, dry_run, slot) {
                return office.lead_to(&format!("{}/dry-run", path_of(&entity)), "dry_run_started");
            }
            return office.show_problem(&crate::access::Problem::Unavailable);
        }
        Err(error) => error,
    };
    match read_refusal(error) {
        Ok((name, message)) => {
            let field = PERIOD.iter().find(|(_, parameter)| *parameter == name).map_or(&*name, |(field, _)| field);
            show_page(&office, &entity, form(Some((field.to_owned(), message)))).await
        }
        Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
    }
}

/// Handles `POST /risk/{entity}/dry-run/stop`.
pub(super) async fn stop(office: Office, Path(id): Path<String>, _fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let board = office.state.dry_runs.clone();
    let (owner, reach) = (Arc::clone(&entity), Reach::Entity(entity.id.clone()));
    let stop = move |_: &Administration| {
        board.stop(&owner);
        Ok(())
    };
    match office.examine(Permission::ChangeRules, reach, stop).await {
        Ok(()) => office.lead_to(&format!("{}/dry-run", path_of(&entity)), "dry_run_stopped"),
        Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
    }
}

async fn show_page(office: &Office, entity: &Arc<Entity>, form: DryRunForm) -> Response {
    let owner = Arc::clone(entity);
    let load = move |acts: &Administration| -> Result<RiskState, ActError> { Ok(acts.load_rule_versions(&owner)?.0) };
    let state = match examine(office, entity, load).await {
        Ok(state) => state,
        Err(response) => return *response,
    };
    let texts = office.texts;
    let title = texts.get("dry_run.title");
    let run = office.state.dry_runs.find(entity);
    let is_running = run.as_ref().is_some_and(|run| matches!(run.state, DryRunState::Running(_)));
    let whole = form.fault.as_ref().filter(|(field, _)| !["from", "to", "version"].contains(&&**field));
    let main = html! {
        (page_title(office, entity, Area::DryRun, title, &html! {}))
        p.soft { (texts.get("dry_run.text")) }
        @if let Some((_, message)) = whole { (notice(Tone::Bad, &html! { (message) })) }
        @if may_change(office, entity) && !is_running { (render_form(texts, entity, &state, &form)) }
        @if let Some(run) = &run { (render_run(office, entity, run)) }
    };
    let status = if form.fault.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let mut response = office.show_with_status(status, Section::Rules, title, main);
    if is_running && form.fault.is_none() {
        response.headers_mut().insert("refresh", HeaderValue::from_static(RELOAD));
    }
    response
}

/// Renders the form that starts a dry run.
fn render_form(texts: &Texts, entity: &Entity, state: &RiskState, form: &DryRunForm) -> Markup {
    let names: Vec<(&str, String)> = state
        .versions
        .iter()
        .rev()
        .map(|known| match state.active.as_ref() == Some(&known.version) {
            true => (&*known.version, format!("{} ({})", known.version, texts.get("rules.active"))),
            false => (&*known.version, known.version.clone()),
        })
        .collect();
    let choices: Vec<Choice<'_>> = names.iter().map(|(version, name)| (*version, &**name)).collect();
    let error = |name: &str| form.fault.as_ref().filter(|(field, _)| field == name).map(|(_, message)| &**message);
    let day = |name, label, value| {
        Field { name, label, value, error: error(name), max_length: Some(25), ..Field::default() }.input("date")
    };
    let version = Field {
        name: "version",
        label: texts.get("rules.version"),
        value: &form.version,
        error: error("version"),
        ..Field::default()
    };
    html! {
        section.card aria-labelledby="start" {
            header { h2 id="start" { (texts.get("dry_run.start_title")) } }
            @if choices.is_empty() {
                div.body { p { (texts.get("rules.no_versions_advice")) } }
            } @else {
                form.fields method="post" action={ (BASE) (path_of(entity)) "/dry-run" } {
                    (version.select(&choices))
                    (day("from", texts.get("dry_run.from"), &form.from))
                    (day("to", texts.get("dry_run.to"), &form.to))
                    button.primary type="submit" { (texts.get("dry_run.start")) }
                }
            }
        }
    }
}

/// Renders a dry run: its progress, or its report.
fn render_run(office: &Office, entity: &Entity, run: &StartedDryRun) -> Markup {
    let texts = office.texts;
    match &run.state {
        DryRunState::Running(progress) => render_progress(office, entity, run, *progress),
        DryRunState::Done(report) => dry_run_report::render(office, entity, report),
        DryRunState::Stopped => notice(Tone::Calm, &html! { (texts.get("dry_run.stopped")) }),
        DryRunState::Failed => notice(Tone::Bad, &html! { (texts.get("dry_run.failed")) }),
    }
}

fn render_progress(office: &Office, entity: &Entity, run: &StartedDryRun, progress: DryRunProgress) -> Markup {
    let texts = office.texts;
    let percent = format!("{:.0}", (progress.fraction * 100.0).clamp(0.0, 100.0));
    let values = [("percent", &*percent), ("count", &texts.number(progress.payments))];
    html! {
        section.card aria-labelledby="running" {
            header { h2 id="running" { (texts.get("dry_run.running")) } }
            div.body.stack {
                p {
                    a href={ (BASE) (path_of(entity)) "/versions/" (run.version) } { code { (run.version) } }
                    " · " (run.period.0) " – " (run.period.1) " · "
                    (texts.get("dry_run.started")) " " (time(texts, &zone_of(entity), run.started))
                }
                progress max="100" value=(percent) aria-labelledby="running" { (percent) }
                p role="status" { (texts.fill("dry_run.progress", &values)) }
                @if may_change(office, entity) {
                    form method="post" action={ (BASE) (path_of(entity)) "/dry-run/stop" } {
                        button type="submit" { (texts.get("dry_run.stop")) }
                    }
                }
            }
        }
    }
}
