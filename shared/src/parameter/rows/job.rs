//! When a schedule runs.

use super::super::Need::Optional;
use super::super::{Group, Parameter};
use super::text;
use crate::format::Format;

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Job, name, Optional, format, note)
}

const PAIR: Format = Format::Schedule { min: 1, max: 2 };
const UNIT: Format = Format::OneOf(&["YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"]);
const COUNT: Format = Format::Number { min: 0, max: 999_999_999 };

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("job.name", text(1, 64), "Name of the schedule."),
    row("job.year", Format::Schedule { min: 4, max: 4 }, "Years of four digits, with commas between; an asterisk means every year."),
    row("job.month", PAIR, "Months, 01 to 12, with commas between; an asterisk means every month."),
    row("job.dayOfMonth", PAIR, "Days of the month, with commas between; an asterisk means every day. Not with dayOfWeek."),
    row("job.dayOfWeek", Format::Schedule { min: 1, max: 1 },
        "Days of the week, one digit each, with commas between; an asterisk means every day. Not with dayOfMonth."),
    row("job.hour", PAIR, "Hours, with commas between; an asterisk means every hour."),
    row("job.minute", PAIR, "Minutes, with commas between; an asterisk means every minute."),
    row("job.second", PAIR, "Seconds, with commas between; an asterisk means every second."),
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
