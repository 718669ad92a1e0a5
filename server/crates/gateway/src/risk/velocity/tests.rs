//! Tests of the velocity limiter.

use std::net::IpAddr;

use jiff::SignedDuration;
use tillgate_connector::{CardSource, FullCard};
use tillgate_domain::access::entity::EntitySettings;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;

use crate::risk::velocity::*;

const NONE: VelocityLimits =
    VelocityLimits { per_checkout: 0, per_address: 0, per_bin: 0, per_entity: 0, alike_numbers: 0, sandbox_factor: 10 };
const LIMITS: VelocityLimits = VelocityLimits { per_address: 6, ..NONE };

fn create_limiter(limits: VelocityLimits) -> VelocityLimiter {
    VelocityLimiter::new(limits, Vec::new(), after_minutes(0))
}

/// Creates a merchant that is live or a sandbox. Equal numbers give equal ids.
fn create_entity(number: u8, live: bool) -> Entity {
    Entity {
        id: EntityId::new(Timestamp::UNIX_EPOCH, [number; 9]),
        name: "Bakery".to_owned(),
        live,
        level: Level::Merchant,
        parent: None,
        ahead: SignedDuration::ZERO,
        settings: EntitySettings::default(),
    }
}

/// Returns the time this many minutes after the start of the tests.
fn after_minutes(minutes: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000).unwrap() + SignedDuration::from_mins(minutes)
}

fn browser_address(text: &str) -> Option<ShopperAddress> {
    Some(ShopperAddress::Browser(text.parse().unwrap()))
}

fn reported_address(text: &str) -> Option<ShopperAddress> {
    Some(ShopperAddress::Reported(text.parse().unwrap()))
}

/// Returns a card that the shopper has typed, without a security code.
fn card_account(number: &str) -> FullAccount {
    FullAccount::Card(FullCard {
        number: CardNumber::parse(number).unwrap(),
        expiry: Expiry::parse("05", "2034").unwrap(),
        holder: None,
        security_code: None,
        cryptogram: None,
        source: CardSource::Keyed,
    })
}

fn payment_id(number: u8) -> PaymentId {
    PaymentId::new(after_minutes(0), [number; 9])
}

/// Makes attempts from one address, which all have this outcome, and returns the number before the first refusal, at
/// most 1000.
fn count_allowed(
    limiter: &VelocityLimiter,
    entity: &Entity,
    from: Option<ShopperAddress>,
    now: Timestamp,
    outcome: &AttemptOutcome,
) -> usize {
    let attempt = || limiter.begin_attempt(entity, from, &FullAccount::Unknown, now);
    (0..1000)
        .take_while(|_| attempt().map(|attempt| limiter.end_attempt(attempt, outcome.clone(), now)).is_ok())
        .count()
}

/// Returns the number of declined attempts that are allowed before the first refusal.
fn count_declines(limiter: &VelocityLimiter, entity: &Entity, from: Option<ShopperAddress>, now: Timestamp) -> usize {
    count_allowed(limiter, entity, from, now, &AttemptOutcome::Declined)
}

#[test]
fn six_declines_an_hour_are_six_at_once_and_then_one_every_ten_minutes() {
    let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
    assert_eq!(count_declines(&limiter, &entity, browser_address("192.0.2.1"), after_minutes(0)), 6);
    let refused = limiter
        .begin_attempt(&entity, browser_address("192.0.2.1"), &FullAccount::Unknown, after_minutes(4))
        .unwrap_err();
    assert_eq!((refused.status, refused.retry_after), (429, Some(6 * 60 + 1)));
    assert_eq!(count_declines(&limiter, &entity, browser_address("192.0.2.1"), after_minutes(10)), 1);
    assert_eq!(count_declines(&limiter, &entity, browser_address("192.0.2.1"), after_minutes(200)), 6);
}

#[test]
fn twenty_approvals_count_as_one_decline_and_what_did_not_happen_does_not_count() {
    let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
    // An attempt in flight is counted as a decline, so the last attempt needs capacity for one.
    assert_eq!(
        count_allowed(&limiter, &entity, browser_address("192.0.2.1"), after_minutes(0), &AttemptOutcome::Approved),
        5 * 20 + 1
    );
    assert_eq!(
        count_allowed(&limiter, &entity, browser_address("192.0.2.2"), after_minutes(0), &AttemptOutcome::NotMade),
        1000
    );
}

#[test]
fn attempts_that_are_under_way_count_as_declined_and_those_whose_client_hung_up_stay_so() {
    let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
    let begin =
        || limiter.begin_attempt(&entity, browser_address("192.0.2.1"), &FullAccount::Unknown, after_minutes(0));
    let begun: Vec<_> = (0..10).map(|_| begin()).collect();
    assert_eq!(begun.iter().filter(|attempt| attempt.is_ok()).count(), 6);
    begun
        .into_iter()
        .flatten()
        .for_each(|attempt| limiter.end_attempt(attempt, AttemptOutcome::Approved, after_minutes(0)));
    assert!(limiter.take_unsaved(after_minutes(0)).is_empty(), "approvals alone are not written");
    drop(begin());
    assert_eq!(limiter.take_unsaved(after_minutes(0)).len(), 1);
}

