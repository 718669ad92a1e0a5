//! Readers of the computed facts, one function for each row of the table that needs more than a parameter.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use tillgate_domain::spelling::domain_of_mail;
use tillgate_shared::parameter::parse_index;

use super::{Reading, is_different};
use crate::condition::BIN_DIGITS;
use crate::fact::{SCALE, Value, parse_decimal};

fn convert_text(value: Option<&String>) -> Option<Value> {
    value.map(|value| Value::from_text(value))
}

fn convert_letter(value: Option<char>) -> Option<Value> {
    value.map(|letter| Value::from_text(letter.encode_utf8(&mut [0; 4])))
}

fn convert_age(value: Option<SignedDuration>) -> Option<Value> {
    value.map(|age| Value::Number(age.as_secs().into()))
}

pub(crate) fn score(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.input.verdict.as_ref().map(|verdict| Value::from_whole(verdict.score))
}

pub(crate) fn amount(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.find_hundredths().map(Value::from_hundredths)
}

pub(crate) fn currency(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.input.amount.map(|amount| Value::from_text(amount.currency().code()))
}

pub(crate) fn brand(reading: &Reading<'_>) -> Option<Value> {
    convert_text(reading.facts.input.brand.as_ref())
}

pub(crate) fn bin(reading: &Reading<'_>) -> Option<Value> {
    // No rule is finer than what responses show of a stored card.
    let bin = reading.facts.input.bin.as_deref()?;
    Some(Value::from_text(bin.get(..BIN_DIGITS).unwrap_or(bin)))
}

pub(crate) fn card_country(reading: &Reading<'_>) -> Option<Value> {
    convert_text(reading.facts.input.card_country.as_ref())
}

pub(crate) fn card_funding(reading: &Reading<'_>) -> Option<Value> {
    convert_text(reading.facts.input.card_funding.as_ref())
}

pub(crate) fn avs(reading: &Reading<'_>) -> Option<Value> {
    convert_letter(reading.facts.input.avs)
}

pub(crate) fn cvv(reading: &Reading<'_>) -> Option<Value> {
    convert_letter(reading.facts.input.cvv)
}

pub(crate) fn three_ds_result(reading: &Reading<'_>) -> Option<Value> {
    convert_letter(reading.facts.input.three_ds_result)
}

pub(crate) fn eci(reading: &Reading<'_>) -> Option<Value> {
    convert_text(reading.facts.input.eci.as_ref())
}

pub(crate) fn liability_shifted(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.input.liability_shifted.map(Value::Flag)
}

pub(crate) fn card_country_mismatch(reading: &Reading<'_>) -> Option<Value> {
    let billing = reading.facts.input.parameters.get("billing.country")?;
    Some(Value::Flag(is_different(reading.facts.input.card_country.as_deref()?, billing)))
}

pub(crate) fn ip_country_mismatch(reading: &Reading<'_>) -> Option<Value> {
    let country = reading.facts.lists.networks.find_country(reading.facts.find_address()?)?;
    Some(Value::Flag(is_different(country, reading.facts.input.parameters.get("billing.country")?)))
}

fn find_domain(reading: &Reading<'_>) -> Option<String> {
    domain_of_mail(reading.facts.input.parameters.get("customer.email")?)
}

pub(crate) fn email_domain(reading: &Reading<'_>) -> Option<Value> {
    find_domain(reading).map(Value::Text)
}

pub(crate) fn email_disposable(reading: &Reading<'_>) -> Option<Value> {
    let list = &reading.facts.lists.disposable;
    let domain = find_domain(reading).filter(|_| !list.is_empty())?;
    Some(Value::Flag(list.contains(&domain)))
}

pub(crate) fn ip(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.find_address().map(|address| Value::Text(address.to_string()))
}

pub(crate) fn ip_network(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.find_network().map(Value::Text)
}

pub(crate) fn ip_country(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.lists.networks.find_country(reading.facts.find_address()?).map(Value::from_text)
}

/// Prices of an item, in ten-thousandths.
#[derive(Default)]
struct ItemPrice {
    total: Option<i128>,
    price: Option<i128>,
    quantity: Option<i128>,
}

fn collect_items(reading: &Reading<'_>) -> BTreeMap<u16, ItemPrice> {
    let mut items = BTreeMap::<u16, ItemPrice>::new();
    for (name, value) in reading.facts.input.parameters.with_prefix("cart.items[") {
        let rest = name.strip_prefix("cart.items[").and_then(|rest| rest.split_once("]."));
        let Some((Some(index), field)) = rest.map(|(digits, field)| (parse_index(digits), field)) else { continue };
        let item = items.entry(index).or_default();
        match field {
            "totalAmount" => item.total = parse_decimal(value),
            "price" => item.price = parse_decimal(value),
            "quantity" => item.quantity = parse_decimal(value),
            _ => {}
        }
    }
    items
}

fn sum_cart(reading: &Reading<'_>) -> Option<i128> {
    let items = collect_items(reading);
    let total = |item: &ItemPrice| item.total.or_else(|| Some(item.price?.checked_mul(item.quantity?)? / SCALE));
    if items.is_empty() { None } else { items.values().map(total).sum() }
}

pub(crate) fn cart_total(reading: &Reading<'_>) -> Option<Value> {
    sum_cart(reading).map(Value::Number)
}

pub(crate) fn cart_count(reading: &Reading<'_>) -> Option<Value> {
    let count = collect_items(reading).len();
    (count > 0).then(|| Value::from_whole(i128::try_from(count).unwrap_or(i128::MAX)))
}

pub(crate) fn cart_difference(reading: &Reading<'_>) -> Option<Value> {
    let amount = i128::from(reading.facts.find_hundredths()?) * (SCALE / 100);
    Some(Value::Number(sum_cart(reading)?.saturating_sub(amount)))
}

pub(crate) fn time(reading: &Reading<'_>) -> Option<Value> {
    Some(Value::Number(i128::from(reading.time.hour()) * 60 + i128::from(reading.time.minute())))
}

pub(crate) fn hour(reading: &Reading<'_>) -> Option<Value> {
    Some(Value::from_whole(reading.time.hour()))
}

pub(crate) fn minute(reading: &Reading<'_>) -> Option<Value> {
    Some(Value::from_whole(reading.time.minute()))
}

pub(crate) fn weekday(reading: &Reading<'_>) -> Option<Value> {
    use jiff::civil::Weekday;
    let name = match reading.time.weekday() {
        Weekday::Monday => "monday",
        Weekday::Tuesday => "tuesday",
        Weekday::Wednesday => "wednesday",
        Weekday::Thursday => "thursday",
        Weekday::Friday => "friday",
        Weekday::Saturday => "saturday",
        Weekday::Sunday => "sunday",
    };
    Some(Value::from_text(name))
}

pub(crate) fn device_fingerprint(reading: &Reading<'_>) -> Option<Value> {
    reading.facts.find_device().map(|(_, device)| Value::from_text(device))
}

pub(crate) fn account_age(reading: &Reading<'_>) -> Option<Value> {
    convert_age(reading.facts.input.account_age)
}

pub(crate) fn registration_age(reading: &Reading<'_>) -> Option<Value> {
    convert_age(reading.facts.input.registration_age)
}
