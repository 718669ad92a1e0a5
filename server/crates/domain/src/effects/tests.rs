//! Properties of the effects, over random histories of payments.

use proptest::prelude::*;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};

use super::*;
use crate::id::{DisputeId, PaymentId, RegistrationId};
use crate::payment::sample::sample_payment;
use crate::payment::{Account, NOTIFICATION_URL, PaymentType, Redirect};
use crate::registration::RegistrationEnd;
use crate::review::{PaymentReview, ReviewStage};
use crate::risk::{PaymentRisk, RiskDecision, RiskOutcome};
use crate::three_ds::{ThreeDsSession, ThreeDsVersion};

/// A possible change of a payment in one write. The result changes only while the payment is pending. A held
/// payment that becomes pending was sent to its connector, and is not held again.
#[derive(Debug, Clone, Copy)]
enum PaymentChange {
    Same,
    Announce,
    Abandon,
    AskConnector,
    ForgetRedirect,
    CheckRisk,
    End(ResultCode),
}

impl PaymentChange {
    /// Returns the payment after the change. An end changes only a pending payment, and announces it.
    fn apply_to(self, payment: &Payment) -> Payment {
        let mut next = payment.clone();
        match self {
            Self::Same => {}
            Self::Announce => next.unannounced = false,
            Self::Abandon => next.redirect.iter_mut().for_each(|redirect| redirect.abandoned = true),
            Self::AskConnector => next.redirect.iter_mut().for_each(|page| page.asked = Some(payment.created)),
            Self::ForgetRedirect => next.redirect = None,
            Self::CheckRisk => next.risk.get_or_insert_default().decision = make_checked_risk().decision,
            Self::End(result) if result == codes::RISK_HELD && payment.review().is_some() => {}
            Self::End(result) if payment.result.is_pending() => {
                next.result = result;
                next.unannounced = false;
                if payment.is_held() || next.is_held() {
                    let review = PaymentReview::new(ReviewStage::NotExecuted);
                    let review = PaymentReview { since: Some(payment.created), ..review };
                    next.risk.get_or_insert_default().review = Some(review);
                }
            }
            Self::End(_) => {}
        }
        next
    }
}

fn entity_id() -> EntityId {
    EntityId::new(Timestamp::UNIX_EPOCH, [1; 9])
}

fn checkout_id() -> CheckoutId {
    CheckoutId::new(Timestamp::UNIX_EPOCH, [2; 10], "tx01")
}

fn make_checked_risk() -> Box<PaymentRisk> {
    let decision = Some(RiskDecision::of_outcome(RiskOutcome::Review));
    Box::new(PaymentRisk { decision, ..PaymentRisk::default() })
}

fn has_decision(payment: &Payment) -> bool {
    payment.risk.as_ref().is_some_and(|risk| risk.decision.is_some())
}

/// Creates the session of an authentication that has just begun.
fn sample_session() -> ThreeDsSession {
    ThreeDsSession::with_challenge(ThreeDsVersion::V21, "1".to_owned())
}

/// Creates a redirect to a page of the brand, or to the authentication of the cardholder.
fn create_redirect(is_authenticated: bool) -> Redirect {
    Redirect {
        url: "https://brand.example/".to_owned(),
        method: "GET".to_owned(),
        parameters: Vec::new(),
        preconditions: Vec::new(),
        result_url: String::new(),
        shop_origin: None,
        page: None,
        abandoned: false,
        authentication: is_authenticated.then(sample_session),
        asked: None,
    }
}

prop_compose! {
    /// Generates a first version of a payment, which may be unannounced only while it is pending.
    fn payments()(
        result in prop::sample::select(
            vec![codes::PENDING, codes::RISK_HELD, codes::TEST_INTERNAL, codes::CARD_EXPIRED],
        ),
        risk in prop::sample::select(vec![None, Some(Box::default()), Some(make_checked_risk())]),
        is_redirected in any::<bool>(),
        is_external in any::<bool>(),
        is_authenticated in any::<bool>(),
        in_checkout in any::<bool>(),
        refers in any::<bool>(),
        names_address in any::<bool>(),
        is_unannounced in any::<bool>(),
        created in 0..1_000_000_i64,
    ) -> Payment {
        let mut parameters = Parameters::default();
        if names_address {
            parameters.set(NOTIFICATION_URL, "https://shop.example/notify");
        }
        Payment {
            entity: entity_id(),
            checkout: in_checkout.then(checkout_id),
            referenced: refers.then(|| PaymentId::new(Timestamp::UNIX_EPOCH, [4; 9])),
            created: Timestamp::from_second(created).unwrap(),
            redirect: is_redirected.then(|| create_redirect(is_authenticated)),
            parameters,
            connector: is_external.then(|| "host".to_owned()),
            unannounced: is_unannounced && result == codes::PENDING,
            risk,
            ..sample_payment(3, Timestamp::UNIX_EPOCH, result)
        }
    }
}

