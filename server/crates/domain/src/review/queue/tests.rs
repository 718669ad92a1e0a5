use crate::review::queue::*;

fn time_after(minutes: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_mins(minutes)
}

fn clock_after(minutes: i64) -> ReviewClock {
    ReviewClock { now: time_after(minutes), ahead: SignedDuration::from_hours(48) }
}

fn held() -> ReviewStatus {
    let review = QueuedReview {
        payment: PaymentId::new(Timestamp::UNIX_EPOCH, [1; 9]),
        entity: EntityId::new(Timestamp::UNIX_EPOCH, [2; 9]),
        since: Timestamp::UNIX_EPOCH,
        has_ended: false,
        claim: None,
        decision: None,
    };
    ReviewStatus { review, actions: 0, notes: 0, latest: None }
}

fn change(status: &ReviewStatus, what: QueueChange, analyst: &str, minutes: i64) -> Result<ReviewStatus, Refusal> {
    let (review, _) = status.clone().decide_change(what, (analyst.to_owned(), None), clock_after(minutes))?;
    Ok(ReviewStatus { review, ..status.clone() })
}

#[test]
fn a_claim_keeps_others_away_until_it_is_released_or_half_an_hour_is_over() {
    let claimed = change(&held(), QueueChange::Claim, "ann", 0).unwrap();
    for what in [QueueChange::Claim, QueueChange::Release] {
        let refusal = change(&claimed, what, "bob", 29).unwrap_err();
        assert_eq!(refusal.status, 409);
        let text = refusal.description.unwrap_or_default();
        assert!(text.contains("ann has claimed this payment since 1970-01-03 00:00:00 UTC"), "{text}");
    }
    assert!(change(&claimed, QueueChange::Note, "bob", 0).is_ok());
    assert!(change(&claimed, QueueChange::Claim, "bob", 30).is_ok());
    let renewed = change(&claimed, QueueChange::Claim, "ann", 29).unwrap();
    assert!(change(&renewed, QueueChange::Claim, "bob", 58).is_err());
    let released = change(&claimed, QueueChange::Release, "ann", 1).unwrap();
    assert!(change(&released, QueueChange::Claim, "bob", 1).is_ok());
}

#[test]
fn a_payment_that_nobody_has_is_released_without_a_row_in_the_audit() {
    let (review, written) =
        held().decide_change(QueueChange::Release, ("ann".to_owned(), None), clock_after(0)).unwrap();
    assert!(written.is_none() && review == held().review);
}

#[test]
fn a_payment_that_is_not_held_any_more_takes_notes_only_and_names_who_decided() {
    let decision = |kind| ReviewAction {
        kind,
        analyst: "x".repeat(255),
        at: Timestamp::UNIX_EPOCH,
        reason: Some(7),
        note: None,
        processed: None,
    };
    for (kind, state) in [
        (ReviewActionKind::Approve, ReviewState::Approved),
        (ReviewActionKind::Cancel, ReviewState::Cancelled),
        (ReviewActionKind::Expire, ReviewState::Expired),
    ] {
        let review = QueuedReview { has_ended: true, decision: Some(decision(kind)), ..held().review };
        let ended = ReviewStatus { review, ..held() };
        assert_eq!(ended.review.state(), state);
        assert!(change(&ended, QueueChange::Note, "ann", 0).is_ok());
        let refusal = change(&ended, QueueChange::Claim, "ann", 0).unwrap_err();
        assert!(refusal.description.unwrap_or_default().chars().count() <= 255);
    }
}

#[test]
fn the_audit_has_a_bounded_number_of_notes_and_rows() {
    let many = ReviewStatus { notes: MAX_NOTES, ..held() };
    let note = |status: ReviewStatus, text: Option<&str>| {
        let note = text.map(str::to_owned);
        status.decide_change(QueueChange::Claim, ("ann".to_owned(), note), clock_after(0)).is_ok()
    };
    assert!(note(many.clone(), None) && !note(many, Some("one more")));
    assert!(!note(ReviewStatus { actions: MAX_ACTIONS, ..held() }, None));
}

#[test]
fn notes_have_no_card_numbers_and_reasons_are_numbers() {
    assert_eq!(parse_note("  called\nback ").unwrap().as_deref(), Some("called\nback"));
    assert_eq!(parse_note(" ").unwrap(), None);
    for bad in ["4200 0000 0000 0000", "a\u{1b}[2J", &"x".repeat(MAX_NOTE + 1)] {
        assert!(parse_note(bad).is_err(), "{bad}");
    }
    assert!(parse_note(&"ä".repeat(MAX_NOTE)).is_ok());
    assert_eq!(parse_cancel_reason("999999999"), Ok(999_999_999));
    for bad in ["", "-1", "+1", "1.0", "1000000000", "٣", "fraud"] {
        assert!(parse_cancel_reason(bad).is_err(), "{bad}");
    }
}
