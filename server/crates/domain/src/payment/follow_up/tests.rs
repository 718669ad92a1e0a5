//! Tests of the matrix, row by row, and of random histories of modifications whose sums are counted independently.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use tillgate_shared::money::Currency;

use super::*;
use crate::payment::overcapture::Overcapture;
use crate::payment::sample::sample_payment;
use crate::payment::{FollowUpLimits, FollowUpSummary, Payment, TimeLimits};

const HOUR: i64 = 3600;
/// Without a tolerance of captures.
fn limits() -> FollowUpLimits {
    let times = TimeLimits {
        authorization_lifetime: SignedDuration::from_secs(100 * HOUR),
        reversal_window: SignedDuration::from_secs(24 * HOUR),
    };
    FollowUpLimits { times, overcapture: Overcapture::default() }
}

fn create_amount(hundredths: i64, currency: &str) -> Amount {
    Amount::from_hundredths(hundredths, Currency::parse(currency).unwrap()).unwrap()
}

/// Returns a moment of 2027, this many seconds after the beginning of a history.
fn at_second(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

/// Creates a card payment of one entity, which refers to no other.
fn create_payment(
    number: u8,
    payment_type: PaymentType,
    amount: Amount,
    created: Timestamp,
    result: ResultCode,
) -> Payment {
    Payment { payment_type, amount, ..sample_payment(number, created, result) }
}

/// Creates the status of a payment of 92.00 euros.
fn create_status(payment_type: PaymentType, state: PaymentState, remaining: i64) -> PaymentStatus {
    PaymentStatus { payment_type, amount: create_amount(9200, "EUR"), used: 9200 - remaining, tolerance: 0, state }
}

/// Modification, type of the payment, and the result in each state: Pending, Declined, Open, Used, Closed, Reversed,
/// ChargedBack, Included, Finished. `yes` means allowed; a number is the end of the code of the refusal (`400.510` is
/// 700.400.510).
const MATRIX: &str = "
    CP  PA     400.570  400.510  yes      yes      300.400  400.100  400.510  400.510  400.100
    CP  DB     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  PA.CP  400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CD     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CP     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  RV     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  RF     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CB     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CR     400.570  400.510  400.510  400.510  400.510  400.510  400.510  400.510  400.510
    RV  PA     400.570  400.530  yes      400.300  300.700  400.300  400.530  300.100  400.300
    RV  DB     400.570  400.530  yes      400.300  300.700  400.300  300.600  400.530  400.530
    RV  PA.CP  400.570  400.530  yes      400.300  300.700  400.300  300.600  400.530  400.530
    RV  CD     400.570  400.530  yes      400.300  300.700  400.300  400.530  400.530  400.530
    RV  CP     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    RV  RV     400.570  400.530  400.530  400.530  400.530  400.530  400.530  400.530  400.530
    RV  RF     400.570  400.530  400.530  400.530  400.530  400.530  400.530  400.530  400.530
    RV  CB     400.570  400.530  400.530  400.530  400.530  400.530  400.530  400.530  400.530
    RV  CR     400.570  400.530  400.530  400.530  400.530  400.530  400.530  400.530  400.530
    RF  PA     400.570  400.520  400.520  400.520  400.520  400.520  400.520  400.520  400.520
    RF  DB     400.570  400.520  yes      yes      yes      400.200  300.600  400.520  400.520
    RF  PA.CP  400.570  400.520  yes      yes      yes      400.200  300.600  400.520  400.520
    RF  CD     400.570  400.520  yes      yes      yes      400.200  400.520  400.520  400.520
    RF  CP     400.570  400.520  yes      yes      yes      400.520  300.600  400.520  400.520
    RF  RV     400.570  400.520  400.520  400.520  400.520  400.520  400.520  400.520  400.520
    RF  RF     400.570  400.520  400.520  400.520  400.520  400.520  400.520  400.520  400.520
    RF  CB     400.570  400.520  400.520  400.520  400.520  400.520  400.520  400.520  400.520
    RF  CR     400.570  400.520  400.520  400.520  400.520  400.520  400.520  400.520  400.520
    CB  PA     400.570  400.550  400.550  400.550  400.550  400.550  400.550  400.550  400.550
    CB  DB     400.570  400.550  yes      yes      yes      400.400  400.400  400.550  400.550
    CB  PA.CP  400.570  400.550  yes      yes      yes      400.400  400.400  400.550  400.550
    CB  CD     400.570  400.550  400.550  400.550  400.550  400.550  400.550  400.550  400.550
    CB  CP     400.570  400.550  yes      yes      yes      400.400  400.400  400.550  400.550
    CB  RV     400.570  400.550  400.550  400.550  400.550  400.550  400.550  400.550  400.550
    CB  RF     400.570  400.550  400.550  400.550  400.550  400.550  400.550  400.550  400.550
    CB  CB     400.570  400.550  400.550  400.550  400.550  400.550  400.550  400.550  400.550
    CB  CR     400.570  400.550  400.550  400.550  400.550  400.550  400.550  400.550  400.550
    CR  PA     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  DB     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  PA.CP  400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  CD     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  CP     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  RV     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  RF     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    CR  CB     400.570  300.700  yes      yes      yes      400.300  300.700  300.700  300.700
    CR  CR     400.570  300.100  300.100  300.100  300.100  300.100  300.100  300.100  300.100
    PA  PA     400.570  300.200  yes      yes      500.002  300.300  100.700  100.700  300.300
    PA  DB     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  PA.CP  400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  CD     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  CP     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  RV     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  RF     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  CB     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
    PA  CR     400.570  100.700  100.700  100.700  100.700  100.700  100.700  100.700  100.700
";

#[test]
fn the_matrix_answers_every_command_on_every_type_in_every_state() {
    let mut seen = 0;
    for line in MATRIX.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let modification = ModificationType::parse(words[0]).unwrap_or(ModificationType::Increment);
        let payment_type = PaymentType::parse(words[1]).unwrap();
        assert_eq!(words.len(), 2 + PaymentState::ALL.len(), "{line}");
        for (state, expected) in PaymentState::ALL.into_iter().zip(&words[2..]) {
            let answer = match modification.check_state(payment_type, state) {
                Ok(()) => "yes".to_owned(),
                Err(code) => code.code().trim_start_matches("700.").to_owned(),
            };
            assert_eq!(answer, *expected, "{} {} {state:?}", words[0], words[1]);
            seen += 1;
        }
    }
    assert_eq!(seen, ModificationType::ALL.len() * PaymentType::ALL.len() * PaymentState::ALL.len());
}

