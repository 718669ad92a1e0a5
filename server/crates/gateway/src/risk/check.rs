//! Risk checks of payments: collects the facts of a payment, and decides from them under the write lock.
//!
//! A payment is checked once. Before its connector is asked, the check belongs to the payment's first commit. After the
//! connector's approval, it belongs to the commit of that approval.

mod card;
mod context;
mod preview;

pub(crate) use self::context::make_check_input;

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tillgate_connector::PaymentRoute;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::review::{PaymentReview, ReviewFacts, ReviewStage};
use tillgate_domain::risk::list::{ListHit, RiskListKind};
use tillgate_domain::risk::{
    ReviewPolicy, RiskContext, RiskDecision, RiskOutcome, RiskRuling, RiskSettings, ScreeningPoint, ShadowDecision,
};
use tillgate_domain::three_ds::Proof;
use tillgate_risk::{
    AccountSighting, Assessment, CheckInput, CounterRow, Counters, DamagedCounters, Facts, Outcome, PaymentCount,
    PreparedRules, RuleSet, SeenAccount, read_listed_values,
};
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::result::codes;
use tillgate_store::entity_directory::ActiveRules;
use tillgate_store::{Changes, RiskRowKeys, RiskRowKind};

use crate::Gateway;

/// The fact for which first sightings of accounts are stored.
const ACCOUNT_AGE: &str = "account.age";

/// A check that is about to be made under the write lock.
#[derive(Debug, Clone)]
pub(crate) struct RiskCheck {
    settings: RiskSettings,
    /// True if the payment is reversed, not just declined, because its connector has approved it.
    applies_after: bool,
    /// The stage in which the payment is held if it has to be reviewed.
    review_stage: ReviewStage,
    basis: CheckBasis,
    /// The entity that processes the payment, which owns the counters.
    entity: EntityId,
}

/// Rules with what they need to decide.
#[derive(Debug, Clone)]
struct RuleBasis {
    rules: Arc<ActiveRules>,
    /// The payment as it was prepared, without its late facts.
    input: CheckInput,
    /// The version that decides, evaluated without the counters. `None` if there is none.
    active: Option<PreparedRules>,
    /// The version that only records, evaluated in the same way.
    shadow: Option<PreparedRules>,
    /// The list entries for the payment.
    hits: Vec<ListHit>,
    /// The payment, to be counted in the velocity counters.
    count: PaymentCount,
    /// The sighting of its account, if it has one and a rule reads `account.age`.
    sighting: Option<AccountSighting>,
}

/// The basis of a decision.
#[derive(Debug, Clone)]
enum CheckBasis {
    /// The decision is known already: test data ask for it, or the check has failed.
    Decided(RiskDecision),
    /// Rules and lists.
    Rules(Box<RuleBasis>),
}

impl RuleBasis {
    /// Returns the keys of the stored rows to load. `entity` processes the payment.
    fn row_keys(&self, entity: &EntityId) -> Vec<RiskRowKeys> {
        let counters = RiskRowKeys { entity: entity.clone(), kind: RiskRowKind::Counter, keys: self.count.keys() };
        let sighting = self.sighting.as_ref().map(|sighting| RiskRowKeys {
            entity: sighting.merchant().clone(),
            kind: RiskRowKind::Account,
            keys: vec![sighting.key()],
        });
        [counters].into_iter().chain(sighting).filter(|rows| !rows.keys.is_empty()).collect()
    }
}

impl RiskCheck {
    /// Makes this the check of an order that is not executed, so nothing is reversed.
    pub(crate) fn before_execution(self) -> Self {
        Self { applies_after: false, ..self }
    }

    /// Makes the check of an approved payment that cannot be made: it has failed.
    pub(crate) fn failed_after_approval(settings: RiskSettings, entity: EntityId) -> Self {
        Self {
            settings,
            applies_after: true,
            review_stage: ReviewStage::Executed,
            basis: CheckBasis::Decided(RiskDecision::failed()),
            entity,
        }
    }

    /// Returns true if the check is made after the connector's approval.
    pub(crate) fn applies_after(&self) -> bool {
        self.applies_after
    }

