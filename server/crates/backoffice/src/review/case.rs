//! One held payment, loaded for its page or for an act.

use std::sync::Arc;

use axum::response::Response;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::Payment;
use tillgate_domain::review::queue::ReviewAction;
use tillgate_gateway::Failure;
use tillgate_gateway::review::analyst_queue::QueueItem;
use tillgate_gateway::review::similar_payments::SimilarPayments;
use tillgate_gateway::risk::explanation::FiredRule;

use super::{analyst_of, scope_of};
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// A payment that is or was held, as one user sees it.
pub(super) struct ReviewCase {
    /// The review with its payment.
    pub(super) item: QueueItem,
    /// The acts of analysts, oldest first.
    pub(super) actions: Vec<ReviewAction>,
    /// The entity that owns the payment.
    pub(super) owner: Arc<Entity>,
    /// The time zone of the owner.
    pub(super) zone: TimeZone,
    /// Name of the user as an analyst.
    pub(super) analyst: String,
    /// True if the user may decide about payments of the owner.
    pub(super) can_decide: bool,
}

/// Reasons and counts that the page shows beside the payment.
pub(super) struct ReviewEvidence {
    /// The rules that fired. Empty for those who may not see rules.
    pub(super) rules: Vec<FiredRule>,
    /// The other payments with the same card, e-mail address, address or network.
    pub(super) similar: Vec<SimilarPayments>,
}

impl ReviewCase {
    /// Loads a payment. A payment of another tenant is as unknown as one that was never held.
    ///
    /// # Errors
    /// The page about that, or about data that cannot be read.
    pub(super) async fn load(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let unknown = || Box::new(office.show_unknown());
        let id = PaymentId::parse(id).ok_or_else(unknown)?;
        let scope = scope_of(office);
        let loaded = office.read(move |app, _| app.gateway.load_queue_item(&scope, &id)).await;
        let (item, actions) = loaded.map_err(|failure| Box::new(office.show_failure(&failure)))?.ok_or_else(unknown)?;
        let owner = office.app().gateway.directory.find_entity(&item.review.entity).ok_or_else(unknown)?;
        let can_decide = office.allows_on(Permission::DecideReviews, &owner.id);
        let (zone, analyst) = (find_zone("", std::slice::from_ref(&owner)), analyst_of(&office.signed_in.user));
        Ok(Self { item, actions, owner, zone, analyst, can_decide })
    }

    /// Loads a payment about which the user may decide.
    ///
    /// # Errors
    /// Same as [`ReviewCase::load`]; also the page about the missing permission, if the user may only see the payment.
    pub(super) async fn load_to_decide(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let case = Self::load(office, id).await?;
        if case.can_decide {
            return Ok(case);
        }
        Err(Box::new(office.show_missing_permission(Permission::DecideReviews).await))
    }

    /// Loads what the page shows beside the payment.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(super) async fn load_evidence(&self, office: &Office) -> Result<ReviewEvidence, Failure> {
        let payment = self.payment().clone();
        let entities = collect_ids(&office.entities_with(Permission::ViewPayments));
        let visible = collect_ids(&office.entities_with(Permission::ViewRules));
        let read = office.read(move |app, cancelled| {
            // The names of rules that the user may not see are not in this payment.
            let rules = app.gateway.explain_decision(&payment, &visible)?;
            let similar = app.gateway.count_similar_payments(&entities, &payment, cancelled)?;
            Ok(ReviewEvidence { rules, similar })
        });
        read.await
    }

    /// Returns the payment.
    pub(super) fn payment(&self) -> &Payment {
        &self.item.payment
    }

    /// Formats a time of the owner's clock.
    pub(super) fn format_time(&self, texts: &Texts, time: Timestamp) -> String {
        texts.date_time(&time.to_zoned(self.zone.clone()))
    }
}