#[test]
fn sums_are_kept_to_the_hundredth() {
    let decide = |modification: ModificationType, status: PaymentStatus, hundredths| {
        modification.decide_amount(&status, Some(create_amount(hundredths, "EUR"))).map(|amount| amount.hundredths())
    };
    let reserved = create_status(PaymentType::Preauthorization, PaymentState::Used, 5000);
    assert_eq!(decide(ModificationType::Capture, reserved, 5000), Ok(5000));
    assert_eq!(decide(ModificationType::Capture, reserved, 5001), Err(codes::CAPTURE_VOLUME_EXCEEDED));
    assert_eq!(decide(ModificationType::Capture, reserved, 0), Err(codes::AMOUNT_TOO_SMALL));
    let refunded = create_status(PaymentType::Debit, PaymentState::Used, 1);
    assert_eq!(decide(ModificationType::Refund, refunded, 1), Ok(1));
    assert_eq!(decide(ModificationType::Refund, refunded, 2), Err(codes::REFUND_VOLUME_EXCEEDED));
    // The bank charges back at most the whole amount, whatever was refunded before.
    assert_eq!(decide(ModificationType::Chargeback, refunded, 9200), Ok(9200));
    assert_eq!(decide(ModificationType::Chargeback, refunded, 9201), Err(codes::REFERENCE_AMOUNT_TOO_HIGH));
    assert_eq!(ModificationType::Chargeback.decide_amount(&refunded, None), Ok(create_amount(9200, "EUR")));
    let open = create_status(PaymentType::Debit, PaymentState::Open, 9200);
    assert_eq!(decide(ModificationType::Reversal, open, 9200), Ok(9200));
    assert_eq!(decide(ModificationType::Reversal, open, 9199), Err(codes::REFERENCE_AMOUNT_DIFFERS));
    assert_eq!(ModificationType::Reversal.decide_amount(&open, None), Ok(create_amount(9200, "EUR")));
    for modification in [ModificationType::Reversal, ModificationType::Refund, ModificationType::Chargeback] {
        let dollars = modification.decide_amount(&open, Some(create_amount(9200, "USD")));
        assert_eq!(dollars, Err(codes::REFERENCE_CURRENCY_DIFFERS), "{modification:?}");
    }
}