    /// Returns true if the payment may be held before it is executed. Its account is needed later then.
    pub(crate) fn may_hold_unexecuted(&self) -> bool {
        self.settings.review != ReviewPolicy::Decline && self.review_stage == ReviewStage::NotExecuted
    }

    /// Returns the keys of the velocity counters and of the sighting that the decision needs. Empty if it needs none.
    pub(crate) fn counter_keys(&self) -> Vec<RiskRowKeys> {
        match &self.basis {
            CheckBasis::Rules(basis) => basis.row_keys(&self.entity),
            CheckBasis::Decided(_) => Vec::new(),
        }
    }

    /// Counts a payment in the counters that were loaded, checks it, and stores the decision in it. Returns what
    /// follows, and the changes to write in any case. Runs under the write lock.
    pub(crate) fn decide(self, payment: &mut Payment, loaded: &[CounterRow]) -> (RiskRuling, Changes) {
        let mut risk = payment.risk.take().unwrap_or_default();
        let mut changes = Changes::default();
        let decision = match self.basis {
            CheckBasis::Decided(decision) => decision,
            CheckBasis::Rules(basis) => {
                let RuleBasis { rules, mut input, active, shadow, hits, count, sighting } = *basis;
                context::refresh_late_facts(&mut input, payment);
                let age;
                (age, changes) = see_account(sighting.as_ref(), loaded);
                input.account_age = age.as_ref().ok().copied().flatten();
                risk.context.account_age = input.account_age.map(|age| age.as_secs());
                if !self.applies_after {
                    // An in-process connector has answered already, but it counts as not asked yet.
                    (input.avs, input.cvv) = (None, None);
                }
                let facts = Facts { input: &input, lists: &rules.lists };
                let counted = count.count_payment(loaded);
                if !counted.rows.is_empty() {
                    changes = changes.with_risk_counters(&self.entity, counted.rows);
                }
                match age.and(counted.counters) {
                    Ok(counters) => {
                        let versions = rules.shadow.as_deref().zip(shadow);
                        risk.shadow = versions.map(|(rules, shadow)| record_shadow(rules, shadow, &facts, &counters));
                        decide_by_rules(rules.active.as_deref().zip(active), &hits, &facts, &counters)
                    }
                    Err(error) => {
                        tracing::error!(%error, "counters of the risk check are damaged");
                        RiskDecision::failed()
                    }
                }
            }
        };
        let is_settled = is_challenge_settled(payment, self.applies_after);
        let ruling = decision.rule_on(self.settings, is_settled, self.applies_after);
        risk.decision = Some(decision);
        // A payment that its connector declines needs no review.
        if ruling == RiskRuling::Review && payment.is_approved_or_pending() {
            risk.review = Some(PaymentReview::new(self.review_stage));
        }
        payment.risk = Some(risk);
        (ruling, changes)
    }
}

/// Returns the age of a payment's account by the rows that were loaded, and the change that stores its first sighting.
/// `None` if no rule reads the age.
fn see_account(
    sighting: Option<&AccountSighting>,
    loaded: &[CounterRow],
) -> (Result<Option<SignedDuration>, DamagedCounters>, Changes) {
    let Some(sighting) = sighting else { return (Ok(None), Changes::default()) };
    let SeenAccount { age, row } = sighting.read_age(loaded);
    let changes = Changes::default();
    let changes = match row {
        Some(row) => changes.with_account_sighting(sighting.merchant(), row),
        None => changes,
    };
    (age.map(Some), changes)
}

