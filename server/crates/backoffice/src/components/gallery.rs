//! Gallery: one page with every component, for those who work on the pages. Its data are samples that name themselves
//! as such.

use maud::{Markup, html};

use super::badge::{Tone, badge, count};
use super::bar_chart::{Point, by_name, over_time};
use super::copy::copyable;
use super::dialog::Dialog;
use super::facts::{drawer, facts, summary};
use super::field::Field;
use super::figure::{KeyFigure, figures};
use super::filter_bar::{FilterForm, FilterLink, tabs};
use super::notice::notice;
use super::table::{Column, Shown, Table, empty};
use super::tasks::{Task, tasks};
use super::timeline::{Step, timeline};
use super::toast::toast;
use crate::layout::texts::Texts;

/// An id for the samples.
const SAMPLE_ID: &str = "0198f2a1b3c4d5e6f708192a3b4c5d6e";
/// A text that would break a page which does not escape its texts.
const HOSTILE: &str = "<script>alert(1)</script> \"quoted\" & 'more'";

/// Renders the content of the page.
pub fn render(texts: &Texts) -> Markup {
    html! {
        div.title { h1 { "Components" } p { "Every component of the pages, with sample data." } }
        (sample_figures())
        div.split {
            div.stack { (sample_table(texts)) (sample_timeline(texts)) }
            div.stack { (sample_tasks()) (sample_facts(texts)) (sample_form()) }
        }
        (sample_notices())
        section.card { header { h2 { "Empty list" } } (empty("No payments", "Choose another period or remove a filter.")) }
        (drawer("Details that open", false, &html! { p { (HOSTILE) } }))
        (sample_charts())
        (sample_dialog())
    }
}

fn sample_charts() -> Markup {
    let point = |label: &str, value: i64| Point { label: label.to_owned(), text: format!("{value}.00"), value };
    let days = [("1 Nov", 420), ("2 Nov", 380), ("3 Nov", -60), ("4 Nov", 0), ("5 Nov", 510), ("6 Nov", 455)];
    let brands = [("VISA", 812), ("MASTER", 433), ("A brand with a long name", 4), (HOSTILE, -40)];
    html! {
        section.card {
            header { h2 { "Bar charts" } }
            div.report {
                (over_time(&days.map(|(day, value)| point(day, value)), "Paid out, EUR"))
                (by_name(&brands.map(|(brand, value)| point(brand, value)), "Amount by brand, EUR"))
            }
        }
    }
}

fn sample_figures() -> Markup {
    let figure = |label, value: &str, unit: &str, values: &[u64]| KeyFigure {
        label,
        value: value.to_owned(),
        unit: unit.to_owned(),
        note: "yesterday 12".to_owned(),
        values: values.to_vec(),
        chart_label: format!("{label}, last 14 days"),
    };
    figures(&[
        figure("Volume", "48,210.75", "EUR", &[31, 42, 38, 51, 60, 72, 44, 36, 47, 52, 58, 66, 80, 41]),
        figure("Payments", "1,204", "", &[80, 95, 91, 102, 140, 160, 99, 87, 93, 110, 121, 150, 170, 88]),
        figure("Approved", "93.4 %", "", &[92, 93, 91, 94, 95, 93, 92, 93, 94, 90, 93, 94, 95, 93]),
        figure("Refunds", "318.00", "EUR", &[0, 4, 0, 0, 9, 2, 0, 0, 12, 0, 3, 0, 0, 5]),
    ])
}

/// A row of the sample table: amount, state with the key of its text, method and reference.
type SampleRow = (&'static str, (Tone, &'static str), &'static str, &'static str);

/// The rows of the sample table.
const ROWS: [SampleRow; 5] = [
    ("92.00 EUR", (Tone::Good, "state.approved"), "VISA •• 0000", "Sample-1001"),
    ("1,250.00 EUR", (Tone::Held, "state.held"), "MASTER •• 0008", "Sample-1002"),
    ("18.90 EUR", (Tone::Bad, "state.declined"), "VISA •• 1111", HOSTILE),
    ("240.00 EUR", (Tone::Warn, "state.pending"), "PAYPAL", "Sample-1004"),
    ("64.35 EUR", (Tone::Calm, "state.reversed"), "AMEX •• 0005", "Sample-1005"),
];

/// Renders the cells of a sample row.
fn sample_cells(texts: &Texts, row: &SampleRow) -> Vec<Markup> {
    let (amount, (tone, state), method, reference) = *row;
    vec![
        html! { a href="#_" { (amount) } },
        badge(tone, texts.get(state)),
        html! { span.nowrap { (method) } },
        html! { (texts.get("type.DB")) },
        html! { span.cut { (reference) } },
        html! { span.soft.nowrap { "27 Nov 2026, 05:38" } },
    ]
}

fn sample_table(texts: &Texts) -> Markup {
    let columns = vec![
        Column::number("Amount"),
        Column::new("State"),
        Column::new("Method"),
        Column::new("Type").from(Shown::Wide),
        Column::new("Reference").from(Shown::Wide),
        Column::new("Time").from(Shown::Medium),
    ];
    let rows = ROWS.iter().map(|row| sample_cells(texts, row)).collect();
    html! {
        section.card {
            (sample_filter())
            (Table { caption: "Sample payments", hides_caption: true, is_linked: true, columns, rows }.render())
            div.pages { span { "5 payments" } div { a.button href="#_" { "Older" } } }
        }
    }
}

