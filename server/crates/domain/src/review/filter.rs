//! The filter of the review queue.

use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use tillgate_shared::format::{amount, choice};
use tillgate_shared::parameter::{ParameterError, Parameters};

use crate::payment::Payment;
use crate::refusal::Refusal;
use crate::review::queue::{QueuedReview, ReviewClock, ReviewState};

/// Longest name of a rule, and longest id of an analyst, in characters.
const MAX_NAME: usize = 255;

/// Selection of reviews by their analyst.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AnalystFilter {
    /// Every review.
    #[default]
    Any,
    /// Reviews that nobody has claimed, or that ended by themselves.
    Nobody,
    /// Open reviews that this analyst has claimed, or ended ones that the analyst decided.
    Analyst(String),
}

/// The filter of the review queue. The default selects all open reviews.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewFilter {
    /// The state.
    pub state: ReviewState,
    /// The code of the brand.
    pub brand: Option<String>,
    /// The code of the currency.
    pub currency: Option<String>,
    /// The smallest and the largest amount, in hundredths of the payment's currency.
    pub amount: (Option<i64>, Option<i64>),
    /// The lowest and the highest score.
    pub score: (Option<i32>, Option<i32>),
    /// The name of a rule that fired.
    pub rule: Option<String>,
    /// The analyst.
    pub analyst: AnalystFilter,
    /// The `merchantTransactionId`.
    pub reference: Option<String>,
    /// The shortest time for which the payment has been held.
    pub min_age: Option<SignedDuration>,
}

impl Default for ReviewFilter {
    fn default() -> Self {
        Self {
            state: ReviewState::Open,
            brand: None,
            currency: None,
            amount: (None, None),
            score: (None, None),
            rule: None,
            analyst: AnalystFilter::Any,
            reference: None,
            min_age: None,
        }
    }
}

impl ReviewFilter {
    /// Reads the filter of a request. `own` has the parameters that only the queue has, `user` is the analyst for whom
    /// `analyst=mine` stands. Empty parameters count as missing.
    ///
    /// # Errors
    /// 400 with each parameter at fault.
    pub fn from_parameters(parameters: &Parameters, own: &Parameters, user: &str) -> Result<Self, Refusal> {
        let mut errors = Vec::new();
        let mut read_hundredths = |name| read(own, name, parse_hundredths, &mut errors);
        let amount = (read_hundredths("amount.from"), read_hundredths("amount.to"));
        let mut read_score = |name| read(own, name, parse_score, &mut errors);
        let score = (read_score("score.from"), read_score("score.to"));
        let state = read(own, "state", parse_state, &mut errors).unwrap_or(ReviewState::Open);
        let min_age = read(own, "minAge", parse_age, &mut errors);
        let rule = read(own, "rule", parse_name, &mut errors);
        let analyst = match read(own, "analyst", parse_name, &mut errors).as_deref() {
            None => AnalystFilter::Any,
            Some("unclaimed") => AnalystFilter::Nobody,
            Some("mine") => AnalystFilter::Analyst(user.to_owned()),
            Some(analyst) => AnalystFilter::Analyst(analyst.to_owned()),
        };
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors));
        }
        let text = |name| parameters.get(name).filter(|value| !value.is_empty()).map(str::to_owned);
        Ok(Self {
            state,
            brand: text("paymentBrand"),
            currency: text("currency"),
            amount,
            score,
            rule,
            analyst,
            reference: text("merchantTransactionId"),
            min_age,
        })
    }

    /// Returns the latest beginning of the selected reviews, by the clock of the machine.
    pub fn latest_start(&self, now: Timestamp) -> Timestamp {
        self.min_age.map_or(Timestamp::MAX, |age| now.checked_sub(age).unwrap_or(Timestamp::MIN))
    }

    /// Returns true if the filter matches a review. The store selects by `merchantTransactionId` and age.
    pub fn matches(&self, review: &QueuedReview, payment: &Payment, clock: ReviewClock) -> bool {
        let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
        let score = decision.map_or(0, |decision| decision.score);
        review.state() == self.state
            && self.brand.as_ref().is_none_or(|brand| payment.brand == *brand)
            && self.currency.as_ref().is_none_or(|currency| payment.amount.currency().code() == currency)
            && is_between(payment.amount.hundredths(), self.amount)
            && is_between(score, self.score)
            && self.rule.as_ref().is_none_or(|rule| decision.is_some_and(|decision| decision.fired.contains(rule)))
            && self.matches_analyst(review, clock)
    }

    fn matches_analyst(&self, review: &QueuedReview, clock: ReviewClock) -> bool {
        let analyst = match review.state() {
            ReviewState::Open => review.active_claim(clock.now).map(|claim| &claim.analyst),
            ReviewState::Expired => None,
            ReviewState::Approved | ReviewState::Cancelled => review.decision.as_ref().map(|action| &action.analyst),
        };
        match &self.analyst {
            AnalystFilter::Any => true,
            AnalystFilter::Nobody => analyst.is_none(),
            AnalystFilter::Analyst(wanted) => analyst == Some(wanted),
        }
    }
}

/// Reads a parameter that was sent and is not empty. Adds an error if it is wrong.
fn read<T>(
    own: &Parameters,
    name: &str,
    parse: fn(&str) -> Result<T, String>,
    errors: &mut Vec<ParameterError>,
) -> Option<T> {
    let text = own.get(name).filter(|value| !value.is_empty())?;
    parse(text).map_err(|message| errors.push(ParameterError::new(name, Some(text), message))).ok()
}

/// Parses the name of a state.
///
/// # Errors
/// The message of a wrong state.
pub fn parse_state(text: &str) -> Result<ReviewState, String> {
    ReviewState::parse(text).ok_or_else(|| choice::error_message(&ReviewState::ALL.map(ReviewState::as_str)))
}

/// Parses the name of a rule, or the id of an analyst.
fn parse_name(text: &str) -> Result<String, String> {
    let fits = text.chars().count() <= MAX_NAME;
    if fits { Ok(text.to_owned()) } else { Err(format!("may have {MAX_NAME} characters at most")) }
}

fn is_between<T: PartialOrd>(value: T, (from, to): (Option<T>, Option<T>)) -> bool {
    from.is_none_or(|from| value >= from) && to.is_none_or(|to| value <= to)
}

/// Parses an amount of a filter, in hundredths. Its currency is that of each payment.
///
/// # Errors
/// The message of a wrong amount.
pub fn parse_hundredths(text: &str) -> Result<i64, String> {
    amount::parse_hundredths(text).ok_or_else(|| amount::MESSAGE.to_owned())
}

/// Parses a score of a filter.
///
/// # Errors
/// The message of a wrong score.
pub fn parse_score(text: &str) -> Result<i32, String> {
    let score = text.parse().ok().filter(|score: &i32| score.abs() <= 99_999);
    score.ok_or_else(|| "must be a whole number from -99999 to 99999".to_owned())
}

/// Parses an age of a filter, such as `2h`.
///
/// # Errors
/// The message of a wrong duration.
pub fn parse_age(text: &str) -> Result<SignedDuration, String> {
    let span = text.parse::<Span>().and_then(|span| span.to_duration(SpanRelativeTo::days_are_24_hours()));
    let age = span.ok().filter(|age| !age.is_negative());
    age.ok_or_else(|| "must be a duration such as 90m, 12h or 2d".to_owned())
}