/// Assesses a payment by rules and list entries. An entry of the list `deny` wins over everything, one of `allow` over
/// everything but a rule that denies, and one of `review` counts like a rule that demands a review. Rules that take too
/// many steps are a check that has failed.
pub(crate) fn decide_by_rules(
    rules: Option<(&RuleSet, PreparedRules)>,
    hits: &[ListHit],
    facts: &Facts<'_>,
    counters: &impl Counters,
) -> RiskDecision {
    let mut decision = match rules {
        Some((rules, prepared)) => {
            let assessment = match rules.evaluate_prepared(prepared, facts, counters) {
                Ok(assessment) => assessment,
                Err(error) => {
                    tracing::error!(%error, version = %rules.version(), "assessing a payment by risk rules failed");
                    return RiskDecision::failed();
                }
            };
            let (is_denied_by_rule, demands_challenge) = (assessment.is_denied_by_rule, assessment.challenge);
            let decision = convert_assessment(assessment, rules);
            let outcome = apply_lists(decision.outcome, is_denied_by_rule, hits);
            RiskDecision { outcome, challenge: demands_challenge && outcome == RiskOutcome::Review, ..decision }
        }
        None => RiskDecision::of_outcome(apply_lists(RiskOutcome::Accept, false, hits)),
    };
    if !hits.is_empty() {
        decision.fired.extend(hits.iter().map(|hit| format!("list {} {}", hit.list.as_str(), hit.key)));
        decision.fired.sort();
        decision.fired.dedup();
    }
    decision
}

/// Returns the outcome of rules and lists together.
fn apply_lists(outcome: RiskOutcome, is_denied_by_rule: bool, hits: &[ListHit]) -> RiskOutcome {
    let is_on = |list| hits.iter().any(|hit| hit.list == list);
    if is_on(RiskListKind::Deny) || is_denied_by_rule {
        RiskOutcome::Deny
    } else if is_on(RiskListKind::Allow) {
        RiskOutcome::Accept
    } else if is_on(RiskListKind::Review) && outcome != RiskOutcome::Deny {
        RiskOutcome::Review
    } else {
        outcome
    }
}

fn convert_outcome(outcome: Outcome) -> RiskOutcome {
    match outcome {
        Outcome::Accept => RiskOutcome::Accept,
        Outcome::Challenge => RiskOutcome::Challenge,
        Outcome::Review => RiskOutcome::Review,
        Outcome::Deny => RiskOutcome::Deny,
    }
}

fn convert_assessment(assessment: Assessment, rules: &RuleSet) -> RiskDecision {
    let Assessment { outcome, score, code, fired, inputs, .. } = assessment;
    RiskDecision {
        score,
        code,
        version: Some(rules.version().to_string()),
        fired,
        inputs,
        ..RiskDecision::of_outcome(convert_outcome(outcome))
    }
}

/// Assesses a payment by the version that only records.
fn record_shadow(
    rules: &RuleSet,
    prepared: PreparedRules,
    facts: &Facts<'_>,
    counters: &impl Counters,
) -> ShadowDecision {
    let version = rules.version().to_string();
    match rules.evaluate_prepared(prepared, facts, counters) {
        Ok(Assessment { outcome, score, fired, .. }) => {
            ShadowDecision { outcome: convert_outcome(outcome), score, version, fired }
        }
        Err(_) => ShadowDecision { outcome: RiskOutcome::Error, score: 0, version, fired: Vec::new() },
    }
}

/// Returns true if a demanded challenge changes nothing for a payment: its cardholder is authenticated or, before the
/// approval, about to be; or 3-D Secure has failed, and the payment keeps the code that says so.
fn is_challenge_settled(payment: &Payment, is_approved: bool) -> bool {
    // An approved payment still has its pending result and its session when it is checked.
    let awaits_challenge = !is_approved && payment.result.is_pending() && payment.three_ds_session().is_some();
    let has_failed = [codes::THREEDS_FAILED, codes::THREEDS_REJECTED].contains(&payment.result);
    // A card that is not enrolled has the ECI of an attempt, although no issuer was asked.
    let is_enrolled = payment.parameters.get("threeDSecure.enrollmentStatus") != Some("N");
    let proof = Proof::from_parameters(&payment.parameters).filter(|_| is_enrolled);
    awaits_challenge || has_failed || proof.is_some_and(|proof| proof.is_authenticated())
}

