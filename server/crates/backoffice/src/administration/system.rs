//! The state of the whole gateway: version, store, queues, connectors, keys, and the warnings of the day.

use axum::response::Response;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::to_hex;
use tillgate_gateway::App;
use tillgate_gateway::registry::ConnectorUse;
use tillgate_gateway::system::SystemState;
use tillgate_os::warning_log::LoggedWarning;
use tillgate_store::figures::WaitingWork;
use tillgate_store::{Cancellation, HealthFault, MAX_COUNT};

use super::certificates::read_end;
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::facts::facts;
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Age of the oldest warning on the page.
const WARNING_AGE: SignedDuration = SignedDuration::from_hours(24);
/// Time after which work that is due counts as held up.
const LATE: SignedDuration = SignedDuration::from_mins(5);
/// Free bytes below which the disk is nearly full.
const LITTLE_SPACE: u64 = 1 << 30;

/// Handles `GET /administration/system`. Whoever administers a part of the tree sees nothing of the whole.
pub(super) async fn show_system(office: Office) -> Response {
    if !office.signed_in.permissions.allows_everywhere(Permission::ViewSystem) {
        return office.show_unknown();
    }
    let health = office.app().gateway.store.check_health().await;
    let file = office.state.ftp_certificate.clone();
    let read = move |app: &App, cancelled: &Cancellation<'_>| {
        Ok((app.gateway.describe_system(cancelled)?, file.as_deref().and_then(read_end)))
    };
    let (state, certificate) = match office.read(read).await {
        Ok(found) => found,
        Err(failure) => return office.show_failure(&failure),
    };
    let (texts, title) = (office.texts, office.texts.get("system.title"));
    let since = state.now.checked_sub(WARNING_AGE).unwrap_or(Timestamp::MIN);
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/administration" } { (texts.get("administration.title")) } }
            h1 { (title) }
        }
        (render_health(texts, health, &state))
        div.stack {
            (render_program(&office, &state, certificate))
            (render_store(texts, &state))
            (render_queues(texts, &state))
            (render_warnings(texts, &office.state.warnings.list_since(since)))
            (render_connectors(texts, &state))
            (render_keys(texts, &state))
        }
    };
    office.show_page(Section::Administration, title, main)
}

/// Renders what is wrong, or that nothing is.
fn render_health(texts: &Texts, health: Result<(), HealthFault>, state: &SystemState) -> Markup {
    let bad = |text: &str| notice(Tone::Bad, &html! { (text) });
    let is_full = state.free_bytes.is_some_and(|free| free < LITTLE_SPACE);
    let is_late = [&state.store.messages, &state.store.pushes].into_iter().any(|queue| is_late(queue, state.now));
    html! {
        @if let Err(fault) = health { (bad(&texts.fill("system.unhealthy", &[("reason", fault.as_str())]))) }
        @if is_full { (bad(texts.get("system.disk_full"))) }
        @if is_late { (bad(texts.get("system.queue_late"))) }
        @if health.is_ok() && !is_full && !is_late { (notice(Tone::Good, &html! { (texts.get("system.healthy")) })) }
    }
}

/// Returns true if work is due for so long that something holds it up.
fn is_late(queue: &WaitingWork, now: Timestamp) -> bool {
    queue.next_due.is_some_and(|due| now.duration_since(due) > LATE)
}

/// Renders the program: version, build and node.
fn render_program(office: &Office, state: &SystemState, certificate: Option<Timestamp>) -> Markup {
    let texts = office.texts;
    card(
        texts,
        "system.program",
        &html! { div.body { (facts(&[
            (texts.get("system.version"), Some(html! { (env!("CARGO_PKG_VERSION")) })),
            (texts.get("system.build"), Some(html! { (office.state.build) })),
            (texts.get("system.node"), Some(html! { (state.node) })),
            (texts.get("system.started"), Some(html! { (time(texts, office.state.started)) })),
            (texts.get("system.clock"), Some(html! { (time(texts, state.now)) })),
            (texts.get("system.certificate"), certificate.map(|end| {
                html! { (texts.fill("system.certificate_end", &[("time", &time(texts, end))])) }
            })),
        ])) } },
    )
}

/// Renders the store: its files, the disk, and the latest backup.
fn render_store(texts: &Texts, state: &SystemState) -> Markup {
    let store = &state.store;
    let backup = match &state.backup {
        Some(entry) => html! {
            a href={ (BASE) "/administration/audit/" (entry.number) } { (time(texts, entry.content.time)) }
            " " span.soft { (entry.content.subject) }
        },
        None => html! { (badge(Tone::Warn, texts.get("system.no_backup"))) },
    };
    card(
        texts,
        "system.store",
        &html! { div.body { (facts(&[
            (texts.get("system.folder"), Some(html! { code { (store.place) } })),
            (texts.get("system.schema"), Some(html! { (store.schema) })),
            (texts.get("system.file_size"), Some(html! { (size(texts, store.file_bytes)) })),
            (texts.get("system.log_size"), Some(html! { (size(texts, store.log_bytes)) })),
            (texts.get("system.free"), state.free_bytes.map(|free| {
                let values = [("free", &*size(texts, free)), ("limit", &*size(texts, LITTLE_SPACE))];
                html! { (texts.fill("system.free_value", &values)) }
            })),
            (texts.get("system.backup"), Some(backup)),
        ])) } },
    )
}

