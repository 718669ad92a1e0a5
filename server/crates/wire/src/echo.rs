//! Parameters of requests, which responses repeat as nested JSON.

use tillgate_shared::parameter::{Parameters, check_lists, parse_index as index_of};

use crate::json_object::JsonObject;

/// Echoes parameters as nested JSON: `customer.givenName` inside `customer`, `cart.items[3].name` inside item 3 of
/// `items`, and `customParameters[a.b]` under its whole key. An index that was not sent is `null`. Of a name that is
/// both a value and a group (`a=1&a.b=2`), only the value stays.
pub fn echo_parameters<'a>(fields: &mut JsonObject<'a>, parameters: &'a Parameters) {
    // Requests with long sparse lists are refused, but older stored payments may have them; those omit the `null`
    // items, so that the response does not grow to megabytes.
    let in_place = check_lists(parameters).is_none();
    for (name, value) in parameters.iter() {
        let mut target = &mut *fields;
        let mut rest = name;
        loop {
            let (part, index, after) = split_first_part(rest);
            if after.is_empty() {
                target.set(part, value);
                break;
            }
            let inner = match index {
                Some(index) => target.list_item(part, index, in_place),
                None => target.nested_object(part),
            };
            // A name that is both a value and a group (`a=1&a.b=2`) keeps the value.
            let Some(inner) = inner else { break };
            (target, rest) = (inner, after);
        }
    }
}

/// Splits a name into its first part, its index if it has one, and the rest without a leading dot. An index is a number
/// in brackets with more of the name after it. Anything else in brackets is a key, which is one part even if it
/// contains dots. The rest of a last part is empty.
fn split_first_part(name: &str) -> (&str, Option<u16>, &str) {
    if let Some((key, after)) = name.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        return (key, None, after.trim_start_matches('.'));
    }
    let end = name.bytes().skip(1).position(|byte| matches!(byte, b'.' | b'[')).map_or(name.len(), |end| end + 1);
    let (part, after) = name.split_at(end);
    if let Some((index, more)) = after.strip_prefix('[').and_then(|inner| inner.split_once("]."))
        && let Some(index) = index_of(index)
    {
        return (part, Some(index), more);
    }
    (part, None, after.trim_start_matches('.'))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_are_echoed_nested_with_each_item_at_its_index_and_keys_as_they_are() {
        let mut parameters = Parameters::default();
        for (name, value) in [
            ("customer.givenName", "Jane"),
            ("customer.browser.language", "de"),
            ("customParameters[a.b]", "1"),
            ("customParameters[123]", "2"),
            ("cart.items[3].name", "Clay"),
            ("cart.items[1].name", "Bowl"),
            ("airline.passengers[0].legs[1].flightNumber", "TG 4711"),
            ("merchantTransactionId", "order-4711"),
        ] {
            parameters.set(name, value);
        }
        let mut fields = JsonObject::default();
        echo_parameters(&mut fields, &parameters);
        assert_eq!(
            serde_json::to_value(&fields).unwrap(),
            json!({
                "customer": { "givenName": "Jane", "browser": { "language": "de" } },
                "customParameters": { "a.b": "1", "123": "2" },
                "cart": { "items": [null, { "name": "Bowl" }, null, { "name": "Clay" }] },
                "airline": { "passengers": [{ "legs": [null, { "flightNumber": "TG 4711" }] }] },
                "merchantTransactionId": "order-4711",
            })
        );
    }

    #[test]
    fn lists_that_were_stored_with_more_gaps_than_are_allowed_are_told_without_them() {
        let mut parameters = Parameters::default();
        for passenger in 0..1000 {
            parameters.set(format!("airline.passengers[{passenger}].legs[999].fareBasis"), "Y");
        }
        let mut fields = JsonObject::default();
        echo_parameters(&mut fields, &parameters);
        let json = serde_json::to_value(&fields).unwrap();
        assert_eq!(json["airline"]["passengers"][999]["legs"], json!([{ "fareBasis": "Y" }]));
        assert!(json.to_string().len() < 40_000);
    }
}
