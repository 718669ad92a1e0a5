//! Decisions about requests, without a connection.

use tokio::time::Instant;

use super::super::request_table::{ConnectionEnd, LineIntent, LineRequestTable};
use super::*;

/// Creates the table of a connected line.
fn connected(limits: LineLimits) -> LineRequestTable {
    let mut table = LineRequestTable::new(limits);
    table.set_phase(LinePhase::Connected);
    table
}

fn answer() -> LineMessage {
    LineMessage::new(b"approved".to_vec())
}

#[test]
fn an_answer_to_a_request_that_is_not_wholly_written_is_not_its_own() {
    let (mut table, now) = (connected(patient()), Instant::now());
    let mut result = table.admit_request(key("1"), KeyUse::New, vec![1, 2], now).unwrap();
    assert_eq!(table.take_answer(&key("1"), answer(), now), Err((LateReason::Unmatched, answer())));
    let frame = table.take_frame(now).unwrap();
    assert_eq!(table.take_answer(&key("1"), answer(), now), Err((LateReason::Unmatched, answer())));
    table.record_write(&frame, false);
    assert_eq!(table.take_answer(&key("1"), answer(), now), Err((LateReason::Unmatched, answer())));
    assert!(result.try_recv().is_err(), "the request still waits");
    table.record_write(&frame, true);
    assert_eq!(table.take_answer(&key("1"), answer(), now), Ok(()));
    assert_eq!(result.try_recv().unwrap(), Ok(answer()));
    assert_eq!((table.counters.sent, table.counters.answered, table.counters.late), (1, 1, 3));
}

#[test]
fn a_request_that_waits_too_long_for_its_turn_is_not_sent_and_leaves_the_queue() {
    let (mut table, now) = (connected(patient()), Instant::now());
    let mut result = table.admit_request(key("1"), KeyUse::New, vec![1], now).unwrap();
    let later = now + patient().write_timeout;
    assert_eq!(table.next_deadline(), Some(later));
    table.end_late_requests(later);
    assert!(matches!(result.try_recv().unwrap(), Err(SendFault::NotSent(NotSentReason::NotWritten(30_000)))));
    assert!(table.take_frame(later).is_none());
    assert!(!table.is_key_used(&key("1"), KeyUse::New, later), "the caller may use the key on another line");
}

#[test]
fn a_taken_frame_is_unknown_only_if_another_task_could_be_writing_it() {
    let broken = ConnectionEnd::Broken("a fault".to_owned());
    for is_exact in [true, false] {
        let (mut table, now) = (connected(patient()), Instant::now());
        let mut taken = table.admit_request(key("1"), KeyUse::New, vec![1], now).unwrap();
        let mut queued = table.admit_request(key("2"), KeyUse::New, vec![2], now).unwrap();
        assert!(table.take_frame(now).is_some());
        table.end_all_requests(&broken, is_exact, now);
        let expected = if is_exact {
            SendFault::NotSent(NotSentReason::ConnectionEnded("a fault".to_owned()))
        } else {
            SendFault::Unknown(UnknownReason::ConnectionEnded("a fault".to_owned()))
        };
        assert_eq!(taken.try_recv().unwrap(), Err(expected));
        assert!(matches!(queued.try_recv().unwrap(), Err(SendFault::NotSent(_))));
        assert!(table.take_frame(now).is_none());
    }
}

#[test]
fn an_old_frame_never_changes_a_newer_request_with_its_key() {
    let limits = LineLimits { key_keep_time: ms(1), ..patient() };
    let (mut table, now) = (connected(limits), Instant::now());
    let _first = table.admit_request(key("1"), KeyUse::New, vec![1, 2], now).unwrap();
    let frame = table.take_frame(now).unwrap();
    table.record_write(&frame, false);
    let later = now + limits.answer_timeout;
    table.end_late_requests(later);
    let later = later + ms(1);
    let mut second = table.admit_request(key("1"), KeyUse::New, vec![3, 4], later).unwrap();
    assert!(!table.is_frame_due(&frame));
    table.record_write(&frame, true);
    assert!(table.take_answer(&key("1"), answer(), later).is_err(), "the second request is not written");
    assert!(second.try_recv().is_err());
}

#[test]
fn a_line_that_leaves_admits_no_request_even_if_it_is_put_back() {
    let (mut table, now) = (connected(patient()), Instant::now());
    assert!(!table.start_leaving());
    table.set_intent(LineIntent::TakeOut);
    assert_eq!(table.admit_request(key("1"), KeyUse::New, vec![1], now).unwrap_err(), NotSentReason::TakenOut);
    assert!(table.start_leaving());
    table.set_intent(LineIntent::Run);
    assert_eq!(table.admit_request(key("1"), KeyUse::New, vec![1], now).unwrap_err(), NotSentReason::NotConnected);
}

#[test]
fn the_key_of_a_control_message_is_in_use() {
    let (mut table, now) = (connected(patient()), Instant::now());
    table.set_control_key(Some(key("echo")));
    assert_eq!(
        table.admit_request(key("echo"), KeyUse::New, vec![1], now).unwrap_err(),
        NotSentReason::KeyInUse(key("echo"))
    );
    table.set_control_key(None);
    assert!(table.admit_request(key("echo"), KeyUse::New, vec![1], now).is_ok());
}

#[test]
fn a_probe_that_is_lost_with_its_connection_opens_the_circuit_again() {
    let limits = LineLimits { circuit_failures: 1, circuit_open_time: ms(10), ..patient() };
    let (mut table, now) = (connected(limits), Instant::now());
    let broken = ConnectionEnd::Broken("a fault".to_owned());
    for (number, is_sent) in [("1", true), ("2", false), ("3", true)] {
        let now = now + ms(10) * number.parse::<u32>().unwrap();
        let _result = table.admit_request(key(number), KeyUse::New, vec![1], now).unwrap();
        let frame = table.take_frame(now).unwrap();
        if is_sent {
            table.record_write(&frame, true);
        }
        table.end_all_requests(&broken, true, now);
        assert_eq!(table.visible_phase(), LinePhase::CircuitOpen);
        let next = table.admit_request(key("next"), KeyUse::New, vec![1], now);
        // A probe that was not sent shows nothing, so the next request is the probe.
        assert_eq!(next.is_err(), is_sent, "{number}");
        table.end_all_requests(&ConnectionEnd::Left, true, now);
    }
}
