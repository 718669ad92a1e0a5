//! The page of a schedule: its times in words, its next and past runs, and its requests.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::ScheduleId;
use tillgate_domain::schedule::act::SKIPPED_IN_PAUSE;
use tillgate_domain::schedule::{MissedRuns, RunOutcome, Schedule, ScheduleRun, ScheduleStep};
use tillgate_gateway::schedule::ScheduleDetails;

use super::{free_text, plan, schedule_acts, schedule_amount, schedule_badge, time};
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::copy::copyable;
use crate::components::facts::{facts, summary};
use crate::components::notice::notice;
use crate::components::result::result_text;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// Number of next runs on the page.
const NEXT_RUNS: usize = 5;
/// Number of past runs and of requests on the page. All of them would make a page of more than 60 kB.
const LINES: usize = 50;

/// A schedule with its owner and its next runs.
pub(super) struct SchedulePage {
    details: ScheduleDetails,
    owner: Option<Arc<Entity>>,
    zone: TimeZone,
    next: Vec<Timestamp>,
}

/// Handles `GET /customers/schedules/{id}`.
pub(super) async fn show_schedule(office: Office, Path(id): Path<String>) -> Response {
    match SchedulePage::load(&office, Permission::ViewCustomers, &id).await {
        Ok(page) => page.show(&office, None),
        Err(refused) => *refused,
    }
}

