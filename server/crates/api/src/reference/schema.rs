//! Formats of parameters: as JSON Schema for programs, in words for people. Both are generated from the catalogue.

use serde_json::{Map, Value, json};
use tillgate_shared::format::{Class, Format};
use tillgate_shared::parameter::{DefaultValue, Need, Parameter, ParameterGroup, all_parameters};

/// Pattern of an index in a name.
const INDEX: &str = r"\[(0|[1-9][0-9]{0,2})\]";
/// Pattern of a merchant-defined key.
const KEY: &str = r"\[[A-Za-z0-9._]{3,64}\]";
/// Pattern of a brand in brackets.
const BRAND: &str = r"\[[A-Za-z0-9_]{1,32}\]";

/// Returns the groups of the catalogue, in the order of their first parameters.
pub(super) fn parameter_groups() -> Vec<ParameterGroup> {
    let mut groups = Vec::new();
    for row in all_parameters() {
        if !groups.contains(&row.group) {
            groups.push(row.group);
        }
    }
    groups
}

/// Returns a group's parameters.
pub(super) fn parameters_of_group(group: ParameterGroup) -> impl Iterator<Item = &'static Parameter> {
    all_parameters().filter(move |row| row.group == group)
}

/// Returns the name of a group's schema: the words of its title as one, each with a capital letter. It begins with a
/// letter, because generators make a type of it.
pub(super) fn component_name(group: ParameterGroup) -> String {
    join_words(&group.title().replace("3-D", "Three d"))
}

/// Returns the name of the schema of a parameter's value: `CardNumberValue` for `card.number`.
pub(super) fn value_component_name(row: &Parameter) -> String {
    format!("{}Value", join_words(row.name))
}

/// Joins the words of a text, each with a capital letter.
fn join_words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            format!("{}{rest}", first.to_ascii_uppercase())
        })
        .collect()
}

/// Converts a name with brackets into a regular expression that matches all its forms: `[n]` is an index, `[brand]` a
/// brand, anything else a key of the merchant. Returns `None` for a name without brackets.
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

