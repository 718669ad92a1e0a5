//! Sample rows in every table, for the tests of copies.

use tillgate_engine::{OwnedValue, Session};

use crate::copy::table_shape::list_tables;

/// Columns of truth values, which are integers in a file.
const TRUTHS: [&str; 11] = [
    "live",
    "approved",
    "is_final",
    "keyed",
    "session_reuse",
    "enforced",
    "bound",
    "unfiled",
    "without_customer",
    "wrapped",
    "open",
];

/// Tables that have one row at most, or rows that a new store has.
const ONE_ROW: [&str; 2] = ["record_digest", "booking_check"];

/// Returns a value that the rules of the table allow. Rows with the same number refer to each other.
fn sample_value(table: &str, column: &str, kind: &str, row: i64) -> OwnedValue {
    let text = |text: &str| OwnedValue::Text(text.to_owned());
    match (table, column, kind) {
        ("entity", "parent", _) => OwnedValue::Null,
        ("entity", "id", _) => OwnedValue::Text(format!("entity{row}")),
        ("entity", "level", _) => text("merchant"),
        ("user", "id", _) | ("user_invitation", "inviter", _) => OwnedValue::Text(format!("user{row}")),
        ("user", "state", _) => text("active"),
        ("approval", "kind", _) => text("refund"),
        ("approval", "state", _) => text("open"),
        ("risk_entity", "active" | "shadow", _) => OwnedValue::Text(format!("version{row}")),
        ("risk_list", "list", _) => text("deny"),
        ("risk_list", "source", _) => text("any"),
        ("risk_counter_owner", "kind", _) => text("counter"),
        ("passkey_challenge", "purpose", _) => text("add"),
        ("balance", "receivable" | "payable" | "fees" | "reserve" | "cash", _) => OwnedValue::Integer(0),
        (table, "id", _) if ONE_ROW.contains(&table) => OwnedValue::Integer(1),
        (_, column, "INTEGER") if TRUTHS.contains(&column) => OwnedValue::Integer(row % 2),
        ("webhook", "active", _) => OwnedValue::Integer(row % 2),
        (_, _, "INTEGER") => OwnedValue::Integer(row * 1_000_000_007),
        (_, _, "BLOB") => OwnedValue::Blob(format!("{{\"n\":{row}}}").into_bytes()),
        // A quote, a letter beyond ASCII and an emoji, which both places have to keep.
        (_, "label" | "name" | "text", _) => OwnedValue::Text(format!("O'Neill Ä 🦀 {row}")),
        (_, column, _) => OwnedValue::Text(format!("{column}{row}")),
    }
}

/// Inserts a row into each table, except for rows that are there already.
pub(super) fn insert_samples(session: &dyn Session, rows: std::ops::RangeInclusive<i64>) {
    for shape in list_tables().unwrap() {
        let query = "SELECT name, type FROM pragma_table_info(?1) ORDER BY cid";
        let columns: Vec<(String, String)> = session.query_all(query, [&shape.name], |row| row.read()).unwrap();
        for row in rows.clone() {
            let is_filled = ONE_ROW.contains(&&*shape.name) && row > 1;
            if is_filled || ["entity_level", "audit_entry", "sealed_key"].contains(&&*shape.name) {
                continue;
            }
            let values: Vec<OwnedValue> =
                columns.iter().map(|(column, kind)| sample_value(&shape.name, column, kind, row)).collect();
            let places: Vec<String> = (1..=values.len()).map(|place| format!("?{place}")).collect();
            let insert = format!(
                "INSERT INTO {} ({}) VALUES ({})",
                shape.quoted_name(),
                shape.quoted_columns(),
                places.join(", ")
            );
            session.execute(&insert, values).unwrap_or_else(|error| panic!("{}: {error}", shape.name));
        }
    }
}
