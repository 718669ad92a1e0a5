use jiff::SignedDuration;
use proptest::prelude::*;
use tillgate_shared::result::codes;

use super::*;
use crate::id::PaymentId;
use crate::payment::CardSummary;
use crate::payment::sample::sample_payment;

const EXPIRY: &str = "052034";

fn hours(hours: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(hours)
}

fn card(bin: &str) -> Account {
    let text = str::to_owned;
    let (expiry_month, expiry_year) = (text("05"), text("2034"));
    Account::Card(CardSummary { bin: text(bin), last4: text("0000"), holder: None, expiry_month, expiry_year })
}

fn scheme(brand: &str) -> Arc<SchemeRules> {
    RetryRules::default().find_scheme(brand, &card("420000")).cloned().unwrap()
}

fn details(response: &str, advice: Option<&str>) -> BTreeMap<String, String> {
    let advice = advice.map(|code| (ADVICE_CODE.to_owned(), code.to_owned()));
    [(ACQUIRER_RESPONSE.to_owned(), response.to_owned())].into_iter().chain(advice).collect()
}

fn attempt(now: Timestamp) -> NewAttempt<'static> {
    NewAttempt { now, is_authenticated: false, expiry: EXPIRY }
}

/// A card that is tried with one amount at a live merchant.
struct TriedCard {
    rules: Arc<SchemeRules>,
    records: AttemptRecords,
    payments: u8,
    is_live: bool,
}

impl TriedCard {
    fn new(brand: &str) -> Self {
        Self { rules: scheme(brand), records: AttemptRecords::default(), payments: 0, is_live: true }
    }

    fn refusal(&self, now: Timestamp) -> Option<RetryRefusal> {
        self.rules.find_refusal(&self.records, attempt(now))
    }

    /// Sends an attempt. Returns its payment.
    fn send(&mut self, now: Timestamp) -> PaymentId {
        assert_eq!(self.refusal(now), None, "{now}");
        self.payments += 1;
        let payment = PaymentId::new(now, [self.payments; 9]);
        if let Some(amount) = self.rules.after_sending(&self.records, &payment, now) {
            self.records.amount = Some(amount);
        }
        payment
    }

    fn decline(&mut self, payment: &PaymentId, now: Timestamp, details: &BTreeMap<String, String>) {
        let declined = (ResultCode::find("800.100.152").unwrap(), details);
        let AttemptRecords { card, amount } =
            self.rules.after_decline(&self.records, payment, declined, (attempt(now), self.is_live));
        self.records.card = card.or(self.records.card.take());
        self.records.amount = amount.or(self.records.amount.take());
    }

    /// Sends an attempt that is declined.
    fn fail(&mut self, now: Timestamp, response: &str, advice: Option<&str>) {
        let payment = self.send(now);
        self.decline(&payment, now, &details(response, advice));
    }
}

#[test]
fn the_rules_of_this_build_are_readable_and_have_the_limits_of_the_schemes() {
    let rules: RetryRules = file::DEFAULT.parse().unwrap();
    assert_eq!(rules, RetryRules::default());
    assert_eq!(rules.schemes.len(), 2);
    assert!(rules.stops_schedule("800.100.159") && rules.stops_schedule("800.100.501"));
    assert!(!rules.stops_schedule("800.100.155") && !rules.stops_schedule("900.100.600"));
    assert!(rules.schedule_stops.iter().all(|stop| ResultCode::all().any(|code| code.code().starts_with(stop))));
}

