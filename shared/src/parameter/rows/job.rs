//! When a schedule runs.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::text;
use crate::format::Format;

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Job, name, Optional, format, note)
}

/// Numbers of two digits in a range.
const fn pairs(min: u16, max: u16) -> Format {
    Format::Schedule { digits: 2, min, max }
}

const UNIT: Format = Format::OneOf(&["YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]);
const COUNT: Format = Format::Number { min: 0, max: 999_999_999 };

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("job.name", text(1, 64), "Name of the schedule."),
    row("job.year", Format::Schedule { digits: 4, min: 0, max: 9999 }, "Years of four digits, with commas between; an asterisk means every year."),
    row("job.month", pairs(1, 12), "Months, 01 to 12, with commas between; an asterisk means every month."),
    row("job.dayOfMonth", pairs(1, 31), "Days of the month, 01 to 31, with commas between; an asterisk means every day. Not with dayOfWeek."),
    row("job.dayOfWeek", Format::Schedule { digits: 1, min: 0, max: 7 },
        "Days of the week, one digit each, with commas between; an asterisk means every day. Not with dayOfMonth."),
    row("job.hour", pairs(0, 23), "Hours, 00 to 23, with commas between; an asterisk means every hour."),
    row("job.minute", pairs(0, 59), "Minutes, 00 to 59, with commas between; an asterisk means every minute."),
    row("job.second", pairs(0, 59), "Seconds, 00 to 59, with commas between; an asterisk means every second."),
    row("job.startDate", Format::DateTime { t: false }, "Nothing runs before: yyyy-MM-dd HH:mm:ss."),
    row("job.endDate", Format::DateTime { t: false }, "Nothing runs after: yyyy-MM-dd HH:mm:ss."),
    row("job.noticeUnit", UNIT, "Unit of the notice."),
    row("job.noticeNumber", COUNT, "How many units ahead notice is given."),
    row("job.noticeCallable", Format::OneOf(&["ANYTIME", "DURATION_END"]), "When notice may be given."),
    row("job.durationUnit", UNIT, "Unit of the duration."),
    row("job.durationNumber", COUNT, "How many units the schedule lasts."),
    row("job.expression", Format::Cron,
        "A cron expression; it stands above year, month, dayOfMonth, dayOfWeek, hour, minute and second."),
];
