//! The report of a dry run: the outcomes then and by the version, with examples, and the rules that fired.

use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::risk::RiskOutcome;
use tillgate_domain::risk::dry_run::{DryRunReport, OutcomeTally, PaymentSum, PaymentTally, RuleTally};

use super::{describe_outcome, path_of, time, zone_of};
use crate::BASE;
use crate::components::badge::badge;
use crate::components::facts::summary;
use crate::components::table::{Column, Shown, Table, empty};
use crate::layout::texts::Texts;
use crate::office::Office;

/// Number of rules on the page: those that fired most often.
const SHOWN_RULES: usize = 60;
/// Number of currencies of an amount.
const SHOWN_CURRENCIES: usize = 3;

/// Renders a report.
pub(super) fn render(office: &Office, entity: &Entity, report: &DryRunReport) -> Markup {
    let texts = office.texts;
    let subject = &report.subject;
    html! {
        section.stack aria-labelledby="report" {
            div.title {
                h2 id="report" { (texts.get("dry_run.report")) }
                p {
                    a href={ (BASE) (path_of(entity)) "/versions/" (subject.version) } { code { (subject.version) } }
                    " · " (subject.date_from) " – " (subject.date_to) " (UTC) · " (texts.get("dry_run.lists_at")) " "
                    (time(texts, &zone_of(entity), subject.lists_at))
                }
            }
            (summary(&[
                (texts.get("dry_run.checked"), Some(html! { (texts.number(report.checked.all.count)) })),
                (texts.get("dry_run.changed"), Some(html! { (texts.number(report.changed.all.count)) })),
                (texts.get("dry_run.changed_amount"), Some(amounts(texts, &report.changed.all))),
                (texts.get("dry_run.charged_back"), Some(html! { (texts.number(report.changed.charged_back.count)) })),
            ]))
            (render_then_and_now(texts, report))
            (render_outcomes(office, report))
            (render_rules(texts, report))
            (render_notes(texts, report))
        }
    }
}

/// Renders an amount in each of the first currencies.
fn amounts(texts: &Texts, sum: &PaymentSum) -> Markup {
    let all: Vec<(&str, String)> = sum.amounts.format_all().collect();
    html! {
        @if all.is_empty() { "–" }
        @for (index, (currency, amount)) in all.iter().take(SHOWN_CURRENCIES).enumerate() {
            @if index > 0 { br; }
            span.nowrap { (texts.amount(amount)) " " (currency) }
        }
        @if all.len() > SHOWN_CURRENCIES { " …" }
    }
}

/// Renders the numbers of payments by outcome, then and by the version. A payment that was not checked went on as if it
/// had been accepted.
fn render_then_and_now(texts: &Texts, report: &DryRunReport) -> Markup {
    let count = |is_counted: &dyn Fn(&OutcomeTally) -> bool| -> u64 {
        report.outcomes.iter().filter(|row| is_counted(row)).map(|row| row.payments.all.count).sum()
    };
    let outcomes =
        [RiskOutcome::Accept, RiskOutcome::Challenge, RiskOutcome::Review, RiskOutcome::Deny, RiskOutcome::Error];
    let rows = outcomes.into_iter().filter_map(|outcome| {
        let then = count(&|row| row.before.unwrap_or(RiskOutcome::Accept) == outcome);
        let now = count(&|row| row.after == outcome);
        let (tone, text) = describe_outcome(texts, Some(outcome));
        let difference = i128::from(now) - i128::from(then);
        (then + now > 0).then(|| {
            vec![
                badge(tone, text),
                html! { (texts.number(then)) },
                html! { (texts.number(now)) },
                html! { @if difference == 0 { "–" } @else { (format!("{difference:+}").replace('-', "−")) } },
            ]
        })
    });
    let rows: Vec<Vec<Markup>> = rows.collect();
    html! {
        div.card {
            header { h2 id="then" { (texts.get("dry_run.then_and_now")) } }
            @if rows.is_empty() {
                (empty(texts.get("dry_run.no_payments"), texts.get("dry_run.no_payments_advice")))
            } @else {
                (Table {
                    caption: texts.get("dry_run.then_and_now"),
                    hides_caption: true,
                    is_linked: false,
                    columns: vec![
                        Column::new(texts.get("rule_results.outcome")),
                        Column::number(texts.get("dry_run.then")),
                        Column::number(texts.get("dry_run.now")),
                        Column::number(texts.get("dry_run.difference")),
                    ],
                    rows,
                }.render())
            }
        }
    }
}

