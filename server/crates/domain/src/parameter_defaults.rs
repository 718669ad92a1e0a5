//! Default values of parameters that the merchant did not send (specification, documents 2 and 3): `COUNT` for the
//! `quantityUnit` of a cart item, the `paymentBrand` for `risk.brand`. Defaults are stored and returned with the
//! payment like sent values, so that merchants can read which values were assumed. A default applies only if its group
//! is used: without a cart there are no items to count.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use tillgate_shared::parameter::{DefaultValue, Parameter, Parameters, all_parameters, find_parameter};

/// Catalogue rows with a default, each with the group and field parts of its name. `testMode` belongs to no group, and
/// the payment result reports it.
static DEFAULT_ROWS: LazyLock<Vec<(&str, &str, &Parameter)>> = LazyLock::new(|| {
    let with_default = all_parameters().filter(|row| row.default.is_some());
    with_default.filter_map(|row| row.name.rsplit_once('.').map(|(group, field)| (group, field, row))).collect()
});

/// Adds the default of each field that was not sent, in every group of which another field was sent; each item of a
/// list is a group. Sent values stay. `brand` is the brand of the payment, `now` the time of its creation. Returns the
/// names of the added values.
pub fn add_default_values(parameters: &mut Parameters, brand: &str, now: Timestamp) -> Vec<String> {
    let mut added = Vec::new();
    for (group, field, row) in DEFAULT_ROWS.iter() {
        let sent = parameters.iter().filter_map(|(name, _)| Some((group_part(group, name)?, name)));
        // `shipping.customer` is a separate group.
        let of_group = sent.filter(|(_, name)| find_parameter(name).is_some_and(|sent| sent.group == row.group));
        let used: BTreeSet<String> = of_group.map(|(prefix, _)| prefix.to_owned()).collect();
        for prefix in used {
            let name = format!("{prefix}.{field}");
            if parameters.contains(&name) {
                continue;
            }
            match row.default {
                Some(DefaultValue::Value(value)) => parameters.set(name.as_str(), value),
                Some(DefaultValue::SameAs("paymentBrand")) => parameters.set(name.as_str(), brand),
                Some(DefaultValue::Now) => parameters.set(name.as_str(), format_order_time(now)),
                Some(DefaultValue::SameAs(_)) | None => continue,
            }
            added.push(name);
        }
    }
    added
}

/// Formats a time as `risk.orderTimestamp`.
pub fn format_order_time(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Returns the part of a name that is the group: `cart.items[17]` of `cart.items[17].name`, for the group
/// `cart.items[n]`. Returns `None` if the name is not that of a field in the group.
fn group_part<'a>(group: &str, name: &'a str) -> Option<&'a str> {
    let rest = match group.strip_suffix("[n]") {
        None => name.strip_prefix(group)?,
        Some(list) => name.strip_prefix(list)?.split_once(']')?.1,
    };
    if rest.starts_with(['.', '[']) { name.strip_suffix(rest) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    type ParameterPairs = &'static [(&'static str, &'static str)];

    /// Returns the parameters that are added to the sent ones, for a VISA card and the time 0.
    fn added_defaults(sent: ParameterPairs) -> Vec<(String, String)> {
        let mut parameters: Parameters = sent.iter().copied().collect();
        add_default_values(&mut parameters, "VISA", Timestamp::UNIX_EPOCH);
        let added = parameters.iter().skip(sent.len());
        added.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn what_is_used_is_filled_up_and_nothing_else() {
        let cases: [(ParameterPairs, ParameterPairs); 8] = [
            (&[("amount", "92.00"), ("shipping.customer.sex", "F"), ("cart.payments[0].brand", "x")], &[]),
            (&[("cart.items[0].name", "Bowl")], &[("cart.items[0].quantityUnit", "COUNT")]),
            (
                &[
                    ("cart.items[7].name", "Clay"),
                    ("cart.items[7].quantityUnit", "KG"),
                    ("cart.items[999].recipient.city", "Ulm"),
                ],
                &[("cart.items[999].quantityUnit", "COUNT")],
            ),
            (&[("shipping.city", "Ulm")], &[("shipping.preference", "GET_FROM_FILE")]),
            (&[("shipping.city", "Ulm"), ("shipping.preference", "NO_SHIPPING")], &[]),
            (&[("merchant.shipping.city", "Ulm")], &[("merchant.shipping.preference", "GET_FROM_FILE")]),
            (
                &[("risk.parameters[a.b]", "x")],
                &[("risk.orderTimestamp", "1970-01-01 00:00:00"), ("risk.brand", "VISA")],
            ),
            (&[("risk.brand", "MASTER"), ("risk.orderTimestamp", "2026-11-21 10:00:00")], &[]),
        ];
        for (sent, added) in cases {
            let added: Vec<_> = added.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            assert_eq!(added_defaults(sent), added, "{sent:?}");
        }
    }

    #[test]
    fn every_default_of_a_group_is_one_that_can_be_filled_in() {
        for (_, _, row) in DEFAULT_ROWS.iter() {
            let known = !matches!(row.default, Some(DefaultValue::SameAs(other)) if other != "paymentBrand");
            assert!(known, "{}", row.name);
        }
    }
}
