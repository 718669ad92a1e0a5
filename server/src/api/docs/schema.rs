//! The shapes of parameters: as JSON Schema for programs, in words for people. Both are made of the catalogue's rows.

use serde_json::{Map, Value, json};
use tillgate_shared::format::Format;
use tillgate_shared::parameter::{DefaultValue, Group, Need, Parameter, catalogue};

/// How an index looks in a name.
const INDEX: &str = r"\[(0|[1-9][0-9]{0,2})\]";
/// How a key of the sender's looks.
const KEY: &str = r"\[[A-Za-z0-9._]{3,64}\]";
/// How a brand looks between brackets.
const BRAND: &str = r"\[[A-Za-z0-9_]{1,32}\]";

/// The groups of the catalogue, in its order.
pub(super) fn groups() -> Vec<Group> {
    let mut groups = Vec::new();
    for row in catalogue() {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    groups
}

/// A group's parameters.
pub(super) fn rows(group: Group) -> impl Iterator<Item = &'static Parameter> {
    catalogue().filter(move |row| row.group == group)
}

/// How a group is called among the schemas: a title of one word.
pub(super) fn component(group: Group) -> String {
    let words = group.title().split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_ascii_uppercase())
        })
        .collect()
}

/// A name with brackets as the expression that all its names match; `None` for a plain one.
pub(super) fn name_pattern(name: &str) -> Option<String> {
    if !name.contains('[') {
        return None;
    }
    let mut pattern = "^".to_owned();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('[') {
        let (content, next) = after.split_once(']').unwrap_or((after, ""));
        pattern.push_str(&before.replace('.', r"\."));
        pattern.push_str(match content {
            "n" => INDEX,
            "brand" => BRAND,
            _ => KEY,
        });
        rest = next;
    }
    pattern.push_str(&rest.replace('.', r"\."));
    pattern.push('$');
    Some(pattern)
}

/// An object that has these parameters.
pub(super) fn object<'a>(rows: impl Iterator<Item = &'a Parameter>, value: impl Fn(&Parameter) -> Value) -> Value {
    let (mut properties, mut patterns) = (Map::new(), Map::new());
    for row in rows {
        match name_pattern(row.name) {
            Some(pattern) => patterns.insert(pattern, value(row)),
            None => properties.insert(row.name.to_owned(), value(row)),
        };
    }
    let mut object = json!({ "type": "object", "properties": properties });
    if !patterns.is_empty() {
        object["patternProperties"] = Value::Object(patterns);
    }
    object
}

/// A parameter's value.
pub(super) fn parameter(row: &Parameter) -> Value {
    let mut schema = format(row.format);
    schema["description"] = row.note.into();
    if row.secret {
        schema["writeOnly"] = true.into();
    }
    if row.browser {
        schema["x-browser"] = true.into();
    }
    if let Some(DefaultValue::Value(value)) = row.default {
        schema["default"] = value.into();
    }
    schema
}

/// A format as JSON Schema. Everything travels as text.
fn format(format: Format) -> Value {
    let text = |min: u16, max: u16| json!({ "type": "string", "minLength": min, "maxLength": max });
    match format {
        Format::Text { min, max } | Format::Verbatim { min, max } | Format::Lines { min, max } => text(min, max),
        Format::Cut { .. } => json!({ "type": "string", "minLength": 1 }),
        Format::OneOf(words) => json!({ "type": "string", "enum": words }),
        Format::Flag => json!({ "type": "string", "enum": ["true", "false"] }),
        Format::Date => json!({ "type": "string", "format": "date", "pattern": format.pattern() }),
        Format::Url => json!({ "type": "string", "format": "uri", "pattern": format.pattern() }),
        _ => json!({ "type": "string", "pattern": format.pattern() }),
    }
}