#[test]
fn a_pending_payment_counts_as_declined_until_it_is_approved() {
    for (approved, left) in [(true, 6), (false, 0)] {
        let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
        let begin =
            || limiter.begin_attempt(&entity, browser_address("192.0.2.1"), &FullAccount::Unknown, after_minutes(0));
        for number in 0..6 {
            limiter.end_attempt(begin().unwrap(), AttemptOutcome::Pending(payment_id(number)), after_minutes(0));
        }
        assert!(begin().is_err());
        for number in 0..6 {
            limiter.end_pending(&payment_id(number), approved, after_minutes(0));
            // A second outcome, and the outcome of an unknown payment, change nothing.
            limiter.end_pending(&payment_id(number), !approved, after_minutes(0));
            limiter.end_pending(&payment_id(200), true, after_minutes(0));
        }
        let begun = (0..10).map_while(|_| begin().ok()).count();
        assert_eq!(begun, if left == 0 { 0 } else { left - 1 }, "six approvals are less than one decline");
    }
}

#[test]
fn an_approval_after_an_hour_gives_back_nothing_that_was_declined_since() {
    let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
    let pending =
        limiter.begin_attempt(&entity, browser_address("192.0.2.1"), &FullAccount::Unknown, after_minutes(0)).unwrap();
    limiter.end_attempt(pending, AttemptOutcome::Pending(payment_id(1)), after_minutes(0));
    assert_eq!(count_declines(&limiter, &entity, browser_address("192.0.2.1"), after_minutes(90)), 6);
    limiter.end_pending(&payment_id(1), true, after_minutes(90));
    assert_eq!(count_declines(&limiter, &entity, browser_address("192.0.2.1"), after_minutes(90)), 0);
}