#[test]
fn the_brand_or_the_digits_of_a_wallets_card_name_the_scheme() {
    let rules = RetryRules::default();
    let find = |brand: &str, bin: &str| rules.find_scheme(brand, &card(bin)).map(|scheme| scheme.brands[0].clone());
    for (brand, bin, first) in [
        ("VISA", "420000", Some("VISA")),
        ("VISADEBIT", "420000", Some("VISA")),
        ("MASTER", "545454", Some("MASTER")),
        ("AMEX", "377777", None),
        ("APPLEPAY", "420000", Some("VISA")),
        ("APPLEPAY", "545454", Some("MASTER")),
        ("APPLEPAY", "377777", None),
        // A card of a regional scheme with a number of a big one goes the way of its brand.
        ("CARTEBANCAIRE", "420000", None),
        ("NOBRAND", "420000", None),
    ] {
        assert_eq!(find(brand, bin).as_deref(), first, "{brand} {bin}");
    }
    assert_eq!(rules.find_scheme("VISA", &Account::Unknown), None);
}

#[test]
fn a_limit_is_reached_by_its_last_attempt_and_ends_when_the_first_one_leaves_the_window() {
    let mut visa = TriedCard::new("VISA");
    (0..20).for_each(|hour| visa.fail(hours(hour), "05", None));
    let end = hours(30 * 24);
    let refusal = RetryRefusal { code: codes::RETRY_AFTER_72_HOURS, allowed_from: Some(end) };
    assert_eq!(visa.refusal(hours(20)), Some(refusal));
    let before = end - SignedDuration::from_millis(1);
    let refusal = RetryRefusal { code: codes::RETRY_AFTER_24_HOURS, allowed_from: Some(end) };
    assert_eq!(visa.refusal(before), Some(refusal));
    assert_eq!(visa.refusal(end), None);
    visa.fail(end, "05", None);
    assert_eq!(visa.refusal(end).unwrap().allowed_from, Some(hours(30 * 24 + 1)), "one place was free");
}

#[test]
fn of_two_limits_the_later_end_counts() {
    let mut master = TriedCard::new("MASTER");
    (0..10).for_each(|hour| master.fail(hours(hour), "05", None));
    assert_eq!(master.refusal(hours(10)).unwrap().allowed_from, Some(hours(24)));
    // Ten a day are 35 within the fourth day.
    for day in 1..3 {
        (0..10).for_each(|hour| master.fail(hours(24 * day + hour), "05", None));
    }
    (0..5).for_each(|hour| master.fail(hours(72 + hour), "05", None));
    let refusal = RetryRefusal { code: codes::RETRY_AFTER_72_HOURS, allowed_from: Some(hours(30 * 24)) };
    assert_eq!(master.refusal(hours(77)), Some(refusal));
    assert_eq!(master.refusal(hours(30 * 24)), None);
}

#[test]
fn attempts_before_the_first_decline_are_counted_when_they_are_declined() {
    let mut master = TriedCard::new("MASTER");
    let first: Vec<PaymentId> = (0..3).map(|_| master.send(hours(0))).collect();
    assert_eq!(master.records, AttemptRecords::default(), "a card without a decline costs no write");
    for payment in &first {
        master.decline(payment, hours(0), &details("05", None));
    }
    // Seven are left, also if none of them has an outcome yet.
    let sent: Vec<PaymentId> = (0..7).map(|_| master.send(hours(1))).collect();
    assert_eq!(master.refusal(hours(1)).unwrap().allowed_from, Some(hours(24)));
    // A decline of a counted attempt is not counted again.
    sent.iter().for_each(|payment| master.decline(payment, hours(2), &details("05", None)));
    assert_eq!(master.refusal(hours(24)), None);
    assert_eq!(
        (0..3)
            .filter(|_| {
                master.send(hours(24));
                true
            })
            .count(),
        3
    );
    assert_eq!(master.refusal(hours(24)).unwrap().allowed_from, Some(hours(25)));
}

