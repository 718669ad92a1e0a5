//! Notice and duration of a schedule: a number of calendar units in its time zone.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _, Zoned};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::ScheduleTerms;
use crate::refusal::Refusal;

/// A number of calendar units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    number: i64,
    unit: PeriodUnit,
}

/// Unit of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PeriodUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

/// Moments at which a schedule can be descheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoticeCallable {
    /// At any time. The schedule ends after the notice.
    Anytime,
    /// Only at the end of a duration.
    DurationEnd,
}

impl Period {
    /// Reads the period of `job.{name}Number` and `job.{name}Unit`. Returns `None` if neither was sent.
    ///
    /// # Errors
    /// 400 with `code` if one of the two is missing.
    fn read(job: &Parameters, name: &str, code: ResultCode) -> Result<Option<Self>, Refusal> {
        let (number, unit) = (format!("job.{name}Number"), format!("job.{name}Unit"));
        match (job.get(&number), job.get(&unit)) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(Refusal::invalid_job(code, &unit, None, format!("is required with {number}"))),
            (None, Some(_)) => Err(Refusal::invalid_job(code, &number, None, format!("is required with {unit}"))),
            (Some(count), Some(text)) => {
                let unit = PeriodUnit::parse(text);
                let period = count.parse().ok().zip(unit).map(|(number, unit)| Self { number, unit });
                let period = period.filter(|period| period.number_is_possible());
                let message = "is longer than about a thousand years";
                period.map(Some).ok_or_else(|| Refusal::invalid_job(code, &number, Some(count), message))
            }
        }
    }

    /// Reads the notice.
    ///
    /// # Errors
    /// 400 with 100.250.107 if its number or its unit is missing.
    pub fn read_notice(job: &Parameters) -> Result<Option<Self>, Refusal> {
        Self::read(job, "notice", codes::JOB_NOTICE_INVALID)
    }

    /// Reads the duration.
    ///
    /// # Errors
    /// 400 with 100.250.106 if its number or its unit is missing, or its number is 0.
    pub fn read_duration(job: &Parameters) -> Result<Option<Self>, Refusal> {
        let duration = Self::read(job, "duration", codes::JOB_DURATION_INVALID)?;
        if duration.is_some_and(|duration| duration.number == 0) {
            let name = "job.durationNumber";
            return Err(Refusal::invalid_job(codes::JOB_DURATION_INVALID, name, Some("0"), "must be at least 1"));
        }
        Ok(duration)
    }

    /// Returns true if the period is at most about a thousand years.
    fn number_is_possible(self) -> bool {
        self.number.checked_mul(self.unit.shortest_seconds()).is_some_and(|seconds| seconds <= 366 * 86_400 * 1000)
    }

    /// Returns the span of this period, `count` times.
    fn span(self, count: i64) -> Option<Span> {
        let number = self.number.checked_mul(count)?;
        let span = Span::new();
        match self.unit {
            PeriodUnit::Year => span.try_years(number),
            PeriodUnit::Month => span.try_months(number),
            PeriodUnit::Week => span.try_weeks(number),
            PeriodUnit::Day => span.try_days(number),
            PeriodUnit::Hour => span.try_hours(number),
            PeriodUnit::Minute => span.try_minutes(number),
            PeriodUnit::Second => span.try_seconds(number),
        }
        .ok()
    }

    /// Returns the moment that is this period after another one. A day that the month does not have becomes its last.
    pub fn after(self, moment: &Zoned) -> Option<Zoned> {
        moment.checked_add(self.span(1)?).ok()
    }

    /// Returns the moment that is this period before another one.
    pub fn before(self, moment: &Zoned) -> Option<Zoned> {
        moment.checked_sub(self.span(1)?).ok()
    }

    /// Returns the end of the repeated period in which `now` is. The first one begins at `anchor`.
    pub fn end_around(self, anchor: &Zoned, now: Timestamp) -> Option<Zoned> {
        let passed = now.as_second().saturating_sub(anchor.timestamp().as_second()).max(0);
        // The end before this one is not after `now`, also where a day has an hour more. So the loop only has to step
        // over the differences of calendar units.
        let mut count = (passed / self.unit.longest_seconds().checked_mul(self.number)?.max(1)).max(1);
        loop {
            // Multiples of the anchor, so that a 31st comes back after a shorter month.
            let end = anchor.checked_add(self.span(count)?).ok()?;
            if end.timestamp() > now {
                return Some(end);
            }
            count += 1;
        }
    }
}

