//! Times of a schedule: the `job.` parameters, as one cron expression.

use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::expression::CronExpression;
use crate::refusal::Refusal;

/// Parameter with a cron expression, which takes precedence over the others.
const EXPRESSION: &str = "job.expression";
const DAY_OF_WEEK: &str = "job.dayOfWeek";
/// Parameters with a part of the times, from the finest to the coarsest, each with its first value. A day of the week
/// stands in the place of a day of the month.
const PARTS: [(&str, &str); 6] = [
    ("job.second", "0"),
    ("job.minute", "0"),
    ("job.hour", "0"),
    ("job.dayOfMonth", "1"),
    ("job.month", "1"),
    ("job.year", "*"),
];

/// Returns true if a parameter is a part of the times. A new value of one of them replaces all of them.
pub fn is_time_parameter(name: &str) -> bool {
    name == EXPRESSION || name == DAY_OF_WEEK || PARTS.iter().any(|(part, _)| *part == name)
}

/// Reads the times: `job.expression`, or else the single parameters. A missing parameter that is finer than the finest
/// one that was sent is its first value (0, or 1 for day and month), and every other missing one is `*`.
///
/// # Errors
/// 400: 100.250.100 without any time, 100.250.125 for a day of the week that is none, 100.250.120 for an expression
/// that is not valid.
pub fn read_times(job: &Parameters) -> Result<CronExpression, Refusal> {
    if let Some(expression) = job.get(EXPRESSION) {
        let refuse = |message| Refusal::invalid_job(codes::JOB_TIMES_INVALID, EXPRESSION, Some(expression), message);
        return CronExpression::parse(expression).map_err(refuse);
    }
    let day_of_week = job.get(DAY_OF_WEEK);
    if let Some(days) = day_of_week.filter(|days| days.split(',').any(|day| day == "0")) {
        let message = "must be numbers from 1 (Sunday) to 7 (Saturday); 0 is no day";
        return Err(Refusal::invalid_job(codes::JOB_WEEKDAY_INVALID, DAY_OF_WEEK, Some(days), message));
    }
    let Some((finest, expression)) = join_parts(job) else {
        let message = "or another time is needed: year, month, dayOfMonth, dayOfWeek, hour, minute or second";
        return Err(Refusal::invalid_job(codes::JOB_WITHOUT_TIME, EXPRESSION, None, message));
    };
    CronExpression::parse(&expression).map_err(|message| {
        let (name, _) = PARTS[finest];
        Refusal::invalid_job(codes::JOB_TIMES_INVALID, name, read_part(job, name), message)
    })
}

/// Returns the times as one expression, which is not checked. Returns `None` without any time.
pub fn find_expression(job: &Parameters) -> Option<String> {
    let sent = job.get(EXPRESSION).map(str::to_owned);
    sent.or_else(|| join_parts(job).map(|(_, expression)| expression))
}

/// Returns the value of a part. A day of the week stands in the place of a day of the month.
fn read_part<'a>(job: &'a Parameters, name: &str) -> Option<&'a str> {
    let stands_for_day = name == "job.dayOfMonth";
    job.get(name).or_else(|| job.get(DAY_OF_WEEK).filter(|_| stands_for_day))
}

/// Joins the parts into an expression, and returns it with the place of the finest part that was sent. Returns `None`
/// if none was sent.
fn join_parts(job: &Parameters) -> Option<(usize, String)> {
    let finest = PARTS.iter().position(|(name, _)| read_part(job, name).is_some())?;
    let parts = PARTS.iter().enumerate().map(|(place, (name, first))| match read_part(job, name) {
        Some(value) => value,
        None if place < finest => first,
        None => "*",
    });
    let [second, minute, hour, day, month, year]: [&str; 6] = collect_parts(parts);
    let expression = match job.get(DAY_OF_WEEK) {
        Some(_) => format!("{second} {minute} {hour} ? {month} {day} {year}"),
        None => format!("{second} {minute} {hour} {day} {month} ? {year}"),
    };
    Some((finest, expression))
}

/// Collects the parts into an array.
fn collect_parts<'a>(parts: impl Iterator<Item = &'a str>) -> [&'a str; 6] {
    let mut collected = ["*"; 6];
    for (place, part) in collected.iter_mut().zip(parts) {
        *place = part;
    }
    collected
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<CronExpression, Refusal> {
        read_times(&pairs.iter().map(|(name, value)| (format!("job.{name}"), *value)).collect())
    }

    #[test]
    fn a_missing_finer_part_is_zero_and_a_missing_coarser_one_every() {
        let from = "2026-11-01T00:00:00".parse().unwrap();
        for (pairs, first, second) in [
            (&[("second", "30")][..], "2026-11-01T00:00:30", "2026-11-01T00:01:30"),
            (&[("minute", "15,45")], "2026-11-01T00:15:00", "2026-11-01T00:45:00"),
            (&[("hour", "06")], "2026-11-01T06:00:00", "2026-11-02T06:00:00"),
            (&[("hour", "*")], "2026-11-01T00:00:00", "2026-11-01T01:00:00"),
            (&[("dayOfMonth", "15")], "2026-11-15T00:00:00", "2026-12-15T00:00:00"),
            (&[("dayOfMonth", "15"), ("hour", "06")], "2026-11-15T06:00:00", "2026-12-15T06:00:00"),
            (&[("dayOfWeek", "1")], "2026-11-01T00:00:00", "2026-11-08T00:00:00"),
            (&[("dayOfWeek", "7,2")], "2026-11-02T00:00:00", "2026-11-07T00:00:00"),
            (&[("dayOfWeek", "*"), ("hour", "01")], "2026-11-01T01:00:00", "2026-11-02T01:00:00"),
            (&[("month", "01,07")], "2027-01-01T00:00:00", "2027-07-01T00:00:00"),
            (&[("month", "06"), ("hour", "10")], "2027-06-01T10:00:00", "2027-06-02T10:00:00"),
            (&[("year", "2027,2028")], "2027-01-01T00:00:00", "2028-01-01T00:00:00"),
            (&[("year", "*")], "2027-01-01T00:00:00", "2028-01-01T00:00:00"),
            (&[("hour", "01"), ("expression", "0 0 9 1 * ?")], "2026-11-01T09:00:00", "2026-12-01T09:00:00"),
        ] {
            let times = read(pairs).unwrap();
            let found = times.next_from(from).unwrap();
            assert_eq!(found.to_string(), first, "{pairs:?}");
            let next = times.next_from(found.checked_add(jiff::Span::new().seconds(1)).unwrap()).unwrap();
            assert_eq!(next.to_string(), second, "{pairs:?}");
        }
    }

    #[test]
    fn times_that_are_missing_or_wrong_are_refused_by_name() {
        for (pairs, code, name) in [
            (&[][..], "100.250.100", "job.expression"),
            (&[("name", "Rent")], "100.250.100", "job.expression"),
            (&[("dayOfWeek", "0")], "100.250.125", "job.dayOfWeek"),
            (&[("dayOfWeek", "2,0")], "100.250.125", "job.dayOfWeek"),
            (&[("year", "9999")], "100.250.120", "job.year"),
            (&[("expression", "0 0 9 ? * 0")], "100.250.120", "job.expression"),
        ] {
            let refusal = read(pairs).unwrap_err();
            assert_eq!((refusal.status, refusal.code.code()), (400, code), "{pairs:?}");
            assert_eq!(refusal.parameters[0].name, name, "{pairs:?}");
        }
    }
}
