//! Attempts that the limiter lets through.

use std::net::IpAddr;

use jiff::SignedDuration;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;

use super::*;
use crate::connector::{Entry, FullCard};
use crate::domain::entity::Settings;
use crate::domain::id::EntityId;
use crate::domain::level::Level;

const NONE: Limits =
    Limits { per_checkout: 0, per_address: 0, per_bin: 0, per_entity: 0, alike_numbers: 0, sandbox_factor: 10 };
const LIMITS: Limits = Limits { per_address: 6, ..NONE };

fn limiter(limits: Limits) -> VelocityLimiter {
    VelocityLimiter::new(limits, Vec::new(), at(0))
}

fn entity(number: u8, live: bool) -> Entity {
    Entity {
        id: EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]),
        name: "Bakery".to_owned(),
        live,
        level: Level::Merchant,
        parent: None,
        ahead: SignedDuration::ZERO,
        settings: Settings::default(),
    }
}

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap() + SignedDuration::from_mins(minutes)
}

fn browser(text: &str) -> Option<Shopper> {
    Some(Shopper::Browser(text.parse().unwrap()))
}

fn told(text: &str) -> Option<Shopper> {
    Some(Shopper::Told(text.parse().unwrap()))
}

fn card(number: &str) -> FullAccount {
    FullAccount::Card(FullCard {
        number: CardNumber::parse(number).unwrap(),
        expiry: Expiry::parse("05", "2034").unwrap(),
        holder: None,
        code: None,
        cryptogram: None,
        entry: Entry::Keyed,
    })
}

fn payment(number: u8) -> PaymentId {
    PaymentId::new(at(0), [number; 9])
}

/// The number of attempts of one address that are let through before one is not.
fn allowed(
    limiter: &VelocityLimiter,
    entity: &Entity,
    from: Option<Shopper>,
    now: Timestamp,
    outcome: &AttemptOutcome,
) -> usize {
    let attempt = || limiter.begin(entity, from, &FullAccount::Unknown, now);
    (0..1000).take_while(|_| attempt().map(|attempt| limiter.end(attempt, outcome.clone(), now)).is_ok()).count()
}

fn declines(limiter: &VelocityLimiter, entity: &Entity, from: Option<Shopper>, now: Timestamp) -> usize {
    allowed(limiter, entity, from, now, &AttemptOutcome::Declined)
}

#[test]
fn six_declines_an_hour_are_six_at_once_and_then_one_every_ten_minutes() {
    let (limiter, entity) = (limiter(LIMITS), entity(1, true));
    assert_eq!(declines(&limiter, &entity, browser("192.0.2.1"), at(0)), 6);
    let refused = limiter.begin(&entity, browser("192.0.2.1"), &FullAccount::Unknown, at(4)).unwrap_err();
    assert_eq!((refused.status, refused.retry_after), (429, Some(6 * 60 + 1)));
    assert_eq!(declines(&limiter, &entity, browser("192.0.2.1"), at(10)), 1);
    assert_eq!(declines(&limiter, &entity, browser("192.0.2.1"), at(200)), 6);
}

#[test]
fn twenty_approvals_count_as_one_decline_and_what_did_not_happen_does_not_count() {
    let (limiter, entity) = (limiter(LIMITS), entity(1, true));
    // The last one is taken for a decline while it is under way, so there has to be room for one.
    assert_eq!(allowed(&limiter, &entity, browser("192.0.2.1"), at(0), &AttemptOutcome::Approved), 5 * 20 + 1);
    assert_eq!(allowed(&limiter, &entity, browser("192.0.2.2"), at(0), &AttemptOutcome::NotMade), 1000);
}

#[test]
fn attempts_that_are_under_way_count_as_declined_and_those_whose_client_hung_up_stay_so() {
    let (limiter, entity) = (limiter(LIMITS), entity(1, true));
    let begin = || limiter.begin(&entity, browser("192.0.2.1"), &FullAccount::Unknown, at(0));
    let begun: Vec<_> = (0..10).map(|_| begin()).collect();
    assert_eq!(begun.iter().filter(|attempt| attempt.is_ok()).count(), 6);
    begun.into_iter().flatten().for_each(|attempt| limiter.end(attempt, AttemptOutcome::Approved, at(0)));
    assert!(limiter.take_unsaved(at(0)).is_empty(), "approvals alone are not written");
    drop(begin());
    assert_eq!(limiter.take_unsaved(at(0)).len(), 1);
}

