//! Times of a schedule.

use super::super::Need::Optional;
use super::super::{Parameter, ParameterGroup};
use super::text;
use crate::format::Format;

/// Creates an optional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Job, name, Optional, format, note)
}

/// Returns the format of a list of two-digit numbers in a range, or an asterisk.
const fn two_digit_numbers(min: u16, max: u16) -> Format {
    Format::Schedule { digits: 2, min, max }
}

const UNIT: Format = Format::OneOf(&["YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]);
const COUNT: Format = Format::Number { min: 0, max: 999_999_999 };

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("job.name", text(1, 64), "Name of the schedule."),
    new_row("job.year", Format::Schedule { digits: 4, min: 0, max: 9999 }, "Four-digit years, separated by commas. An asterisk means every year."),
    new_row("job.month", two_digit_numbers(1, 12), "Months, 1 to 12, separated by commas. An asterisk means every month."),
    new_row("job.dayOfMonth", two_digit_numbers(1, 31), "Days of the month, 1 to 31, separated by commas. An asterisk means every day, and a question mark counts as not sent. Excludes dayOfWeek."),
    new_row("job.dayOfWeek", Format::Schedule { digits: 1, min: 0, max: 7 },
        "Days of the week, 1 (Sunday) to 7 (Saturday), separated by commas. An asterisk means every day, and a question mark counts as not sent. 0 is refused. Excludes dayOfMonth."),
    new_row("job.hour", two_digit_numbers(0, 23), "Hours, 0 to 23, separated by commas. An asterisk means every hour."),
    new_row("job.minute", two_digit_numbers(0, 59), "Minutes, 0 to 59, separated by commas. An asterisk means every minute."),
    new_row("job.second", two_digit_numbers(0, 59), "Seconds, 0 to 59, separated by commas. An asterisk means every second."),
    new_row("job.startDate", Format::DateTime { t: false }, "Time before which there are no runs: yyyy-MM-dd HH:mm:ss."),
    new_row("job.endDate", Format::DateTime { t: false }, "Time after which there are no runs: yyyy-MM-dd HH:mm:ss."),
    new_row("job.noticeUnit", UNIT, "Unit of the notice period."),
    new_row("job.noticeNumber", COUNT, "Notice period in units: a schedule has to be descheduled this long before its end."),
    new_row("job.noticeCallable", Format::OneOf(&["ANYTIME", "DURATION_END"]), "Time at which a schedule may be descheduled: ANYTIME, or DURATION_END for only the end of a duration."),
    new_row("job.durationUnit", UNIT, "Unit of the duration."),
    new_row("job.durationNumber", COUNT, "Number of units of a duration. Durations repeat until the schedule ends."),
    new_row("job.expression", Format::Cron,
        "Quartz expression with six or seven fields, for example 0 0 9 L * ?. It overrides year, month, dayOfMonth, dayOfWeek, hour, minute and second."),
];