#[test]
fn an_attempt_that_never_reached_the_acquirer_is_not_counted_but_an_uncertain_one_is() {
    let mut master = TriedCard::new("MASTER");
    (0..9).for_each(|_| master.fail(hours(0), "05", None));
    let payment = master.send(hours(1));
    assert!(master.refusal(hours(1)).is_some());
    let none = BTreeMap::new();
    for (code, is_refused) in
        [(codes::OUTCOME_UNCERTAIN, true), (codes::TIMED_OUT, true), (ResultCode::find("900.100.600").unwrap(), false)]
    {
        let after = master.rules.after_decline(&master.records, &payment, (code, &none), (attempt(hours(1)), true));
        assert_eq!(after.card, None);
        let records = AttemptRecords { amount: after.amount.or(master.records.amount.clone()), card: None };
        assert_eq!(master.rules.find_refusal(&records, attempt(hours(1))).is_some(), is_refused, "{code:?}");
    }
}

#[test]
fn codes_that_say_never_stop_the_amount_or_the_card_and_a_sandbox_only_the_amount() {
    let stopped = Some(RetryRefusal { code: codes::RETRY_STOPPED, allowed_from: None });
    for (brand, response, advice, is_card) in [
        ("VISA", "43", None, true),
        ("VISA", "04", None, true),
        ("VISA", "57", None, false),
        ("VISA", "R1", None, false),
        ("MASTER", "05", Some("03"), true),
        ("MASTER", "05", Some("21"), false),
        ("MASTER", "51", Some("03"), true),
    ] {
        for is_live in [true, false] {
            let mut tried = TriedCard { is_live, ..TriedCard::new(brand) };
            tried.fail(hours(0), response, advice);
            assert_eq!(tried.refusal(hours(364 * 24)), stopped, "{brand} {response} {advice:?}");
            assert_eq!(tried.refusal(hours(365 * 24)), None);
            let other_amount = AttemptRecords { amount: None, ..tried.records.clone() };
            let refusal = tried.rules.find_refusal(&other_amount, attempt(hours(1)));
            assert_eq!(refusal, stopped.filter(|_| is_card && is_live), "{brand} {response} {advice:?}");
        }
    }
    // The codes of one scheme mean nothing in another one.
    let mut master = TriedCard::new("MASTER");
    master.fail(hours(0), "57", Some("99"));
    assert_eq!(master.refusal(hours(0)), None);
    let mut visa = TriedCard::new("VISA");
    visa.fail(hours(0), "05", Some("03"));
    assert_eq!(visa.refusal(hours(0)), None);
}

#[test]
fn an_advice_to_wait_ends_at_its_time_and_no_later_advice_shortens_it() {
    for (advice, wait) in
        [("24", 1), ("25", 24), ("02", 72), ("26", 48), ("27", 96), ("28", 144), ("29", 192), ("30", 240)]
    {
        let mut master = TriedCard::new("MASTER");
        // Both were sent before the first advice.
        let (one, other) = (master.send(hours(0)), master.send(hours(0)));
        master.decline(&one, hours(0), &details("51", Some(advice)));
        master.decline(&other, hours(0), &details("51", Some("24")));
        let last = hours(wait) - SignedDuration::from_millis(1);
        assert_eq!(master.refusal(last).unwrap().allowed_from, Some(hours(wait)), "{advice}");
        assert_eq!(master.refusal(hours(wait)), None, "{advice}");
        let code = master.refusal(hours(0)).unwrap().code;
        let expected = if wait <= 24 { codes::RETRY_AFTER_24_HOURS } else { codes::RETRY_AFTER_72_HOURS };
        assert_eq!(code, expected, "{advice}");
    }
}

#[test]
fn an_advice_for_authentication_is_met_by_3d_secure_or_another_date() {
    for (brand, response, advice) in [("VISA", "1A", None), ("MASTER", "05", Some("01"))] {
        let mut tried = TriedCard::new(brand);
        tried.fail(hours(0), response, advice);
        let find = |attempt| tried.rules.find_refusal(&tried.records, attempt);
        let refusal = RetryRefusal { code: codes::RETRY_WITH_THREE_DS, allowed_from: None };
        assert_eq!(find(attempt(hours(1))), Some(refusal));
        assert_eq!(find(NewAttempt { is_authenticated: true, ..attempt(hours(1)) }), None);
        assert_eq!(find(NewAttempt { expiry: "062038", ..attempt(hours(1)) }), None);
        assert_eq!(find(attempt(hours(365 * 24))), None);
    }
}

