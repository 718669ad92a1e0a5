//! Preview of a file: the number of its lines, the results of its first lines, and the form that imports it.

use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::settlement::reconciliation::Cashflow;
use tillgate_gateway::settlement::file_import::kept::KeptFile;
use tillgate_gateway::settlement::file_import::{FilePreview, PreviewLine, PreviewOutcome, ReportedFault};
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::money::Amount;

use super::{PATH, SKIP, UPLOAD};
use crate::BASE;
use crate::components::badge::{Tone, badge};
use crate::components::facts::summary;
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::money::money_text;
use crate::money::settlement_list::day_text;
use crate::office::Office;

/// Largest number of broken lines that are listed. The summary has the number of all.
const MAX_ERRORS: usize = 50;

/// Shows the preview. `key` is the key of the kept file. `None` if there is nothing to import.
pub(super) fn show_preview(
    office: &Office,
    entity: &Entity,
    file: &KeptFile,
    preview: &FilePreview,
    key: Option<&str>,
) -> Response {
    let texts = office.texts;
    let title = texts.get("imports.preview_title");
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) (PATH) } { (texts.get("imports.title")) } }
            h1 { (title) }
            p { (mask_card_numbers(&file.name)) " · " (file.institute) " · " (entity.name) }
        }
        @if let Some(key) = key {
            (render_numbers(texts, preview))
            (render_confirmation(texts, preview, key))
            (render_lines(texts, preview))
            (render_differences(texts, &preview.first_lines))
            (render_errors(texts, preview))
        } @else {
            (notice(Tone::Warn, &html! { (texts.get("imports.already")) }))
        }
    };
    office.show_page(Section::Money, title, main)
}

fn render_numbers(texts: &Texts, preview: &FilePreview) -> Markup {
    let number = |count: u64| Some(html! { (texts.number(count)) });
    summary(&[
        (texts.get("imports.lines"), number(preview.lines)),
        (texts.get("imports.broken"), number(preview.broken)),
    ])
}

/// Renders the form that imports the previewed bytes.
fn render_confirmation(texts: &Texts, preview: &FilePreview, key: &str) -> Markup {
    html! {
        section.card aria-labelledby="confirm" {
            header { h2 id="confirm" { (texts.get("imports.confirm")) } }
            form method="post" action={ (BASE) (PATH) "/confirmation" } {
                p.soft { (texts.get("imports.confirm_text")) }
                p.soft { (texts.get("imports.tolerance")) }
                input type="hidden" name=(UPLOAD) value=(key);
                @if preview.broken > 0 {
                    label.check {
                        input type="checkbox" name=(SKIP) value="yes" required;
                        " " (texts.fill("imports.skip", &[("count", &texts.number(preview.broken))]))
                    }
                }
                div.acts {
                    button.primary type="submit" { (texts.get("imports.import")) }
                    a.button href={ (BASE) (PATH) } { (texts.get("imports.cancel")) }
                }
            }
        }
    }
}

fn render_lines(texts: &Texts, preview: &FilePreview) -> Markup {
    let columns = vec![
        Column::number(texts.get("unmatched.line")),
        Column::new(texts.get("imports.result")),
        Column::number(texts.get("payments.amount")),
        Column::new(texts.get("payments.type")).from(Shown::Medium),
        Column::number(texts.get("settlements.fees")).from(Shown::Wide),
        Column::new(texts.get("payments.reference")).from(Shown::Medium),
        Column::new(texts.get("settlements.day")).from(Shown::Medium),
    ];
    let lines = &preview.first_lines;
    let rows = lines.iter().map(|line| render_line(texts, line)).collect();
    let caption = texts.get("imports.first_lines");
    let table = Table { caption, hides_caption: false, is_linked: false, columns, rows };
    let counts = [u64::try_from(lines.len()).unwrap_or(u64::MAX), preview.lines].map(|count| texts.number(count));
    let [shown, all] = counts.each_ref().map(String::as_str);
    html! {
        section.card {
            (table.render())
            p.soft { (texts.fill("imports.first_lines_text", &[("shown", shown), ("all", all)])) }
        }
    }
}