#[test]
fn a_pending_payment_counts_as_declined_until_it_is_approved() {
    for (approved, left) in [(true, 6), (false, 0)] {
        let (limiter, entity) = (limiter(LIMITS), entity(1, true));
        let begin = || limiter.begin(&entity, browser("192.0.2.1"), &FullAccount::Unknown, at(0));
        for number in 0..6 {
            limiter.end(begin().unwrap(), AttemptOutcome::Pending(payment(number)), at(0));
        }
        assert!(begin().is_err());
        for number in 0..6 {
            limiter.end_pending(&payment(number), approved, at(0));
            // A second end, and one of a payment that nobody knows, change nothing.
            limiter.end_pending(&payment(number), !approved, at(0));
            limiter.end_pending(&payment(200), true, at(0));
        }
        let begun = (0..10).map_while(|_| begin().ok()).count();
        assert_eq!(begun, if left == 0 { 0 } else { left - 1 }, "six approvals are less than one decline");
    }
}

#[test]
fn an_approval_after_an_hour_gives_back_nothing_that_was_declined_since() {
    let (limiter, entity) = (limiter(LIMITS), entity(1, true));
    let pending = limiter.begin(&entity, browser("192.0.2.1"), &FullAccount::Unknown, at(0)).unwrap();
    limiter.end(pending, AttemptOutcome::Pending(payment(1)), at(0));
    assert_eq!(declines(&limiter, &entity, browser("192.0.2.1"), at(90)), 6);
    limiter.end_pending(&payment(1), true, at(90));
    assert_eq!(declines(&limiter, &entity, browser("192.0.2.1"), at(90)), 0);
}

#[test]
fn networks_of_ipv6_count_together_with_more_room_the_wider_they_are() {
    let (limiter, entity) = (limiter(LIMITS), entity(1, true));
    let try_all = |addresses: &[String]| -> usize {
        addresses.iter().map(|address| declines(&limiter, &entity, browser(address), at(0))).sum()
    };
    assert_eq!(try_all(&["2001:db8::1".to_owned(), "2001:db8::ffff:1".to_owned()]), 6, "one /64");
    let of_56: Vec<String> = (0..256).map(|net| format!("2001:db8:1:{net:x}::1")).collect();
    assert_eq!(try_all(&of_56), 4 * 6, "one /56");
    let of_48: Vec<String> = (0..256).map(|net| format!("2001:db8:2:{net:x}00::1")).collect();
    assert_eq!(try_all(&of_48), 16 * 6, "one /48");
    assert_eq!(try_all(&["2001:db8:3::1".to_owned()]), 6, "another one");
}

#[test]
fn a_sandbox_may_more() {
    let limiter = limiter(LIMITS);
    assert_eq!(declines(&limiter, &entity(2, false), browser("192.0.2.9"), at(0)), 60);
    let free = VelocityLimiter::new(Limits { sandbox_factor: 0, ..LIMITS }, Vec::new(), at(0));
    assert_eq!(declines(&free, &entity(2, false), browser("192.0.2.9"), at(0)), 1000);
}

#[test]
fn an_address_that_a_merchant_tells_counts_for_that_merchant_and_its_channels_alone() {
    let (limiter, one, two) = (limiter(LIMITS), entity(1, true), entity(2, true));
    let channel = Entity { level: Level::Channel, parent: Some(one.id.clone()), ..entity(3, true) };
    assert_eq!(declines(&limiter, &one, told("192.0.2.1"), at(0)), 6);
    assert_eq!(declines(&limiter, &channel, told("192.0.2.1"), at(0)), 0);
    // The shopper's own browser: no more at that merchant, and all of its room elsewhere.
    assert_eq!(declines(&limiter, &one, browser("192.0.2.1"), at(0)), 0);
    assert_eq!(declines(&limiter, &two, browser("192.0.2.1"), at(0)), 6);
    // What browsers did counts for everybody, also where a merchant tells it.
    assert_eq!(declines(&limiter, &two, told("192.0.2.1"), at(0)), 0);
}