/// A format in words.
pub(super) fn words(format: Format) -> String {
    let length = |min: u16, max: u16| match (min, max) {
        (min, max) if min == max => format!("{min}"),
        (0, max) => format!("up to {max}"),
        (min, max) => format!("{min} to {max}"),
    };
    match format {
        Format::Text { min, max } => format!("{} characters", length(min, max)),
        Format::Verbatim { min, max } => format!("{} characters, kept to the letter", length(min, max)),
        Format::Lines { min, max } => format!("{} characters, line breaks allowed", length(min, max)),
        Format::Cut { max } => format!("cut after {max} characters"),
        Format::Characters { class, min, max } => {
            use tillgate_shared::format::Class;
            let what = match class {
                Class::Digits => "digits",
                Class::Uppercase => "capital letters",
                Class::Alphanumeric => "letters and digits",
                Class::Word => "letters, digits, underscores",
                Class::Tag => "letters, digits, hyphens",
                Class::LowerHex => "lower-case hexadecimal digits",
                Class::Letters => "letters",
                Class::Base64 => "Base64 characters",
                Class::Dial => "letters, digits, plus, minus, dot",
                Class::Postcode => "letters, digits, spaces, hyphens",
                Class::Ascii => "ASCII characters",
            };
            format!("{} {what}", length(min, max))
        }
        Format::OneOf(_) => "one of".to_owned(),
        Format::Flag => "true or false; 1 and 0 too, and letters of either case".to_owned(),
        Format::Amount => "amount: up to 10 digits, then none or two decimals".to_owned(),
        Format::Money => "money: up to 10 digits and two decimals".to_owned(),
        Format::Currency => "ISO 4217 currency".to_owned(),
        Format::Country => "ISO 3166-1 country, two capital letters".to_owned(),
        Format::Date => "day, yyyy-MM-dd".to_owned(),
        Format::Phone { min, max } => format!("telephone number, {} characters", length(min, max)),
        Format::Offset => "minutes with an optional sign, up to 5 characters".to_owned(),
        Format::Version => "3D protocol version, such as 2.2.0".to_owned(),
        Format::Url => "http or https address, 6 to 2048 characters".to_owned(),
        Format::CardNumber => "12 to 19 digits with a right check digit".to_owned(),
        Format::SecurityCode => "3 or 4 digits".to_owned(),
        Format::ExpiryMonth => "01 to 12".to_owned(),
        Format::ExpiryYear => "four digits, 19xx or 20xx".to_owned(),
        Format::Decimal { whole, max, .. } => format!("up to {whole} digits, then up to {max} decimals"),
        Format::Percent => "0 to 100 with up to two decimals".to_owned(),
        Format::Number { min, max } => format!("whole number, {min} to {max}"),
        Format::DateTime { t: false } => "time, yyyy-MM-dd HH:mm:ss".to_owned(),
        Format::DateTime { t: true } => "time, yyyy-MM-dd HH:mm:ss, or with a T between".to_owned(),
        Format::DateOrTime => "day, yyyy-MM-dd, or time, yyyy-MM-dd HH:mm:ss".to_owned(),
        Format::CountryAnyCase => "ISO 3166-1 country, two letters".to_owned(),
        Format::CountryOrNumber => "ISO 3166-1 country, two letters or three digits".to_owned(),
        Format::Place { digits: true, max } => format!("town or state, up to {max} characters"),
        Format::Place { digits: false, max } => format!("town or state without digits, up to {max} characters"),
        Format::Iban => "IBAN with right check digits".to_owned(),
        Format::Bic => "BIC of 8 or 11 characters".to_owned(),
        Format::Schedule { min, max, .. } => format!("* or numbers from {min} to {max} with commas between"),
        Format::Cron => "cron expression of five to seven fields".to_owned(),
        Format::Brands => "codes of brands, with spaces or commas between".to_owned(),
        Format::Chargeback => "000.100.2 and two digits".to_owned(),
    }
}

/// The letter that the specification has for it, spelled out.
pub(super) fn need(need: Need) -> &'static str {
    match need {
        Need::Required => "required",
        Need::Conditional => "conditional",
        Need::Optional => "optional",
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_with_brackets_become_expressions_that_their_names_match() {
        assert_eq!(name_pattern("card.number"), None);
        assert_eq!(name_pattern("cart.items[n].name").unwrap(), r"^cart\.items\[(0|[1-9][0-9]{0,2})\]\.name$");
        assert_eq!(
            name_pattern("airline.passengers[n].legs[n].fareBasis").unwrap(),
            r"^airline\.passengers\[(0|[1-9][0-9]{0,2})\]\.legs\[(0|[1-9][0-9]{0,2})\]\.fareBasis$"
        );
        assert_eq!(name_pattern("customParameters[name]").unwrap(), r"^customParameters\[[A-Za-z0-9._]{3,64}\]$");
    }

    #[test]
    fn every_group_has_a_schema_name_of_its_own_and_every_row_is_in_one_group() {
        let names: BTreeSet<String> = groups().into_iter().map(component).collect();
        assert_eq!(names.len(), groups().len());
        assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{names:?}");
        let rows: usize = groups().into_iter().map(|group| rows(group).count()).sum();
        assert_eq!(rows, catalogue().count());
    }

    #[test]
    fn every_format_has_words() {
        for row in catalogue() {
            assert!(!words(row.format).is_empty(), "{}", row.name);
            assert_eq!(parameter(row)["type"], "string", "{}", row.name);
        }
    }
}
