//! The matrix, line by line, and histories of random commands against sums that are counted another way.

use std::collections::BTreeMap;

use jiff::Timestamp;
use proptest::prelude::*;
use tillgate_shared::money::Currency;
use tillgate_shared::parameter::Parameters;

use super::*;
use crate::domain::id::{EntityId, PaymentId};

const HOUR: i64 = 3600;
const TERMS: Terms = Terms {
    authorization_lifetime: SignedDuration::from_secs(100 * HOUR),
    reversal_window: SignedDuration::from_secs(24 * HOUR),
};

fn money(hundredths: i64, currency: &str) -> Amount {
    Amount::from_hundredths(hundredths, Currency::parse(currency).unwrap()).unwrap()
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn payment(number: u8, payment_type: PaymentType, amount: Amount, created: Timestamp, result: ResultCode) -> Payment {
    Payment {
        id: PaymentId::new(created, [number; 9]),
        entity: EntityId::new(created, [1; 9]),
        checkout: None,
        ndc: None,
        referenced: None,
        registration: None,
        created,
        payment_type,
        brand: "VISA".to_owned(),
        amount,
        result,
        avs: None,
        cvv: None,
        details: BTreeMap::new(),
        redirect: None,
        pay_to: None,
        connector: None,
        connector_tx_ids: Vec::new(),
        descriptor: String::new(),
        account: Account::Unknown,
        parameters: Parameters::default(),
        shares: None,
    }
}

fn standing(payment_type: PaymentType, state: State, left: i64) -> Standing {
    Standing { payment_type, amount: money(9200, "EUR"), left, state }
}

/// Command, type, and the answer in each state: Pending, Declined, Open, Used, Closed, Reversed, ChargedBack. `yes` is
/// taken; a number is the end of the code that refuses (`400.510` is 700.400.510).
const MATRIX: &str = "
    CP  PA     400.570  400.510  yes      yes      300.400  400.100  400.510
    CP  DB     400.570  400.510  400.510  400.510  400.510  400.510  400.510
    CP  PA.CP  400.570  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CD     400.570  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CP     400.570  400.510  400.510  400.510  400.510  400.510  400.510
    CP  RV     400.570  400.510  400.510  400.510  400.510  400.510  400.510
    CP  RF     400.570  400.510  400.510  400.510  400.510  400.510  400.510
    CP  CB     400.570  400.510  400.510  400.510  400.510  400.510  400.510
    RV  PA     400.570  400.530  yes      400.300  300.700  400.300  400.530
    RV  DB     400.570  400.530  yes      400.300  300.700  400.300  300.600
    RV  PA.CP  400.570  400.530  yes      400.300  300.700  400.300  300.600
    RV  CD     400.570  400.530  yes      400.300  300.700  400.300  400.530
    RV  CP     400.570  300.100  300.100  300.100  300.100  300.100  300.100
    RV  RV     400.570  400.530  400.530  400.530  400.530  400.530  400.530
    RV  RF     400.570  400.530  400.530  400.530  400.530  400.530  400.530
    RV  CB     400.570  400.530  400.530  400.530  400.530  400.530  400.530
    RF  PA     400.570  400.520  400.520  400.520  400.520  400.520  400.520
    RF  DB     400.570  400.520  yes      yes      yes      400.200  300.600
    RF  PA.CP  400.570  400.520  yes      yes      yes      400.200  300.600
    RF  CD     400.570  400.520  yes      yes      yes      400.200  400.520
    RF  CP     400.570  400.520  yes      yes      yes      400.520  300.600
    RF  RV     400.570  400.520  400.520  400.520  400.520  400.520  400.520
    RF  RF     400.570  400.520  400.520  400.520  400.520  400.520  400.520
    RF  CB     400.570  400.520  400.520  400.520  400.520  400.520  400.520
    CB  PA     400.570  400.550  400.550  400.550  400.550  400.550  400.550
    CB  DB     400.570  400.550  yes      yes      yes      400.400  400.400
    CB  PA.CP  400.570  400.550  yes      yes      yes      400.400  400.400
    CB  CD     400.570  400.550  400.550  400.550  400.550  400.550  400.550
    CB  CP     400.570  400.550  yes      yes      yes      400.400  400.400
    CB  RV     400.570  400.550  400.550  400.550  400.550  400.550  400.550
    CB  RF     400.570  400.550  400.550  400.550  400.550  400.550  400.550
    CB  CB     400.570  400.550  400.550  400.550  400.550  400.550  400.550
";

#[test]
fn the_matrix_answers_every_command_on_every_type_in_every_state() {
    let mut seen = 0;
    for line in MATRIX.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let command = Command::parse(words[0]).unwrap();
        let payment_type = PaymentType::parse(words[1]).unwrap();
        assert_eq!(words.len(), 2 + State::ALL.len(), "{line}");
        for (state, expected) in State::ALL.into_iter().zip(&words[2..]) {
            let answer = match command.takes(payment_type, state) {
                Ok(()) => "yes".to_owned(),
                Err(code) => code.code().trim_start_matches("700.").to_owned(),
            };
            assert_eq!(answer, *expected, "{} {} {state:?}", words[0], words[1]);
            seen += 1;
        }
    }
    assert_eq!(seen, Command::ALL.len() * PaymentType::ALL.len() * State::ALL.len());
}