impl PeriodUnit {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "YEAR" => Self::Year,
            "MONTH" => Self::Month,
            "WEEK" => Self::Week,
            "DAY" => Self::Day,
            "HOUR" => Self::Hour,
            "MINUTE" => Self::Minute,
            "SECOND" => Self::Second,
            _ => return None,
        })
    }

    /// Returns its shortest length.
    fn shortest_seconds(self) -> i64 {
        match self {
            Self::Year => 365 * 86_400,
            Self::Month => 28 * 86_400,
            _ => self.longest_seconds(),
        }
    }

    /// Returns its longest length, without the hour that a change of the clocks adds.
    fn longest_seconds(self) -> i64 {
        match self {
            Self::Year => 366 * 86_400,
            Self::Month => 31 * 86_400,
            Self::Week => 7 * 86_400,
            Self::Day => 86_400,
            Self::Hour => 3600,
            Self::Minute => 60,
            Self::Second => 1,
        }
    }
}

impl NoticeCallable {
    /// Reads `job.noticeCallable`; any time if it is missing.
    ///
    /// # Errors
    /// 400 by name, for the end of a duration without a duration.
    pub fn read(job: &Parameters, duration: Option<Period>) -> Result<Self, Refusal> {
        match (job.get("job.noticeCallable"), duration) {
            (Some("DURATION_END"), None) => {
                let message = "is needed for noticeCallable DURATION_END";
                Err(Refusal::invalid_job(codes::JOB_DURATION_INVALID, "job.durationNumber", None, message))
            }
            (Some("DURATION_END"), Some(_)) => Ok(Self::DurationEnd),
            _ => Ok(Self::Anytime),
        }
    }
}

impl ScheduleTerms {
    /// Returns the end of a schedule that is descheduled now: at any time after the notice, or the end of the duration.
    ///
    /// # Errors
    /// 400 with 100.360.303 before the notice of the end of the duration. The message has the date of that end. Without
    /// a notice the last day of the duration is the time for it.
    pub fn end_if_descheduled(&self, now: Timestamp) -> Result<Timestamp, Refusal> {
        let local = now.to_zoned(self.recurrence.zone.clone());
        if self.callable == NoticeCallable::Anytime {
            let end = self.notice.and_then(|notice| notice.after(&local));
            return Ok(end.map_or(now, |end| end.timestamp()));
        }
        let Some(end) = self.duration_end(now) else { return Ok(now) };
        let one_day = Period { number: 1, unit: PeriodUnit::Day };
        let notice = self.notice.filter(|notice| notice.number > 0).unwrap_or(one_day);
        let callable_from = notice.before(&end).map_or(Timestamp::MIN, |from| from.timestamp());
        if now < callable_from {
            let format = "%Y-%m-%d %H:%M:%S";
            let from = callable_from.to_zoned(self.recurrence.zone.clone());
            let message = format!(
                "is DURATION_END: the duration ends at {}, and can be ended from {} on",
                end.strftime(format),
                from.strftime(format)
            );
            let name = "job.noticeCallable";
            return Err(Refusal::invalid_job(codes::JOB_NOT_DESCHEDULED, name, Some("DURATION_END"), message));
        }
        Ok(end.timestamp())
    }

    /// Returns the end of the current duration. Durations repeat from the start of the schedule. `None` without one.
    pub fn duration_end(&self, now: Timestamp) -> Option<Zoned> {
        let anchor = self.recurrence.start.to_zoned(self.recurrence.zone.clone());
        self.duration?.end_around(&anchor, now)
    }
}

