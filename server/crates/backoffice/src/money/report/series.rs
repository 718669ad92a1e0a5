//! Parts of a report that one chart and one table show. Rows of different currencies are never in the same part.

use std::collections::{BTreeMap, HashMap};

use jiff::ToSpan as _;
use jiff::civil::Date;
use tillgate_domain::report::table::ReportTable;
use tillgate_domain::settlement::reconciliation::days::DayRange;

use super::ReportKind;

/// Columns with a currency of the values of a row.
const CURRENCIES: [&str; 2] = ["currency", "settlementCurrency"];
/// Column with the day of a row.
const DAY: &str = "day";
/// Column with the matching status of rows that the ledger does not have.
pub(super) const MATCHING: &str = "matchingStatus";
/// Columns that describe a row further, and never divide rows into charts.
const DETAILS: [&str; 2] = ["entityId", "status"];
/// Largest number of cells of all tables of a page, so that the page stays small.
const MAX_CELLS: usize = 800;
/// Largest number of days of which a chart shows each. Longer periods have bars for the days with a row.
const MAX_DAYS: i32 = 366;
/// Number of cells that the frame of a part is as large as.
const PART_CELLS: usize = 25;

/// Values that the rows of a part share: for each label its value, and `None` for those that differ within a part.
type Key<'a> = Vec<Option<&'a str>>;

/// Rows of a report with the same currency and, if they have days, with the same names.
pub(super) struct Series {
    /// Values that all rows share: index of the column, and the value.
    pub(super) shared: Vec<(usize, String)>,
    /// Index of the columns that name a row in this part.
    pub(super) labels: Vec<usize>,
    /// Index of the columns with values that some row has.
    pub(super) values: Vec<usize>,
    /// Index of the column of the chart.
    pub(super) charted: Option<usize>,
    /// True if the rows are days.
    pub(super) is_over_time: bool,
    /// The rows, with all columns.
    pub(super) rows: Vec<Vec<String>>,
    /// False if rows have no place on the page.
    is_whole: bool,
}

/// The parts of a report, and the number of rows that have no place on the page.
pub(super) struct DividedReport {
    /// Names of the columns.
    pub(super) header: Vec<&'static str>,
    /// Number of columns at the beginning that name a row.
    pub(super) labels: usize,
    pub(super) series: Vec<Series>,
    pub(super) hidden_rows: usize,
    /// Sums over all rows, also those that have no place on the page.
    pub(super) sums: Sums,
}

/// Sums in hundredths of their currency, by the currency and the matching status of the rows. The status is empty for
/// rows that the ledger has.
pub(super) type Sums = BTreeMap<(String, String), i64>;

/// Divides a report into parts, in the order of their first rows. Each part has all of its rows while there is room for
/// them, because half of a month in each chart would say nothing.
pub(super) fn divide(kind: ReportKind, table: &ReportTable) -> DividedReport {
    let day = table.header.iter().position(|name| *name == DAY);
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    let mut parts: Vec<(Key<'_>, Vec<&Vec<String>>)> = Vec::new();
    for row in &table.rows {
        let key = key_of(table, row, day.is_some());
        let place = *places.entry(key.clone()).or_insert(parts.len());
        match parts.get_mut(place) {
            Some((_, rows)) => rows.push(row),
            None => parts.push((key, vec![row])),
        }
    }
    let (mut series, mut left, mut hidden_rows) = (Vec::new(), MAX_CELLS, 0);
    for (key, rows) in parts {
        let labels = key.iter().filter(|value| value.is_none()).count();
        let cells = labels + table.header.len() - table.labels + 2;
        let shown = rows.len().min(left.saturating_sub(PART_CELLS) / cells);
        hidden_rows += rows.len() - shown;
        // A part without a row on the page is not made.
        if shown > 0 {
            left -= PART_CELLS + shown * cells;
            let mut part = begin(kind, table, &key, day);
            part.is_whole = shown == rows.len();
            part.rows.extend(rows.into_iter().take(shown).cloned());
            part.finish(kind, table);
            series.push(part);
        }
    }
    let sums = kind.summed().map(|column| add_up(table, column)).unwrap_or_default();
    DividedReport { header: table.header.clone(), labels: table.labels, series, hidden_rows, sums }
}

/// Adds a column up for each currency. Rows that the ledger does not have are never in a sum with others.
fn add_up(table: &ReportTable, column: &str) -> Sums {
    let place = |name: &dyn Fn(&str) -> bool| table.header.iter().position(|known| name(known));
    let places = place(&|name| CURRENCIES.contains(&name)).zip(place(&|name| name == column));
    let status = place(&|name| name == MATCHING);
    let mut sums = Sums::new();
    let Some((currency, column)) = places else { return sums };
    for row in &table.rows {
        let status = status.and_then(|status| row.get(status)).cloned().unwrap_or_default();
        if let (Some(currency), Some(value)) =
            (row.get(currency), row.get(column).and_then(|cell| parse_hundredths(cell)))
        {
            let sum: &mut i64 = sums.entry((currency.clone(), status)).or_default();
            *sum = sum.saturating_add(value);
        }
    }
    sums
}

/// Returns the values that a row shares with the other rows of its part. Labels without a value divide as well, because
/// such rows are about something else.
fn key_of<'a>(table: &ReportTable, row: &'a [String], has_days: bool) -> Key<'a> {
    let value = |(name, cell): (&&str, &'a String)| match *name {
        name if CURRENCIES.contains(&name) => Some(cell.as_str()),
        DAY => None,
        name if has_days && !DETAILS.contains(&name) => Some(cell.as_str()),
        _ if cell.is_empty() => Some(""),
        _ => None,
    };
    table.header.iter().zip(row).take(table.labels).map(value).collect()
}