#[test]
fn the_cards_of_one_bin_are_counted_for_each_entity_by_itself() {
    let limiter = limiter(Limits { per_bin: 2, per_entity: 3, ..NONE });
    let decline = |number: u8, digits: &str| {
        let attempt = limiter.begin(&entity(number, true), None, &card(digits), at(0));
        attempt.map(|attempt| limiter.end(attempt, AttemptOutcome::Declined, at(0))).is_ok()
    };
    assert!(decline(1, "4200000000000000") && decline(1, "4200000000000018") && !decline(1, "4200000000000026"));
    // The refused one did not count: the entity has one left for another BIN, and another entity all of its own.
    assert!(decline(1, "4242424242424242") && !decline(1, "5555555555554444"));
    assert!(decline(2, "4200000000000000"));
}

#[test]
fn changes_between_numbers_that_look_alike_count_whatever_comes_of_them() {
    let limiter = limiter(Limits { alike_numbers: 3, ..NONE });
    let try_number = |number: u8, digits: &str, outcome: AttemptOutcome| {
        let attempt = limiter.begin(&entity(number, true), None, &card(digits), at(0));
        attempt.map(|attempt| limiter.end(attempt, outcome, at(0))).is_ok()
    };
    for _ in 0..100 {
        assert!(try_number(1, "4200000000000000", AttemptOutcome::Approved), "one card again and again");
    }
    assert!(try_number(1, "4200000000180000", AttemptOutcome::Approved));
    assert!(try_number(1, "4200000000260000", AttemptOutcome::NotMade));
    for digits in ["4200000000260000", "4200000000000000", "4200000000340000"] {
        assert!(!try_number(1, digits, AttemptOutcome::Approved), "{digits}");
    }
    // Numbers that look otherwise, and another entity's, are none of these.
    assert!(try_number(1, "4200000000000018", AttemptOutcome::Approved));
    assert!(try_number(2, "4200000000340000", AttemptOutcome::Approved));
}

#[test]
fn what_was_declined_is_there_again_after_a_restart_and_what_was_given_back_is_not() {
    let (before, entity) = (limiter(LIMITS), entity(1, true));
    let begin = |limiter: &VelocityLimiter| limiter.begin(&entity, browser("192.0.2.1"), &FullAccount::Unknown, at(0));
    for number in 0..3 {
        before.end(begin(&before).unwrap(), AttemptOutcome::Declined, at(0));
        before.end(begin(&before).unwrap(), AttemptOutcome::Pending(payment(number)), at(0));
    }
    let saved = before.take_unsaved(at(0));
    assert_eq!((saved.len(), before.take_unsaved(at(0)).len()), (1, 0));
    let after = VelocityLimiter::new(LIMITS, saved, at(0));
    assert_eq!(declines(&after, &entity, browser("192.0.2.1"), at(0)), 0);
    (0..3).for_each(|number| before.end_pending(&payment(number), true, at(0)));
    let after = VelocityLimiter::new(LIMITS, before.take_unsaved(at(0)), at(0));
    assert_eq!(declines(&after, &entity, browser("192.0.2.1"), at(0)), 2);
    // What could not be written is written with the next ones.
    before.end(begin(&before).unwrap(), AttemptOutcome::Declined, at(0));
    let lost = before.take_unsaved(at(0));
    before.put_back(lost.clone());
    assert_eq!(before.take_unsaved(at(0)), lost);
}

#[test]
fn however_many_addresses_and_pending_payments_there_are_a_bounded_number_is_remembered() {
    let (limiter, entity) = (limiter(LIMITS), entity(1, true));
    for number in 0..300_000_u32 {
        let shopper = Some(Shopper::Browser(IpAddr::V4(number.into())));
        let attempt = limiter.begin(&entity, shopper, &FullAccount::Unknown, at(0)).unwrap();
        let bytes = number.to_be_bytes();
        let id = PaymentId::new(at(0), [0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3]]);
        limiter.end(attempt, AttemptOutcome::Pending(id), at(0));
    }
    assert!(limiter.cache(Kind::Address).len() <= REMEMBERED);
    assert!(lock(&limiter.pending).len() <= PENDING && lock(&limiter.unsaved).len() <= REMEMBERED);
    assert_eq!(limiter.take_unsaved(at(0)).len(), BATCH);
    limiter.take_unsaved(at(61));
    assert!(lock(&limiter.pending).is_empty(), "what no longer counts is forgotten");
}