/// Reads a local time, `yyyy-MM-dd HH:mm:ss`, as a moment. A skipped time is moved by the gap, and one that exists
/// twice is the first.
///
/// # Errors
/// 400 by name if there is no such day.
pub fn read_local_time(job: &Parameters, name: &str, zone: &TimeZone) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = job.get(name) else { return Ok(None) };
    let local = DateTime::strptime("%Y-%m-%d %H:%M:%S", text).ok();
    let moment = local.and_then(|local| zone.to_ambiguous_timestamp(local).compatible().ok());
    let refuse = || Refusal::invalid_parameter(name, Some(text), "is not a day of the calendar");
    moment.map(Some).ok_or_else(refuse)
}

/// Returns a moment a second earlier, so that a limit which excludes it becomes one which includes.
pub fn second_before(moment: Timestamp) -> Timestamp {
    moment.checked_sub(1.second()).unwrap_or(moment)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(number: &str, unit: &str) -> Period {
        let job: Parameters = [("job.durationNumber", number), ("job.durationUnit", unit)].into_iter().collect();
        Period::read_duration(&job).unwrap().unwrap()
    }

    fn local(text: &str) -> Zoned {
        text.parse::<DateTime>().unwrap().to_zoned(TimeZone::get("Europe/Berlin").unwrap()).unwrap()
    }

    #[test]
    fn durations_repeat_from_their_start_and_months_keep_its_day() {
        for (number, unit, start, now, end) in [
            ("1", "MONTH", "2027-01-31T00:00:00", "2027-02-10T00:00:00", "2027-02-28T00:00:00"),
            ("1", "MONTH", "2027-01-31T00:00:00", "2027-02-28T00:00:00", "2027-03-31T00:00:00"),
            ("1", "YEAR", "2028-02-29T12:00:00", "2031-12-31T00:00:00", "2032-02-29T12:00:00"),
            // A day has 23 hours when the clocks change.
            ("1", "DAY", "2027-03-27T12:00:00", "2027-03-28T11:59:59", "2027-03-28T12:00:00"),
            ("24", "HOUR", "2027-03-27T12:00:00", "2027-03-28T11:59:59", "2027-03-28T13:00:00"),
            ("2", "WEEK", "2027-01-01T00:00:00", "2026-01-01T00:00:00", "2027-01-15T00:00:00"),
        ] {
            let found = read(number, unit).end_around(&local(start), local(now).timestamp()).unwrap();
            assert_eq!(found, local(end), "{number} {unit} from {start} at {now}");
        }
    }

    #[test]
    fn periods_that_are_none_or_too_long_are_refused_by_name() {
        for (pairs, code, name) in [
            (&[("durationNumber", "1")][..], "100.250.106", "job.durationUnit"),
            (&[("durationUnit", "DAY")], "100.250.106", "job.durationNumber"),
            (&[("durationNumber", "0"), ("durationUnit", "DAY")], "100.250.106", "job.durationNumber"),
            (&[("durationNumber", "1100"), ("durationUnit", "YEAR")], "100.250.106", "job.durationNumber"),
            (&[("durationNumber", "999999999"), ("durationUnit", "WEEK")], "100.250.106", "job.durationNumber"),
        ] {
            let job: Parameters = pairs.iter().map(|(name, value)| (format!("job.{name}"), *value)).collect();
            let refusal = Period::read_duration(&job).unwrap_err();
            assert_eq!((refusal.code.code(), refusal.parameters[0].name.as_str()), (code, name));
        }
        assert_eq!(Period::read_notice(&Parameters::default()).unwrap(), None);
    }

    proptest! {
        #[test]
        fn the_end_of_a_duration_is_the_first_multiple_after_now(
            number in 1_i64..40,
            unit in prop::sample::select(vec!["YEAR", "MONTH", "WEEK", "DAY", "HOUR"]),
            start in 1_700_000_000_i64..1_900_000_000,
            later in 0_i64..50_000_000,
        ) {
            let zone = TimeZone::get("America/New_York").unwrap();
            let anchor = Timestamp::from_second(start).unwrap().to_zoned(zone);
            let now = Timestamp::from_second(start + later).unwrap();
            let period = read(&number.to_string(), unit);
            let end = period.end_around(&anchor, now).unwrap();
            let mut multiples = (1..).map(|count| anchor.checked_add(period.span(count).unwrap()).unwrap());
            prop_assert_eq!(end, multiples.find(|multiple| multiple.timestamp() > now).unwrap());
        }
    }
}
