//! Payments as rows of CSV (RFC 4180), for the report of transactions.

use jiff::Timestamp;
use serde_json::Value;

use super::payment::Payment;
use super::spreadsheet::escape_formula;

/// The columns.
const COLUMNS: [&str; 13] = [
    "timestamp",
    "id",
    "referencedId",
    "entityId",
    "paymentType",
    "paymentBrand",
    "amount",
    "currency",
    "result.code",
    "merchantTransactionId",
    "merchantInvoiceId",
    "descriptor",
    "checkoutId",
];

/// Returns the row with the names of the columns.
pub fn format_header() -> String {
    COLUMNS.join(",") + "\r\n"
}

/// Returns a row for each payment. A cell that a spreadsheet would take for a formula begins with an apostrophe.
pub fn format_rows(payments: &[Payment]) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new());
    for payment in payments {
        // Writing to memory does not fail.
        let _ = writer.write_record(list_cells(payment).map(|cell| escape_formula(&cell)));
    }
    writer.into_inner().unwrap_or_default()
}

/// Returns a payment as an object with the columns that have a value.
pub fn to_object(payment: &Payment) -> Value {
    let cells = COLUMNS.into_iter().zip(list_cells(payment)).filter(|(_, cell)| !cell.is_empty());
    Value::Object(cells.map(|(name, cell)| (name.to_owned(), Value::from(cell))).collect())
}

/// Returns the cells of a payment. One without a value is empty.
fn list_cells(payment: &Payment) -> [String; 13] {
    let text = |name| payment.parameters.get(name).unwrap_or_default().to_owned();
    let id = |id: Option<&str>| id.unwrap_or_default().to_owned();
    [
        wire_time(payment.created),
        payment.id.to_string(),
        id(payment.referenced.as_ref().map(|id| id.as_str())),
        payment.entity.to_string(),
        payment.payment_type.code().to_owned(),
        payment.brand.clone(),
        payment.amount.to_string(),
        payment.amount.currency().code().to_owned(),
        payment.result.code().to_owned(),
        text("merchantTransactionId"),
        text("merchantInvoiceId"),
        payment.descriptor.clone(),
        id(payment.checkout.as_ref().map(|id| id.as_str())),
    ]
}

/// Formats a time as `yyyy-MM-dd HH:mm:ss+0000`, as responses have it.
pub fn wire_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S+0000").to_string()
}
