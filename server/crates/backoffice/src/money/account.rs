//! One account of the ledger: its balance, and the entries that make it up, newest first.

use std::sync::Arc;

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::settlement::ledger::LedgerAccount;
use tillgate_gateway::settlement::account::{AccountEntry, AccountPage, MovementCause};
use tillgate_shared::money::Currency;

use super::ledger::{PATH, account_text};
use super::render_list_end;
use super::settlement_list::{day_text, sum_text};
use crate::BASE;
use crate::components::badge::Tone;
use crate::components::facts::summary;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table};
use crate::components::time::time;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;
use crate::payment::labels::type_text;

/// Number of entries on a page.
const PAGE_SIZE: usize = 50;

/// An account that a page shows.
struct ShownAccount {
    entity: Arc<Entity>,
    account: LedgerAccount,
    currency: Currency,
}

/// Handles `GET /money/ledger/{entity}/{account}/{currency}`.
pub(super) async fn show_account(
    office: Office,
    Path((entity, account, currency)): Path<(String, String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let entity = match office.find_entity(Permission::ViewMoney, &entity) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let known = LedgerAccount::parse(&account).zip(Currency::parse(&currency).filter(|known| known.code() == currency));
    let Some((account, currency)) = known else { return office.show_unknown() };
    let address = ListAddress::read(PATH, &[], query.as_deref().unwrap_or_default());
    let before = match address.find(BEFORE).map(str::parse) {
        Some(Err(_)) => return office.show_unknown(),
        place => place.and_then(Result::ok),
    };
    let shown = ShownAccount { entity, account, currency };
    let seen = Arc::clone(&shown.entity);
    let read = office.read(move |app, cancelled| {
        app.gateway.load_account_page(&seen, (account, currency), before, PAGE_SIZE, cancelled)
    });
    let page = match read.await {
        Ok(Some(page)) => page,
        Ok(None) => return office.show_unknown(),
        Err(failure) => return office.show_failure(&failure),
    };
    let title = format!("{} · {} · {}", account_text(office.texts, account), shown.entity.name, currency.code());
    let main = shown.render(&office, before.is_some(), &page);
    office.show_page(Section::Money, &title, main)
}

impl ShownAccount {
    fn path(&self) -> String {
        format!("{BASE}{PATH}/{}/{}/{}", self.entity.id, self.account.name(), self.currency.code())
    }

    fn sum(&self, texts: &Texts, hundredths: i64) -> Markup {
        html! { span.nowrap { (sum_text(texts, hundredths, self.currency.code())) } }
    }

    fn render(&self, office: &Office, is_continued: bool, page: &AccountPage) -> Markup {
        let texts = office.texts;
        let count = u64::try_from(page.entries.len()).unwrap_or(u64::MAX);
        let path = self.path();
        let next = page.before.map(|before| format!("{path}?{BEFORE}={before}"));
        let first = is_continued.then_some(path.as_str());
        // The newest sum of the page, which is the balance on the first page.
        let newest = page.entries.first().and_then(|entry| entry.sum).filter(|_| is_continued);
        let line = format!("account_line.{}", self.account.name());
        let zone = find_zone("", std::slice::from_ref(&self.entity));
        html! {
            div.title {
                p.crumb { a href={ (BASE) (PATH) } { (texts.get("ledger.title")) } }
                h1 { (account_text(texts, self.account)) " " (self.currency.code()) }
                p { (self.entity.name) " · " (texts.get(&line)) }
            }
            (summary(&[
                (texts.get("ledger.balance"), Some(self.sum(texts, page.balance))),
                (texts.get("ledger.newest"), newest.map(|sum| self.sum(texts, sum))),
                (texts.get("ledger.earlier"), page.earlier.map(|sum| self.sum(texts, sum))),
            ]))
            @if page.earlier.is_none() { (notice(Tone::Warn, &html! { (texts.get("ledger.no_sums")) })) }
            @if !page.adds_up() { (notice(Tone::Bad, &html! { (texts.get("ledger.does_not_add_up")) })) }
            div.card {
                (self.render_entries(office, page))
                @if let Some(end) = page.searched_to {
                    p.soft { (texts.get("ledger.searched_to")) " " (time(texts, &zone, end)) }
                }
                (render_list_end(texts, first, count, next.as_deref()))
            }
        }
    }

    fn render_entries(&self, office: &Office, page: &AccountPage) -> Markup {
        let texts = office.texts;
        let zone = find_zone("", std::slice::from_ref(&self.entity));
        let columns = vec![
            Column::new(texts.get("ledger.cause")),
            Column::number(texts.get("ledger.change")),
            Column::number(texts.get("ledger.sum")),
            Column::new(texts.get("ledger.time")).from(Shown::Medium),
            Column::number(texts.get("ledger.entry")).from(Shown::Medium),
        ];
        let rows = page.entries.iter().map(|entry| {
            vec![
                self.render_cause(texts, entry),
                self.sum(texts, entry.change),
                html! { @if let Some(sum) = entry.sum { (self.sum(texts, sum)) } },
                time(texts, &zone, entry.content.time),
                self.render_number(office, entry),
            ]
        });
        let rows = rows.collect();
        Table { caption: texts.get("ledger.entries"), hides_caption: true, is_linked: false, columns, rows }.render()
    }

    /// Renders the number of an entry, which leads to the audit log for those who may read it.
    fn render_number(&self, office: &Office, entry: &AccountEntry) -> Markup {
        html! {
            @if office.allows_on(Permission::ViewAudit, &self.entity.id) {
                a href={ (BASE) "/administration/audit/" (entry.number) } { (entry.number) }
            } @else { (entry.number) }
        }
    }

    /// Renders the cause of an entry with a link to it.
    fn render_cause(&self, texts: &Texts, entry: &AccountEntry) -> Markup {
        match &entry.cause {
            MovementCause::Payment(id) => {
                let text = match entry.content.payment_type {
                    Some(payment_type) => type_text(texts, payment_type.code()),
                    None => texts.get("ledger.correction").to_owned(),
                };
                html! { a.nowrap href={ (BASE) "/payments/" (id) } { (text) } }
            }
            MovementCause::Batch { day, currencies } => {
                let text = texts.fill("ledger.batch", &[("day", &day_text(texts, *day))]);
                html! {
                    (text)
                    @for currency in currencies {
                        " " a href={ (BASE) "/money/settlements/" (self.entity.id) "/" (day) "/" (currency) } { (currency) }
                    }
                }
            }
            MovementCause::File(hash) => html! {
                a href={ (BASE) "/money/imports" } { (texts.get("ledger.file")) }
                " " code { (hash.chars().take(8).collect::<String>()) }
            },
            MovementCause::Line(id) => html! {
                a href={ (BASE) "/money/unmatched/" (id) } { (texts.get("ledger.line")) }
            },
            MovementCause::Other => html! { (entry.content.action) },
        }
    }
}
