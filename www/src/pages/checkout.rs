//! The checkout page: the order and the hosted form.

use maud::{Markup, html};

use super::{art, layout};
use crate::order::{PreparedCheckout, ShopOrder};
use crate::view::View;
use crate::{ShopConfig, customer, policy};

/// Brands that the form offers, in their order.
pub const BRANDS: &str = "VISA MASTER AMEX DIRECTDEBIT_SEPA PAYPAL";
/// Test numbers of the simulator, with their brands.
const NUMBERS: [(&str, &str); 4] = [
    ("Visa", "4200 0000 0000 0000"),
    ("Mastercard", "5454 5454 5454 5454"),
    ("American Express", "3777 777777 77770"),
    ("IBAN", "DE23 1000 0000 1234 5678 90"),
];

/// Renders the page at `/checkout/{order}`: the hosted form for `checkout`, test numbers, and the order.
pub fn render_checkout(view: View, shop: &ShopConfig, order: &ShopOrder, checkout: &PreparedCheckout) -> Markup {
    let texts = view.language().texts();
    let path = format!("/checkout/{}", order.reference);
    let loader = format!("{}v1/paymentWidgets.js?checkoutId={}", shop.gateway_public, checkout.id);
    let result = order.result_url(shop, view);
    let address = customer::delivery(order.suspicious);
    let options_hash = policy::integrity_value(&view.options_script());
    let main = html! {
        (art::symbol_definitions())
        div.checkout {
            h1 { (texts.checkout) }
            section.payment aria-labelledby="payment-title" {
                h2 #payment-title { (texts.payment) }
                noscript { p.alert { (texts.no_script) } }
                // The options come before the loader; the form marks its place.
                script src={ "/options.js" (view.to_query()) } integrity=(options_hash) crossorigin="anonymous" {}
                form.paymentWidgets action=(result) data-brands=(BRANDS) {}
                script src=(loader) integrity=[checkout.integrity.as_deref()] crossorigin="anonymous" {}
                p.hosted { (padlock_icon()) span { (texts.hosted_note) } }
                details.settings.numbers {
                    summary { (texts.try_numbers) }
                    dl {
                        @for (name, number) in NUMBERS { div { dt { (name) } dd { (number) } } }
                    }
                    p { (texts.try_hint) }
                }
            }
            section.summary aria-labelledby="summary-title" {
                h2 #summary-title { (texts.your_order) }
                (render_summary(view, order))
                div.ship {
                    h3 { (texts.deliver_to) }
                    address {
                        (customer::GIVEN_NAME) " " (customer::SURNAME) br;
                        (address.street) br;
                        (address.postcode) " " (address.city) ", " (address.country)
                    }
                }
            }
        }
    };
    layout::render_page(view, texts.checkout, Some(&path), main)
}

/// Renders piece, quantity, prices, reference and free delivery of the order, for this page and the result page.
pub fn render_summary(view: View, order: &ShopOrder) -> Markup {
    let lang = view.language();
    let texts = lang.texts();
    html! {
        div.bought {
            span.thumb aria-hidden="true" { (art::draw_item(order.item)) }
            p.words {
                span.name { (order.item.name(lang)) }
                span.note { (order.quantity) " × " (order.item.price.format_for(lang)) }
            }
            p.price { (order.total_price().format_for(lang)) }
        }
        dl.sums {
            div { dt { (texts.reference) } dd.reference { (order.reference) } }
            div { dt { (texts.delivery) } dd { (texts.free) } }
            div.total { dt { (texts.total) } dd { (order.total_price().format_for(lang)) } }
        }
    }
}

/// Draws a padlock.
fn padlock_icon() -> Markup {
    html! {
        svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" {
            rect x="3.5" y="8.5" width="13" height="8.5" rx="2" {}
            path d="M6.5 8.5V6a3.5 3.5 0 0 1 7 0v2.5" {}
        }
    }
}
