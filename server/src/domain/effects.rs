//! What follows from a change: the events that webhooks are told, the notification that a merchant is sent, and the timers that
//! start and stop. Pure: from what was there before and what is there now.
//!
//! The store calls these functions inside the write, and writes what they return in the same transaction.

use jiff::Timestamp;

use super::checkout::Checkout;
use super::id::{CheckoutId, EntityId};
use super::payment::Payment;
use super::registration::Registration;

/// An event that webhooks are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A payment was made, with whatever result.
    PaymentCreated,
    /// The result of a payment changed.
    PaymentUpdated,
    /// An account was stored.
    RegistrationCreated,
    /// A registration changed.
    RegistrationUpdated,
    /// A registration ended: its merchant deleted it, or its retention was over.
    RegistrationDeleted,
}

impl Event {
    /// Its name in the log of a webhook and in the payload, such as `PAYMENT CREATED`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PaymentCreated => "PAYMENT CREATED",
            Self::PaymentUpdated => "PAYMENT UPDATED",
            Self::RegistrationCreated => "REGISTRATION CREATED",
            Self::RegistrationUpdated => "REGISTRATION UPDATED",
            Self::RegistrationDeleted => "REGISTRATION DELETED",
        }
    }

    /// The type that a webhook lists to be told of it.
    pub fn listed_as(self) -> &'static str {
        match self {
            Self::PaymentCreated | Self::PaymentUpdated => "PAYMENT",
            Self::RegistrationCreated | Self::RegistrationUpdated | Self::RegistrationDeleted => "REGISTRATION",
        }
    }
}

/// Effect on the timer that ends a pending payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndTimer {
    /// Nothing changes.
    Stays,
    /// It runs since this moment of the entity's clock, unless it runs already.
    Runs(Timestamp),
    /// It is deleted.
    Stops,
}

/// Effects of the write of a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentEffects {
    /// The event, if webhooks are told.
    pub event: Option<Event>,
    /// The address that is asked for, if the merchant is notified.
    pub notification: Option<String>,
    /// The timer that ends the payment.
    pub end_timer: EndTimer,
    /// Checkout whose reminder of this payment was waiting, and runs from now on.
    pub released: Option<CheckoutId>,
}

/// Effects of the write of a payment: `before` is `None` if it is new.
pub fn of_payment(before: Option<&Payment>, after: &Payment) -> PaymentEffects {
    let was_pending = before.is_some_and(|before| before.result.is_pending());
    let event = match before {
        None => Some(Event::PaymentCreated),
        Some(before) if before.result != after.result => Some(Event::PaymentUpdated),
        Some(_) => None,
    };
    // A new payment is returned in the response, so only later outcomes and follow-up payments are notified.
    let comes_later = match before {
        None => after.referenced.is_some(),
        Some(_) => was_pending && !after.result.is_pending(),
    };
    let end_timer = match (after.waits(), was_pending) {
        (true, _) => EndTimer::Runs(after.created),
        (false, true) => EndTimer::Stops,
        (false, false) => EndTimer::Stays,
    };
    PaymentEffects {
        event,
        notification: if comes_later { after.notification() } else { None },
        end_timer,
        released: if end_timer == EndTimer::Stops { after.checkout.clone() } else { None },
    }
}

/// Returns the event of the write of a registration: `before` is `None` if it is new. A rejected one is not stored, and nobody is
/// told of it.
pub fn of_registration(before: Option<&Registration>, after: &Registration) -> Option<Event> {
    match before {
        None => after.approved().then_some(Event::RegistrationCreated),
        Some(_) if after.ended.is_some() => Some(Event::RegistrationDeleted),
        Some(_) => Some(Event::RegistrationUpdated),
    }
}

/// A reminder of a submit whose outcome the merchant has not asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reminder {
    /// The checkout; it has one reminder at most.
    pub checkout: CheckoutId,
    /// Its entity.
    pub entity: EntityId,
    /// The id of the attempt: a payment's or a registration's.
    pub attempt: String,
    /// The moment of the attempt, by the clock of the entity.
    pub since: Timestamp,
    /// Address at which the merchant is reminded. `None` if this attempt names none.
    pub address: Option<String>,
    /// True while the shopper of the attempt is with the issuer or on a brand's page. The time does not run meanwhile.
    pub waits: bool,
}

