//! The audit log: the list with its filters, one entry with the values before and after it, and the check of its chain.

mod entry;
mod filter;
mod list;

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_gateway::access::audit_log::{AuditPage, AuditedAct};
use tillgate_gateway::settlement::verification::Verification;
use tillgate_gateway::{App, Failure};
use tillgate_store::Cancellation;

use self::filter::{AuditQuery, all_owners};
use crate::BASE;
use crate::access::people::{KnownPeople, NameReader};
use crate::components::badge::Tone;
use crate::components::copy::copyable;
use crate::components::facts::facts;
use crate::components::notice::notice;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of entries on a page.
const PAGE_SIZE: usize = 50;

/// Handles `GET /administration/audit`.
pub(super) async fn show_list(office: Office, RawQuery(query): RawQuery) -> Response {
    let query = match AuditQuery::read(&office, query.as_deref().unwrap_or_default(), Timestamp::now()) {
        Ok(query) => query,
        Err(error) => return office.show_failure(&error.into()),
    };
    let (page, people) = match load_page(&office, &query).await {
        Ok(loaded) => loaded,
        Err(failure) => return office.show_failure(&failure),
    };
    let main = html! {
        div.title {
            (crumb(office.texts))
            h1 { (office.texts.get("audit.title")) }
            @if all_owners(&office).has_gateway {
                div.actions {
                    form action={ (BASE) "/administration/audit/check" } method="post" {
                        button type="submit" { (office.texts.get("audit.check")) }
                    }
                }
            }
        }
        (list::render(&office, &query, &page, &people))
    };
    office.show_page(Section::Administration, office.texts.get("audit.title"), main)
}

/// Loads a page, and the names of its people.
async fn load_page(office: &Office, query: &AuditQuery) -> Result<(AuditPage, KnownPeople), Failure> {
    if !query.mistakes.is_empty() {
        return Ok((AuditPage::default(), KnownPeople::default()));
    }
    let (owners, filter, before) = (query.owners.clone(), query.filter.clone(), query.before);
    let names = NameReader::new(office);
    let read = move |app: &App, cancelled: &Cancellation<'_>| {
        let page = app.gateway.list_audit_entries(&owners, &filter, before, PAGE_SIZE, cancelled)?;
        let people = names.load(app, &page.acts)?;
        Ok((page, people))
    };
    office.read(read).await
}

/// Handles `GET /administration/audit/{number}`.
pub(super) async fn show_entry(office: Office, Path(number): Path<String>) -> Response {
    let (owners, names) = (all_owners(&office), NameReader::new(&office));
    let Ok(number) = number.parse::<i64>() else { return office.show_unknown() };
    let read = move |app: &App, _: &Cancellation<'_>| {
        let act: Vec<AuditedAct> = app.gateway.load_audited_act(&owners, number)?.into_iter().collect();
        let people = names.load(app, &act)?;
        Ok((act, people))
    };
    match office.read(read).await {
        Ok((acts, people)) => match acts.first() {
            Some(act) => entry::show(&office, act, &people),
            // The entry of another tenant is as unknown as one that does not exist.
            None => office.show_unknown(),
        },
        Err(failure) => office.show_failure(&failure),
    }
}

/// Handles `POST /administration/audit/check`. The chain has the entries of all tenants, so its check belongs to the
/// whole gateway.
pub(super) async fn check_chain(office: Office) -> Response {
    if !all_owners(&office).has_gateway {
        return office.show_unknown();
    }
    match office.read(|app, _| app.gateway.verify_audit_chain()).await {
        Ok(result) => show_result(&office, &result),
        Err(failure) => office.show_failure(&failure),
    }
}

/// Shows the result of a check.
fn show_result(office: &Office, result: &Verification) -> Response {
    let (texts, title) = (office.texts, office.texts.get("audit.check_title"));
    let count = |number: u64| html! { (texts.number(number)) };
    let verdict = if result.is_sound() {
        notice(Tone::Good, &html! { (texts.get("audit.sound")) })
    } else {
        notice(Tone::Bad, &html! { (texts.fill("audit.faults", &[("count", &texts.number(result.fault_count))])) })
    };
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) (filter::PATH) } { (texts.get("audit.title")) } }
            h1 { (title) }
        }
        (verdict)
        section.card { div.body.stack {
            (facts(&[
                (texts.get("audit.entries"), Some(count(result.entries))),
                (texts.get("audit.head"), Some(copyable(texts, &format!("{}:{}", result.last, result.hash)))),
                (texts.get("audit.without_key"), (result.without_key > 0).then(|| count(result.without_key))),
            ]))
            p.soft { (texts.get("audit.head_text")) }
            @if !result.faults.is_empty() { ul { @for fault in &result.faults { li { (fault) } } } }
        } }
    };
    office.show_page(Section::Administration, title, main)
}

/// Renders the way back to the administration.
fn crumb(texts: &Texts) -> Markup {
    html! { p.crumb { a href={ (BASE) "/administration" } { (texts.get("administration.title")) } } }
}

/// Returns the text of an act, which is its name if there is no text.
fn act_text<'a>(texts: &'a Texts, action: &'a str) -> &'a str {
    texts.find(&format!("act.{action}")).unwrap_or(action)
}