#[test]
fn sums_are_kept_to_the_hundredth() {
    let decide = |command: Command, standing: Standing, hundredths| {
        command.decide(&standing, Some(money(hundredths, "EUR"))).map(|amount| amount.hundredths())
    };
    let reserved = standing(PaymentType::Preauthorization, State::Used, 5000);
    assert_eq!(decide(Command::Capture, reserved, 5000), Ok(5000));
    assert_eq!(decide(Command::Capture, reserved, 5001), Err(codes::CAPTURE_VOLUME_EXCEEDED));
    assert_eq!(decide(Command::Capture, reserved, 0), Err(codes::AMOUNT_TOO_SMALL));
    let taken = standing(PaymentType::Debit, State::Used, 1);
    assert_eq!(decide(Command::Refund, taken, 1), Ok(1));
    assert_eq!(decide(Command::Refund, taken, 2), Err(codes::REFUND_VOLUME_EXCEEDED));
    // The bank takes the whole, whatever was refunded before, and never more.
    assert_eq!(decide(Command::Chargeback, taken, 9200), Ok(9200));
    assert_eq!(decide(Command::Chargeback, taken, 9201), Err(codes::REFERENCE_AMOUNT_TOO_HIGH));
    assert_eq!(Command::Chargeback.decide(&taken, None), Ok(money(9200, "EUR")));
    let open = standing(PaymentType::Debit, State::Open, 9200);
    assert_eq!(decide(Command::Reversal, open, 9200), Ok(9200));
    assert_eq!(decide(Command::Reversal, open, 9199), Err(codes::REFERENCE_AMOUNT_DIFFERS));
    assert_eq!(Command::Reversal.decide(&open, None), Ok(money(9200, "EUR")));
    for command in [Command::Reversal, Command::Refund, Command::Chargeback] {
        let dollars = command.decide(&open, Some(money(9200, "USD")));
        assert_eq!(dollars, Err(codes::REFERENCE_CURRENCY_DIFFERS), "{command:?}");
    }
}

#[test]
fn an_authorisation_ends_with_its_lifetime_and_a_debit_is_booked_at_the_cut_off() {
    let state = |payment_type, seconds| {
        let payment = payment(1, payment_type, money(9200, "EUR"), at(0), codes::TEST_INTERNAL);
        Standing::of(&payment, &[], &TERMS, at(seconds)).state
    };
    assert_eq!(state(PaymentType::Preauthorization, 100 * HOUR - 1), State::Open);
    assert_eq!(state(PaymentType::Preauthorization, 100 * HOUR), State::Closed);
    assert_eq!(state(PaymentType::Debit, 24 * HOUR - 1), State::Open);
    assert_eq!(state(PaymentType::Debit, 24 * HOUR), State::Closed);
    // A clock that was set back ends nothing.
    assert_eq!(state(PaymentType::Debit, -HOUR), State::Open);
}

#[test]
fn what_was_refused_takes_nothing_away_and_what_is_pending_does() {
    let debit = payment(1, PaymentType::Debit, money(9200, "EUR"), at(0), codes::TEST_INTERNAL);
    let refund = |result| payment(2, PaymentType::Refund, money(9000, "EUR"), at(1), result);
    for (result, left) in [(codes::REFUND_VOLUME_EXCEEDED, 9200), (codes::PENDING, 200), (codes::TEST_INTERNAL, 200)] {
        let link = link(&refund(result));
        assert_eq!(Standing::of(&debit, &[link], &TERMS, at(2)).left, left, "{result}");
    }
}

fn link(payment: &Payment) -> Link {
    Link { payment_type: payment.payment_type, hundredths: payment.amount.hundredths(), approved: payment.counts() }
}

/// One step of a history: which payment, what with it, how much in per mille of it, and how long after the last step.
#[derive(Debug, Clone)]
struct Step {
    target: prop::sample::Index,
    command: Command,
    share: Option<i64>,
    wrong_currency: bool,
    declined_by_bank: bool,
    later: i64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (
        any::<prop::sample::Index>(),
        prop::sample::select(&Command::ALL[..]),
        prop::option::weighted(0.9, prop_oneof![Just(1000_i64), 1..=400_i64, 0..=1200_i64]),
        prop::bool::weighted(0.05),
        prop::bool::weighted(0.1),
        prop_oneof![8 => Just(1_i64), 2 => 0..=40 * HOUR],
    )
        .prop_map(|(target, command, share, wrong_currency, declined_by_bank, later)| Step {
            target,
            command,
            share,
            wrong_currency,
            declined_by_bank,
            later,
        });
    prop::collection::vec(step, 1..60)
}

