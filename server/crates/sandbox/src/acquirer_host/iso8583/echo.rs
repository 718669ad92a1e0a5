//! The host's own echo on idle connections.

use tillgate_connector::iso8583::{DataTable, Datum, Dialect, IsoMessage, IsoRequestKind, Mti};
use tokio::time::Instant;

/// An echo that awaits its answer.
#[derive(Debug)]
pub(super) struct AwaitedEcho {
    response: Mti,
    trace_number: u64,
    /// Time after which the connection ends.
    pub(super) deadline: Instant,
}

impl AwaitedEcho {
    /// Returns true if a message is the answer to this echo.
    pub(super) fn is_answered_by(&self, data: &DataTable, message: &IsoMessage) -> bool {
        message.mti() == self.response && data.get_number(message, Datum::TraceNumber) == Some(self.trace_number)
    }
}

/// Makes an echo with a trace number, and the record that awaits its answer. Returns `None` if the dialect has no echo.
pub(super) fn create_echo(
    dialect: &Dialect,
    trace_number: u64,
    now: jiff::Timestamp,
    deadline: Instant,
) -> Option<(IsoMessage, AwaitedEcho)> {
    let data = dialect.data();
    let mut message = dialect.begin_request(IsoRequestKind::Echo)?;
    let time = now.to_zoned(jiff::tz::TimeZone::UTC).datetime();
    data.set(&mut message, Datum::TraceNumber, &trace_number.to_string()).ok()?;
    for datum in [Datum::Transmitted, Datum::LocalTime, Datum::LocalDate] {
        data.set_time(&mut message, datum, time).ok()?;
    }
    // An answer repeats the fields of the correlation, so the echo needs all of them. A host has no terminal.
    for (datum, text) in [(Datum::Terminal, "00000000"), (Datum::Reference, "000000000000")] {
        if data.field_of(datum).is_some_and(|field| dialect.correlation_fields().contains(&field)) {
            data.set(&mut message, datum, text).ok()?;
        }
    }
    let response = message.mti().response()?;
    Some((message, AwaitedEcho { response, trace_number, deadline }))
}