#[test]
fn a_time_is_written_so_that_an_attempt_at_it_is_allowed() {
    for (time, text) in [
        (hours(0), "1970-01-01 00:00:00+0000"),
        (hours(0) + SignedDuration::from_millis(1), "1970-01-01 00:00:01+0000"),
        (hours(0) + SignedDuration::from_millis(999), "1970-01-01 00:00:01+0000"),
    ] {
        let refusal = RetryRefusal { code: codes::RETRY_AFTER_24_HOURS, allowed_from: Some(time) };
        let details = refusal.details();
        assert_eq!(details[ALLOWED_FROM], text);
        assert!(parse_time(text).unwrap() >= time);
    }
    assert!(RetryRefusal { code: codes::RETRY_STOPPED, allowed_from: None }.details().is_empty());
}

#[test]
fn a_schedule_gets_the_advice_of_its_scheme_or_the_time_of_a_refusal() {
    let rules = RetryRules::default();
    let now = hours(5);
    let advise = |brand: &str, code: &str, details: BTreeMap<String, String>| {
        let mut payment = sample_payment(1, now, ResultCode::find(code).unwrap());
        (payment.brand, payment.account, payment.details) = (brand.to_owned(), card("420000"), details);
        rules.advise_schedule(&payment, now)
    };
    let allowed = BTreeMap::from([(ALLOWED_FROM.to_owned(), "1970-01-02 00:00:00+0000".to_owned())]);
    for (advice, expected) in [
        (advise("MASTER", "800.100.155", details("51", None)), RetryAdvice::ByPlan),
        (advise("MASTER", "800.100.155", details("51", Some("24"))), RetryAdvice::NotBefore(hours(6))),
        (advise("MASTER", "800.100.155", details("51", Some("03"))), RetryAdvice::Never),
        (advise("MASTER", "800.100.155", details("51", Some("01"))), RetryAdvice::Never),
        (advise("VISA", "800.100.155", details("51", Some("03"))), RetryAdvice::ByPlan),
        (advise("VISA", "800.100.100", details("R3", None)), RetryAdvice::Never),
        (advise("AMEX", "800.100.159", details("43", None)), RetryAdvice::Never),
        (advise("AMEX", "800.100.155", details("51", Some("03"))), RetryAdvice::ByPlan),
        (advise("VISA", "700.600.025", allowed), RetryAdvice::RefusedUntil(hours(24))),
        (advise("VISA", "700.601.003", BTreeMap::new()), RetryAdvice::Never),
        (advise("VISA", "000.100.112", details("00", None)), RetryAdvice::ByPlan),
    ] {
        assert_eq!(advice, expected);
    }
}

