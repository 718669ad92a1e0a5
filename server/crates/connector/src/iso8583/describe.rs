//! Descriptions of messages for logs and the timeline, without card numbers and security data.

use tillgate_shared::format::mask::mask_card_numbers;

use super::dialect::Dialect;
use super::message::{IsoMessage, IsoValue};

/// Fields with a card number: number, extended number, and the tracks of a magnetic stripe.
const CARD_FIELDS: [u8; 5] = [2, 34, 35, 36, 45];
/// Fields that are never shown: PIN, and data of a chip.
const SECRET_FIELDS: [u8; 2] = [52, 55];
/// Text instead of a secret.
const MASK: &str = "•••";

/// A field or part of a message, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedElement {
    /// Number of the field; of a part, number and tag: `48.92`. The message type has `0`.
    pub label: String,
    /// Name in the dialect. Empty if the dialect does not define the field or part.
    pub name: String,
    /// Masked value. Bytes are shown as their number.
    pub value: String,
}

impl Dialect {
    /// Describes a message. Card numbers are masked but for the first six and last four digits, also in texts. Secrets
    /// are masked: PIN and chip data (fields 52 and 55), and everything with `secret = true` in the dialect.
    pub fn describe(&self, message: &IsoMessage) -> Vec<DescribedElement> {
        let mti = message.mti().to_string();
        let mut described =
            vec![DescribedElement { label: "0".to_owned(), name: "message type".to_owned(), value: mti }];
        for (number, value) in message.fields() {
            let layout = self.field_layout(number);
            let name = layout.map(|field| field.name.clone()).unwrap_or_default();
            let is_secret = SECRET_FIELDS.contains(&number) || layout.is_none_or(|field| field.value.is_secret);
            let IsoValue::Composite(parts) = value else {
                let value = describe_value(value, is_secret, CARD_FIELDS.contains(&number));
                described.push(DescribedElement { label: number.to_string(), name, value });
                continue;
            };
            let value = format!("{} parts", parts.len());
            described.push(DescribedElement { label: number.to_string(), name, value });
            for part in parts {
                let layout = layout.and_then(|field| field.find_part(&part.tag));
                let is_secret = is_secret || layout.is_none_or(|part| part.value.is_secret);
                described.push(DescribedElement {
                    label: format!("{number}.{}", part.tag),
                    name: layout.map(|part| part.name.clone()).unwrap_or_default(),
                    value: describe_value(&part.value, is_secret, CARD_FIELDS.contains(&number)),
                });
            }
        }
        described
    }
}

/// Returns the masked value of a field or part.
fn describe_value(value: &IsoValue, is_secret: bool, is_card: bool) -> String {
    match value {
        _ if is_secret => MASK.to_owned(),
        IsoValue::Text(text) if is_card => mask_track(text),
        IsoValue::Text(text) => mask_card_numbers(text).into_owned(),
        IsoValue::Bytes(bytes) => format!("{} bytes", bytes.len()),
        IsoValue::Composite(parts) => format!("{} parts", parts.len()),
    }
}

/// Returns the first six and last four digits of the card number that a text begins with, after the letter of track 1.
/// The rest of a track is not shown. Other numbers than those of 13 to 19 digits are masked entirely.
fn mask_track(text: &str) -> String {
    let text = text.trim_start_matches(|character: char| character.is_ascii_alphabetic());
    let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    match (text.get(..6), end.checked_sub(4).and_then(|last| text.get(last..end))) {
        (Some(first), Some(last)) if (13..=19).contains(&end) => format!("{first}{}{last}", "*".repeat(end - 10)),
        _ => MASK.to_owned(),
    }
}
