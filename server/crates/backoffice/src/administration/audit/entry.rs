//! One entry of the audit log: the act, the person, the place, and every value before and after it.

use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::audit::{AuditEntry, PAYMENT};
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::to_hex;
use tillgate_domain::settlement::ledger::ACCOUNT_NAMES;
use tillgate_gateway::access::audit_log::{AuditedAct, AuditedValue};

use super::act_text;
use super::filter::PATH;
use super::list::owner_text;
use crate::BASE;
use crate::access::people::KnownPeople;
use crate::components::copy::copyable;
use crate::components::facts::facts;
use crate::components::table::{Column, Table};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;
use crate::payment::labels::type_text;

/// Shows an entry.
pub(super) fn show(office: &Office, act: &AuditedAct, people: &KnownPeople) -> Response {
    let (texts, content) = (office.texts, &act.entry.content);
    let title = act_text(texts, &content.action);
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) (PATH) } { (texts.get("audit.title")) } }
            h1 { (title) }
        }
        div.stack {
            (render_facts(office, act, people))
            @if !act.values.is_empty() { (render_values(texts, &act.values)) }
            @if !content.money.is_empty() { (render_money(texts, content)) }
        }
    };
    office.show_page(Section::Administration, title, main)
}

/// Renders who has acted on what, when and from where, and the place of the entry in the chain.
fn render_facts(office: &Office, act: &AuditedAct, people: &KnownPeople) -> Markup {
    let (texts, content) = (office.texts, &act.entry.content);
    let entity = act.entry.entity.as_ref().and_then(|id| office.app().gateway.directory.find_entity(id));
    let zone = find_zone("", &entity.clone().into_iter().collect::<Vec<_>>());
    let actor = html! {
        div { (people.render_actor(texts, content.actor.as_deref())) }
        // A name is shown with the id, which is what the entry has.
        @if let Some(id) = content.actor.as_deref().filter(|id| people.knows_actor(id)) { (copyable(texts, id)) }
    };
    let owner = match &entity {
        Some(entity) if office.allows_on(Permission::ManageTokens, &entity.id) => {
            html! { a href={ (BASE) "/administration/entities/" (entity.id) } { (entity.name) } }
        }
        _ => html! { (owner_text(office, act)) },
    };
    let payment_type = content.payment_type.map(|it| html! { (type_text(texts, it.code())) });
    let referenced = content.referenced.as_ref().map(|id| copyable(texts, id.as_str()));
    let number = u64::try_from(act.entry.number).unwrap_or(0);
    let time = texts.exact_time(&content.time.to_zoned(zone));
    html! {
        section.card aria-labelledby="entry" {
            header { h2 id="entry" { (texts.fill("step.ledger", &[("number", &texts.number(number))])) } }
            div.body {
                (facts(&[
                    (texts.get("payments.time"), Some(html! { time datetime=(content.time) { (time) } })),
                    (texts.get("audit.act"), Some(html! { code { (content.action) } })),
                    (texts.get("audit.actor"), Some(actor)),
                    (texts.get("audit.from"), people.find_address(office, act).map(|address| html! { (address) })),
                    (texts.get("audit.entity"), Some(owner)),
                    (texts.get("audit.subject"), Some(render_subject(office, act, people))),
                    (texts.get("payments.type"), payment_type),
                    (texts.get("audit.referenced"), referenced),
                    (texts.get("audit.hash"), Some(copyable(texts, &to_hex(&act.entry.hash)))),
                    (texts.get("audit.key"), content.key.as_ref().map(|key| html! { code { (key) } })),
                ]))
            }
        }
    }
}

/// Renders the thing that an act is about, with a link to a payment, and the way to the other acts on it.
fn render_subject(office: &Office, act: &AuditedAct, people: &KnownPeople) -> Markup {
    let (texts, content) = (office.texts, &act.entry.content);
    let is_payment = content.action == PAYMENT;
    let may_see = |id| office.allows_on(Permission::ViewPayments, id);
    let mut others = form_urlencoded::Serializer::new(String::new());
    others.append_pair("subject", &content.subject);
    html! {
        @if let Some(name) = people.find(&content.subject) { div { (name) } }
        (copyable(texts, &content.subject))
        @if is_payment && act.entry.entity.as_ref().is_some_and(may_see) {
            div { a href={ (BASE) "/payments/" (content.subject) } { (texts.get("audit.payment")) } }
        } @else {
            div { a href={ (BASE) (PATH) "?" (others.finish()) } { (texts.get("audit.others")) } }
        }
    }
}

/// Renders the values before and after an act.
fn render_values(texts: &Texts, values: &[AuditedValue]) -> Markup {
    let value = |text: &Option<String>| html! { span.wrap { (text.as_deref().unwrap_or("–")) } };
    let row =
        |changed: &AuditedValue| vec![html! { code { (changed.name) } }, value(&changed.before), value(&changed.after)];
    let columns = ["payment.name", "audit.before", "audit.after"].map(|key| Column::new(texts.get(key)));
    let table = Table {
        caption: texts.get("audit.changes"),
        hides_caption: true,
        is_linked: false,
        columns: columns.into(),
        rows: values.iter().map(row).collect(),
    };
    html! {
        div.card {
            header { h2 { (texts.get("audit.changes")) } }
            (table.render())
        }
    }
}

/// Renders the movements of the accounts.
fn render_money(texts: &Texts, content: &AuditEntry) -> Markup {
    let amount = |hundredths: i64| {
        let (sign, plain) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
        texts.amount(&format!("{sign}{}.{:02}", plain / 100, plain % 100))
    };
    let rows = content.money.iter().flat_map(|(currency, sums)| {
        let moved = ACCOUNT_NAMES.iter().zip(sums.to_array()).filter(|(_, sum)| *sum != 0);
        moved.map(move |(account, sum)| {
            let key = format!("ledger_account.{account}");
            vec![html! { (texts.get(&key)) }, html! { (amount(sum)) " " (currency) }]
        })
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return html! {};
    }
    let columns = vec![Column::new(texts.get("audit.account")), Column::number(texts.get("payments.amount"))];
    let table = Table { caption: texts.get("audit.money"), hides_caption: true, is_linked: false, columns, rows };
    html! {
        div.card {
            header { h2 { (texts.get("audit.money")) } }
            (table.render())
        }
    }
}
