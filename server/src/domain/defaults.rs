//! What counts where a merchant sends nothing (specification, documents 2 and 3): `COUNT` for the `quantityUnit` of a cart
//! item, the `paymentBrand` for `risk.brand`. It is kept and told with the payment like what was sent, so that everybody can
//! read what was taken for granted; but only where the group is used, for who sends no cart has no items to count.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jiff::Timestamp;
use tillgate_shared::parameter::{DefaultValue, Parameter, Parameters, catalogue, find};

/// Rows that have a default, with the part of their name that stands for the group. `testMode` belongs to no group, and
/// the result tells it.
static ROWS: LazyLock<Vec<(&str, &str, &Parameter)>> = LazyLock::new(|| {
    let with_default = catalogue().filter(|row| row.default.is_some());
    with_default.filter_map(|row| row.name.rsplit_once('.').map(|(group, field)| (group, field, row))).collect()
});

/// Adds what was not sent to the groups of a payment that are used. Names a payment's brand, and when it was made.
pub fn fill(parameters: &mut Parameters, brand: &str, now: Timestamp) {
    for (group, field, row) in ROWS.iter() {
        let sent = parameters.iter().filter_map(|(name, _)| Some((place(group, name)?, name)));
        // `shipping.customer` is a group of its own.
        let own = sent.filter(|(_, name)| find(name).is_some_and(|sent| sent.group == row.group));
        let used: BTreeSet<String> = own.map(|(place, _)| place.to_owned()).collect();
        for place in used {
            let name = format!("{place}.{field}");
            if parameters.contains(&name) {
                continue;
            }
            match row.default {
                Some(DefaultValue::Value(value)) => parameters.set(name, value),
                Some(DefaultValue::Of("paymentBrand")) => parameters.set(name, brand),
                Some(DefaultValue::Now) => parameters.set(name, now.strftime("%Y-%m-%d %H:%M:%S").to_string()),
                Some(DefaultValue::Of(_)) | None => {}
            }
        }
    }
}

/// The beginning of a name that is the group: `cart.items[17]` of `cart.items[17].name`, for `cart.items[n]`.
fn place<'a>(group: &str, name: &'a str) -> Option<&'a str> {
    let rest = match group.strip_suffix("[n]") {
        None => name.strip_prefix(group)?,
        Some(list) => name.strip_prefix(list)?.split_once(']')?.1,
    };
    if rest.starts_with(['.', '[']) { name.strip_suffix(rest) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Fields = &'static [(&'static str, &'static str)];

    fn filled(sent: Fields) -> Vec<(String, String)> {
        let mut parameters: Parameters = sent.iter().copied().collect();
        fill(&mut parameters, "VISA", Timestamp::UNIX_EPOCH);
        let added = parameters.iter().skip(sent.len());
        added.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn what_is_used_is_filled_up_and_nothing_else() {
        let cases: [(Fields, Fields); 8] = [
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
            assert_eq!(filled(sent), added, "{sent:?}");
        }
    }

    #[test]
    fn every_default_of_a_group_is_one_that_can_be_filled_in() {
        for (_, _, row) in ROWS.iter() {
            let known = !matches!(row.default, Some(DefaultValue::Of(other)) if other != "paymentBrand");
            assert!(known, "{}", row.name);
        }
    }
}