#[test]
fn an_authorisation_ends_with_its_lifetime_and_a_debit_is_booked_at_the_cut_off() {
    let state = |payment_type, seconds| {
        let payment = create_payment(1, payment_type, create_amount(9200, "EUR"), at_second(0), codes::TEST_INTERNAL);
        PaymentStatus::from_follow_ups(&payment, &[], &limits(), at_second(seconds)).state
    };
    assert_eq!(state(PaymentType::Preauthorization, 100 * HOUR - 1), PaymentState::Open);
    assert_eq!(state(PaymentType::Preauthorization, 100 * HOUR), PaymentState::Closed);
    assert_eq!(state(PaymentType::Debit, 24 * HOUR - 1), PaymentState::Open);
    assert_eq!(state(PaymentType::Debit, 24 * HOUR), PaymentState::Closed);
    // A clock that was set back closes no payment.
    assert_eq!(state(PaymentType::Debit, -HOUR), PaymentState::Open);
}

#[test]
fn what_was_refused_takes_nothing_away_and_what_is_pending_does() {
    let debit = create_payment(1, PaymentType::Debit, create_amount(9200, "EUR"), at_second(0), codes::TEST_INTERNAL);
    let refund = |result| create_payment(2, PaymentType::Refund, create_amount(9000, "EUR"), at_second(1), result);
    for (result, remaining) in
        [(codes::REFUND_VOLUME_EXCEEDED, 9200), (codes::PENDING, 200), (codes::TEST_INTERNAL, 200)]
    {
        let follow_up = summarize_follow_up(&refund(result));
        assert_eq!(
            PaymentStatus::from_follow_ups(&debit, &[follow_up], &limits(), at_second(2)).remaining(),
            remaining,
            "{result}"
        );
    }
}

/// Extracts the fields independently of [`FollowUpSummary::from_payment`].
fn summarize_follow_up(payment: &Payment) -> FollowUpSummary {
    FollowUpSummary {
        payment_type: payment.payment_type,
        hundredths: payment.amount.hundredths(),
        is_effective: match payment.payment_type {
            PaymentType::Preauthorization => payment.is_approved(),
            _ => payment.is_approved() || payment.result.is_pending(),
        },
        is_final: false,
    }
}

/// One step of a history: the payment, the modification, the share of the amount per mille, and the seconds since the
/// last step.
#[derive(Debug, Clone)]
struct ModificationStep {
    target: prop::sample::Index,
    modification: ModificationType,
    share: Option<i64>,
    wrong_currency: bool,
    declined_by_bank: bool,
    later: i64,
}

/// Generates 1 to 59 steps, mostly a second apart and with amounts that are allowed.
fn random_steps() -> impl Strategy<Value = Vec<ModificationStep>> {
    let step =
        (
            any::<prop::sample::Index>(),
            prop::sample::select(&ModificationType::ALL[..]),
            prop::option::weighted(0.9, prop_oneof![Just(1000_i64), 1..=400_i64, 0..=1200_i64]),
            prop::bool::weighted(0.05),
            prop::bool::weighted(0.1),
            prop_oneof![8 => Just(1_i64), 2 => 0..=40 * HOUR],
        )
            .prop_map(|(target, modification, share, wrong_currency, declined_by_bank, later)| {
                ModificationStep { target, modification, share, wrong_currency, declined_by_bank, later }
            });
    prop::collection::vec(step, 1..60)
}

/// A minimal gateway: all payments in order of creation, each with the index of the payment that it refers to.
struct PaymentLedger {
    payments: Vec<(Payment, Option<usize>)>,
    now: i64,
}