/// Generates up to seven changes.
fn random_changes() -> impl Strategy<Value = Vec<PaymentChange>> {
    let change = prop_oneof![
        Just(PaymentChange::Same),
        Just(PaymentChange::Announce),
        Just(PaymentChange::Abandon),
        Just(PaymentChange::AskConnector),
        Just(PaymentChange::ForgetRedirect),
        Just(PaymentChange::CheckRisk),
        prop::sample::select(vec![
            codes::TEST_INTERNAL,
            codes::CARD_EXPIRED,
            codes::TIMED_OUT,
            codes::RISK_HELD,
            codes::PENDING,
        ])
        .prop_map(PaymentChange::End),
    ];
    prop::collection::vec(change, 0..8)
}

/// Returns the payment after each write, including the first one.
fn apply_changes(first: Payment, changes: &[PaymentChange]) -> Vec<Payment> {
    let mut versions = vec![first];
    for change in changes {
        versions.extend(versions.last().map(|payment| change.apply_to(payment)));
    }
    versions
}

/// Returns the effects of each write of a history.
fn effects_of_writes(versions: &[Payment]) -> Vec<PaymentEffects> {
    let before = std::iter::once(None).chain(versions.iter().map(|version| Some(EarlierState::from(version))));
    before.zip(versions).map(|(before, after)| compute_payment_effects(before.as_ref(), after)).collect()
}

