//! The order and its customer, as they were sent.

use maud::{Markup, html};
use tillgate_domain::payment::{Account, Payment};
use tillgate_shared::format::mask::mask_card_numbers;

use crate::components::facts::facts;
use crate::layout::texts::Texts;
use crate::payment::labels::type_text;

/// Largest number of items of the cart on the page, of up to a thousand.
const SHOWN_ITEMS: usize = 12;

/// Renders the facts.
pub(super) fn render(texts: &Texts, payment: &Payment) -> Markup {
    let parameter = |name: &str| {
        let value = payment.parameters.get(name).filter(|value| !value.trim().is_empty())?;
        Some(html! { span.wrap { (mask_card_numbers(value)) } })
    };
    let name = ["customer.givenName", "customer.surname"].iter().filter_map(|name| payment.parameters.get(name));
    let name = name.collect::<Vec<_>>().join(" ");
    let (holder, number) = describe_account(payment);
    let rows = [
        (texts.get("payments.type"), Some(html! { (type_text(texts, payment.payment_type.code())) })),
        (texts.get("payments.reference"), parameter("merchantTransactionId")),
        (texts.get("review_page.items"), render_items(texts, payment)),
        (texts.get("payment.descriptor"), parameter("descriptor")),
        (texts.get("payment.account"), number.map(|number| html! { (payment.brand) " " code { (number) } })),
        (texts.get("payment.holder"), holder.map(|holder| html! { (mask_card_numbers(holder)) })),
        (texts.get("payment.customer"), (!name.is_empty()).then(|| html! { (mask_card_numbers(&name)) })),
        (texts.get("review_page.company"), parameter("customer.companyName")),
        (texts.get("review_page.customer_id"), parameter("customer.merchantCustomerId")),
        (texts.get("review_page.birth_date"), parameter("customer.birthDate")),
        (texts.get("payments.mail"), parameter("customer.email")),
        (texts.get("review_page.phone"), parameter("customer.phone").or_else(|| parameter("customer.mobile"))),
        (texts.get("payment.address"), parameter("customer.ip")),
    ];
    html! {
        section.card aria-labelledby="order" {
            header { h2 id="order" { (texts.get("review_page.order")) } }
            div.body { (facts(&rows)) }
        }
    }
}

/// Returns the holder and the visible number of the account.
fn describe_account(payment: &Payment) -> (Option<&str>, Option<String>) {
    match &payment.account {
        Account::Card(card) => (card.holder.as_deref(), Some(format!("{} •••• {}", card.bin, card.last4))),
        Account::Bank(bank) => (bank.holder.as_deref(), bank.iban.clone().or_else(|| bank.last4.clone())),
        Account::Virtual(account) => (account.holder.as_deref(), Some(account.account_id.clone())),
        Account::Unknown => (None, None),
    }
}

/// Renders the items of the cart: quantity, name and price. `None` without items.
fn render_items(texts: &Texts, payment: &Payment) -> Option<Markup> {
    let item = |number: usize, end: &str| payment.parameters.get(&format!("cart.items[{number}].{end}"));
    let names: Vec<usize> = (0..1000).take_while(|number| item(*number, "name").is_some()).collect();
    let hidden = names.len().saturating_sub(SHOWN_ITEMS);
    let rest = texts.fill("review_page.more_items", &[("count", &hidden.to_string())]);
    let line = |number: usize| {
        let quantity = item(number, "quantity").unwrap_or("1");
        let price = item(number, "totalAmount").or_else(|| item(number, "price"));
        html! {
            li {
                (quantity) " × " (mask_card_numbers(item(number, "name").unwrap_or_default()))
                @if let Some(price) = price { " · " (texts.amount(price)) " " (payment.amount.currency().code()) }
            }
        }
    };
    let list = html! {
        ul.wrap {
            @for number in names.iter().take(SHOWN_ITEMS) { (line(*number)) }
            @if hidden > 0 { li.soft { (rest) } }
        }
    };
    (!names.is_empty()).then_some(list)
}
