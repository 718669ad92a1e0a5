//! The decision that rules would have for a payment, before it is written.

use tillgate_connector::PaymentRoute;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::Payment;
use tillgate_domain::risk::RiskDecision;
use tillgate_risk::{Facts, RuleSet};

use crate::Gateway;
use crate::risk::check::decide_by_rules;
use crate::risk::check::see_account;
use crate::risk::check::{CheckBasis, RuleBasis};

impl Gateway {
    /// Returns true if the rules for an entity's payments can demand a challenge.
    pub(crate) fn can_rules_challenge(&self, entity: &EntityId) -> bool {
        let rules = self.directory.risk.find_rules(entity);
        rules.is_some_and(|rules| rules.active.as_deref().is_some_and(RuleSet::can_challenge))
    }

    /// Returns the decision that the rules have for a payment before it is written, with the stored counters as they
    /// are now. Writes nothing. `None` if test data decide, or if the check cannot be made.
    pub(crate) fn preview_risk_decision(
        &self,
        payment: &Payment,
        payer: &Entity,
        route: &PaymentRoute,
    ) -> Option<RiskDecision> {
        let context = &payment.risk.as_ref()?.context;
        if route.connector.predefined_risk(&payment.parameters).is_some() {
            return None;
        }
        let at = self.now_of(payer);
        let CheckBasis::Rules(basis) = self.find_check_basis(payment, context, payer, at) else { return None };
        let loaded = self.store.load_risk_counters(&basis.row_keys(&payer.id));
        let loaded =
            loaded.inspect_err(|error| tracing::error!(%error, "reading the counters of risk rules failed")).ok()?;
        let RuleBasis { rules, mut input, active, hits, count, sighting, .. } = *basis;
        input.account_age = see_account(sighting.as_ref(), &loaded).0.ok()?;
        let counters = count.count_payment(&loaded).counters.ok()?;
        let facts = Facts { input: &input, lists: &rules.lists };
        Some(decide_by_rules(rules.active.as_deref().zip(active), &hits, &facts, &counters))
    }
}