impl SchedulePage {
    /// Loads a schedule on whose entity the user has a permission.
    ///
    /// # Errors
    /// The page for a schedule that does not exist, which is also that for a schedule of another tenant.
    pub(super) async fn load(office: &Office, permission: Permission, id: &str) -> Result<Self, Box<Response>> {
        let Some(id) = ScheduleId::parse(id) else { return Err(Box::new(office.show_unknown())) };
        let entities = collect_ids(&office.entities_with(permission));
        let read = move |app: &tillgate_gateway::App, _: &tillgate_store::Cancellation<'_>| {
            let found = app.gateway.load_schedule_details(&entities, &id)?;
            // The next runs are searched for in the calendar, so they are computed on the thread of the read.
            Ok(found.map(|details| {
                let next = details.schedule.preview(NEXT_RUNS).unwrap_or_default();
                (details, next)
            }))
        };
        let found = office.read(read).await.map_err(|failure| Box::new(office.show_failure(&failure)))?;
        let (details, next) = found.ok_or_else(|| Box::new(office.show_unknown()))?;
        let owner = office.app().gateway.directory.find_entity(&details.schedule.entity);
        let zone = find_zone(&details.schedule.zone, owner.as_slice());
        Ok(Self { details, owner, zone, next })
    }

    /// Returns the schedule.
    pub(super) fn schedule(&self) -> &Schedule {
        &self.details.schedule
    }

    /// Shows the page. `fault` is the reason why an act was refused.
    pub(super) fn show(&self, office: &Office, fault: Option<&str>) -> Response {
        let (texts, schedule) = (office.texts, &self.details.schedule);
        let title = texts.get("schedule.title");
        let may_change = office.allows_on(Permission::ChangeCustomers, &schedule.entity);
        let main = html! {
            div.title {
                p.crumb { a href={ (BASE) "/customers/schedules" } { (texts.get("schedules.title")) } }
                h1 { (schedule_amount(texts, schedule)) }
                (schedule_badge(texts, schedule))
                @if may_change { (schedule_acts::render(texts, schedule)) }
                p { (copyable(texts, schedule.id.as_str())) }
            }
            (self.render_state(texts))
            (summary(&[
                (texts.get("schedules.plan"), Some(plan::render(texts, schedule))),
                (texts.get("schedule.zone"), Some(html! { (schedule.zone) })),
                (texts.get("schedules.name"), free_text(schedule.job.get("job.name"))),
                (texts.get("payments.reference"), free_text(schedule.parameters.get("merchantTransactionId"))),
                (texts.get("schedules.owner"), self.owner.as_ref().map(|owner| html! { (owner.name) })),
            ]))
            div.split {
                div.card {
                    header { h2 { (texts.get("schedule.runs")) } }
                    @if self.details.runs.is_empty() {
                        (empty(texts.get("schedule.no_runs"), texts.get("schedule.no_runs_advice")))
                    } @else {
                        (self.render_runs(office))
                    }
                }
                div.stack {
                    (self.render_next(texts))
                    (self.render_facts(texts))
                    div.card {
                        header { h2 { (texts.get("schedule.requests")) } }
                        (self.render_steps(texts))
                    }
                }
            }
        };
        match fault {
            Some(fault) => office.show_fault(Section::Customers, title, fault, &main),
            None => office.show_page(Section::Customers, title, main),
        }
    }

    /// Renders a notice about a pause, or about a run that begins.
    fn render_state(&self, texts: &Texts) -> Markup {
        let schedule = self.schedule();
        if let Some(paused) = schedule.paused.filter(|_| schedule.is_active()) {
            let since = texts.date_time(&paused.to_zoned(self.zone.clone()));
            return notice(Tone::Warn, &html! { (texts.fill("schedule.paused_text", &[("time", &since)])) });
        }
        if schedule.requested.as_ref().is_some_and(|requested| requested.waits) {
            return notice(Tone::Calm, &html! { (texts.get("schedule.run_waits")) });
        }
        html! {}
    }

    fn render_next(&self, texts: &Texts) -> Markup {
        html! {
            section.card aria-labelledby="next" {
                header { h2 id="next" { (texts.get("schedule.next")) } }
                div.body {
                    @if self.schedule().paused.is_some() && !self.next.is_empty() {
                        p.soft { (texts.get("schedule.next_paused")) }
                    }
                    @if self.next.is_empty() {
                        p.soft { (texts.get("schedule.no_next")) }
                    } @else {
                        ol { @for moment in &self.next { li { (time(texts, &self.zone, *moment)) } } }
                    }
                }
            }
        }
    }

    fn render_facts(&self, texts: &Texts) -> Markup {
        let schedule = &self.details.schedule;
        let moment = |moment: Option<Timestamp>| moment.map(|moment| time(texts, &self.zone, moment));
        let period = |name: &str| {
            let number = schedule.job.get(&format!("job.{name}Number"))?;
            let unit = schedule.job.get(&format!("job.{name}Unit"))?;
            let text = texts.fill(&format!("unit.{unit}"), &[("number", number)]);
            free_text(Some(&text))
        };
        let missed = match schedule.missed {
            MissedRuns::Once => texts.get("schedule.missed_once"),
            MissedRuns::All => texts.get("schedule.missed_all"),
            MissedRuns::Skip => texts.get("schedule.missed_skip"),
        };
        let retry = schedule.open.as_ref().filter(|open| open.pending.is_none()).map(|open| open.due);
        html! {
            section.card aria-labelledby="facts" {
                header { h2 id="facts" { (texts.get("schedule.facts")) } }
                div.body {
                    (facts(&[
                        (texts.get("schedule.registration"), Some(html! { a href={ (BASE) "/customers/registrations/" (schedule.registration) } { code { (schedule.registration) } } })),
                        (texts.get("schedule.created"), moment(Some(schedule.created))),
                        (texts.get("schedule.ends"), moment(schedule.ends)),
                        (texts.get("schedule.retry"), moment(retry)),
                        (texts.get("schedule.start"), free_text(schedule.job.get("job.startDate"))),
                        (texts.get("schedule.end_date"), free_text(schedule.job.get("job.endDate"))),
                        (texts.get("schedule.notice"), period("notice")),
                        (texts.get("schedule.duration"), period("duration")),
                        (texts.get("schedule.missed"), Some(html! { (missed) })),
                    ]))
                }
            }
        }
    }

    fn render_runs(&self, office: &Office) -> Markup {
        let texts = office.texts;
        let row = |run: &ScheduleRun| {
            let link = run.payment.as_ref();
            let planned = time(texts, &self.zone, run.occurrence);
            vec![
                html! { @if let Some(payment) = link { a href={ (BASE) "/payments/" (payment) } { (planned) } } @else { (planned) } },
                html! {
                    (outcome_badge(texts, run.outcome))
                    @if run.outcome != RunOutcome::Charged { span.soft.small.reason { (Self::describe_reason(texts, run)) } }
                },
                html! { (texts.number(u64::from(run.attempt))) },
                html! { (time(texts, &self.zone, run.at)) },
                html! { @if let Some(retry) = run.retry { (time(texts, &self.zone, retry)) } @else { "–" } },
            ]
        };
        let columns = vec![
            Column::new(texts.get("schedule.planned")),
            Column::new(texts.get("schedule.outcome")),
            Column::number(texts.get("schedule.attempt")).from(Shown::Wide),
            Column::new(texts.get("schedule.at")).from(Shown::Wide),
            Column::new(texts.get("schedule.retry")).from(Shown::Medium),
        ];
        let rows = self.details.runs.iter().take(LINES).map(row).collect();
        let is_cut = self.details.runs.len() > LINES;
        html! {
            (Table { caption: texts.get("schedule.runs"), hides_caption: true, is_linked: true, columns, rows }.render())
            @if is_cut { div.pages { span { (texts.get("schedule.cut")) } } }
        }
    }

    /// Returns the reason of an outcome.
    fn describe_reason(texts: &Texts, run: &ScheduleRun) -> Markup {
        match run.reason.as_deref() {
            Some(SKIPPED_IN_PAUSE) => html! { (texts.get("schedule.skipped_in_pause")) },
            Some(reason) => free_text(Some(reason)).unwrap_or_default(),
            None => result_text(texts, run.code),
        }
    }

    fn render_steps(&self, texts: &Texts) -> Markup {
        let row = |step: &ScheduleStep| {
            vec![
                html! { (texts.get(&format!("schedule_step.{}", step.step_type.code()))) },
                time(texts, &self.zone, step.at),
                html! { code.cut { (step.id) } },
            ]
        };
        let columns = vec![
            Column::new(texts.get("schedule.request")),
            Column::new(texts.get("schedule.request_time")),
            Column::new(texts.get("schedule.request_id")).from(Shown::Wide),
        ];
        let rows = self.details.steps.iter().take(LINES).map(row).collect();
        let caption = texts.get("schedule.requests");
        Table { caption, hides_caption: true, is_linked: false, columns, rows }.render()
    }
}

/// Renders the outcome of a run.
fn outcome_badge(texts: &Texts, outcome: RunOutcome) -> Markup {
    let tone = match outcome {
        RunOutcome::Charged => Tone::Good,
        RunOutcome::Declined | RunOutcome::Refused => Tone::Bad,
        RunOutcome::Pending => Tone::Warn,
        RunOutcome::Skipped => Tone::Calm,
    };
    badge(tone, texts.get(&format!("run.{}", outcome.as_str())))
}