/// Renders the queues.
fn render_queues(texts: &Texts, state: &SystemState) -> Markup {
    let store = &state.store;
    let count = |number: u64| texts.bounded_count(number, MAX_COUNT);
    let row = |(name, queue): (&str, &WaitingWork)| {
        let due = queue.next_due.map(|due| {
            html! {
                (time(texts, due)) " "
                @if is_late(queue, state.now) { (badge(Tone::Bad, texts.get("system.late"))) }
            }
        });
        vec![
            html! { (texts.get(name)) },
            html! { (count(queue.waiting)) },
            html! { (queue.failing.map_or_else(|| "–".to_owned(), count)) },
            due.unwrap_or_else(|| html! { "–" }),
        ]
    };
    let queues = [
        ("system.messages", &store.messages),
        ("system.pushes", &store.pushes),
        ("system.inquiries", &store.inquiries),
    ];
    let table = Table {
        caption: texts.get("system.queues"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            Column::new(texts.get("system.queue")),
            Column::number(texts.get("system.waiting")),
            Column::number(texts.get("system.failing")),
            Column::new(texts.get("system.next_due")),
        ],
        rows: queues.into_iter().map(row).collect(),
    };
    card(texts, "system.queues", &table.render())
}

/// Renders the warnings and errors that this process has logged.
fn render_warnings(texts: &Texts, warnings: &[LoggedWarning]) -> Markup {
    if warnings.is_empty() {
        let none = empty(texts.get("system.no_warnings"), texts.get("system.no_warnings_text"));
        return card(texts, "system.warnings", &none);
    }
    let row = |warning: &LoggedWarning| {
        let (tone, name) = if warning.is_error { (Tone::Bad, "system.error") } else { (Tone::Warn, "system.warning") };
        vec![
            html! { (warning.message) @if !warning.details.is_empty() { div.soft { (warning.details) } } },
            badge(tone, texts.get(name)),
            html! { (texts.number(warning.count)) },
            html! { (time(texts, warning.latest)) },
        ]
    };
    let table = Table {
        caption: texts.get("system.warnings"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            Column::new(texts.get("system.message")),
            Column::new(texts.get("system.kind")),
            Column::number(texts.get("system.count")).from(Shown::Medium),
            Column::new(texts.get("system.latest")),
        ],
        rows: warnings.iter().map(row).collect(),
    };
    card(texts, "system.warnings", &table.render())
}

/// Renders the connectors with the payments that they take.
fn render_connectors(texts: &Texts, state: &SystemState) -> Markup {
    let use_text = |takes| match takes {
        ConnectorUse::Internal => texts.get("system.takes_internal"),
        ConnectorUse::External => texts.get("system.takes_external"),
        ConnectorUse::Live => texts.get("system.takes_live"),
    };
    let table = Table {
        caption: texts.get("system.connectors"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            Column::new(texts.get("system.name")),
            Column::new(texts.get("system.takes")),
            Column::new(texts.get("system.default")),
        ],
        rows: state
            .connectors
            .iter()
            .map(|connector| {
                let default = if connector.is_default { texts.get("system.is_default") } else { "–" };
                vec![html! { (connector.name) }, html! { (use_text(connector.takes)) }, html! { (default) }]
            })
            .collect(),
    };
    card(texts, "system.connectors", &table.render())
}

/// Renders the ids of the vault keys, never a key.
fn render_keys(texts: &Texts, state: &SystemState) -> Markup {
    let table = Table {
        caption: texts.get("system.keys"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            Column::new(texts.get("system.key")),
            Column::new(texts.get("system.state")),
            Column::new(texts.get("system.first_used")),
        ],
        rows: state
            .store
            .keys
            .iter()
            .map(|key| {
                let (tone, text) = if key.retired.is_some() {
                    (Tone::Calm, "system.key_retired")
                } else if state.loaded_keys.first() == Some(&key.id) {
                    (Tone::Good, "system.key_seals")
                } else if state.loaded_keys.contains(&key.id) {
                    (Tone::Calm, "system.key_opens")
                } else {
                    (Tone::Warn, "system.key_missing")
                };
                vec![
                    html! { code { (to_hex(&key.id.0)) } },
                    badge(tone, texts.get(text)),
                    html! { (time(texts, key.created)) },
                ]
            })
            .collect(),
    };
    card(texts, "system.keys", &table.render())
}

/// Renders a card with a title.
fn card(texts: &Texts, title: &str, content: &Markup) -> Markup {
    html! {
        div.card {
            header { h2 { (texts.get(title)) } }
            (content)
        }
    }
}

/// Formats a time with its zone. The gateway has none of its own, so it is UTC.
fn time(texts: &Texts, moment: Timestamp) -> String {
    texts.exact_time(&moment.to_zoned(TimeZone::UTC))
}

/// Formats a size in the largest unit in which it has a whole number of at least two digits.
fn size(texts: &Texts, bytes: u64) -> String {
    let (number, unit) = match bytes {
        0..10_000 => (bytes, "B"),
        10_000..10_000_000 => (bytes / 1000, "kB"),
        10_000_000..10_000_000_000 => (bytes / 1_000_000, "MB"),
        _ => (bytes / 1_000_000_000, "GB"),
    };
    format!("{} {unit}", texts.number(number))
}