fn render_line(texts: &Texts, line: &PreviewLine) -> Vec<Markup> {
    let mut cells = vec![html! { (texts.number(line.number)) }, render_outcome(texts, &line.outcome)];
    let Some(values) = &line.values else {
        cells.extend((0..5).map(|_| html! {}));
        return cells;
    };
    let sign = if values.cashflow == Cashflow::Negative { "\u{2212}" } else { "" };
    let kind = format!("line.{}", values.transaction_type.as_str());
    cells.extend([
        html! { span.nowrap { (sign) (money_text(texts, values.amount)) } },
        html! { (texts.find(&kind).unwrap_or(values.record_type.as_str())) },
        html! { @if let Some(fee) = values.fee { span.nowrap { (money_text(texts, fee)) } } },
        html! { span.cut { (mask_card_numbers(values.reference.as_deref().unwrap_or_default())) } },
        html! { span.nowrap { (day_text(texts, values.date)) } },
    ]);
    cells
}

fn render_outcome(texts: &Texts, outcome: &PreviewOutcome) -> Markup {
    match outcome {
        PreviewOutcome::Matched { payment, .. } => html! {
            (badge(Tone::Good, texts.get("unmatched.matched")))
            " " a href={ (BASE) "/payments/" (payment) } { code { (payment) } }
        },
        PreviewOutcome::Several(count) => {
            let count = texts.number(u64::try_from(*count).unwrap_or(u64::MAX));
            badge(Tone::Warn, &texts.fill("imports.several", &[("count", &count)]))
        }
        PreviewOutcome::NotMatched => badge(Tone::Warn, texts.get("unmatched.not_found")),
        PreviewOutcome::NeedsNone => badge(Tone::Calm, texts.get("imports.needs_none")),
        PreviewOutcome::Known(false) => badge(Tone::Calm, texts.get("imports.known")),
        PreviewOutcome::Known(true) => badge(Tone::Warn, texts.get("imports.changed")),
        PreviewOutcome::Broken { field, message } => html! {
            (badge(Tone::Bad, texts.get("imports.broken"))) " "
            @if let Some(field) = field { code { (field) } " " }
            (message)
        },
    }
}

/// Renders matched lines whose amount is not that of their payment, with both amounts.
fn render_differences(texts: &Texts, lines: &[PreviewLine]) -> Markup {
    let amount = |amount: Amount| html! { span.nowrap { (money_text(texts, amount)) } };
    let rows = lines.iter().filter_map(|line| match (&line.outcome, &line.values) {
        (PreviewOutcome::Matched { payment, other_amount: Some(other) }, Some(values)) => Some(vec![
            html! { (texts.number(line.number)) },
            amount(values.amount),
            amount(*other),
            html! { a href={ (BASE) "/payments/" (payment) } { code { (payment) } } },
        ]),
        _ => None,
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return html! {};
    }
    let columns = vec![
        Column::number(texts.get("unmatched.line")),
        Column::number(texts.get("imports.line_amount")),
        Column::number(texts.get("imports.payment_amount")),
        Column::new(texts.get("dispute_page.payment")),
    ];
    let caption = texts.get("imports.differences");
    html! { section.card { (Table { caption, hides_caption: false, is_linked: false, columns, rows }.render()) } }
}

fn render_errors(texts: &Texts, preview: &FilePreview) -> Markup {
    if preview.errors.is_empty() {
        return html! {};
    }
    let columns = vec![
        Column::number(texts.get("unmatched.line")),
        Column::new(texts.get("imports.field")),
        Column::new(texts.get("imports.fault")),
    ];
    let row = |fault: &ReportedFault| {
        vec![
            html! { (texts.number(fault.line)) },
            html! { @if let Some(field) = fault.field { code { (field) } } },
            html! { (fault.message) },
        ]
    };
    let rows = preview.errors.iter().take(MAX_ERRORS).map(row).collect();
    let caption = texts.get("imports.errors");
    html! { section.card { (Table { caption, hides_caption: false, is_linked: false, columns, rows }.render()) } }
}
