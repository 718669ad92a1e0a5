//! The product page: one small range, one choice.

use maud::{Markup, html};

use super::{art, layout};
use crate::catalogue::ITEMS;
use crate::routes::MAX_PIECES;
use crate::view::View;

/// Renders the page at `/`: the whole range, with a form to order one piece.
pub fn render_product(view: View) -> Markup {
    let lang = view.language();
    let texts = lang.texts();
    let main = html! {
        (art::symbol_definitions())
        div.product {
            div.stage aria-hidden="true" {
                @for item in &ITEMS {
                    div class={ "piece piece-" (item.key) } { (art::draw_item(item)) }
                }
            }
            div.offer {
                p.eyebrow { (texts.eyebrow) }
                h1 { (texts.headline) }
                p.lead { (texts.lead) }
                form method="post" action="/checkout" {
                    fieldset.range {
                        legend { (texts.choose) }
                        @for item in &ITEMS {
                            label.choice {
                                input id={ "item-" (item.key) } type="radio" name="item" value=(item.key) required
                                    checked[item.key == "teapot"];
                                span.thumb aria-hidden="true" { (art::draw_item(item)) }
                                span.words {
                                    span.name { (item.name(lang)) }
                                    span.note { (item.description(lang)) }
                                }
                                span.price { (item.price.format_for(lang)) }
                            }
                        }
                    }
                    div.order-line {
                        label.quantity {
                            span { (texts.quantity) }
                            select name="quantity" {
                                @for n in 1..=MAX_PIECES { option value=(n) { (n) } }
                            }
                        }
                        button.primary type="submit" { (texts.to_checkout) }
                    }
                    p.promise { (texts.promise) }
                    (render_settings(view))
                }
            }
        }
    };
    layout::render_page(view, texts.headline, Some("/"), main)
}

/// Renders the settings that a visitor of the demo may want to try, and keeps language and darkness in hidden fields. A
/// real shop has none.
fn render_settings(view: View) -> Markup {
    let texts = view.language().texts();
    html! {
        details.settings {
            summary { (texts.settings) }
            div.settings-body {
                label {
                    span { (texts.outcome) }
                    select name="outcome" {
                        option value="approve" { (texts.outcome_approve) }
                        option value="decline" { (texts.outcome_decline) }
                        option value="pending" { (texts.outcome_pending) }
                    }
                }
                label {
                    span { (texts.form_style) }
                    select name="style" {
                        @for style in ["card", "plain", "none"] {
                            option value=(style) selected[view.style == Some(style)] { (style) }
                        }
                    }
                }
                label.check {
                    input type="checkbox" name="suspicious" value="1";
                    span { (texts.suspicious) }
                }
                label.check {
                    input type="checkbox" name="brandDetection" value="1" checked[view.brand_detection];
                    span { (texts.detect_brand) }
                }
            }
        }
        @if let Some(lang) = view.lang { input type="hidden" name="lang" value=(lang.code()); }
        @if view.dark { input type="hidden" name="dark" value="1"; }
    }
}
