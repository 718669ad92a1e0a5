//! Lists of payments that a user keeps: links above the list, and the page that saves and deletes them.

use axum::extract::RawQuery;
use axum::response::Response;
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::access::saved_view::{MAX_VIEW_NAME, MAX_VIEWS};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_store::access::saved_view::SavedView;

use super::filter::{ListQuery, read_address};
use crate::BASE;
use crate::access::Fields;
use crate::components::dialog::Dialog;
use crate::components::field::Field;
use crate::components::filter_bar::{FilterLink, tabs};
use crate::components::table::{Column, Table, empty};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Handles `GET /payments/views`. The query is that of the list to save.
pub(super) async fn show_views(office: Office, RawQuery(query): RawQuery) -> Response {
    show(&office, &normalize(query.as_deref().unwrap_or_default()), "", None).await
}

/// Handles `POST /payments/views`: saves a list.
pub(super) async fn save_view(office: Office, fields: Fields) -> Response {
    let (name, sent) = (fields.get("name").trim().to_owned(), fields.get("query"));
    let query = normalize(sent);
    // The parser of the filters decides, so that nothing but a list of payments is kept.
    let parsed = ListQuery::read(sent, office.entities_with(Permission::ViewPayments), Timestamp::now());
    if !parsed.mistakes.is_empty() {
        let fault = office.texts.get("views.mistake");
        return show(&office, &query, &name, Some(fault)).await;
    }
    let (user, saved, kept) = (office.signed_in.user.id.clone(), name.clone(), query.clone());
    let save = move |administration: &Administration| administration.save_view(&user, &saved, kept);
    match act(&office, save).await {
        Ok(()) if query.is_empty() => office.lead_to("/payments", "view_saved"),
        Ok(()) => office.lead_to(&format!("/payments?{query}"), "view_saved"),
        Err(error) => {
            office.show_refusal(&error, async |message| show(&office, &query, &name, Some(message)).await).await
        }
    }
}

/// Handles `POST /payments/views/delete`.
pub(super) async fn delete_view(office: Office, fields: Fields) -> Response {
    let (user, name) = (office.signed_in.user.id.clone(), fields.get("name").to_owned());
    let delete = move |administration: &Administration| administration.delete_view(&user, &name);
    match act(&office, delete).await {
        Ok(()) => office.lead_to("/payments/views", "view_deleted"),
        Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
    }
}

/// Runs an act on the user's own lists. The user needs the permission somewhere, as for the list itself.
async fn act(
    office: &Office,
    act: impl FnOnce(&Administration) -> Result<(), ActError> + Send + 'static,
) -> Result<(), ActError> {
    let first = office.entities_with(Permission::ViewPayments).first().map(|entity| entity.id.clone());
    let reach = first.map_or(Reach::Gateway, Reach::Entity);
    office.administer(Permission::ViewPayments, reach, act).await
}

/// Returns the query of a list as the filters write it, without the place in the list.
fn normalize(query: &str) -> String {
    let address = read_address(query).with(&[]).format();
    address.split_once('?').map(|(_, query)| query.to_owned()).unwrap_or_default()
}

/// Loads the lists of the user.
pub(super) async fn load(office: &Office) -> Result<Vec<SavedView>, tillgate_gateway::Failure> {
    let user = office.signed_in.user.id.clone();
    office.read(move |app, _| Ok(app.gateway.store.load_saved_views(&user, MAX_VIEWS)?)).await
}

/// Renders the links to the lists of the user, and to the page that saves this one.
pub(super) fn render_links(texts: &Texts, query: &ListQuery, views: &[SavedView]) -> Markup {
    let current = query.address.with(&[]).format();
    let link = |view: &SavedView| {
        // Written anew by the filters, so that a stored text never leads anywhere else.
        let address = read_address(&view.query).with(&[]).format();
        FilterLink { text: view.name.clone(), is_current: address == current, address }
    };
    let links: Vec<FilterLink> = views.iter().map(link).collect();
    html! {
        div.line {
            @if !links.is_empty() { (tabs(texts.get("views.title"), &links)) }
            a.quiet href=(query.address.with(&[]).format_at("/payments/views")) { (texts.get("views.save_this")) }
        }
    }
}

/// Shows the page.
async fn show(office: &Office, query: &str, name: &str, fault: Option<&str>) -> Response {
    let texts = office.texts;
    let views = match load(office).await {
        Ok(views) => views,
        Err(failure) => return office.show_failure(&failure),
    };
    let title = texts.get("views.title");
    let field = Field {
        name: "name",
        label: texts.get("views.name"),
        value: name,
        hint: Some(texts.get("views.hint")),
        error: fault,
        max_length: u16::try_from(MAX_VIEW_NAME).ok(),
        is_required: true,
        ..Field::default()
    };
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/payments" } { (texts.get("payments.title")) } }
            h1 { (title) }
        }
        div.stack {
            section.card.narrow aria-labelledby="save" {
                header { h2 id="save" { (texts.get("views.save_this")) } }
                form action={ (BASE) "/payments/views" } method="post" {
                    p.soft {
                        @if query.is_empty() { (texts.get("views.all")) } @else { code.wrap { (query) } }
                    }
                    input type="hidden" name="query" value=(query);
                    (field.input("text"))
                    button.primary type="submit" { (texts.get("views.save")) }
                }
            }
            div.card {
                header { h2 { (texts.get("views.list")) } }
                @if views.is_empty() {
                    (empty(texts.get("views.none"), texts.get("views.none_advice")))
                } @else {
                    (view_table(texts, &views))
                }
            }
        }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Payments, title, fault, &main),
        None => office.show_page(Section::Payments, title, main),
    }
}

fn view_table(texts: &Texts, views: &[SavedView]) -> Markup {
    let row = |(number, view): (usize, &SavedView)| {
        let dialog_name = format!("delete-{number}");
        let question = texts.fill("views.delete_question", &[("name", &view.name)]);
        let close = texts.get("views.keep");
        let dialog = Dialog { name: &dialog_name, title: &question, content: html! {}, close };
        let deletion = html! {
            form action={ (BASE) "/payments/views/delete" } method="post" {
                input type="hidden" name="name" value=(view.name);
                button.danger type="submit" { (texts.get("views.delete")) }
            }
        };
        vec![
            html! { a href=(read_address(&view.query).with(&[]).format()) { (view.name) } },
            html! { (dialog.opener("quiet", texts.get("views.delete"))) (dialog.render(&deletion)) },
        ]
    };
    Table {
        caption: texts.get("views.list"),
        hides_caption: true,
        is_linked: false,
        columns: vec![Column::new(texts.get("views.name")), Column::new(texts.get("views.act"))],
        rows: views.iter().enumerate().map(row).collect(),
    }
    .render()
}
