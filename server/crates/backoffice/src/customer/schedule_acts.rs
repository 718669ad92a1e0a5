//! The acts on a schedule: its end, its pause, and a run at once.

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::schedule::{Schedule, ScheduleAct};

use super::schedule_amount;
use super::schedule_page::SchedulePage;
use crate::BASE;
use crate::access::Fields;
use crate::components::dialog::Dialog;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Handles `POST /customers/schedules/{id}/end`: deschedules. The form has no fields, but an act is decided only when
/// all of it has arrived.
pub(super) async fn end(office: Office, Path(id): Path<String>, _: Fields) -> Response {
    let page = match SchedulePage::load(&office, Permission::ChangeCustomers, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let schedule = page.schedule();
    match office.app().gateway.end_schedule(&office.actor(), (&schedule.entity, &schedule.id)).await {
        Ok(ended) => {
            let done = if ended.is_active() { "schedule_ending" } else { "schedule_ended" };
            office.lead_to(&format!("/customers/schedules/{}", schedule.id), done)
        }
        Err(error) => office.show_refusal(&error, async |message| page.show(&office, Some(message))).await,
    }
}

/// Handles `POST /customers/schedules/{id}/pause`.
pub(super) async fn pause(office: Office, Path(id): Path<String>, _: Fields) -> Response {
    act(&office, &id, ScheduleAct::Pause, "schedule_paused").await
}

/// Handles `POST /customers/schedules/{id}/resume`.
pub(super) async fn resume(office: Office, Path(id): Path<String>, _: Fields) -> Response {
    act(&office, &id, ScheduleAct::Resume, "schedule_resumed").await
}

/// Handles `POST /customers/schedules/{id}/run`. The version in the form makes one run of a form that is sent twice.
pub(super) async fn run(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    // A form without a version belongs to no state of the schedule, so it is refused as changed.
    let version = fields.get("version").parse().unwrap_or(u64::MAX);
    act(&office, &id, ScheduleAct::Run { version }, "schedule_run").await
}

/// Carries out an act, and leads back to the page of the schedule.
async fn act(office: &Office, id: &str, act: ScheduleAct, done: &str) -> Response {
    let page = match SchedulePage::load(office, Permission::ChangeCustomers, id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let schedule = page.schedule();
    match office.app().gateway.act_on_schedule(&office.actor(), (&schedule.entity, &schedule.id), act).await {
        Ok(()) => office.lead_to(&format!("/customers/schedules/{}", schedule.id), done),
        Err(error) => {
            // Loaded again, so that the page and its form show what has changed meanwhile.
            let page = match SchedulePage::load(office, Permission::ChangeCustomers, id).await {
                Ok(page) => page,
                Err(refused) => return *refused,
            };
            office.show_refusal(&error, async |message| page.show(office, Some(message))).await
        }
    }
}

/// Renders the buttons of the acts that the state of a schedule allows.
pub(super) fn render(texts: &Texts, schedule: &Schedule) -> Markup {
    if !schedule.is_active() {
        return html! {};
    }
    let address = format!("{BASE}/customers/schedules/{}", schedule.id);
    let soft = |key: &str| html! { p.soft { (texts.get(key)) } };
    let keep = texts.get("schedule.keep");
    let run_title = texts.fill("schedule.run_question", &[("amount", &schedule_amount(texts, schedule))]);
    let run = Dialog {
        name: "run",
        title: &run_title,
        content: soft("schedule.run_text"),
        close: texts.get("schedule.not_now"),
    };
    let title = texts.get("schedule.pause_question");
    let pause = Dialog { name: "pause", title, content: soft("schedule.pause_text"), close: keep };
    let title = texts.get("schedule.end_question");
    let end = Dialog { name: "end", title, content: soft("schedule.end_text"), close: keep };
    let form = |path: &str, class: &str, key: &str| {
        html! { form action={ (address) "/" (path) } method="post" { button class=(class) type="submit" { (texts.get(key)) } } }
    };
    let run_form = html! {
        form action={ (address) "/run" } method="post" {
            input type="hidden" name="version" value=(schedule.version);
            button.primary type="submit" { (texts.get("schedule.run")) }
        }
    };
    let can_end = schedule.ends.is_none();
    html! {
        div.actions {
            @if schedule.paused.is_some() {
                (form("resume", "primary", "schedule.resume"))
            } @else {
                (run.opener("", texts.get("schedule.run")))
                (pause.opener("quiet", texts.get("schedule.pause")))
            }
            @if can_end { (end.opener("quiet", texts.get("schedule.end"))) }
        }
        @if schedule.paused.is_none() {
            (run.render(&run_form))
            (pause.render(&form("pause", "primary", "schedule.pause")))
        }
        @if can_end { (end.render(&form("end", "danger", "schedule.end"))) }
    }
}
