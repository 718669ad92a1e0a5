//! Replay of one entity's payments: which of them are assessed, with which facts, lists and counters.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::payment::{Account, Payment, PaymentType};
use tillgate_domain::risk::dry_run::{AssessedPayment, DryRunReport};
use tillgate_domain::risk::{RiskContext, ScreeningPoint};
use tillgate_domain::three_ds::Proof;
use tillgate_risk::{CheckInput, Facts, RiskLists, VelocityCounter, WindowCounters, read_listed_values};
use tillgate_shared::result::codes;
use tillgate_store::{HistoricPayment, StoreError};

use crate::registry::Registry;
use crate::risk::check::decide_by_rules;
use crate::risk::check::make_check_input;
use crate::risk::dry_run::DryRun;

/// The replay of an entity's payments.
pub(super) struct EntityReplay<'a> {
    run: &'a DryRun,
    entity: &'a Entity,
    /// The in-process connectors, which know the test data of sandboxes.
    registry: Registry,
    /// The entities whose lists apply today. Empty if none has an entry.
    list_owners: Vec<EntityId>,
    /// The operator's lists.
    lists: Arc<RiskLists>,
    /// The time as of which list entries apply, by the entity's clock.
    lists_at: Timestamp,
    counters: WindowCounters,
}

/// The treatment of a stored payment.
enum Treatment {
    /// It is a follow-up payment, which is never checked.
    FollowUp,
    /// It ended before a check.
    EndedBefore,
    /// Its test data asked for the outcome.
    TestData,
    /// It is assessed and counted.
    Assess,
}

impl<'a> EntityReplay<'a> {
    /// Starts the replay of an entity, with empty counters.
    pub(super) fn new(run: &'a DryRun, entity: &'a Entity) -> Self {
        let directory = &run.directory;
        let rules = directory.risk.find_rules(&entity.id);
        let now = Timestamp::now();
        Self {
            run,
            entity,
            registry: Registry::default(),
            list_owners: rules.map(|rules| rules.list_owners.clone()).unwrap_or_default(),
            lists: directory.risk.operator_lists(),
            lists_at: now.checked_add(entity.ahead).unwrap_or(now),
            counters: WindowCounters::default(),
        }
    }

    /// Returns the time before the period whose payments the counters read, in seconds. 0 without counters.
    pub(super) fn history_seconds(&self) -> i64 {
        self.run.rules.velocity_reads().iter().map(VelocityCounter::reach_seconds).max().unwrap_or(0)
    }

    /// Returns the number of counter keys that were forgotten.
    pub(super) fn forgotten_counters(&self) -> u64 {
        self.counters.forgotten()
    }

    /// Counts a payment, and assesses it if it is in the period. Payments come in the order of their ids.
    ///
    /// # Errors
    /// If the lists cannot be read.
    pub(super) fn add_payment(
        &mut self,
        historic: &HistoricPayment,
        report: &mut DryRunReport,
    ) -> Result<(), StoreError> {
        let payment = &historic.payment;
        let is_in_period = self.run.request.period.contains(&payment.id);
        match self.find_treatment(payment) {
            Treatment::FollowUp => {}
            Treatment::EndedBefore => report.left_out.ended_before += u64::from(is_in_period),
            Treatment::TestData => report.left_out.test_data += u64::from(is_in_period),
            Treatment::Assess => {
                let input = self.make_input(payment);
                let lists = Arc::clone(&self.lists);
                let facts = Facts { input: &input, lists: &lists };
                self.counters.record_payment(self.run.rules.velocity_reads(), &facts);
                if is_in_period {
                    report.without_risk_data += u64::from(payment.risk.is_none());
                    self.assess_payment(historic, &facts, report)?;
                } else {
                    report.counted_before += 1;
                }
            }
        }
        Ok(())
    }

    /// Decides about a payment by the rules and by the list entries of today, and adds it to the report.
    fn assess_payment(
        &self,
        historic: &HistoricPayment,
        facts: &Facts<'_>,
        report: &mut DryRunReport,
    ) -> Result<(), StoreError> {
        let HistoricPayment { payment, charged_back } = historic;
        let hits = if self.list_owners.is_empty() {
            Vec::new()
        } else {
            self.run.history.find_list_hits(&self.list_owners, &read_listed_values(facts), self.lists_at)?
        };
        let prepared = self.run.rules.prepare_evaluation(facts);
        let decision = decide_by_rules(Some((&self.run.rules, prepared)), &hits, facts, &self.counters);
        let stored = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
        let assessed = AssessedPayment {
            id: &payment.id,
            amount: payment.amount,
            is_approved: payment.is_approved(),
            charged_back: *charged_back,
            before: stored.map(|decision| decision.outcome),
            after: &decision,
        };
        report.add_payment(&assessed, self.run.request.examples);
        Ok(())
    }

    /// Decides how a payment is treated. The version does not decide if a check takes place: a payment that was
    /// checked is assessed, and one whose channel has risk off is treated as if it were on.
    fn find_treatment(&self, payment: &Payment) -> Treatment {
        if payment.referenced.is_some() {
            return Treatment::FollowUp;
        }
        if self.has_test_data(payment) {
            return Treatment::TestData;
        }
        let is_assessed = match &payment.risk {
            // The channel had risk on. Without a decision, the payment ended before its check, or it is pending.
            Some(risk) => risk.decision.is_some(),
            None => payment.result != codes::DUPLICATE && (payment.is_approved() || !self.applies_after(payment)),
        };
        if is_assessed { Treatment::Assess } else { Treatment::EndedBefore }
    }

    /// Returns true if payments such as this one are checked after the authorization, by today's setting.
    fn applies_after(&self, payment: &Payment) -> bool {
        let screen = self.entity.settings.channel.risk_settings.screen;
        screen == ScreeningPoint::After || payment.payment_type == PaymentType::TwoStepDebit
    }

    /// Returns true if the payment's test data ask for an outcome, whatever the rules are.
    fn has_test_data(&self, payment: &Payment) -> bool {
        let mode = ProcessingMode::from_parameters(self.entity.live, &payment.parameters);
        mode.is_ok_and(|mode| {
            let route = self.registry.select_route(&self.entity.settings.channel, mode);
            route.connector.predefined_risk(&payment.parameters).is_some()
        })
    }

    /// Makes the input of a payment's check: what was known at that time. A check before the authorization knows
    /// neither its answers nor the result of a challenge.
    fn make_input(&self, payment: &Payment) -> CheckInput {
        let applies_after = self.applies_after(payment);
        let mut payment = Cow::Borrowed(payment);
        if !applies_after && payment.three_ds_session().is_some() {
            Proof::remove_from(&mut payment.to_mut().parameters);
        }
        let no_context = RiskContext::default();
        let context = payment.risk.as_ref().map_or(&no_context, |risk| &risk.context);
        let mut input = make_check_input(&payment, context, Some(&self.run.account_index), payment.created);
        if !applies_after {
            (input.avs, input.cvv) = (None, None);
        }
        if payment.risk.is_none()
            && let Account::Card(card) = &payment.account
        {
            input.bin = Some(card.bin.clone());
        }
        input
    }
}