#[test]
fn faults_of_a_file_name_the_key() {
    let file = |scheme: &str| format!("[schedules]\nstop = []\n[schemes.s]\n{scheme}\n");
    let brands = "brands = ['VISA']";
    let limit = |limit: &str| file(&format!("{brands}\nlimits = [{{ {limit} }}]"));
    let codes = |table: &str, line: &str| file(&format!("{brands}\n[schemes.s.{table}]\n{line}"));
    for (text, fault) in [
        (String::new(), "missing field `schedules`"),
        ("[schedules]\nstop = ['000.100']\n[schemes]".to_owned(), "schedules.stop[0]: 000.100 is no result code"),
        ("[schedules]\nstop = ['8']\n[schemes]".to_owned(), "schedules.stop[0]"),
        ("[schedules]\nstop = ['800.100.159', '123.456']\n[schemes]".to_owned(), "schedules.stop[1]"),
        (file("brands = []"), "schemes.s.brands: names no brand"),
        (file("brands = ['VISA', 'SEPA']\nlimits = [{ attempts = 1, within = '1d' }]"), "schemes.s.brands[1]"),
        (file(brands), "schemes.s: has neither limits nor codes"),
        (file(&format!("{brands}\nlimit = []")), "unknown field `limit`"),
        (limit("attempts = 0, within = '1d'"), "schemes.s.limits[0].attempts: has to be 1 to 100"),
        (limit("attempts = 101, within = '1d'"), "schemes.s.limits[0].attempts"),
        (limit("attempts = 1, within = '0d'"), "schemes.s.limits[0].within"),
        (limit("attempts = 1, within = '366d'"), "schemes.s.limits[0].within"),
        (limit("attempts = 1, within = '1w'"), "schemes.s.limits[0].within"),
        (limit("attempts = 1, within = '1d', per = 'card'"), "unknown field `per`"),
        (codes("response-codes", "toolong = 'stop'"), "schemes.s.response-codes.toolong"),
        (codes("response-codes", "0a = 'stop'"), "schemes.s.response-codes.0a"),
        (codes("advice-codes", "3 = 'stop'"), "schemes.s.advice-codes.3"),
        (codes("advice-codes", "03 = 'other-line'"), "unknown variant `other-line`"),
        (codes("advice-codes", "24 = { retry-later = '-1h' }"), "schemes.s.advice-codes.24.retry-later"),
        (file(&format!("{brands}\nstop-for = '9999d'\nlimits = [{{ attempts = 1, within = '1d' }}]")), "stop-for"),
        (
            file(&format!(
                "{brands}\nlimits = [{{ attempts = 1, within = '1d' }}]\n[schemes.t]\n{brands}\nlimits = [{{ attempts = 1, within = '1d' }}]"
            )),
            "schemes.t.brands: VISA is a brand of another scheme",
        ),
    ] {
        let found = text.parse::<RetryRules>().unwrap_err();
        assert!(found.contains(fault), "{text}: {found}");
    }
}

proptest! {
    /// Whatever the order of sending, answers and jumps of the clock is, no window has more attempts than its limit,
    /// and the time of a refusal is the first at which an attempt is allowed.
    #[test]
    fn no_window_ever_has_more_attempts_than_its_limit(
        steps in prop::collection::vec((0_i64..40, any::<bool>()), 1..120),
    ) {
        let mut master = TriedCard::new("MASTER");
        master.fail(hours(0), "05", None);
        let (mut now, mut sent, mut open) = (hours(0), vec![hours(0)], Vec::new());
        for (wait, is_answered) in steps {
            now += SignedDuration::from_mins(wait * 7);
            if let Some(refusal) = master.refusal(now) {
                let allowed = refusal.allowed_from.unwrap();
                prop_assert!(allowed > now);
                prop_assert_eq!(master.refusal(allowed), None);
                prop_assert!(master.refusal(allowed - SignedDuration::from_millis(1)).is_some());
                continue;
            }
            if master.payments == u8::MAX {
                break;
            }
            let payment = master.send(now);
            sent.push(now);
            if is_answered { master.decline(&payment, now, &details("05", None)) } else { open.push(payment) }
        }
        for payment in open {
            master.decline(&payment, now, &details("05", None));
        }
        for (window, limit) in [(24, 10), (30 * 24, 35)] {
            for end in &sent {
                let first = *end - SignedDuration::from_hours(window);
                prop_assert!(sent.iter().filter(|at| **at > first && *at <= end).count() <= limit);
            }
        }
        prop_assert!(master.records.amount.as_ref().unwrap().count_attempts() <= 35, "the row stays small");
    }
}

#[test]
fn a_clock_that_was_set_back_forgets_nothing() {
    let mut master = TriedCard::new("MASTER");
    (0..10).for_each(|_| master.fail(hours(100), "05", None));
    assert_eq!(master.refusal(hours(1)).unwrap().allowed_from, Some(hours(124)));
    assert_eq!(master.refusal(hours(124)), None);
}