impl Reminder {
    /// Returns the reminder of the last attempt of a checkout. `None` if there is no attempt, or if it is the first one and
    /// names no address.
    pub fn of_attempt(checkout: &Checkout, address: Option<String>, since: Timestamp, waits: bool) -> Option<Self> {
        let attempt = checkout.last_attempt().filter(|_| address.is_some() || checkout.attempts > 1)?.to_owned();
        let (entity, checkout) = (checkout.entity.clone(), checkout.id.clone());
        Some(Self { checkout, entity, attempt, since, address, waits })
    }

    /// Returns the reminder that takes the place of an earlier attempt's, whose address serves if this one has none: `earlier` is
    /// that address, or `None` if no reminder runs. Returns `None` if nobody named an address.
    pub fn in_place_of(self, earlier: Option<String>) -> Option<Self> {
        let address = Some(self.address.or(earlier)?);
        Some(Self { address, ..self })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tillgate_shared::money::{Amount, Currency};
    use tillgate_shared::parameter::Parameters;
    use tillgate_shared::result::{ResultCode, codes};

    use super::*;
    use crate::domain::id::{PaymentId, RegistrationId};
    use crate::domain::payment::{Account, NOTIFICATION_URL, PaymentType, Redirect};
    use crate::domain::registration::Ended;

    /// What may become of a payment in one write. Its result changes only while it is pending.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Same,
        Abandon,
        ForgetRedirect,
        End(ResultCode),
    }

    impl Step {
        fn apply(self, payment: &Payment) -> Payment {
            let mut next = payment.clone();
            match self {
                Self::Same => {}
                Self::Abandon => next.redirect.iter_mut().for_each(|redirect| redirect.abandoned = true),
                Self::ForgetRedirect => next.redirect = None,
                Self::End(result) if payment.result.is_pending() => next.result = result,
                Self::End(_) => {}
            }
            next
        }
    }

    fn entity() -> EntityId {
        EntityId::new(Timestamp::UNIX_EPOCH, [1; 9])
    }

    fn checkout() -> CheckoutId {
        CheckoutId::new(Timestamp::UNIX_EPOCH, [2; 10], "tx01")
    }

    fn redirect() -> Redirect {
        Redirect {
            url: "https://brand.example/".to_owned(),
            method: "GET".to_owned(),
            parameters: Vec::new(),
            preconditions: Vec::new(),
            result_url: String::new(),
            shop_origin: None,
            page: None,
            abandoned: false,
            authentication: None,
        }
    }

    prop_compose! {
        fn payments()(
            result in prop::sample::select(vec![codes::PENDING, codes::TEST_INTERNAL, codes::CARD_EXPIRED]),
            is_redirected in any::<bool>(),
            in_checkout in any::<bool>(),
            refers in any::<bool>(),
            names_address in any::<bool>(),
            created in 0..1_000_000_i64,
        ) -> Payment {
            let id = PaymentId::new(Timestamp::UNIX_EPOCH, [3; 9]);
            let mut parameters = Parameters::default();
            if names_address {
                parameters.set(NOTIFICATION_URL, "https://shop.example/told");
            }
            Payment {
                id,
                entity: entity(),
                checkout: in_checkout.then(checkout),
                ndc: None,
                referenced: refers.then(|| PaymentId::new(Timestamp::UNIX_EPOCH, [4; 9])),
                registration: None,
                created: Timestamp::from_second(created).unwrap(),
                payment_type: PaymentType::Debit,
                brand: "VISA".to_owned(),
                amount: Amount::parse("92.00", Currency::parse("EUR").unwrap()).unwrap(),
                result,
                avs: None,
                cvv: None,
                details: BTreeMap::new(),
                redirect: is_redirected.then(redirect),
                pay_to: None,
                descriptor: String::new(),
                account: Account::Unknown,
                parameters,
                connector: None,
                connector_tx_ids: Vec::new(),
                shares: None,
            }
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            Just(Step::Same),
            Just(Step::Abandon),
            Just(Step::ForgetRedirect),
            prop::sample::select(vec![codes::TEST_INTERNAL, codes::CARD_EXPIRED, codes::TIMED_OUT]).prop_map(Step::End),
        ];
        prop::collection::vec(step, 0..8)
    }

    /// The payment after each write, the first one included.
    fn history(first: Payment, steps: &[Step]) -> Vec<Payment> {
        let mut versions = vec![first];
        for step in steps {
            versions.extend(versions.last().map(|payment| step.apply(payment)));
        }
        versions
    }

    /// The effects of each write of a history.
    fn effects(versions: &[Payment]) -> Vec<PaymentEffects> {
        let before = std::iter::once(None).chain(versions.iter().map(Some));
        before.zip(versions).map(|(before, after)| of_payment(before, after)).collect()
    }