/// Returns the cells of a tally after its first one.
fn tally_cells(texts: &Texts, tally: &PaymentTally) -> [Markup; 4] {
    let number = |sum: &PaymentSum| html! { (texts.number(sum.count)) };
    [number(&tally.all), number(&tally.approved), number(&tally.charged_back), amounts(texts, &tally.all)]
}

fn tally_columns(texts: &Texts) -> [Column<'_>; 4] {
    [
        Column::number(texts.get("rule_results.payments")),
        Column::number(texts.get("dry_run.approved")).from(Shown::Medium),
        Column::number(texts.get("dry_run.charged_back")).from(Shown::Medium),
        Column::number(texts.get("dry_run.amount")).from(Shown::Wide),
    ]
}

/// Renders the changes of outcomes, with links to examples.
fn render_outcomes(office: &Office, report: &DryRunReport) -> Markup {
    let texts = office.texts;
    let may_view = office.allows_on(Permission::ViewPayments, &report.subject.entity_id);
    let row = |tally: &OutcomeTally| {
        let (before, after) = (describe_outcome(texts, tally.before), describe_outcome(texts, Some(tally.after)));
        let name = html! {
            (badge(before.0, before.1)) " → " (badge(after.0, after.1))
            @if may_view && !tally.examples.is_empty() {
                br;
                @for (index, id) in tally.examples.iter().enumerate() {
                    @let name = texts.fill("rule_results.example", &[("number", &(index + 1).to_string())]);
                    a.small href={ (BASE) "/payments/" (id) } { (name) } " "
                }
            }
        };
        [name].into_iter().chain(tally_cells(texts, &tally.payments)).collect::<Vec<_>>()
    };
    html! {
        @if !report.outcomes.is_empty() {
            div.card {
                header { h2 id="outcomes" { (texts.get("dry_run.outcomes")) } }
                (Table {
                    caption: texts.get("dry_run.outcomes"),
                    hides_caption: true,
                    is_linked: false,
                    columns: [Column::new(texts.get("rule_results.outcome"))].into_iter().chain(tally_columns(texts)).collect(),
                    rows: report.outcomes.iter().map(row).collect(),
                }.render())
            }
        }
    }
}

/// Renders the rules that fired most often.
fn render_rules(texts: &Texts, report: &DryRunReport) -> Markup {
    let mut rules: Vec<&RuleTally> = report.rules.iter().collect();
    rules.sort_by(|one, other| (other.fired.all.count, &one.name).cmp(&(one.fired.all.count, &other.name)));
    let hidden = rules.len().saturating_sub(SHOWN_RULES);
    let row = |rule: &&RuleTally| {
        let [all, approved, charged_back, amount] = tally_cells(texts, &rule.fired);
        let changed = html! { (texts.number(rule.changed.all.count)) };
        vec![html! { span.wrap { (rule.name) } }, all, changed, approved, charged_back, amount]
    };
    let [all, approved, charged_back, amount] = tally_columns(texts);
    html! {
        @if !rules.is_empty() {
            div.card {
                header { h2 id="rules" { (texts.get("dry_run.rules")) } }
                (Table {
                    caption: texts.get("dry_run.rules"),
                    hides_caption: true,
                    is_linked: false,
                    columns: vec![
                        Column::new(texts.get("rules.rule")),
                        all,
                        Column::number(texts.get("dry_run.changed_short")),
                        approved,
                        charged_back,
                        amount,
                    ],
                    rows: rules.iter().take(SHOWN_RULES).map(row).collect(),
                }.render())
                @if hidden > 0 {
                    div.body { p.soft { (texts.fill("dry_run.more_rules", &[("count", &hidden.to_string())])) } }
                }
            }
        }
    }
}

/// Renders what limits the report. Empty if nothing does.
fn render_notes(texts: &Texts, report: &DryRunReport) -> Markup {
    let left_out = &report.left_out;
    let notes = [
        ("dry_run.of_other_version", left_out.of_other_version),
        ("dry_run.ended_before", left_out.ended_before),
        ("dry_run.test_data", left_out.test_data),
        ("dry_run.without_risk_data", report.without_risk_data),
        ("dry_run.counted_before", report.counted_before),
        ("dry_run.forgotten_counters", report.forgotten_counters),
    ];
    html! {
        @if notes.iter().any(|(_, count)| *count > 0) {
            section.card aria-labelledby="notes" {
                header { h2 id="notes" { (texts.get("dry_run.notes")) } }
                div.body { ul.stack {
                    @for (key, count) in notes { @if count > 0 {
                        li { (texts.fill(key, &[("count", &texts.number(count))])) }
                    } }
                } }
            }
        }
    }
}