proptest! {
    #[test]
    fn webhooks_know_the_result_of_an_announced_payment_and_are_told_once_of_each(
        first in payments(), changes in random_changes(),
    ) {
        let versions = apply_changes(first, &changes);
        let (mut reported, mut was_held) = (None, false);
        for (payment, effects) in versions.iter().zip(effects_of_writes(&versions)) {
            was_held |= payment.is_held();
            if let Some(event) = effects.event {
                prop_assert_eq!(event == Event::PaymentCreated, reported.is_none());
                prop_assert_ne!(reported, Some(payment.result));
                reported = Some(payment.result);
            }
            // A held payment stays held for them until it has its final result.
            let is_sent = was_held && payment.result == codes::PENDING;
            let known = if is_sent { codes::RISK_HELD } else { payment.result };
            prop_assert_eq!(reported, (!payment.unannounced).then_some(known));
        }
    }

    #[test]
    fn webhooks_are_told_once_of_a_risk_check_and_once_of_the_result_of_a_held_payment(
        first in payments(), changes in random_changes(),
    ) {
        let versions = apply_changes(first, &changes);
        let decided = versions.iter().position(has_decision);
        let has_ended = |pair: &[Payment]| {
            has_decision(&pair[0]) && pair[0].result.is_pending() && !pair[1].result.is_pending()
        };
        for (index, effects) in effects_of_writes(&versions).into_iter().enumerate() {
            let was_held = versions[..index].iter().any(Payment::is_held);
            let is_reviewed = was_held && has_ended(&versions[index - 1..=index]);
            let expected = match decided {
                Some(decided) if decided == index => Some(Event::RiskCreated),
                _ => is_reviewed.then_some(Event::RiskUpdated),
            };
            prop_assert_eq!(effects.risk_event, expected);
        }
    }

    #[test]
    fn a_merchant_is_notified_of_a_follow_up_and_once_of_an_outcome_that_is_notified(
        first in payments(), changes in random_changes(),
    ) {
        let versions = apply_changes(first, &changes);
        let first = &versions[0];
        let ended = |pair: &[Payment]| pair[0].result.is_pending() && !pair[1].result.is_pending();
        let ends = versions.windows(2).position(ended).map(|index| index + 1);
        let announced = versions.iter().position(|payment| !payment.unannounced);
        // A follow-up payment that is announced together with its outcome causes one notification.
        let of_follow_up = usize::from(first.referenced.is_some() && announced.is_some() && announced != ends);
        let of_outcome = usize::from(ends.is_some());
        let has_address = first.parameters.get(NOTIFICATION_URL).is_some();
        let expected = if has_address { of_follow_up + of_outcome } else { 0 };
        let sent = effects_of_writes(&versions).into_iter().filter_map(|effects| effects.notification);
        prop_assert_eq!(sent.count(), expected);
    }

    #[test]
    fn a_payment_is_booked_once_when_it_is_approved(first in payments(), changes in random_changes()) {
        let versions = apply_changes(first, &changes);
        let approved = versions.iter().position(Payment::is_approved);
        let before = std::iter::once(None).chain(versions.iter().map(|version| Some(EarlierState::from(version))));
        for (index, (before, after)) in before.zip(&versions).enumerate() {
            let booking = payment_booking(before.as_ref(), after).map(|booking| booking.time);
            let time = if index == 0 { BookingTime::Creation(after.created) } else { BookingTime::Write };
            prop_assert_eq!(booking, (approved == Some(index)).then_some(time));
        }
    }

    #[test]
    fn a_chargeback_opens_a_dispute_and_its_reversal_ends_it_once(charged in payments()) {
        let make = |number, payment_type, referenced: &Payment| {
            let (id, referenced) = (PaymentId::new(Timestamp::UNIX_EPOCH, [number; 9]), Some(referenced.id.clone()));
            let result = codes::TEST_INTERNAL;
            Payment { id, payment_type, referenced, result, ..charged.clone() }
        };
        prop_assert!(concerned_chargeback(&charged).is_none());
        let payment = make(7, PaymentType::Chargeback, &charged);
        let reversal = make(8, PaymentType::ChargebackReversal, &payment);
        prop_assert_eq!(concerned_chargeback(&reversal), Some(&payment.id));
        prop_assert!(matches!(compute_dispute_effect(&reversal, None), DisputeEffect::Unchanged));
        prop_assert!(
            matches!(compute_dispute_effect(&payment, None), DisputeEffect::ChargedBack(id) if *id == charged.id)
        );
        let new_id = DisputeId::new(Timestamp::UNIX_EPOCH, [9; 9]);
        let chargeback = Chargeback { payment: &payment, charged: &charged, follow_ups: &[], open: None, new_id };
        let opened = chargeback.move_dispute().unwrap();
        prop_assert_eq!(dispute_event(&opened), Event::DisputeCreated);
        prop_assert!(matches!(compute_dispute_effect(&payment, Some(&opened)), DisputeEffect::Unchanged));
        let DisputeEffect::Moved(ended) = compute_dispute_effect(&reversal, Some(&opened)) else {
            return Err(TestCaseError::fail("the reversal ends the dispute"));
        };
        prop_assert_eq!(dispute_event(&ended), Event::DisputeUpdated);
        prop_assert!(ended.position.stage.has_ended() && ended.reversal.as_ref() == Some(&reversal.id));
        prop_assert!(matches!(compute_dispute_effect(&reversal, Some(&ended)), DisputeEffect::Unchanged));
        let declined = Payment { result: codes::CARD_EXPIRED, ..payment.clone() };
        prop_assert!(concerned_chargeback(&declined).is_none());
        prop_assert!(matches!(compute_dispute_effect(&declined, None), DisputeEffect::Unchanged));
    }

    #[test]
    fn a_review_is_open_while_its_payment_is_held(first in payments(), changes in random_changes()) {
        let versions = apply_changes(first, &changes);
        let mut is_open = false;
        for (payment, effects) in versions.iter().zip(effects_of_writes(&versions)) {
            match effects.review_timer {
                TimerEffect::Start(_) => {
                    prop_assert!(!is_open);
                    is_open = true;
                }
                TimerEffect::Stop => {
                    prop_assert!(is_open);
                    is_open = false;
                }
                TimerEffect::Unchanged => {}
            }
            prop_assert_eq!(is_open, payment.is_held());
        }
    }

    #[test]
    fn an_outcome_is_looked_up_while_an_external_connector_owes_one(
        first in payments(), changes in random_changes(),
    ) {
        let versions = apply_changes(first, &changes);
        let mut is_running = false;
        for (payment, effects) in versions.iter().zip(effects_of_writes(&versions)) {
            match effects.inquiry_timer {
                TimerEffect::Start(AtWrite) => {
                    prop_assert!(!is_running);
                    is_running = true;
                }
                TimerEffect::Stop => {
                    prop_assert!(is_running);
                    is_running = false;
                }
                TimerEffect::Unchanged => {}
            }
            prop_assert_eq!(is_running, payment.can_be_inquired());
            prop_assert!(is_running || !payment.awaits_connector());
        }
    }

    #[test]
    fn the_timer_that_ends_a_payment_runs_since_its_beginning_while_it_waits(
        first in payments(), changes in random_changes(),
    ) {
        let versions = apply_changes(first, &changes);
        let mut running = None;
        for (payment, effects) in versions.iter().zip(effects_of_writes(&versions)) {
            let stopped = running.is_some() && effects.end_timer == TimerEffect::Stop;
            match effects.end_timer {
                TimerEffect::Start(since) => running = running.or(Some(since)),
                TimerEffect::Stop => running = None,
                TimerEffect::Unchanged => {}
            }
            prop_assert_eq!(running, payment.awaits_shopper().then_some(payment.created));
            if stopped && !payment.awaits_outcome() {
                prop_assert_eq!(effects.resumed_reminder.as_ref(), payment.checkout.as_ref());
            }
        }
    }

    #[test]
    fn a_reminder_is_about_the_last_attempt_and_keeps_an_address_that_was_named(
        named in prop::collection::vec(any::<bool>(), 1..6),
    ) {
        let mut checkout =
            Checkout::new(checkout_id(), entity_id(), Timestamp::UNIX_EPOCH, String::new(), Parameters::default());
        let mut running: Option<Reminder> = None;
        for (number, is_named) in (1_u8..).zip(&named) {
            checkout.attempts += 1;
            checkout.attempt = Some(PaymentId::new(Timestamp::UNIX_EPOCH, [number; 9]));
            let since = Timestamp::from_second(number.into()).unwrap();
            let address = is_named.then(|| format!("https://shop.example/{number}"));
            let reminder = Reminder::from_attempt(&checkout, address, since, false);
            let earlier = running.as_ref().and_then(|reminder| reminder.address.clone());
            running = reminder.and_then(|reminder| reminder.replace_earlier(earlier)).or(running);
            let latest = named[..number.into()].iter().rposition(|is_named| *is_named);
            let expected = latest.map(|index| format!("https://shop.example/{}", index + 1));
            prop_assert_eq!(running.as_ref().and_then(|reminder| reminder.address.clone()), expected);
            if let Some(reminder) = &running {
                prop_assert_eq!(Some(&reminder.attempt[..]), checkout.last_attempt_id());
                prop_assert_eq!(reminder.since, since);
            }
        }
    }
}

#[test]
fn webhooks_are_told_of_registrations_that_hold_an_account_and_of_their_end() {
    let stored = Registration {
        id: RegistrationId::new(Timestamp::UNIX_EPOCH, [1; 9]),
        entity: entity_id(),
        checkout: None,
        ndc: None,
        created: Timestamp::UNIX_EPOCH,
        brand: "VISA".to_owned(),
        result: codes::TEST_INTERNAL,
        account: Account::Unknown,
        initial: None,
        retained_until: None,
        ended: None,
        parameters: Parameters::default(),
        from_browser: None,
    };
    let rejected = Registration { result: codes::CARD_EXPIRED, ..stored.clone() };
    assert_eq!(registration_event(None, &stored), Some(Event::RegistrationCreated));
    assert_eq!(registration_event(None, &rejected), None);
    assert_eq!(registration_event(Some(&stored), &stored), Some(Event::RegistrationUpdated));
    for end in [RegistrationEnd::Deregistered, RegistrationEnd::Expired] {
        assert_eq!(registration_event(Some(&stored), &stored.as_ended(end)), Some(Event::RegistrationDeleted));
    }
}