/// Builds the schema of an object with these parameters; `value` gives the schema of each. Names with brackets become
/// `patternProperties`.
pub(super) fn object_schema<'a>(
    rows: impl Iterator<Item = &'a Parameter>,
    value: impl Fn(&Parameter) -> Value,
) -> Value {
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

/// Builds the schema of a parameter's value, with its meaning and its default, if that is fixed. `x-browser` marks
/// those that a browser may set.
pub(super) fn parameter_schema(row: &Parameter) -> Value {
    let mut schema = match name_pattern(row.name) {
        // Names with keys share one type in generated clients, which therefore has to be that of any text.
        Some(_) => json!({ "type": "string", "pattern": row.format.pattern() }),
        None => format_schema(row.format),
    };
    if row.need != Need::Required {
        allow_empty(&mut schema);
    }
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

/// Lets a schema allow the empty text. An empty value counts as absent, so the service takes it where the parameter may
/// be absent.
fn allow_empty(schema: &mut Value) {
    let min = schema.as_object_mut().and_then(|members| members.remove("minLength")).and_then(|min| min.as_u64());
    let pattern = schema["pattern"].as_str().map(str::to_owned);
    let least = min.filter(|min| *min > 1).map(|min| format!("^[\\s\\S]{{{min},}}$"));
    if let Some(pattern) = pattern.or(least) {
        schema["pattern"] = format!("^$|{pattern}").into();
    }
}

/// Converts a format into JSON Schema. All values are sent as text.
fn format_schema(format: Format) -> Value {
    let text = |min: u16, max: u16| json!({ "type": "string", "minLength": min, "maxLength": max });
    match format {
        Format::Text { min, max } | Format::Verbatim { min, max } | Format::Lines { min, max } => text(min, max),
        Format::Cut { .. } => json!({ "type": "string", "minLength": 1 }),
        Format::OneOf(words) => json!({ "type": "string", "enum": words }),
        Format::Email { min, max } => {
            json!({ "type": "string", "minLength": min, "maxLength": max, "pattern": format.pattern() })
        }
        Format::Flag => json!({ "type": "string", "enum": ["true", "false"] }),
        Format::Date => json!({ "type": "string", "format": "date", "pattern": format.pattern() }),
        Format::Url | Format::ReturnUrl => json!({ "type": "string", "format": "uri", "pattern": format.pattern() }),
        _ => json!({ "type": "string", "pattern": format.pattern() }),
    }
}

/// Describes a format in words.
pub(super) fn describe_format(format: Format) -> String {
    let length = |min: u16, max: u16| match (min, max) {
        (min, max) if min == max => format!("{min}"),
        (0, max) => format!("up to {max}"),
        (min, max) => format!("{min} to {max}"),
    };
    match format {
        Format::Text { min, max } => format!("{} characters", length(min, max)),
        Format::Verbatim { min, max } => format!("{} characters, stored unchanged", length(min, max)),
        Format::Lines { min, max } => format!("{} characters, line breaks allowed", length(min, max)),
        Format::Cut { max } => format!("cut after {max} characters"),
        Format::Email { min, max } => format!("email address, {} characters", length(min, max)),
        Format::Characters { class, min, max } => format!("{} {}", length(min, max), describe_class(class)),
        Format::OneOf(_) => "one of".to_owned(),
        Format::Flag => "true or false, or 1 and 0, in upper or lower case".to_owned(),
        Format::Amount => "amount: up to 10 digits, optionally with two decimals".to_owned(),
        Format::Currency => "ISO 4217 currency".to_owned(),
        Format::Country => "ISO 3166-1 country, two capital letters".to_owned(),
        Format::Date => "day, yyyy-MM-dd".to_owned(),
        Format::Phone { min, max } => format!("phone number, {} characters", length(min, max)),
        Format::Offset => "minutes with an optional sign, up to 5 characters".to_owned(),
        Format::ThreeDsVersion => "version of 3-D Secure, such as 2.2.0".to_owned(),
        Format::Url => "http or https address, 6 to 2048 characters".to_owned(),
        Format::ReturnUrl => "address of http, https or an app, 6 to 2048 characters".to_owned(),
        Format::CardNumber => "12 to 19 digits with a valid check digit".to_owned(),
        Format::SecurityCode => "3 or 4 digits".to_owned(),
        Format::TwoDigits => "one or two digits".to_owned(),
        Format::ExpiryMonth => "01 to 12".to_owned(),
        Format::ExpiryYear => "four digits, 19xx or 20xx".to_owned(),
        Format::Decimal { whole, max, .. } => format!("up to {whole} digits, then up to {max} decimals"),
        Format::Percent => "0 to 100 with up to two decimals".to_owned(),
        Format::Number { min, max } => format!("whole number, {min} to {max}"),
        Format::DateTime { t: false } => "time, yyyy-MM-dd HH:mm:ss".to_owned(),
        Format::DateTime { t: true } => {
            "time, yyyy-MM-dd HH:mm:ss, optionally with a T instead of the space".to_owned()
        }
        Format::DateOrTime => "day, yyyy-MM-dd, or time, yyyy-MM-dd HH:mm:ss".to_owned(),
        Format::CountryAnyCase => "ISO 3166-1 country, two letters".to_owned(),
        Format::CountryOrNumber => "ISO 3166-1 country, two letters or three digits".to_owned(),
        Format::Place { digits: true, max } => format!("city or state, up to {max} characters"),
        Format::Place { digits: false, max } => format!("city or state without digits, up to {max} characters"),
        Format::Iban => "IBAN with valid check digits".to_owned(),
        Format::Bic => "BIC of 8 or 11 characters".to_owned(),
        Format::Schedule { min, max, .. } => format!("* or numbers from {min} to {max}, separated by commas"),
        Format::Cron => "cron expression of five to seven fields".to_owned(),
        Format::Brands => "codes of brands, separated by spaces or commas".to_owned(),
        Format::Chargeback => "000.100.2 and two digits".to_owned(),
    }
}

/// Describes the characters of a class.
fn describe_class(class: Class) -> &'static str {
    match class {
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
    }
}

/// Spells out a requirement level.
pub(super) fn requirement_name(need: Need) -> &'static str {
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
    fn every_group_and_every_row_has_a_schema_name_and_every_row_is_in_one_group() {
        let groups = parameter_groups().into_iter().map(component_name);
        let names: BTreeSet<String> = groups.chain(all_parameters().map(value_component_name)).collect();
        assert_eq!(names.len(), parameter_groups().len() + all_parameters().count());
        let is_type = |name: &String| {
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        assert!(names.iter().all(is_type), "{names:?}");
        let rows: usize = parameter_groups().into_iter().map(|group| parameters_of_group(group).count()).sum();
        assert_eq!(rows, all_parameters().count());
    }

    #[test]
    fn every_format_has_words() {
        for row in all_parameters() {
            assert!(!describe_format(row.format).is_empty(), "{}", row.name);
            assert_eq!(parameter_schema(row)["type"], "string", "{}", row.name);
        }
    }
}
