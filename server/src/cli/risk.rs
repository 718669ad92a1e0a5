//! `tillgate risk`: checks rules files and tries them out, without a data folder. The commands for stored rules and
//! lists are in `risk/versions.rs` and `risk/list.rs`.

pub mod decision_log;
pub mod dry_run;
pub mod dry_run_output;
pub mod explain;
pub mod fact_files;
pub mod input;
pub mod list;
mod rules_file;
pub mod versions;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_domain::risk::rules::VersionRole;
use tillgate_risk::{
    Assessment, BinTable, CardFunding, CheckInput, CheckoutVerdict, Facts, Offer, RuleSet, Thresholds, WindowCounters,
};

use super::CommonOptions;
use super::input_file::read_input_file;
use crate::cli::risk::decision_log::ShowDecisionLog;
use crate::cli::risk::dry_run::DryRunRules;
use crate::cli::risk::explain::ExplainPayment;
use crate::cli::risk::fact_files::load_lists;
use crate::cli::risk::input::read_payments;
use crate::cli::risk::list::RiskListCommand;
use crate::cli::risk::rules_file::load_rules;
use crate::cli::risk::versions::{AddRules, ListRuleVersions, ShowRules, UseRules};

/// Largest size of the payments, in bytes.
const MAX_PAYMENTS_BYTES: u64 = 128 << 20;

/// Rules and lists of the risk check.
#[derive(Debug, Subcommand)]
pub(super) enum RiskCommand {
    /// Check a rules file, and show its rules, counters and version.
    Check(CheckRules),
    /// Assess payments with a rules file.
    Evaluate(EvaluateRules),
    /// Store a rules file as a version of an entity.
    Add(AddRules),
    /// List the versions of an entity.
    Versions(ListRuleVersions),
    /// Print the rules file of a version.
    Show(ShowRules),
    /// Activate a version, or none.
    Activate(UseRules),
    /// Run a version in shadow mode, which only records its decisions, or none.
    Shadow(UseRules),
    /// Replay stored payments with a version, and report its decisions.
    DryRun(DryRunRules),
    /// Show the decision of a payment's risk check with its reasons.
    Explain(ExplainPayment),
    /// Show the decision log: changes of rules and lists, and reached card-testing limits.
    Audit(ShowDecisionLog),
    /// Add, remove and show entries of an entity's lists.
    #[command(subcommand)]
    List(RiskListCommand),
}