impl PaymentLedger {
    /// Returns the status of a payment now, from the payments that refer to it.
    fn payment_status(&self, target: usize) -> PaymentStatus {
        let follow_ups: Vec<FollowUpSummary> = self
            .payments
            .iter()
            .filter(|(_, of)| *of == Some(target))
            .map(|(payment, _)| summarize_follow_up(payment))
            .collect();
        PaymentStatus::from_follow_ups(&self.payments[target].0, &follow_ups, &limits(), at_second(self.now))
    }

    /// Moves the clock, and adds the follow-up payment with its result, whether allowed or not. The amount is a share
    /// of the payment's own.
    fn apply_step(&mut self, step: &ModificationStep) {
        self.now += step.later;
        let target = step.target.index(self.payments.len());
        let status = self.payment_status(target);
        let currency = if step.wrong_currency { "USD" } else { status.amount.currency().code() };
        let requested = step.share.map(|share| create_amount(status.amount.hundredths() * share / 1000, currency));
        let (amount, result) = match step.modification.decide_amount(&status, requested) {
            Ok(amount) if step.modification == ModificationType::Chargeback => {
                (amount, codes::CHARGEBACK_WITHOUT_REASON)
            }
            Ok(amount) if step.declined_by_bank => (amount, ResultCode::find("800.100.152").unwrap()),
            Ok(amount) => (amount, codes::TEST_INTERNAL),
            Err(code) => (requested.unwrap_or(status.amount), code),
        };
        let number = u8::try_from(self.payments.len()).unwrap();
        let follow_up = create_payment(number, step.modification.payment_type(), amount, at_second(self.now), result);
        let referenced = Some(self.payments[target].0.id.clone());
        self.payments.push((Payment { referenced, ..follow_up }, Some(target)));
    }

    /// Returns the number and the sum of the successful follow-up payments of one type.
    fn count_approved(&self, target: usize, payment_type: PaymentType) -> (usize, i64) {
        let approved = self.payments.iter().filter(|(payment, of)| {
            *of == Some(target) && payment.payment_type == payment_type && payment.is_approved()
        });
        approved.fold((0, 0), |(count, sum), (payment, _)| (count + 1, sum + payment.amount.hundredths()))
    }
}

#[test]
fn only_an_approved_increment_raises_what_can_be_captured_and_reversed() {
    let amount = |hundredths| create_amount(hundredths, "EUR");
    let original = create_payment(1, PaymentType::Preauthorization, amount(9200), at_second(0), codes::TEST_INTERNAL);
    let increment = |result| {
        let payment = create_payment(2, PaymentType::Preauthorization, amount(800), at_second(1), result);
        Payment { referenced: Some(original.id.clone()), ..payment }
    };
    for (result, whole) in
        [(codes::PENDING, 9200), (codes::CAPTURE_VOLUME_EXCEEDED, 9200), (codes::TEST_INTERNAL, 10_000)]
    {
        let follow_up = FollowUpSummary::from_payment(&increment(result));
        let status = PaymentStatus::from_follow_ups(&original, &[follow_up], &limits(), at_second(2));
        assert_eq!((status.state, status.amount, status.remaining()), (PaymentState::Open, amount(whole), whole));
        for modification in [ModificationType::Capture, ModificationType::Reversal] {
            assert_eq!(modification.decide_amount(&status, None), Ok(amount(whole)), "{modification:?}");
        }
        assert_eq!(
            ModificationType::Capture.decide_amount(&status, Some(amount(whole + 1))),
            Err(codes::CAPTURE_VOLUME_EXCEEDED)
        );
    }
    let itself = PaymentStatus::from_follow_ups(&increment(codes::TEST_INTERNAL), &[], &limits(), at_second(2));
    assert_eq!(itself.state, PaymentState::Included);
}

