//! `tillgate review`: the queue of held payments. Lists, shows, claims, releases and notes are done on the data folder;
//! the decisions are in `review/decide.rs`.

pub mod callback;
pub mod callback_list;
pub mod callback_output;
pub mod callback_test;
pub mod decide;
pub mod output;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use jiff::SignedDuration;
use tillgate_domain::id::PaymentId;
use tillgate_domain::review::filter::parse_age;
use tillgate_domain::review::filter::parse_hundredths;
use tillgate_domain::review::filter::parse_score;
use tillgate_domain::review::filter::parse_state;
use tillgate_domain::review::filter::{AnalystFilter, ReviewFilter};
use tillgate_domain::review::queue::parse_note;
use tillgate_domain::review::queue::{QueueChange, ReviewState};
use tillgate_domain::risk::list::parse_author;
use tillgate_gateway::review::administration::PAGE;
use tillgate_os::process;

use super::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::review::decide::{ApprovePayment, CancelPayment, PendPayment};
use crate::cli::review::output::describe_record;
use crate::cli::review::output::describe_review;
use crate::cli::review::output::format_list;
use crate::cli::review::output::format_record;
use crate::cli::review::output::format_review;
use crate::cli::review::output::{ReviewListOutput, ReviewOutput, ReviewRecordOutput};

/// The review queue: payments that the risk check holds.
#[derive(Debug, Subcommand)]
pub(super) enum ReviewCommand {
    /// List held payments, longest held first.
    List(ListReviews),
    /// Show a payment with its risk decision and its audit.
    Show(ShowReview),
    /// Reserve a payment for 30 minutes, during which no other analyst can decide it.
    Claim(ClaimReview),
    /// Give a claimed payment back.
    Release(ReleaseReview),
    /// Add a note to a payment.
    Note(NoteReview),
    /// Approve a payment, which executes or captures it.
    Approve(ApprovePayment),
    /// Cancel a payment, which declines or reverses it.
    Cancel(CancelPayment),
    /// Keep a payment held, and notify the merchant.
    Pend(PendPayment),
}

/// The analyst of a command, for the review's actions.
#[derive(Debug, Args)]
pub(super) struct AnalystOptions {
    /// Name of the analyst. Default: the user who runs the command.
    #[arg(long, value_name = "NAME", value_parser = parse_author)]
    analyst: Option<String>,
}

impl AnalystOptions {
    /// Returns the name that was given, or that of the user who runs the command.
    pub(super) fn find_analyst(&self) -> String {
        self.analyst.clone().unwrap_or_else(process::find_user)
    }
}

/// List held payments: all, or the payments of an entity and the entities below it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate review list --entity 8a01… --min-amount 500 --unclaimed --older-than 2h --data ./tillgate-data"
)]
pub(super) struct ListReviews {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    analyst: AnalystOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: Option<String>,
    /// State of the review: open, approved, cancelled or expired.
    #[arg(long, value_name = "STATE", default_value = "open", value_parser = parse_state)]
    state: ReviewState,
    /// Only this brand, such as VISA.
    #[arg(long, value_name = "BRAND")]
    brand: Option<String>,
    /// Only this currency, such as EUR.
    #[arg(long, value_name = "CURRENCY")]
    currency: Option<String>,
    /// Minimum amount, in the payment's currency.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_hundredths)]
    min_amount: Option<i64>,
    /// Maximum amount, in the payment's currency.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_hundredths)]
    max_amount: Option<i64>,
    /// Minimum score.
    #[arg(long, value_name = "SCORE", value_parser = parse_score, allow_hyphen_values = true)]
    min_score: Option<i32>,
    /// Maximum score.
    #[arg(long, value_name = "SCORE", value_parser = parse_score, allow_hyphen_values = true)]
    max_score: Option<i32>,
    /// Only payments for which this rule fired.
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only payments that the analyst of this command has claimed or decided.
    #[arg(long, conflicts_with_all = ["unclaimed", "of"])]
    mine: bool,
    /// Only payments without a claim.
    #[arg(long, conflicts_with = "of")]
    unclaimed: bool,
    /// Only payments that this analyst has claimed or decided.
    #[arg(long, value_name = "ANALYST")]
    of: Option<String>,
    /// Only payments that have been held for at least this time, such as 90m or 12h.
    #[arg(long, value_name = "DURATION", value_parser = parse_age)]
    older_than: Option<SignedDuration>,
    /// Only payments with this merchantTransactionId.
    #[arg(long, value_name = "ID")]
    merchant_transaction_id: Option<String>,
    /// Payment after which the list begins: the last payment of the previous list.
    #[arg(long, value_name = "PAYMENT", value_parser = parse_payment)]
    after: Option<PaymentId>,
    /// The maximum number of payments.
    #[arg(long, value_name = "N", default_value_t = PAGE)]
    limit: usize,
}