/// Returns the stage in which a payment is held if it has to be reviewed. A payment that is decided on a page of its
/// brand, by a transfer or with a wallet's token cannot be executed when the shopper is gone.
fn find_review_stage(
    payment: &Payment,
    policy: ReviewPolicy,
    applies_after: bool,
    route: &PaymentRoute,
) -> ReviewStage {
    let capabilities = route.connector.capabilities();
    let brand = Brand::find(&payment.brand);
    let is_synchronous = brand.is_some_and(Brand::is_synchronous);
    let is_from_token = payment.registration.is_none() && brand.is_some_and(|brand| brand.kind == AccountType::Wallet);
    let facts = ReviewFacts {
        policy,
        is_executed: applies_after,
        is_preauthorized: payment.debit_step() == Some(DebitStep::Authorization),
        is_bound_to_shopper: !is_synchronous || is_from_token,
        can_be_captured: capabilities.supports_two_steps(),
        payment_type: payment.payment_type,
    };
    facts.first_stage()
}

impl Gateway {
    /// Prepares the check of a payment that is about to be written. `None` if it has no data for a check, has
    /// been checked, or it is not yet time. A failure to read lists makes a check that has failed.
    pub(crate) fn prepare_risk_check(
        &self,
        payment: &Payment,
        payer: &Entity,
        route: &PaymentRoute,
    ) -> Option<RiskCheck> {
        let predefined = route.connector.predefined_risk(&payment.parameters);
        let applies_after = payer.settings.channel.risk_settings.screen == ScreeningPoint::After
            || payment.payment_type == PaymentType::TwoStepDebit
            || predefined.is_some_and(|decision| decision.applies_after);
        if applies_after && !payment.is_approved() {
            return None;
        }
        self.make_risk_check(payment, payer, route, applies_after)
    }

    /// Makes the check of a payment. `None` if it has no data for a check, or has been checked. `applies_after`: its
    /// connector has approved it.
    pub(crate) fn make_risk_check(
        &self,
        payment: &Payment,
        payer: &Entity,
        route: &PaymentRoute,
        applies_after: bool,
    ) -> Option<RiskCheck> {
        let risk = payment.risk.as_ref().filter(|risk| risk.decision.is_none())?;
        let settings = payer.settings.channel.risk_settings;
        let at = self.now_of(payer);
        let basis = match route.connector.predefined_risk(&payment.parameters) {
            Some(decision) => CheckBasis::Decided(decision),
            None => self.find_check_basis(payment, &risk.context, payer, at),
        };
        let review_stage = find_review_stage(payment, settings.review, applies_after, route);
        Some(RiskCheck { settings, applies_after, review_stage, basis, entity: payer.id.clone() })
    }

    /// Finds the rules of an entity, and the list entries for a payment.
    fn find_check_basis(&self, payment: &Payment, context: &RiskContext, payer: &Entity, at: Timestamp) -> CheckBasis {
        let Some(rules) = self.directory.risk.find_rules(&payer.id) else {
            return CheckBasis::Decided(RiskDecision::of_outcome(RiskOutcome::Accept));
        };
        if rules.is_unreadable {
            return CheckBasis::Decided(RiskDecision::failed());
        }
        let input = make_check_input(payment, context, Some(&self.account_index), at);
        let facts = Facts { input: &input, lists: &rules.lists };
        let hits = if rules.has_list_entries {
            self.store.find_list_hits(&rules.list_owners, &read_listed_values(&facts), at)
        } else {
            Ok(Vec::new())
        };
        let derive_secret = || self.account_index.derive_counter_secret();
        let count = rules.prepare_counters(derive_secret).prepare_payment(&facts, &payer.id);
        let reads_age = rules.rule_sets().any(|rules| rules.reads_fact(ACCOUNT_AGE));
        let sighting = input
            .account
            .as_ref()
            .filter(|_| reads_age)
            .map(|account| AccountSighting::prepare(account, payer.merchant_or_self(), &derive_secret(), at));
        // Everything that needs no counter is evaluated here, because each payment waits for the write lock.
        let prepare = |rules: &Arc<RuleSet>| rules.prepare_evaluation(&facts);
        let (active, shadow) = (rules.active.as_ref().map(prepare), rules.shadow.as_ref().map(prepare));
        match hits {
            Ok(hits) => {
                let rules = Arc::clone(&rules);
                CheckBasis::Rules(Box::new(RuleBasis { rules, input, active, shadow, hits, count, sighting }))
            }
            Err(error) => {
                tracing::error!(%error, "the lists of the risk check cannot be read");
                CheckBasis::Decided(RiskDecision::failed())
            }
        }
    }
}