#[test]
fn networks_of_ipv6_count_together_with_more_room_the_wider_they_are() {
    let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
    let try_all = |addresses: &[String]| -> usize {
        addresses
            .iter()
            .map(|address| count_declines(&limiter, &entity, browser_address(address), after_minutes(0)))
            .sum()
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
    let limiter = create_limiter(LIMITS);
    assert_eq!(count_declines(&limiter, &create_entity(2, false), browser_address("192.0.2.9"), after_minutes(0)), 60);
    let free = VelocityLimiter::new(VelocityLimits { sandbox_factor: 0, ..LIMITS }, Vec::new(), after_minutes(0));
    assert_eq!(count_declines(&free, &create_entity(2, false), browser_address("192.0.2.9"), after_minutes(0)), 1000);
}

#[test]
fn an_address_that_a_merchant_tells_counts_for_that_merchant_and_its_channels_alone() {
    let (limiter, one, two) = (create_limiter(LIMITS), create_entity(1, true), create_entity(2, true));
    let channel = Entity { level: Level::Channel, parent: Some(one.id.clone()), ..create_entity(3, true) };
    assert_eq!(count_declines(&limiter, &one, reported_address("192.0.2.1"), after_minutes(0)), 6);
    assert_eq!(count_declines(&limiter, &channel, reported_address("192.0.2.1"), after_minutes(0)), 0);
    // The shopper's own browser is refused at that merchant and has its full cap at the other.
    assert_eq!(count_declines(&limiter, &one, browser_address("192.0.2.1"), after_minutes(0)), 0);
    assert_eq!(count_declines(&limiter, &two, browser_address("192.0.2.1"), after_minutes(0)), 6);
    // An address at its limit by browser requests is refused also if a merchant reports it.
    assert_eq!(count_declines(&limiter, &two, reported_address("192.0.2.1"), after_minutes(0)), 0);
}

#[test]
fn the_cards_of_one_bin_are_counted_for_each_entity_by_itself() {
    let limiter = create_limiter(VelocityLimits { per_bin: 2, per_entity: 3, ..NONE });
    let decline = |number: u8, digits: &str| {
        let attempt =
            limiter.begin_attempt(&create_entity(number, true), None, &card_account(digits), after_minutes(0));
        attempt.map(|attempt| limiter.end_attempt(attempt, AttemptOutcome::Declined, after_minutes(0))).is_ok()
    };
    assert!(decline(1, "4200000000000000") && decline(1, "4200000000000018") && !decline(1, "4200000000000026"));
    // The refused attempt was not counted: the entity has one left for another BIN, and the other entity has its full
    // cap.
    assert!(decline(1, "4242424242424242") && !decline(1, "5555555555554444"));
    assert!(decline(2, "4200000000000000"));
}

#[test]
fn changes_between_numbers_that_look_alike_count_whatever_comes_of_them() {
    let limiter = create_limiter(VelocityLimits { alike_numbers: 3, ..NONE });
    let try_number = |number: u8, digits: &str, outcome: AttemptOutcome| {
        let attempt =
            limiter.begin_attempt(&create_entity(number, true), None, &card_account(digits), after_minutes(0));
        attempt.map(|attempt| limiter.end_attempt(attempt, outcome, after_minutes(0))).is_ok()
    };
    for _ in 0..100 {
        assert!(try_number(1, "4200000000000000", AttemptOutcome::Approved), "one card again and again");
    }
    assert!(try_number(1, "4200000000180000", AttemptOutcome::Approved));
    assert!(try_number(1, "4200000000260000", AttemptOutcome::NotMade));
    for digits in ["4200000000260000", "4200000000000000", "4200000000340000"] {
        assert!(!try_number(1, digits, AttemptOutcome::Approved), "{digits}");
    }
    // Numbers with other visible digits, and those of another entity, belong to other counts.
    assert!(try_number(1, "4200000000000018", AttemptOutcome::Approved));
    assert!(try_number(2, "4200000000340000", AttemptOutcome::Approved));
}

/// Adds the changes of a limiter to stored counts at the start of the tests. Returns the counts.
fn save_changes(limiter: &VelocityLimiter, stored: &mut BTreeMap<(u8, CountName), i64>) -> Vec<VelocityCount> {
    let now = to_nanoseconds(after_minutes(0));
    for change in limiter.take_unsaved(after_minutes(0)) {
        let until = stored.entry((change.kind, change.name)).or_insert(now);
        *until = (*until).max(now) + change.cost;
    }
    stored.iter().map(|((kind, name), until)| VelocityCount { kind: *kind, name: *name, until: *until }).collect()
}

#[test]
fn a_process_counts_what_another_one_has_counted() {
    let (limiters, entity) = ([create_limiter(LIMITS), create_limiter(LIMITS)], create_entity(1, true));
    let mut stored = BTreeMap::new();
    let decline = |limiter: &VelocityLimiter| {
        let begun =
            limiter.begin_attempt(&entity, browser_address("192.0.2.1"), &FullAccount::Unknown, after_minutes(0));
        limiter.end_attempt(begun.unwrap(), AttemptOutcome::Declined, after_minutes(0));
    };
    for _ in 0..2 {
        for limiter in &limiters {
            decline(limiter);
            limiter.adopt_counts(save_changes(limiter, &mut stored), after_minutes(0));
        }
    }
    limiters[0].adopt_counts(save_changes(&limiters[0], &mut stored), after_minutes(0));
    for limiter in &limiters {
        assert_eq!(count_declines(limiter, &entity, browser_address("192.0.2.1"), after_minutes(0)), 2);
    }
}

#[test]
fn what_was_declined_is_there_again_after_a_restart_and_what_was_given_back_is_not() {
    let (before, entity) = (create_limiter(LIMITS), create_entity(1, true));
    let begin = |limiter: &VelocityLimiter| {
        limiter.begin_attempt(&entity, browser_address("192.0.2.1"), &FullAccount::Unknown, after_minutes(0))
    };
    for number in 0..3 {
        before.end_attempt(begin(&before).unwrap(), AttemptOutcome::Declined, after_minutes(0));
        before.end_attempt(begin(&before).unwrap(), AttemptOutcome::Pending(payment_id(number)), after_minutes(0));
    }
    let mut stored = BTreeMap::new();
    let saved = save_changes(&before, &mut stored);
    assert_eq!((saved.len(), before.take_unsaved(after_minutes(0)).len()), (1, 0));
    let after = VelocityLimiter::new(LIMITS, saved, after_minutes(0));
    assert_eq!(count_declines(&after, &entity, browser_address("192.0.2.1"), after_minutes(0)), 0);
    (0..3).for_each(|number| before.end_pending(&payment_id(number), true, after_minutes(0)));
    let after = VelocityLimiter::new(LIMITS, save_changes(&before, &mut stored), after_minutes(0));
    assert_eq!(count_declines(&after, &entity, browser_address("192.0.2.1"), after_minutes(0)), 2);
    // Counts that could not be written are written with the next ones.
    before.end_attempt(begin(&before).unwrap(), AttemptOutcome::Declined, after_minutes(0));
    let lost = before.take_unsaved(after_minutes(0));
    before.restore_unsaved(lost.clone());
    assert_eq!(before.take_unsaved(after_minutes(0)), lost);
}

#[test]
fn however_many_addresses_and_pending_payments_there_are_a_bounded_number_is_remembered() {
    let (limiter, entity) = (create_limiter(LIMITS), create_entity(1, true));
    for number in 0..300_000_u32 {
        let shopper = Some(ShopperAddress::Browser(IpAddr::V4(number.into())));
        let attempt = limiter.begin_attempt(&entity, shopper, &FullAccount::Unknown, after_minutes(0)).unwrap();
        let bytes = number.to_be_bytes();
        let id = PaymentId::new(after_minutes(0), [0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3]]);
        limiter.end_attempt(attempt, AttemptOutcome::Pending(id), after_minutes(0));
    }
    assert!(limiter.cache_for(SourceKind::Address).len() <= MAX_SOURCES);
    assert!(lock_mutex(&limiter.pending).len() <= MAX_PENDING && lock_mutex(&limiter.unsaved).len() <= MAX_SOURCES);
    assert_eq!(limiter.take_unsaved(after_minutes(0)).len(), BATCH);
    limiter.take_unsaved(after_minutes(61));
    assert!(lock_mutex(&limiter.pending).is_empty(), "what no longer counts is forgotten");
}