    proptest! {
        #[test]
        fn webhooks_are_told_of_the_first_write_and_of_each_change_of_the_result(
            first in payments(), steps in steps(),
        ) {
            let versions = history(first, &steps);
            let events: Vec<Option<Event>> = effects(&versions).into_iter().map(|effects| effects.event).collect();
            prop_assert_eq!(events[0], Some(Event::PaymentCreated));
            for (pair, event) in versions.windows(2).zip(&events[1..]) {
                let expected = (pair[0].result != pair[1].result).then_some(Event::PaymentUpdated);
                prop_assert_eq!(*event, expected);
            }
        }

        #[test]
        fn a_merchant_is_notified_of_a_follow_up_and_once_of_an_outcome_that_comes_later(
            first in payments(), steps in steps(),
        ) {
            let versions = history(first, &steps);
            let (first, last) = (&versions[0], &versions[versions.len() - 1]);
            let of_follow_up = usize::from(first.referenced.is_some());
            let of_outcome = usize::from(first.result.is_pending() && !last.result.is_pending());
            let named = first.parameters.get(NOTIFICATION_URL).is_some();
            let expected = if named { of_follow_up + of_outcome } else { 0 };
            let sent = effects(&versions).into_iter().filter_map(|effects| effects.notification);
            prop_assert_eq!(sent.count(), expected);
        }

        #[test]
        fn the_timer_that_ends_a_payment_runs_since_its_beginning_while_it_waits(
            first in payments(), steps in steps(),
        ) {
            let versions = history(first, &steps);
            let mut running = None;
            for (payment, effects) in versions.iter().zip(effects(&versions)) {
                let stopped = running.is_some() && effects.end_timer == EndTimer::Stops;
                match effects.end_timer {
                    EndTimer::Runs(since) => running = running.or(Some(since)),
                    EndTimer::Stops => running = None,
                    EndTimer::Stays => {}
                }
                prop_assert_eq!(running, payment.waits().then_some(payment.created));
                if stopped {
                    prop_assert_eq!(effects.released.as_ref(), payment.checkout.as_ref());
                }
            }
        }

        #[test]
        fn a_reminder_is_about_the_last_attempt_and_keeps_an_address_that_was_named(
            named in prop::collection::vec(any::<bool>(), 1..6),
        ) {
            let mut checkout =
                Checkout::new(checkout(), entity(), Timestamp::UNIX_EPOCH, String::new(), Parameters::default());
            let mut running: Option<Reminder> = None;
            for (number, is_named) in (1_u8..).zip(&named) {
                checkout.attempts += 1;
                checkout.attempt = Some(PaymentId::new(Timestamp::UNIX_EPOCH, [number; 9]));
                let since = Timestamp::from_second(number.into()).unwrap();
                let address = is_named.then(|| format!("https://shop.example/{number}"));
                let reminder = Reminder::of_attempt(&checkout, address, since, false);
                let earlier = running.as_ref().and_then(|reminder| reminder.address.clone());
                running = reminder.and_then(|reminder| reminder.in_place_of(earlier)).or(running);
                let latest = named[..number.into()].iter().rposition(|is_named| *is_named);
                let expected = latest.map(|at| format!("https://shop.example/{}", at + 1));
                prop_assert_eq!(running.as_ref().and_then(|reminder| reminder.address.clone()), expected);
                if let Some(reminder) = &running {
                    prop_assert_eq!(Some(&reminder.attempt[..]), checkout.last_attempt());
                    prop_assert_eq!(reminder.since, since);
                }
            }
        }
    }

    #[test]
    fn webhooks_are_told_of_registrations_that_hold_an_account_and_of_their_end() {
        let stored = Registration {
            id: RegistrationId::new(Timestamp::UNIX_EPOCH, [1; 9]),
            entity: entity(),
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
        };
        let rejected = Registration { result: codes::CARD_EXPIRED, ..stored.clone() };
        assert_eq!(of_registration(None, &stored), Some(Event::RegistrationCreated));
        assert_eq!(of_registration(None, &rejected), None);
        assert_eq!(of_registration(Some(&stored), &stored), Some(Event::RegistrationUpdated));
        for how in [Ended::Deregistered, Ended::Expired] {
            assert_eq!(of_registration(Some(&stored), &stored.ended(how)), Some(Event::RegistrationDeleted));
        }
    }
}