#[test]
fn a_final_capture_releases_the_rest_as_long_as_it_is_not_declined() {
    let original = create_payment(
        1,
        PaymentType::Preauthorization,
        create_amount(9200, "EUR"),
        at_second(0),
        codes::TEST_INTERNAL,
    );
    for (result, expected) in [
        (codes::TEST_INTERNAL, PaymentState::Finished),
        (codes::PENDING, PaymentState::Finished),
        (codes::CAPTURE_VOLUME_EXCEEDED, PaymentState::Open),
    ] {
        let mut capture = create_payment(2, PaymentType::Capture, create_amount(5000, "EUR"), at_second(1), result);
        capture.parameters.set("finalCapture", "true");
        let follow_ups = [FollowUpSummary::from_payment(&capture)];
        let status = PaymentStatus::from_follow_ups(&original, &follow_ups, &limits(), at_second(2));
        assert_eq!(status.state, expected, "{result}");
        capture.parameters.set("finalCapture", "false");
        let follow_ups = [FollowUpSummary::from_payment(&capture)];
        let status = PaymentStatus::from_follow_ups(&original, &follow_ups, &limits(), at_second(2));
        assert_ne!(status.state, PaymentState::Finished, "{result}");
    }
}

#[test]
fn captures_take_the_tolerance_and_no_more() {
    let original = create_payment(
        1,
        PaymentType::Preauthorization,
        create_amount(9200, "EUR"),
        at_second(0),
        codes::TEST_INTERNAL,
    );
    let limits = FollowUpLimits { overcapture: "15".parse().unwrap(), ..limits() };
    let capture = |hundredths| {
        create_payment(2, PaymentType::Capture, create_amount(hundredths, "EUR"), at_second(1), codes::TEST_INTERNAL)
    };
    let status = |captured: &[i64]| {
        let follow_ups: Vec<_> =
            captured.iter().map(|hundredths| FollowUpSummary::from_payment(&capture(*hundredths))).collect();
        PaymentStatus::from_follow_ups(&original, &follow_ups, &limits, at_second(2))
    };
    let decide = |captured: &[i64], hundredths| {
        let amount = create_amount(hundredths, "EUR");
        let decided = ModificationType::Capture.decide_amount(&status(captured), Some(amount));
        decided.map(|amount| status(captured).find_excess(amount).map_or(0, |excess| excess.hundredths()))
    };
    assert_eq!(decide(&[], 9200), Ok(0));
    assert_eq!(decide(&[], 10_580), Ok(1380));
    assert_eq!(decide(&[], 10_581), Err(codes::CAPTURE_VOLUME_EXCEEDED));
    assert_eq!(decide(&[9000], 300), Ok(100));
    assert_eq!(decide(&[9000, 300], 1280), Ok(1280));
    assert_eq!(decide(&[9000, 300], 1281), Err(codes::CAPTURE_VOLUME_EXCEEDED));
    // The tolerance is of captures alone.
    let debit = Payment { payment_type: PaymentType::Debit, ..original.clone() };
    assert_eq!(PaymentStatus::from_follow_ups(&debit, &[], &limits, at_second(2)).tolerance, 0);
    assert_eq!(ModificationType::Capture.decide_amount(&status(&[]), None), Ok(create_amount(9200, "EUR")));
}

#[test]
fn nothing_is_added_to_an_amount_that_is_captured_completely_or_too_large() {
    let decide = |remaining, hundredths| {
        let status = create_status(PaymentType::Preauthorization, PaymentState::Used, remaining);
        let decided = ModificationType::Increment.decide_amount(&status, Some(create_amount(hundredths, "EUR")));
        decided.map(|amount| amount.hundredths())
    };
    assert_eq!(decide(1, 800), Ok(800));
    assert_eq!(decide(0, 800), Err(codes::REFERENCE_USED));
    assert_eq!(decide(1, 0), Err(codes::AMOUNT_TOO_SMALL));
    assert_eq!(decide(1, i64::MAX), Err(codes::REFERENCE_AMOUNT_TOO_HIGH));
}

