//! Reconciliation files: the list of complete files, and their downloads.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};
use jiff::civil::Date;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::{EntityId, UserId};
use tillgate_domain::settlement::reconciliation::file::{FileName, format_header};
use tillgate_gateway::settlement::batch_list::FilePage;
use tillgate_gateway::settlement::reconciliation::RecordReader;
use tillgate_gateway::{App, Failure};
use tillgate_store::{Cancellation, StoreError};

use super::areas::render_areas;
use super::render_list_end;
use super::settlement_list::day_text;
use crate::BASE;
use crate::access::Problem;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::page::Section;
use crate::layout::response::mark_as_personal;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::watch_body;

/// Path of the list.
const PATH: &str = "/money/files";
/// Number of files on a page.
const PAGE_SIZE: usize = 50;
/// Number of parts that wait for a slow client.
const BUFFERED: usize = 2;

/// Handles `GET /money/files`.
pub(super) async fn show_files(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[], query.as_deref().unwrap_or_default());
    let before = match address.find(BEFORE).map(parse_place) {
        Some(None) => return office.show_unknown(),
        place => place.flatten(),
    };
    let entities = office.entities_with(Permission::ViewMoney);
    let seen = entities.clone();
    let read = office.read(move |app, _| {
        let before = before.as_ref().map(|(day, owner)| (*day, owner));
        app.gateway.list_latest_files(&seen, before, PAGE_SIZE)
    });
    let page = match read.await {
        Ok(page) => page,
        Err(failure) => return office.show_failure(&failure),
    };
    let texts = office.texts;
    let title = texts.get("files.title");
    let count = u64::try_from(page.files.len()).unwrap_or(u64::MAX);
    let last = page.files.last().filter(|_| page.has_more);
    let next = last.map(|(owner, file)| address.with(&[(BEFORE, &format!("{}_{owner}", file.day))]).format());
    let first = address.find(BEFORE).map(|_| address.with(&[]).format());
    let main = html! {
        div.title { h1 { (title) } }
        div.card {
            div.filter { (render_areas(texts, PATH)) }
            @if page.files.is_empty() {
                (empty(texts.get("files.none"), texts.get("files.none_advice")))
            } @else {
                (render_table(texts, &entities, &page))
            }
            (render_list_end(texts, first.as_deref(), count, next.as_deref()))
        }
    };
    office.show_page(Section::Money, title, main)
}

/// Parses the place of a file in an address.
fn parse_place(text: &str) -> Option<(Date, EntityId)> {
    let (day, owner) = text.split_once('_')?;
    Some((day.parse().ok()?, EntityId::parse(owner)?))
}

fn render_table(texts: &Texts, entities: &[Arc<Entity>], page: &FilePage) -> Markup {
    let columns = vec![
        Column::new(texts.get("settlements.day")),
        Column::new(texts.get("files.owner")),
        Column::number(texts.get("files.records")),
        Column::number(texts.get("dispute_page.size")).from(Shown::Medium),
    ];
    let rows = page.files.iter().map(|(owner, file)| {
        let name = FileName { entity: owner.clone(), day: file.day };
        let entity = entities.iter().find(|entity| entity.id == *owner).map_or("", |entity| &entity.name);
        vec![
            html! { a.nowrap href={ (BASE) (PATH) "/" (name) } download=(name) { (day_text(texts, file.day)) } },
            html! { span.cut { (entity) } },
            html! { (texts.number(file.records)) },
            html! { span.nowrap { (texts.fill("dispute_page.bytes", &[("count", &texts.number(file.bytes))])) } },
        ]
    });
    let rows = rows.collect();
    Table { caption: texts.get("files.title"), hides_caption: true, is_linked: true, columns, rows }.render()
}

/// Handles `GET /money/files/{name}`: sends a file while it is read.
pub(super) async fn send_file(office: Office, Path(name): Path<String>) -> Response {
    let Some(wanted) = FileName::parse(&name) else { return office.show_unknown() };
    let entity = match office.find_entity(Permission::ViewMoney, wanted.entity.as_str()) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let user = office.signed_in.user.id.clone();
    let Some(download) = office.state.downloads.start(&user) else {
        return office.show_problem(&Problem::RunningDownload);
    };
    let open = move |app: &App, _: &Cancellation<'_>| -> Result<_, Failure> {
        let Some(file) = app.gateway.find_file(&entity, &name)? else { return Ok(None) };
        Ok(Some((file, app.gateway.open_file(&entity, file.day)?)))
    };
    let (file, reader) = match office.read(open).await {
        Ok(Some(opened)) => opened,
        Ok(None) => return office.show_unknown(),
        Err(failure) => return office.show_failure(&failure),
    };
    let (sender, body) = Channel::new(BUFFERED);
    let (body, disconnected) = watch_body(body);
    let app = Arc::clone(office.app());
    tokio::spawn(async move {
        tokio::select! {
            () = send_lines(&app, &user, reader, sender) => {}
            _ = disconnected => {}
        }
        drop(download);
    });
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    mark_as_personal(headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    // Tells a browser whose connection ends early that the file is not whole.
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(file.bytes));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{wanted}\""));
    headers.insert(header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    response
}

/// Sends the header line and all lines. Each part is read in the queue of the user's long reads, so that a slow client
/// holds no thread.
async fn send_lines(app: &App, user: &UserId, mut reader: RecordReader, mut sender: Sender<Bytes, Failure>) {
    let mut lines = format_header();
    loop {
        if !lines.is_empty() && sender.send_data(std::mem::take(&mut lines).into()).await.is_err() {
            return;
        }
        if reader.is_at_end() {
            return;
        }
        let read = move |_: &Cancellation<'_>| -> Result<_, StoreError> {
            let lines = reader.read_lines()?;
            Ok((reader, lines.bytes))
        };
        match app.gateway.store.long_reads.run_read(user, read).await.and_then(|part| part) {
            Ok(part) => (reader, lines) = part,
            Err(error) => {
                tracing::warn!(%error, "reading a reconciliation file to its end failed");
                return sender.abort(error.into());
            }
        }
    }
}