/// Show a payment with its risk decision and its audit.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review show 8a02… --data ./tillgate-data")]
pub(super) struct ShowReview {
    #[command(flatten)]
    common: CommonOptions,
    /// The payment's id.
    #[arg(value_name = "PAYMENT", value_parser = parse_payment)]
    payment: PaymentId,
}

/// A payment, and the analyst who acts on it.
#[derive(Debug, Args)]
pub(super) struct ReviewTarget {
    #[command(flatten)]
    pub(super) common: CommonOptions,
    #[command(flatten)]
    pub(super) analyst: AnalystOptions,
    /// The payment's id.
    #[arg(value_name = "PAYMENT", value_parser = parse_payment)]
    pub(super) payment: PaymentId,
}

/// A note that is stored with an action.
#[derive(Debug, Args)]
pub(super) struct NoteOptions {
    /// Note of at most 1,000 characters without card numbers, which is stored with the action.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

impl NoteOptions {
    /// Returns the note that was given.
    pub(super) fn check_note(&self) -> anyhow::Result<Option<String>> {
        self.note.as_deref().map(check_note).transpose()
    }
}

/// Reserve a payment for 30 minutes. Claiming it again renews the claim.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review claim 8a02… --analyst ann --data ./tillgate-data")]
pub(super) struct ClaimReview {
    #[command(flatten)]
    target: ReviewTarget,
    #[command(flatten)]
    note: NoteOptions,
}

/// Give a claimed payment back.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review release 8a02… --analyst ann --data ./tillgate-data")]
pub(super) struct ReleaseReview {
    #[command(flatten)]
    target: ReviewTarget,
    #[command(flatten)]
    note: NoteOptions,
}

/// Add a note to a payment that is or was held.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate review note 8a02… 'Called the customer' --data ./tillgate-data")]
pub(super) struct NoteReview {
    #[command(flatten)]
    target: ReviewTarget,
    /// The note, of at most 1,000 characters and without card numbers.
    #[arg(value_name = "TEXT")]
    note: String,
}

impl ReviewCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::List(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Claim(ClaimReview { target, note }) => change_review(&target, QueueChange::Claim, note.check_note()?),
            Self::Release(ReleaseReview { target, note }) => {
                change_review(&target, QueueChange::Release, note.check_note()?)
            }
            Self::Note(NoteReview { target, note }) => {
                change_review(&target, QueueChange::Note, Some(check_note(&note)?))
            }
            Self::Approve(command) => command.run(),
            Self::Cancel(command) => command.run(),
            Self::Pend(command) => command.run(),
        }
    }
}

impl ListReviews {
    /// Prints the reviews that the options select.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = self.entity.as_deref().map(parse_entity_id).transpose()?;
        let (reviews, next) =
            administration.list_reviews(entity.as_ref(), &self.build_filter(), self.after.clone(), self.limit)?;
        let reviews = reviews.iter().map(|found| describe_review(&found.review, &found.payment, found.clock));
        let output = ReviewListOutput { reviews: reviews.collect(), next: next.map(|next| next.to_string()) };
        self.common.print_output(&output, format_list)
    }

    fn build_filter(&self) -> ReviewFilter {
        ReviewFilter {
            state: self.state,
            brand: self.brand.clone(),
            currency: self.currency.clone(),
            amount: (self.min_amount, self.max_amount),
            score: (self.min_score, self.max_score),
            rule: self.rule.clone(),
            analyst: match &self.of {
                Some(analyst) => AnalystFilter::Analyst(analyst.clone()),
                None if self.unclaimed => AnalystFilter::Nobody,
                None if self.mine => AnalystFilter::Analyst(self.analyst.find_analyst()),
                None => AnalystFilter::Any,
            },
            reference: self.merchant_transaction_id.clone(),
            min_age: self.older_than,
        }
    }
}

impl ShowReview {
    /// Prints a review with its payment and its actions.
    fn run(self) -> anyhow::Result<()> {
        let (record, clock) = self.common.open_administration()?.load_review(&self.payment)?;
        let output: ReviewRecordOutput = describe_record(record, clock);
        self.common.print_output(&output, format_record)
    }
}

/// Claims or releases a payment, or adds a note. Prints the review.
fn change_review(target: &ReviewTarget, change: QueueChange, note: Option<String>) -> anyhow::Result<()> {
    let administration = target.common.open_administration()?;
    let changed = administration.change_review(&target.payment, change, (target.analyst.find_analyst(), note))?;
    let output: ReviewOutput = describe_review(&changed.review, &changed.payment, changed.clock);
    target.common.print_output(&output, format_review)
}

fn parse_payment(text: &str) -> Result<PaymentId, String> {
    PaymentId::parse(text).ok_or_else(|| "a payment's id has 32 lowercase hexadecimal characters".to_owned())
}

/// Checks a note. It is not checked with the other arguments, because errors of those repeat the value.
fn check_note(text: &str) -> anyhow::Result<String> {
    let note = parse_note(text).map_err(|message| anyhow::anyhow!("a note {message}"))?;
    note.context("a note may not be empty")
}