#[test]
fn a_preauthorization_with_a_reference_is_an_increment_if_it_says_so() {
    let find = |payment_type: &str, practice: &str| {
        let mut parameters = Parameters::default();
        parameters.set("paymentType", payment_type);
        parameters.set(INDUSTRY_PRACTICE, practice);
        ModificationType::from_parameters(&parameters)
    };
    assert_eq!(find("PA", INCREMENT), Some(ModificationType::Increment));
    assert_eq!(find("CP", INCREMENT), Some(ModificationType::Capture));
    assert_eq!((find("PA", "NO_SHOW"), find("DB", INCREMENT), ModificationType::parse("PA")), (None, None, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn whatever_is_asked_in_whatever_order_the_sums_hold(
        root in prop::sample::select(&PaymentType::INITIAL[..]),
        hundredths in 1_i64..2_000_000,
        steps in random_steps(),
    ) {
        use PaymentType as T;
        let first = create_payment(0, root, create_amount(hundredths, "EUR"), at_second(0), codes::TEST_INTERNAL);
        let mut ledger = PaymentLedger { payments: vec![(first, None)], now: 0 };
        for step in &steps {
            ledger.apply_step(step);
        }
        for (index, (payment, of)) in ledger.payments.iter().enumerate() {
            let (increments, incremented) = ledger.count_approved(index, T::Preauthorization);
            prop_assert!(increments == 0 || (payment.payment_type == T::Preauthorization && of.is_none()));
            let whole = payment.amount.hundredths() + incremented;
            let [(captures, captured), (reversals, reversed), (refunds, refunded), (chargebacks, charged_back)] =
                [T::Capture, T::Reversal, T::Refund, T::Chargeback].map(|payment_type| ledger.count_approved(index, payment_type));
            let (returns, returned) = ledger.count_approved(index, T::ChargebackReversal);
            prop_assert!(returns <= 1 && returned <= whole);
            prop_assert!(returns == 0 || (payment.payment_type == T::Chargeback && payment.is_approved()));
            prop_assert!(captured <= whole && refunded <= whole && charged_back <= whole);
            prop_assert!(reversals <= 1 && chargebacks <= 1);
            prop_assert!(reversals == 0 || (reversed == whole && captures + refunds + chargebacks == 0));
            prop_assert!(captures == 0 || payment.payment_type == T::Preauthorization);
            prop_assert!(refunds == 0 || matches!(payment.payment_type, T::Debit | T::TwoStepDebit | T::Credit | T::Capture));
            prop_assert!(chargebacks == 0 || matches!(payment.payment_type, T::Debit | T::TwoStepDebit | T::Capture));
            // Payments that did not succeed have no successful follow-up payments, and the currency never changes.
            prop_assert!(payment.is_approved() || captures + reversals + refunds + chargebacks == 0);
            prop_assert!(!payment.is_approved() || payment.amount.currency().code() == "EUR");
            if let Some(target) = of {
                let earlier = &ledger.payments[*target].0;
                // No refund or reversal succeeds after a chargeback, and no capture after the end of an authorization.
                let after_chargeback = ledger.payments[..index].iter().any(|(other, of)| {
                    *of == Some(*target) && other.payment_type == T::Chargeback && other.is_approved()
                });
                prop_assert!(!(after_chargeback && payment.is_approved()));
                let age = payment.created.duration_since(earlier.created).as_secs();
                let is_of_authorization = matches!(payment.payment_type, T::Capture | T::Preauthorization);
                prop_assert!(!(is_of_authorization && payment.is_approved() && age >= 100 * HOUR));
                let cut_off = if earlier.payment_type == T::Preauthorization { 100 * HOUR } else { 24 * HOUR };
                prop_assert!(!(payment.payment_type == T::Reversal && payment.is_approved() && age >= cut_off));
            }
            // The rest can be captured or refunded to the last hundredth, and not one more.
            let (modification, used) = match payment.payment_type {
                T::Preauthorization => (ModificationType::Capture, captured),
                _ => (ModificationType::Refund, refunded),
            };
            let status = ledger.payment_status(index);
            if modification.check_state(status.payment_type, status.state).is_ok() {
                let remaining = whole - used;
                prop_assert_eq!(status.remaining(), remaining);
                if remaining > 0 {
                    prop_assert!(modification.decide_amount(&status, Some(create_amount(remaining, "EUR"))).is_ok());
                }
                prop_assert!(modification.decide_amount(&status, Some(create_amount(remaining + 1, "EUR"))).is_err());
            }
        }
    }
}