fn begin(kind: ReportKind, table: &ReportTable, key: &[Option<&str>], day: Option<usize>) -> Series {
    let shared = key
        .iter()
        .enumerate()
        .filter_map(|(index, value)| value.filter(|value| !value.is_empty()).map(|value| (index, value.to_owned())));
    let labels = key.iter().enumerate().filter(|(_, value)| value.is_none()).map(|(index, _)| index);
    // A settlement of a day is divided further by its entity.
    let is_over_time = day.is_some() && kind != ReportKind::Settlements;
    Series {
        shared: shared.collect(),
        labels: labels.collect(),
        values: (table.labels..table.header.len()).collect(),
        charted: None,
        is_over_time,
        rows: Vec::new(),
        is_whole: true,
    }
}

impl Series {
    /// Leaves out columns without a value, and chooses the one of the chart.
    fn finish(&mut self, kind: ReportKind, table: &ReportTable) {
        let rows = &self.rows;
        self.values.retain(|index| rows.iter().any(|row| row.get(*index).is_some_and(|cell| !cell.is_empty())));
        let find = |name: &&str| self.values.iter().copied().find(|index| table.header.get(*index) == Some(name));
        self.charted = kind.charted().iter().find_map(find);
    }

    /// Returns the rows of a chart over the days of a period, with a row for each day of which the report has none. Its
    /// value is zero, because nothing happened on it. The rows stay as they are if they are not one for each day, or if
    /// the chart would have too many days.
    pub(super) fn fill_days(&self, header: &[&str], days: DayRange) -> Vec<Vec<String>> {
        let day = header.iter().position(|name| *name == DAY);
        let known = day.filter(|day| self.is_over_time && self.is_whole && self.labels == [*day]);
        let (Some(day), Some(charted)) = (known, self.charted) else { return self.rows.clone() };
        let length = days.from.until(days.to).map_or(0, |span| span.get_days());
        if !(0..MAX_DAYS).contains(&length) {
            return self.rows.clone();
        }
        let begin = days.from.series(1.day()).take_while(|day| *day <= days.to);
        let zero = |date: Date| {
            let cell = |index| match index {
                index if index == day => date.to_string(),
                index if index == charted => "0.00".to_owned(),
                _ => String::new(),
            };
            ((0..header.len()).map(cell).collect::<Vec<String>>(), date.to_string())
        };
        let mut rows: BTreeMap<String, Vec<String>> = begin.map(zero).map(|(row, date)| (date, row)).collect();
        rows.extend(self.rows.iter().filter_map(|row| Some((row.get(day)?.clone(), row.clone()))));
        rows.into_values().collect()
    }
}

