//! Facts that are parameters of a request: the groups that may reach the check, under their own names.

use tillgate_shared::format::{Class, Format};
use tillgate_shared::parameter::{
    Parameter, ParameterGroup, Parameters, all_parameters, find_parameter, is_keyed, parse_index,
};

use super::{Fact, FactKind, FactRow, FactSlot, Source, Value, parse_decimal};

/// Lengths, in characters, after which the check cuts a value.
const CUT: [(&str, usize); 2] = [("risk.channelId", 12), ("risk.serviceId", 1)];
/// Lengths of the merchant's own keys.
const KEY_LENGTHS: std::ops::RangeInclusive<usize> = 3..=64;

/// Returns the rows of all parameters that may reach the check.
pub(super) fn all_rows() -> impl Iterator<Item = FactRow> {
    all_parameters().filter(|parameter| may_reach_check(parameter)).map(make_row)
}

/// Finds the row of a name: with an index, with `[n]` for any item, or with the merchant's own key.
pub(super) fn find_row(name: &str) -> Option<FactRow> {
    let parameter = find_parameter(&name.replace("[n]", "[0]"))?;
    if let Some((base, rest)) = name.split_once('[')
        && is_keyed(base)
        && !rest.strip_suffix(']').is_some_and(is_key)
    {
        return None;
    }
    may_reach_check(parameter).then(|| make_row(parameter))
}

fn is_key(key: &str) -> bool {
    KEY_LENGTHS.contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
}

/// Returns true for the groups of the check, without secrets.
fn may_reach_check(parameter: &Parameter) -> bool {
    use ParameterGroup::{
        Billing, CartItems, CartPayments, Customer, GiftCard, Risk, Shipping, ShippingCustomer, ThreeDs,
    };
    let groups = [Customer, ShippingCustomer, Billing, Shipping, CartItems, CartPayments, ThreeDs, GiftCard, Risk];
    groups.contains(&parameter.group) && !parameter.secret
}

fn make_row(parameter: &'static Parameter) -> FactRow {
    FactRow {
        name: parameter.name,
        kind: find_kind(parameter.format),
        source: if parameter.browser { Source::Browser } else { Source::Merchant },
        note: parameter.note,
        needs_account: false,
        is_late: parameter.group == ParameterGroup::ThreeDs,
        is_for_offers: false,
        follows: &[],
        read: None,
    }
}

/// Returns the type of a format. Codes in digits, such as `05`, are texts.
fn find_kind(format: Format) -> FactKind {
    match format {
        Format::Amount => FactKind::Amount,
        Format::Decimal { .. } | Format::Percent | Format::Number { .. } | Format::Offset => FactKind::Number,
        Format::Characters { class: Class::Digits, min: 1, max: 0..=6 } => FactKind::Number,
        Format::Flag => FactKind::Flag,
        _ => FactKind::Text,
    }
}

/// Returns the names of the parameters that a fact stands for.
pub(super) fn matching_names<'a>(name: &'a str, parameters: &'a Parameters) -> impl Iterator<Item = &'a str> {
    let each = name.split_once("[n]");
    let single = each.is_none().then_some(name).filter(|name| parameters.contains(name));
    let many = each.into_iter().flat_map(|(before, after)| {
        let is_item = move |name: &&str| {
            let index = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            let digits = index.and_then(|index| index.strip_prefix('[')?.strip_suffix(']'));
            digits.is_some_and(|digits| parse_index(digits).is_some())
        };
        parameters.iter().map(|(name, _)| name).filter(is_item)
    });
    single.into_iter().chain(many)
}

/// Reads the values of a fact. A value that is not of the fact's type is missing.
pub(super) fn read_values(fact: &Fact, parameters: &Parameters) -> FactSlot {
    let read = |name: &str| read_value(fact.row, parameters.get(name)?);
    if !fact.has_many_values() {
        return FactSlot::from(read(&fact.name));
    }
    let values: Vec<Value> = matching_names(&fact.name, parameters).filter_map(read).collect();
    if values.is_empty() { FactSlot::Missing } else { FactSlot::Many(values) }
}

fn read_value(row: FactRow, text: &str) -> Option<Value> {
    match row.kind {
        FactKind::Flag => Some(Value::Flag(text == "true")),
        FactKind::Number | FactKind::Amount => parse_decimal(text).map(Value::Number),
        _ => {
            let length = CUT.iter().find(|(name, _)| *name == row.name).map_or(usize::MAX, |(_, length)| *length);
            let end = text.char_indices().nth(length).map_or(text.len(), |(end, _)| end);
            text.get(..end).map(|text| Value::from_named_text(row.name, text))
        }
    }
}
