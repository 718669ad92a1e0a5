//! Payments as rows of CSV (RFC 4180), for the report of transactions.

use std::borrow::Cow;

use serde_json::Value;

use crate::payment::{ReportedPayment, Text};
use crate::report::spreadsheet::escape_formula;

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

/// Rows of payments, which are written one after the other.
pub struct RowWriter(csv::Writer<Vec<u8>>);

impl Default for RowWriter {
    fn default() -> Self {
        Self(csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(Vec::new()))
    }
}

impl RowWriter {
    /// Writes the row of a payment. A cell that a spreadsheet would take for a formula begins with an apostrophe.
    pub fn write_payment(&mut self, payment: &ReportedPayment<'_>) {
        // Writing to memory does not fail.
        for cell in list_cells(payment) {
            let _ = self.0.write_field(escape_formula(cell).as_bytes());
        }
        let _ = self.0.write_record(None::<&[u8]>);
    }

    /// Returns the rows.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner().unwrap_or_default()
    }
}

/// Returns a payment as an object with the columns that have a value.
pub fn to_object(payment: &ReportedPayment<'_>) -> Value {
    let cells = COLUMNS.into_iter().zip(list_cells(payment)).filter(|(_, cell)| !cell.is_empty());
    Value::Object(cells.map(|(name, cell)| (name.to_owned(), Value::from(cell))).collect())
}

/// Returns the cells of a payment. One without a value is empty.
fn list_cells<'a>(payment: &'a ReportedPayment<'_>) -> [Cow<'a, str>; 13] {
    let optional = |text: &'a Option<Text<'_>>| Cow::Borrowed(text.as_deref().unwrap_or_default());
    [
        payment.created.to_wire_time().into(),
        Cow::Borrowed(&payment.id),
        optional(&payment.referenced),
        Cow::Borrowed(&payment.entity),
        payment.payment_type.code().into(),
        Cow::Borrowed(&payment.brand),
        payment.amount.to_string().into(),
        payment.amount.currency().code().into(),
        payment.result.code().into(),
        optional(&payment.parameters.transaction_id),
        optional(&payment.parameters.invoice_id),
        Cow::Borrowed(&payment.descriptor),
        optional(&payment.checkout),
    ]
}