/// Parses a number with at most two decimals, as hundredths. Returns `None` for other texts.
pub(super) fn parse_hundredths(cell: &str) -> Option<i64> {
    let (sign, digits) = cell.strip_prefix('-').map_or((1, cell), |digits| (-1, digits));
    let (whole, rest) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || rest.len() > 2 || !is_number(whole) || !is_number(rest) {
        return None;
    }
    let hundredths: i64 = format!("{whole}{rest:0<2}").parse().ok()?;
    Some(sign * hundredths)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn table(header: &[&'static str], labels: usize, rows: &[&[&str]]) -> ReportTable {
        let rows = rows.iter().map(|row| row.iter().map(|cell| (*cell).to_owned()).collect()).collect();
        ReportTable { header: header.to_vec(), rows, labels, charted: labels }
    }

    #[test]
    fn currencies_are_never_in_one_part_and_days_of_one_name_are() {
        let report = table(
            &["day", "paymentType", "currency", "count", "amount"],
            3,
            &[
                &["2026-10-01", "DB", "EUR", "1", "5.00"],
                &["2026-10-01", "DB", "USD", "1", "7.00"],
                &["2026-10-01", "RF", "EUR", "1", "1.00"],
                &["2026-10-02", "DB", "EUR", "2", "9.00"],
            ],
        );
        let parts = divide(ReportKind::Totals, &report).series;
        let sums: Vec<(usize, &str, bool)> =
            parts.iter().map(|part| (part.rows.len(), part.shared[1].1.as_str(), part.is_over_time)).collect();
        assert_eq!(sums, [(2, "EUR", true), (1, "USD", true), (1, "EUR", true)]);
        assert!(parts.iter().all(|part| part.charted == Some(4) && part.labels == [0]));
    }

    #[test]
    fn rows_about_something_else_have_their_own_part_and_empty_columns_are_left_out() {
        let header = ["paymentBrand", "result.code", "approved", "declined", "pending", "authorizationRate"];
        let report = table(
            &header,
            2,
            &[
                &["VISA", "", "9", "1", "0", "90.00"],
                &["MASTER", "", "1", "0", "0", "100.00"],
                &["", "800.100.151", "", "1", "", ""],
            ],
        );
        let parts = divide(ReportKind::Authorizations, &report).series;
        assert_eq!(parts.len(), 2);
        assert_eq!((parts[0].charted, &parts[0].labels[..], parts[0].rows.len()), (Some(5), &[0][..], 2));
        assert_eq!((parts[1].charted, &parts[1].values[..], &parts[1].labels[..]), (Some(3), &[3][..], &[1][..]));
    }

    #[test]
    fn a_long_report_says_how_much_of_it_is_hidden() {
        let row: &[&str] = &["2026-10-01", "EUR", "1", "5.00"];
        let report = table(&["day", "currency", "count", "fee"], 2, &vec![row; 1000]);
        let divided = divide(ReportKind::Fees, &report);
        assert_eq!(
            divided.sums,
            Sums::from([(("EUR".to_owned(), String::new()), 500_000)]),
            "also the hidden rows count"
        );
        assert_eq!(divided.series[0].rows.len() + divided.hidden_rows, 1000);
        assert!(divided.hidden_rows > 500);
    }

    #[test]
    fn rows_that_the_ledger_does_not_have_are_in_no_part_and_no_sum_with_others() {
        let header = ["day", "transactionType", "paymentBrand", "currency", MATCHING, "count", "fee"];
        let rows: [&[&str]; 3] = [
            &["2026-10-01", "DEBIT", "", "EUR", "", "1", "5.00"],
            &["2026-10-01", "DEBIT", "", "EUR", "NOT_MATCHED", "1", "0.70"],
            &["2026-10-02", "DEBIT", "", "EUR", "NOT_MATCHED", "1", "0.02"],
        ];
        let divided = divide(ReportKind::Fees, &table(&header, 5, &rows));
        let sum = |status: &str, sum| (("EUR".to_owned(), status.to_owned()), sum);
        assert_eq!(divided.sums, Sums::from([sum("", 500), sum("NOT_MATCHED", 72)]));
        assert_eq!(divided.series.iter().map(|part| part.rows.len()).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_day_without_a_row_has_a_bar_of_zero() {
        let header = ["day", "currency", "count", "fee"];
        let row = |day| [day, "EUR", "1", "5.00"];
        let rows = ["2026-10-02", "2026-10-04"].map(row);
        let report = table(&header, 2, &[&rows[0], &rows[1]]);
        let divided = divide(ReportKind::Fees, &report);
        let fees = |from: i8, to: i8| {
            let days = DayRange { from: Date::constant(2026, 10, from), to: Date::constant(2026, 10, to) };
            let rows = divided.series[0].fill_days(&header, days);
            rows.iter().map(|row| format!("{} {}", row[0], row[3])).collect::<Vec<_>>()
        };
        let all = ["2026-10-01 0.00", "2026-10-02 5.00", "2026-10-03 0.00", "2026-10-04 5.00", "2026-10-05 0.00"];
        assert_eq!(fees(1, 5), all);
        // Days after the present one are no part of the chart, unless the report has a row of them.
        assert_eq!(fees(1, 3), [&all[..3], &all[3..4]].concat());
        assert_eq!(fees(5, 1), ["2026-10-02 5.00", "2026-10-04 5.00"], "a period in the future");
        let days = DayRange { from: Date::MIN, to: Date::MAX };
        assert_eq!(divided.series[0].fill_days(&header, days), divided.series[0].rows, "a chart of ages");
    }

    #[test]
    fn parts_without_a_place_on_the_page_are_not_made() {
        let rows: Vec<Vec<String>> =
            (0..100_000).map(|number| vec!["2026-10-01".to_owned(), number.to_string(), "1".to_owned()]).collect();
        let report = ReportTable { header: vec!["day", "currency", "count"], rows, labels: 2, charted: 2 };
        let divided = divide(ReportKind::Totals, &report);
        assert!(divided.series.len() < 500 && divided.series.iter().all(|part| part.rows.len() == 1));
        assert_eq!(divided.series.len() + divided.hidden_rows, 100_000);
    }

    #[test]
    fn numbers_are_read_as_hundredths() {
        for (cell, hundredths) in
            [("5", Some(500)), ("-1234.5", Some(-123_450)), ("0.01", Some(1)), ("", None), ("1.234", None), ("x", None)]
        {
            assert_eq!(parse_hundredths(cell), hundredths, "{cell}");
        }
        assert_eq!(parse_hundredths("99999999999999999999"), None);
    }
}