/// Check a rules file. Errors are printed as FILE:LINE:COLUMN: message.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk check rules.toml")]
pub(super) struct CheckRules {
    #[command(flatten)]
    common: CommonOptions,
    /// The rules file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Assess payments with a rules file. Several payments are assessed in their order, and the counters include the
/// earlier ones.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk evaluate rules.toml --input payments.json --json")]
pub(super) struct EvaluateRules {
    #[command(flatten)]
    common: CommonOptions,
    /// The rules file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A file with a payment, or with an array of payments: JSON objects of parameters and facts. `-` is the standard
    /// input.
    #[arg(long, value_name = "FILE")]
    input: PathBuf,
    /// A file with networks and their countries: lines such as 203.0.113.0/24,DE.
    #[arg(long, value_name = "FILE")]
    networks: Option<PathBuf>,
    /// A file with the domains of disposable e-mail addresses, one a line.
    #[arg(long, value_name = "FILE")]
    disposable: Option<PathBuf>,
    /// A file with the first digits of cards, their countries and fundings: lines such as 41111100-41111199,DE,debit.
    #[arg(long, value_name = "FILE")]
    bins: Option<PathBuf>,
}

#[derive(Serialize)]
struct RulesOutput {
    version: String,
    zone: String,
    thresholds: ThresholdsOutput,
    rules: Vec<RuleOutput>,
    offers: Vec<OfferOutput>,
    counters: Vec<String>,
}

#[derive(Serialize)]
struct ThresholdsOutput {
    challenge: Option<i32>,
    review: Option<i32>,
    deny: Option<i32>,
}

#[derive(Serialize)]
struct RuleOutput {
    name: String,
    effect: String,
    code: Option<&'static str>,
    when: String,
    note: Option<String>,
}

#[derive(Serialize)]
struct OfferOutput {
    name: String,
    effect: String,
    when: String,
    note: Option<String>,
}

#[derive(Serialize)]
struct AssessmentOutput {
    version: String,
    #[serde(flatten)]
    assessment: Assessment,
    /// Names of the offers that restrict the brands for a shopper with these data.
    offers: Vec<String>,
}

/// Assessments of one payment or of an array, in the shape of the input.
#[derive(Serialize)]
#[serde(untagged)]
enum AssessmentsOutput {
    One(Box<AssessmentOutput>),
    Many(Vec<AssessmentOutput>),
}

impl RiskCommand {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Check(command) => command.run(),
            Self::Evaluate(command) => command.run(),
            Self::Add(command) => command.run(),
            Self::Versions(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Activate(command) => command.run(VersionRole::Active),
            Self::Shadow(command) => command.run(VersionRole::Shadow),
            Self::DryRun(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::Audit(command) => command.run(),
            Self::List(command) => command.run(),
        }
    }
}

impl CheckRules {
    fn run(self) -> anyhow::Result<()> {
        let (_, rules) = load_rules(&self.common, &self.file)?;
        self.common.print_output(&describe_rules(&rules), format_rules)
    }
}

impl EvaluateRules {
    fn run(self) -> anyhow::Result<()> {
        let (_, rules) = load_rules(&self.common, &self.file)?;
        let lists = load_lists(self.networks.as_deref(), self.disposable.as_deref(), self.bins.as_deref())?;
        let mut input = read_payments(&read_input_file(&self.input, MAX_PAYMENTS_BYTES)?)?;
        input.payments.iter_mut().for_each(|payment| add_card_facts(payment, &lists.bins));
        let mut counters = WindowCounters::default();
        let version = rules.version().to_string();
        let counted = rules.counted_counters();
        let assess = |payment| -> anyhow::Result<AssessmentOutput> {
            let facts = Facts { input: payment, lists: &lists };
            let mut before = before_payment(payment);
            let score = rules.evaluate(&Facts { input: &before, lists: &lists }, &counters)?.score;
            before.verdict = Some(CheckoutVerdict { score, lists: Vec::new() });
            let offers = rules.evaluate_offers(&Facts { input: &before, lists: &lists }, &counters).fired().to_vec();
            counters.record_payment(&counted, &facts);
            let assessment = rules.evaluate(&facts, &counters)?;
            Ok(AssessmentOutput { version: version.clone(), assessment, offers })
        };
        let mut assessed: Vec<AssessmentOutput> = input.payments.iter().map(assess).collect::<anyhow::Result<_>>()?;
        let output = match assessed.pop() {
            Some(only) if !input.is_array => AssessmentsOutput::One(Box::new(only)),
            last => AssessmentsOutput::Many(assessed.into_iter().chain(last).collect()),
        };
        self.common.print_output(&output, format_assessments)
    }
}

/// Adds country and funding of a payment's card, by its BIN, unless the payment has them.
fn add_card_facts(payment: &mut CheckInput, bins: &BinTable) {
    let facts = payment.bin.as_deref().map(|bin| bins.find_facts(bin)).unwrap_or_default();
    let add = |fact: &mut Option<String>, known: Option<&str>| {
        if fact.is_none() {
            *fact = known.map(str::to_owned);
        }
    };
    add(&mut payment.card_country, facts.country());
    add(&mut payment.card_funding, facts.funding.map(CardFunding::as_str));
}

/// Returns what is known of a payment before its shopper chooses a brand: nothing of an account, and nothing that a
/// browser sent.
fn before_payment(payment: &CheckInput) -> CheckInput {
    let parameters = payment.parameters.iter().filter(|(name, _)| !payment.from_browser.contains(*name)).collect();
    CheckInput { parameters, at: payment.at, amount: payment.amount, address: payment.address, ..CheckInput::default() }
}

fn describe_rules(rules: &RuleSet) -> RulesOutput {
    let Thresholds { challenge, review, deny } = rules.thresholds();
    let describe = |rule: &tillgate_risk::Rule| RuleOutput {
        name: rule.name.clone(),
        effect: rule.effect.to_string(),
        code: rule.code.map(|code| code.code()),
        when: rules.print_condition(rule),
        note: rule.note.clone(),
    };
    let describe_offer = |offer: &Offer| OfferOutput {
        name: offer.name.clone(),
        effect: offer.effect.to_string(),
        when: rules.offers().print_condition(offer),
        note: offer.note.clone(),
    };
    RulesOutput {
        version: rules.version().to_string(),
        zone: rules.zone_name().to_owned(),
        thresholds: ThresholdsOutput { challenge, review, deny },
        rules: rules.rules().iter().map(describe).collect(),
        offers: rules.offers().offers().iter().map(describe_offer).collect(),
        counters: rules.counted_counters().iter().map(ToString::to_string).collect(),
    }
}

fn format_rules(shown: &RulesOutput) -> String {
    let ThresholdsOutput { challenge, review, deny } = shown.thresholds;
    let threshold = |score: Option<i32>| score.map_or_else(|| "none".to_owned(), |score| score.to_string());
    let mut text = format!(
        "version     {}\nzone        {}\nthresholds  challenge {}, review {}, deny {}\nrules       {}\noffers      {}\ncounters    {}\n",
        shown.version,
        shown.zone,
        threshold(challenge),
        threshold(review),
        threshold(deny),
        shown.rules.len(),
        shown.offers.len(),
        shown.counters.len(),
    );
    let effect = |rule: &RuleOutput| [&rule.effect, rule.code.unwrap_or_default()].join(" ").trim_end().to_owned();
    let names = shown.rules.iter().map(|rule| rule.name.chars().count()).max().unwrap_or(0);
    let effects = shown.rules.iter().map(|rule| effect(rule).len()).max().unwrap_or(0);
    for rule in &shown.rules {
        // Writing to a string has no errors.
        let _ = write!(text, "\n{:names$}  {:effects$}  {}", rule.name, effect(rule), rule.when);
    }
    if !shown.rules.is_empty() && !shown.offers.is_empty() {
        text.push('\n');
    }
    for offer in &shown.offers {
        let _ = write!(text, "\n{}  {}  {}", offer.name, offer.effect, offer.when);
    }
    if !shown.counters.is_empty() {
        text.push('\n');
    }
    for counter in &shown.counters {
        let _ = write!(text, "\n{counter}");
    }
    text
}

fn format_assessments(shown: &AssessmentsOutput) -> String {
    match shown {
        AssessmentsOutput::One(only) => format_assessment(only),
        AssessmentsOutput::Many(all) => all.iter().map(format_assessment).collect::<Vec<_>>().join("\n"),
    }
}

fn format_assessment(shown: &AssessmentOutput) -> String {
    let Assessment { outcome, score, code, challenge, fired, inputs, .. } = &shown.assessment;
    let code = code.map_or_else(String::new, |code| format!("  {code}"));
    let challenge = if *challenge { "  with a challenge" } else { "" };
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let offers =
        if shown.offers.is_empty() { String::new() } else { format!("\n  offers  {}", shown.offers.join(", ")) };
    format!("{outcome}  score {score}{code}{challenge}\n  fired   {}\n  inputs  {}{offers}", list(fired), list(inputs))
}
