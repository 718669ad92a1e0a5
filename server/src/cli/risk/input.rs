//! Payments for `tillgate risk evaluate`: JSON objects of parameters, and of facts that the gateway would know.

use anyhow::{Context as _, bail, ensure};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use tillgate_risk::{CheckInput, suggest_fact};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::find_parameter;

/// The payments of an input.
pub(in crate::cli) struct PaymentsInput {
    pub(in crate::cli) payments: Vec<CheckInput>,
    /// True if the input is an array.
    pub(in crate::cli) is_array: bool,
}

/// Reads one payment or an array of payments.
///
/// # Errors
/// If the text is not such JSON, or if a payment has an unknown name or a wrong value.
pub(in crate::cli) fn read_payments(text: &str) -> anyhow::Result<PaymentsInput> {
    let now = Timestamp::now();
    match serde_json::from_str(text).context("the payments are not JSON")? {
        Value::Object(payment) => Ok(PaymentsInput { payments: vec![read_payment(&payment, now)?], is_array: false }),
        Value::Array(list) => {
            let read = |(index, value): (usize, &Value)| {
                let payment = value.as_object().with_context(|| format!("payment {} is not an object", index + 1))?;
                read_payment(payment, now).with_context(|| format!("payment {}", index + 1))
            };
            let payments = list.iter().enumerate().map(read).collect::<anyhow::Result<_>>()?;
            Ok(PaymentsInput { payments, is_array: true })
        }
        _ => bail!("the payments are neither a JSON object nor an array of objects"),
    }
}

fn read_payment(payment: &Map<String, Value>, now: Timestamp) -> anyhow::Result<CheckInput> {
    let mut input = CheckInput { at: now, ..CheckInput::default() };
    for (name, value) in payment {
        if name == "browser" {
            input.from_browser = serde_json::from_value(value.clone()).context("`browser` is a list of names")?;
            continue;
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            _ => bail!("`{name}` is neither a text nor a number nor true or false"),
        };
        read_member(&mut input, name, text).with_context(|| format!("`{name}`"))?;
    }
    let currency = payment.get("currency").and_then(Value::as_str);
    if let Some(amount) = input.parameters.get("amount") {
        let currency = currency.and_then(Currency::parse).context("an amount needs a `currency`")?;
        input.amount = Some(Amount::parse(amount, currency)?);
    }
    input.brand = input.parameters.get("paymentBrand").map(str::to_owned);
    Ok(input)
}

fn read_member(input: &mut CheckInput, name: &str, text: String) -> anyhow::Result<()> {
    match name {
        "at" => input.at = text.parse().context("write a time such as 2026-03-01T12:00:00Z")?,
        "bin" => {
            let is_bin = matches!(text.len(), 6 | 8) && text.bytes().all(|byte| byte.is_ascii_digit());
            ensure!(is_bin, "a BIN has six or eight digits");
            input.bin = Some(text);
        }
        "card" => input.card = Some(text),
        "account" => input.account = Some(text),
        "card.country" => input.card_country = Some(text),
        "card.funding" => input.card_funding = Some(text),
        "avs" => input.avs = Some(read_letter(&text)?),
        "cvv" => input.cvv = Some(read_letter(&text)?),
        "threeDs.result" => input.three_ds_result = Some(read_letter(&text)?),
        "threeDs.eci" => input.eci = Some(text),
        "threeDs.liabilityShifted" => input.liability_shifted = Some(text.parse().context("write true or false")?),
        "ip" => input.address = Some(text.parse().context("write an IP address")?),
        "account.age" => input.account_age = Some(read_age(&text)?),
        "registration.age" => input.registration_age = Some(read_age(&text)?),
        _ => read_parameter(input, name, text)?,
    }
    Ok(())
}

fn read_parameter(input: &mut CheckInput, name: &str, text: String) -> anyhow::Result<()> {
    let Some(parameter) = find_parameter(name) else {
        match suggest_fact(name) {
            Some(similar) => bail!("there is no such parameter; did you mean `{similar}`?"),
            None => bail!("there is no such parameter"),
        }
    };
    ensure!(!parameter.secret, "no card data in a file: give `bin`, and any text that stands for the card as `card`");
    if let Err(message) = parameter.format.check_value(&text) {
        bail!("{message}");
    }
    input.parameters.set(name, text);
    Ok(())
}

fn read_letter(text: &str) -> anyhow::Result<char> {
    let mut letters = text.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => Ok(letter),
        _ => bail!("write one letter"),
    }
}

/// Reads a duration as in a condition: `3 d`.
fn read_age(text: &str) -> anyhow::Result<SignedDuration> {
    let seconds = match text.split_once(' ') {
        Some((number, "s")) => number.parse::<u32>().ok().map(i64::from),
        Some((number, "min")) => number.parse::<u32>().ok().map(|number| i64::from(number) * 60),
        Some((number, "h")) => number.parse::<u32>().ok().map(|number| i64::from(number) * 3_600),
        Some((number, "d")) => number.parse::<u32>().ok().map(|number| i64::from(number) * 86_400),
        _ => None,
    };
    seconds.map(SignedDuration::from_secs).context("write a duration such as 30 s, 10 min, 24 h or 90 d")
}
