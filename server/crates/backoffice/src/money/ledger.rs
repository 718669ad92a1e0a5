//! Balances of an entity and of those below it, by account and currency.

use axum::extract::RawQuery;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::id::EntityId;
use tillgate_domain::settlement::ledger::{LedgerAccount, LedgerSums};
use tillgate_gateway::settlement::account::BalancePage;

use super::areas::render_areas;
use super::entity_choice::{ENTITY, EntityChoice};
use super::render_list_end;
use super::settlement_list::sum_text;
use crate::BASE;
use crate::components::filter_bar::FilterForm;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Path of the balances.
pub(super) const PATH: &str = "/money/ledger";
/// Number of entities on a page.
const PAGE_SIZE: usize = 25;

/// Returns the name of an account.
pub(super) fn account_text(texts: &Texts, account: LedgerAccount) -> String {
    texts.get(&format!("account.{}", account.name())).to_owned()
}

/// Handles `GET /money/ledger`.
pub(super) async fn show_balances(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[ENTITY], query.as_deref().unwrap_or_default());
    let after = match address.find(BEFORE).map(EntityId::parse) {
        Some(None) => return office.show_unknown(),
        place => place.flatten(),
    };
    let choice = EntityChoice::read(&office, &address);
    let page = match choice.chosen.clone() {
        Some(entity) => {
            office.read(move |app, _| app.gateway.list_balances(&entity.id, after.as_ref(), PAGE_SIZE)).await
        }
        None => Ok(BalancePage::default()),
    };
    let page = match page {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("ledger.title");
    let rows: usize = page.balances.iter().map(|(_, currencies)| currencies.len()).sum();
    let count = u64::try_from(rows).unwrap_or(u64::MAX);
    let next = page.next.as_ref().map(|next| address.with(&[(BEFORE, next.as_str())]).format());
    let first = address.find(BEFORE).map(|_| address.with(&[]).format());
    let main = html! {
        div.title { h1 { (title) } p { (texts.get("ledger.text")) } }
        div.card {
            div.filter { (render_areas(texts, PATH)) (render_filter(texts, &address, &choice)) }
            @if page.balances.is_empty() {
                (empty(texts.get("ledger.none"), texts.get("ledger.none_advice")))
            } @else {
                (render_table(&office, &page))
            }
            (render_list_end(texts, first.as_deref(), count, next.as_deref()))
        }
    };
    office.show_page(Section::Money, title, main)
}

fn render_filter(texts: &Texts, address: &ListAddress, choice: &EntityChoice) -> Markup {
    let has_mistake = choice.chosen.is_none() && address.find(ENTITY).is_some();
    FilterForm {
        title: texts.get("payments.filters"),
        active: address.count(&[ENTITY]),
        chips: Vec::new(),
        has_error: has_mistake,
        action: &format!("{BASE}{PATH}"),
        fields: choice.render(texts, address.get(ENTITY), has_mistake),
        apply: texts.get("payments.apply"),
        clear: texts.get("payments.clear"),
    }
    .render()
}

/// Renders a row for each entity and currency. Balances of different currencies are never added.
fn render_table(office: &Office, page: &BalancePage) -> Markup {
    let texts = office.texts;
    let names: Vec<String> = LedgerAccount::all().map(|account| account_text(texts, account)).collect();
    let mut columns =
        vec![Column::new(texts.get("entity_choice.label")), Column::new(texts.get("report_column.currency"))];
    columns.extend(names.iter().map(|name| Column::number(name)));
    let rows = page.balances.iter().flat_map(|(entity, currencies)| {
        let name = office.app().gateway.directory.find_entity(entity).map(|found| found.name.clone());
        let name = name.unwrap_or_else(|| entity.to_string());
        currencies.iter().map(move |(currency, sums)| render_row(texts, (entity, &name), currency, *sums))
    });
    let rows = rows.collect();
    Table { caption: texts.get("ledger.title"), hides_caption: true, is_linked: false, columns, rows }.render()
}

fn render_row(texts: &Texts, (entity, name): (&EntityId, &str), currency: &str, sums: LedgerSums) -> Vec<Markup> {
    let mut cells = vec![html! { span.cut { (name) } }, html! { (currency) }];
    cells.extend(LedgerAccount::all().map(|account| {
        let address = format!("{BASE}{PATH}/{entity}/{}/{currency}", account.name());
        html! { a.nowrap href=(address) { (sum_text(texts, account.of_sums(sums), currency)) } }
    }));
    cells
}
