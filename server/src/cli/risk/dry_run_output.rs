//! The report of a dry run as text.

use tillgate_domain::payment::PaymentType;
use tillgate_domain::risk::dry_run::outcome_name;
use tillgate_domain::risk::dry_run::{DryRunReport, OutcomeTally, PaymentSum, PaymentTally};

use crate::cli::table::align_columns;

/// Headings of the columns that every table has after its first.
const COLUMNS: [&str; 4] = ["payments", "approved", "charged back", "amount"];

/// Formats a report: totals, outcomes with examples, rules, and what was left out.
pub(in crate::cli) fn format_report(report: &DryRunReport) -> String {
    let subject = &report.subject;
    let head = [
        ("version", subject.version.clone()),
        ("entity", subject.entity_id.to_string()),
        ("period", format!("{} to {}, UTC", subject.date_from, subject.date_to)),
        ("lists", format!("the entries of {:.0} apply", subject.lists_at)),
        ("checked", format_tally(&report.checked)),
        ("changed", format_tally(&report.changed)),
    ];
    let head = head.map(|(name, value)| format!("{name:7}  {value}")).join("\n");
    let parts = [head, format_outcomes(&report.outcomes), format_rules(report), format_notes(report)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Formats a tally in one line: `12 payments, 1104.00 EUR; 10 approved; 3 charged back, 276.00 EUR`.
fn format_tally(tally: &PaymentTally) -> String {
    let part = |count: &PaymentSum, name: &str| {
        let amounts = format_amounts(count);
        format!("{} {name}{}{amounts}", count.count, if amounts.is_empty() { "" } else { ", " })
    };
    let name = if tally.all.count == 1 { "payment" } else { "payments" };
    [part(&tally.all, name), part(&tally.approved, "approved"), part(&tally.charged_back, "charged back")].join("; ")
}

fn format_amounts(sum: &PaymentSum) -> String {
    sum.amounts.format_all().map(|(currency, amount)| format!("{amount} {currency}")).collect::<Vec<_>>().join(", ")
}

/// Returns the cells of a tally, in the order of [`COLUMNS`].
fn tally_cells(tally: &PaymentTally) -> [String; 4] {
    let counts = [&tally.all, &tally.approved, &tally.charged_back].map(|sum| sum.count.to_string());
    let [all, approved, charged_back] = counts;
    [all, approved, charged_back, format_amounts(&tally.all)]
}

fn format_outcomes(outcomes: &[OutcomeTally]) -> String {
    let mut rows = vec![header("outcome then → by this version", &COLUMNS)];
    for row in outcomes {
        let name = format!("{} → {}", outcome_name(row.before), row.after.as_str());
        rows.push(std::iter::once(name).chain(tally_cells(&row.payments)).collect());
    }
    if outcomes.is_empty() {
        return String::new();
    }
    let mut lines = align_columns(&rows);
    // From the last row, so that the places of the others stay the same.
    for (index, row) in outcomes.iter().enumerate().rev() {
        let examples = row.examples.iter().map(|id| format!("    {id}"));
        lines.splice(index + 2..index + 2, examples);
    }
    lines.join("\n")
}

fn format_rules(report: &DryRunReport) -> String {
    if report.rules.is_empty() {
        return String::new();
    }
    let mut columns = vec!["fired", "changed"];
    columns.extend(COLUMNS.iter().skip(1));
    let mut rows = vec![header("rule", &columns)];
    for rule in &report.rules {
        let [all, approved, charged_back, amount] = tally_cells(&rule.fired);
        let changed = rule.changed.all.count.to_string();
        rows.push(vec![rule.name.clone(), all, changed, approved, charged_back, amount]);
    }
    align_columns(&rows).join("\n")
}

fn header(first: &str, columns: &[&str]) -> Vec<String> {
    std::iter::once(first).chain(columns.iter().copied()).map(str::to_owned).collect()
}

/// Names what limits the report, one line each. Empty if nothing does.
fn format_notes(report: &DryRunReport) -> String {
    let left_out = &report.left_out;
    let two_steps = PaymentType::TwoStepDebit.code();
    let notes = [
        (
            left_out.of_other_version,
            format!("payments of {} entities with another active version were left out", left_out.entities),
        ),
        (
            left_out.ended_before,
            format!(
                "payments were left out because they ended before a check: duplicates, and without approval if checks come after it (--screen after, {two_steps})"
            ),
        ),
        (left_out.test_data, "payments were left out because their test data asked for an outcome".to_owned()),
        (
            report.without_risk_data,
            "payments were assessed without card, account, browser and address of the shopper, because risk was off"
                .to_owned(),
        ),
        (report.counted_before, "payments before the period were counted by velocity counters".to_owned()),
        (
            report.forgotten_counters,
            "keys of velocity counters were dropped because there were too many: counts may be too low".to_owned(),
        ),
    ];
    let lines = notes.into_iter().filter(|(count, _)| *count > 0).map(|(count, note)| format!("{count} {note}"));
    lines.collect::<Vec<_>>().join("\n")
}