/// A gateway in a list: every payment that was made, in order, and what it refers to.
struct Book {
    payments: Vec<(Payment, Option<usize>)>,
    now: i64,
}

impl Book {
    fn standing(&self, target: usize) -> Standing {
        let links: Vec<Link> =
            self.payments.iter().filter(|(_, of)| *of == Some(target)).map(|(payment, _)| link(payment)).collect();
        Standing::of(&self.payments[target].0, &links, &TERMS, at(self.now))
    }

    fn step(&mut self, step: &Step) {
        self.now += step.later;
        let target = step.target.index(self.payments.len());
        let standing = self.standing(target);
        let currency = if step.wrong_currency { "USD" } else { standing.amount.currency().code() };
        let asked = step.share.map(|share| money(standing.amount.hundredths() * share / 1000, currency));
        let (amount, result) = match step.command.decide(&standing, asked) {
            Ok(amount) if step.command == Command::Chargeback => (amount, codes::CHARGEBACK_WITHOUT_REASON),
            Ok(amount) if step.declined_by_bank => (amount, ResultCode::find("800.100.152").unwrap()),
            Ok(amount) => (amount, codes::TEST_INTERNAL),
            Err(code) => (asked.unwrap_or(standing.amount), code),
        };
        let number = u8::try_from(self.payments.len()).unwrap();
        let made = payment(number, step.command.payment_type(), amount, at(self.now), result);
        self.payments.push((made, Some(target)));
    }

    /// What was carried out on a payment, by type: how often, and how much together.
    fn carried_out(&self, target: usize, payment_type: PaymentType) -> (usize, i64) {
        let those = self
            .payments
            .iter()
            .filter(|(payment, of)| *of == Some(target) && payment.payment_type == payment_type && payment.approved());
        those.fold((0, 0), |(count, sum), (payment, _)| (count + 1, sum + payment.amount.hundredths()))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn whatever_is_asked_in_whatever_order_the_sums_hold(
        root in prop::sample::select(&PaymentType::INITIAL[..]),
        hundredths in 1_i64..2_000_000,
        steps in steps(),
    ) {
        use PaymentType as T;
        let first = payment(0, root, money(hundredths, "EUR"), at(0), codes::TEST_INTERNAL);
        let mut book = Book { payments: vec![(first, None)], now: 0 };
        for step in &steps {
            book.step(step);
        }
        for (index, (payment, of)) in book.payments.iter().enumerate() {
            let whole = payment.amount.hundredths();
            let [(captures, captured), (reversals, reversed), (refunds, refunded), (chargebacks, charged_back)] =
                [T::Capture, T::Reversal, T::Refund, T::Chargeback].map(|kind| book.carried_out(index, kind));
            prop_assert!(captured <= whole && refunded <= whole && charged_back <= whole);
            prop_assert!(reversals <= 1 && chargebacks <= 1);
            prop_assert!(reversals == 0 || (reversed == whole && captures + refunds + chargebacks == 0));
            prop_assert!(captures == 0 || payment.payment_type == T::Preauthorization);
            prop_assert!(refunds == 0 || matches!(payment.payment_type, T::Debit | T::TwoStepDebit | T::Credit | T::Capture));
            prop_assert!(chargebacks == 0 || matches!(payment.payment_type, T::Debit | T::TwoStepDebit | T::Capture));
            // Nothing is carried out on what did not succeed, and the currency stays.
            prop_assert!(payment.approved() || captures + reversals + refunds + chargebacks == 0);
            prop_assert!(!payment.approved() || payment.amount.currency().code() == "EUR");
            if let Some(target) = of {
                let earlier = &book.payments[*target].0;
                // After a chargeback nothing is refunded or reversed; after the end of an authorisation nothing captured.
                let after_chargeback = book.payments[..index].iter().any(|(other, of)| {
                    *of == Some(*target) && other.payment_type == T::Chargeback && other.approved()
                });
                prop_assert!(!(after_chargeback && payment.approved()));
                let age = payment.created.duration_since(earlier.created).as_secs();
                prop_assert!(!(payment.payment_type == T::Capture && payment.approved() && age >= 100 * HOUR));
                let cut_off = if earlier.payment_type == T::Preauthorization { 100 * HOUR } else { 24 * HOUR };
                prop_assert!(!(payment.payment_type == T::Reversal && payment.approved() && age >= cut_off));
            }
            // What is left can be had to the last hundredth, and not one more.
            let (command, used) = match payment.payment_type {
                T::Preauthorization => (Command::Capture, captured),
                _ => (Command::Refund, refunded),
            };
            let standing = book.standing(index);
            if command.takes(standing.payment_type, standing.state).is_ok() {
                let left = whole - used;
                prop_assert_eq!(standing.left, left);
                if left > 0 {
                    prop_assert!(command.decide(&standing, Some(money(left, "EUR"))).is_ok());
                }
                prop_assert!(command.decide(&standing, Some(money(left + 1, "EUR"))).is_err());
            }
        }
    }
}