fn sample_filter() -> Markup {
    let link = |text: &str, is_current| FilterLink { text: text.to_owned(), address: "#_".to_owned(), is_current };
    let fields = html! {
        (Field { name: "last4", label: "Last four digits", input_mode: Some("numeric"), ..Field::default() }.input("text"))
        (Field { name: "from", label: "From", value: "2026-11-20", ..Field::default() }.input("date"))
        (Field { name: "brand", label: "Brand", value: "VISA", ..Field::default() }
            .select(&[("", "All brands"), ("VISA", "VISA"), ("MASTER", "MASTER")]))
    };
    let form = FilterForm {
        title: "Filters",
        active: 1,
        chips: Vec::new(),
        has_error: false,
        action: "#_",
        fields,
        apply: "Apply",
        clear: "Remove filters",
    };
    html! {
        div.filter {
            div.line {
                (tabs("State", &[link("All", true), link("Approved", false), link("Declined", false), link("Held", false)]))
                (tabs("Period", &[link("Today", false), link("This week", true), link("This month", false)]))
            }
            (form.render())
        }
    }
}

fn sample_timeline(texts: &Texts) -> Markup {
    let step = |tone, title: Markup, time: &str, text: Option<Markup>, detail: Option<Markup>| Step {
        tone,
        title,
        time: format!("27 Nov 2026, {time}"),
        date_time: format!("2026-11-27T{time}Z"),
        text,
        detail,
    };
    let rules = html! {
        (facts(&[
            ("Score", Some(html! { "70" })),
            ("Rules that fired", Some(html! { code { "many-cards" } ", " code { "night-order" } })),
        ]))
    };
    let steps = [
        step(Tone::Calm, html! { "Checkout opened" }, "05:20:58", Some(html! { (copyable(texts, SAMPLE_ID)) }), None),
        step(Tone::Warn, html! { "Risk check: review" }, "05:21:14", None, Some(rules)),
        step(
            Tone::Good,
            html! { "3-D Secure: authenticated" },
            "05:21:30",
            Some(html! { "ECI 05, frictionless" }),
            None,
        ),
        step(
            Tone::Held,
            html! { "Held for review" },
            "05:21:31",
            Some(html! { "Decision until 28 Nov 2026, 05:21" }),
            None,
        ),
        step(
            Tone::Bad,
            html! { "Webhook failed" },
            "05:21:40",
            Some(html! { "500 after 120 ms, 3 of 12 attempts" }),
            None,
        ),
    ];
    html! { section.card { header { h2 { "Timeline" } } (timeline(&steps)) } }
}

fn sample_tasks() -> Markup {
    let task = |tone, name: &str, text: &str, end: &str| Task {
        text: text.to_owned(),
        address: Some("#_".to_owned()),
        badge: badge(tone, name),
        end: html! { (end) },
    };
    html! {
        section.card {
            header { h2 { "Open work" } (count(3)) }
            (tasks(&[
                task(Tone::Held, "Review", "1,250.00 EUR, Sample-1002", "ends in 3 h"),
                task(Tone::Warn, "Dispute", "Chargeback of 92.00 EUR", "answer in 2 days"),
                task(Tone::Bad, "Delivery", "Webhook to shop.example", "12 failed"),
            ]))
        }
    }
}

fn sample_facts(texts: &Texts) -> Markup {
    html! {
        section.card {
            header { h2 { "Facts" } }
            div.body {
                (facts(&[
                    ("Id", Some(copyable(texts, SAMPLE_ID))),
                    ("Card holder", Some(html! { (HOSTILE) })),
                    ("Left out", None),
                    ("Result", Some(html! { code { "000.100.110" } " Request successfully processed" })),
                ]))
            }
        }
        (summary(&[
            ("Amount", Some(html! { "92.00 EUR" })),
            ("Remaining", Some(html! { "46.00 EUR" })),
            ("Brand", Some(html! { "VISA" })),
        ]))
    }
}

fn sample_form() -> Markup {
    let amount = Field {
        name: "amount",
        label: "Amount",
        value: "920.00",
        hint: Some("Up to 92.00 EUR can be refunded."),
        error: Some("The amount is above the rest of the payment."),
        input_mode: Some("decimal"),
        ..Field::default()
    };
    let note = Field { name: "sample-note", label: "Note", value: HOSTILE, ..Field::default() };
    html! { section.card { header { h2 { "Row of a form" } } div.body.stack {
        (amount.input("text"))
        (note.text_area(2))
        div { button.primary type="button" { "Primary" } " " button type="button" { "Secondary" } " "
            button.danger type="button" { "Dangerous" } " " button.quiet type="button" { "Quiet" } }
    } } }
}

fn sample_notices() -> Markup {
    html! {
        (toast(Tone::Good, &html! { p { "The webhook was tested: " (HOSTILE) } }, "Close"))
        (notice(Tone::Good, &html! { "The refund of 46.00 EUR was sent." }))
        (notice(Tone::Warn, &html! { "The outcome of this payment is not known yet." }))
        (notice(Tone::Bad, &html! { "The payment could not be refunded: " (HOSTILE) }))
        (notice(Tone::Calm, &html! { "Only payments of the last 30 days were searched." }))
    }
}

fn sample_dialog() -> Markup {
    let content = html! { p.soft { "The shopper sees no booking. This cannot be undone." } };
    let dialog = Dialog { name: "reverse", title: "Reverse the payment of 92.00 EUR?", content, close: "Keep it" };
    html! {
        div { (dialog.opener("danger", "Open the dialog")) }
        (dialog.render(&html! { a.button.primary href="#_" { "Reverse" } }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_nothing_is_inline() {
        for code in ["en", "de"] {
            let page = render(Texts::choose(code)).into_string();
            assert!(!page.contains("<script") && !page.contains(HOSTILE), "{code}: markup of a text");
            assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &quot;quoted&quot; &amp; 'more'"), "{code}");
            for inline in [" style=", " onclick=", " onload=", "javascript:"] {
                assert!(!page.contains(inline), "{code}: {inline}");
            }
        }
    }
}
