//! The list of payments as CSV, sent while it is read. It has all payments that the filter matches, not only a page.

mod download;

use std::borrow::Cow;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::RawQuery;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::channel::{Channel, Sender};
use jiff::Timestamp;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::{EntityId, UserId};
use tillgate_domain::report::spreadsheet::escape_formula;
use tillgate_gateway::payment::listing::{ListPage, ListRow};
use tillgate_gateway::{App, Failure};

pub use download::RunningDownloads;
pub(crate) use download::watch_body;

use super::collect_ids;
use super::columns::PaymentColumn;
use super::filter::ListQuery;
use crate::access::Problem;
use crate::layout::response::mark_as_personal;
use crate::office::Office;

/// Number of payments that are read at a time.
const PART: usize = 1000;
/// Number of parts that wait for a slow client.
const BUFFERED: usize = 2;
/// The header line of a list without chosen columns.
const HEADER: &str = "id,created,entityId,type,brand,last4,amount,currency,state,resultCode,result,reference\r\n";
/// The names before those of chosen columns.
const FIRST: [&str; 3] = ["id", "amount", "currency"];

/// Handles `GET /payments.csv`.
pub(super) async fn send_payments(office: Office, RawQuery(query): RawQuery) -> Response {
    let entities = office.entities_with(Permission::ViewPayments);
    let query = ListQuery::read(query.as_deref().unwrap_or_default(), entities, Timestamp::now());
    if query.entities.is_empty() || !query.mistakes.is_empty() {
        return office.show_unknown();
    }
    let (user, ids) = (office.signed_in.user.id.clone(), collect_ids(&query.entities));
    let Some(download) = office.state.downloads.start(&user) else {
        return office.show_problem(&Problem::RunningDownload);
    };
    let reader = PartReader { app: Arc::clone(office.app()), user, ids, query };
    let (sender, body) = Channel::new(BUFFERED);
    let (body, disconnected) = watch_body(body);
    tokio::spawn(async move {
        // A filter without matches sends nothing, so a failed send alone would not show that the client is gone.
        tokio::select! {
            () = reader.send_parts(sender) => {}
            _ = disconnected => {}
        }
        drop(download);
    });
    let mut response = Response::new(body);
    mark_as_personal(response.headers_mut());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    let disposition = HeaderValue::from_static("attachment; filename=\"payments.csv\"");
    response.headers_mut().insert(header::CONTENT_DISPOSITION, disposition);
    response
}

/// Reads the list part by part.
struct PartReader {
    app: Arc<App>,
    user: UserId,
    ids: Vec<EntityId>,
    query: ListQuery,
}

impl PartReader {
    /// Sends the header line and all parts. If one cannot be read, the response ends without its end, so that nobody
    /// takes the part for the whole.
    async fn send_parts(mut self, mut sender: Sender<Bytes, Failure>) {
        let columns = self.query.chosen_columns().map(<[_]>::to_vec);
        let mut lines = write_header(columns.as_deref());
        loop {
            let page = match self.read_part().await {
                Ok(page) => page,
                Err(failure) => {
                    tracing::warn!(error = %failure, "a list of payments cannot be read to its end");
                    return sender.abort(failure);
                }
            };
            page.rows.iter().for_each(|row| write_row(&mut lines, row, columns.as_deref()));
            let is_sent = lines.is_empty() || sender.send_data(std::mem::take(&mut lines).into()).await.is_ok();
            match page.before {
                Some(before) if is_sent => self.query.range.until = Some(before),
                // The list has ended, or the client has disconnected.
                _ => return,
            }
        }
    }

    /// Reads the next part in the queue of the user's long reads. A slow client holds no thread.
    async fn read_part(&self) -> Result<ListPage, Failure> {
        let (app, ids) = (Arc::clone(&self.app), self.ids.clone());
        let (filter, range) = (self.query.filter.clone(), self.query.range.clone());
        let read = move |cancelled: &tillgate_store::Cancellation<'_>| {
            app.gateway.list_payments(&ids, &filter, &range, PART, cancelled)
        };
        self.app.gateway.store.long_reads.run_read(&self.user, read).await?
    }
}

/// Returns the header line. Chosen columns come after id and amount.
fn write_header(columns: Option<&[PaymentColumn]>) -> String {
    let Some(columns) = columns else { return HEADER.to_owned() };
    let names = columns.iter().flat_map(|column| column.csv_names());
    let names: Vec<&str> = FIRST.iter().chain(names).copied().collect();
    format!("{}\r\n", names.join(","))
}

/// Writes the line of a payment with the columns of the list.
fn write_row(lines: &mut String, row: &ListRow, columns: Option<&[PaymentColumn]>) {
    let Some(columns) = columns else { return write_line(lines, row) };
    let mut cells = vec![row.id.clone(), row.amount.clone(), row.currency.clone()];
    columns.iter().for_each(|column| column.add_csv_cells(row, &mut cells));
    write_cells(lines, cells.iter().map(String::as_str));
}

/// Writes the line of a payment without chosen columns.
fn write_line(lines: &mut String, row: &ListRow) {
    let created = row.created.to_string();
    let cells = [
        row.id.as_str(),
        &created,
        &row.entity,
        row.payment_type.code(),
        &row.brand,
        row.last_four.as_deref().unwrap_or_default(),
        &row.amount,
        &row.currency,
        row.state().as_str(),
        row.result.code(),
        row.result.description(),
        row.reference.as_deref().unwrap_or_default(),
    ];
    write_cells(lines, cells.into_iter());
}

/// Writes cells, of which none is a formula or ends its line.
fn write_cells<'a>(lines: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            lines.push(',');
        }
        let cell = escape_formula(Cow::Borrowed(cell));
        if cell.contains([',', '"', '\r', '\n']) {
            lines.push('"');
            lines.push_str(&cell.replace('"', "\"\""));
            lines.push('"');
        } else {
            lines.push_str(&cell);
        }
    }
    lines.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use tillgate_domain::payment::PaymentType;
    use tillgate_shared::result::codes;

    use super::*;

    #[test]
    fn a_reference_is_neither_a_formula_nor_a_second_line() {
        let row = ListRow {
            id: "8a".to_owned(),
            entity: "8b".to_owned(),
            created: Timestamp::UNIX_EPOCH,
            payment_type: PaymentType::Debit,
            brand: "VISA".to_owned(),
            amount: "92.00".to_owned(),
            currency: "EUR".to_owned(),
            result: codes::RISK_HELD,
            last_four: Some("0000".to_owned()),
            reference: Some("=cmd|'/c calc',\"x\"\r\n".to_owned()),
            mail: Some("=jane@shop.example".to_owned()),
            registration: None,
            schedule: None,
            risk: None,
            follow_up: None,
        };
        let mut line = String::new();
        write_line(&mut line, &row);
        assert!(line.starts_with("8a,1970-01-01T00:00:00Z,8b,DB,VISA,0000,92.00,EUR,held,"), "{line}");
        assert!(line.ends_with(",\"'=cmd|'/c calc',\"\"x\"\"\r\n\"\r\n"), "{line}");
        let (columns, mut line) = ([PaymentColumn::Mail, PaymentColumn::Result], String::new());
        write_row(&mut line, &row, Some(&columns));
        assert!(line.starts_with("8a,92.00,EUR,'=jane@shop.example,"), "{line}");
        let header = write_header(Some(&columns));
        assert_eq!(header, "id,amount,currency,customerEmail,resultCode,result\r\n");
    }
}
