//! The requests of the demo data, as the shop's server would send them.

use jiff::civil::Date;
use tillgate_shared::parameter::Parameters;

use super::plan::{DemoOrder, PaidWith};
use super::shoppers::{DemoCard, DemoShopper};

/// Makes the request to pay an order on a day.
pub(super) fn payment_request(order: &DemoOrder, today: Date) -> Parameters {
    let DemoOrder { shopper, basket, .. } = order;
    let mut request: Parameters = [
        ("amount", format_amount(basket.total)),
        ("currency", basket.currency.to_owned()),
        ("paymentType", if order.is_preauthorized { "PA" } else { "DB" }.to_owned()),
        ("merchantTransactionId", order.reference.clone()),
        ("merchantInvoiceId", order.invoice.clone()),
    ]
    .into_iter()
    .collect();
    let card = match order.paid_with {
        PaidWith::DeclinedCard(card) => card,
        PaidWith::Card | PaidWith::ExpiredCard => shopper.card,
    };
    add_card(&mut request, card, (shopper, order.paid_with == PaidWith::ExpiredCard), today);
    add_shopper(&mut request, shopper);
    if order.is_suspicious {
        add_suspicions(&mut request, shopper);
    }
    if order.is_external {
        request.set("testMode", "EXTERNAL");
    }
    for (index, line) in basket.lines.iter().enumerate() {
        for (name, value) in [
            ("name", line.piece.name.to_owned()),
            ("merchantItemId", line.piece.id.to_owned()),
            ("quantity", line.quantity.to_string()),
            ("price", format_amount(line.price)),
            ("currency", basket.currency.to_owned()),
            ("totalAmount", format_amount(line.total())),
        ] {
            request.set(format!("cart.items[{index}].{name}"), value);
        }
    }
    request
}

/// Adds the card of a shopper, which is expired or valid for some years from the day.
pub(super) fn add_card(
    request: &mut Parameters,
    card: DemoCard,
    (shopper, is_expired): (&DemoShopper, bool),
    today: Date,
) {
    // The last digits of the number make the cards differ.
    let digits: i16 = card.number.bytes().rev().take(4).map(|digit| i16::from(digit - b'0')).sum();
    let years = if is_expired { -1 } else { 1 + digits % 4 };
    let code = if card.brand == "AMEX" { "1234" } else { "123" };
    for (name, value) in [
        ("paymentBrand", card.brand.to_owned()),
        ("card.number", card.number.to_owned()),
        ("card.holder", format!("{} {}", shopper.given_name, shopper.surname)),
        ("card.expiryMonth", format!("{:02}", 1 + digits % 12)),
        ("card.expiryYear", (today.year() + years).to_string()),
        ("card.cvv", code.to_owned()),
    ] {
        request.set(name, value);
    }
}

/// Adds name and addresses of a shopper.
pub(super) fn add_shopper(request: &mut Parameters, shopper: &DemoShopper) {
    let names = [("givenName", shopper.given_name), ("surname", shopper.surname)];
    for (name, value) in names {
        request.set(format!("customer.{name}"), value);
    }
    request.set("customer.merchantCustomerId", format!("C-{}", shopper.number()));
    request.set("customer.email", shopper.mail());
    // A network for documents, in which no shopper can be.
    request.set("customer.ip", format!("203.0.113.{}", shopper.number() % 250));
    for prefix in ["billing", "shipping"] {
        for (name, value) in [
            ("street1", shopper.street),
            ("postcode", shopper.postcode),
            ("city", shopper.city),
            ("country", shopper.country),
        ] {
            request.set(format!("{prefix}.{name}"), value);
        }
    }
}

/// Gives an order what the demo's risk rules hold: a disposable mail address, and a delivery to another country.
fn add_suspicions(request: &mut Parameters, shopper: &DemoShopper) {
    let mail = shopper.mail();
    let (name, _) = mail.split_once('@').unwrap_or_default();
    request.set("customer.email", format!("{name}@trash.example"));
    let [street, postcode, city, country] = match shopper.country {
        "US" => ["3 Harbour Road", "BT1 3LG", "Belfast", "GB"],
        _ => ["1600 Industrial Way", "89502", "Reno", "US"],
    };
    let address = [("street1", street), ("postcode", postcode), ("city", city), ("country", country)];
    for (name, value) in address {
        request.set(format!("shipping.{name}"), value);
    }
}

/// Makes the request to capture, refund or reverse a payment: `amount` in hundredths, or the whole amount.
pub(super) fn follow_up_request(payment_type: &str, amount: Option<(i64, &str)>) -> Parameters {
    let mut request: Parameters = [("paymentType", payment_type)].into_iter().collect();
    if let Some((amount, currency)) = amount {
        request.set("amount", format_amount(amount));
        request.set("currency", currency);
    }
    request
}

/// Formats hundredths as an amount.
pub(super) fn format_amount(hundredths: i64) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
