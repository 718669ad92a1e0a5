//! Property test of decisions about disputes: whatever the institute and the merchant do in whatever order.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::dispute::{Dispute, DisputeAction, DisputeTimerAction};
use tillgate_domain::id::{DisputeId, EntityId, PaymentId};
use tillgate_domain::payment::{FollowUpSummary, ModificationType, Payment, PaymentType};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;
use tillgate_store::LoadedRecords;

use super::super::payment::follow_up_draft::draft_follow_up;
use super::decide::*;

/// A step of a history.
#[derive(Debug, Clone)]
enum HistoryStep {
    /// The institute opens a dispute.
    Open(DisputeAction, i64),
    /// Somebody moves one of the disputes.
    Advance(prop::sample::Index, DisputeAction, i64),
    /// Time passes, and the timers run.
    Wait(i64),
}

/// A store of one debit, its follow-up payments and its disputes.
struct DisputeLedger {
    now: Timestamp,
    entity: Entity,
    payments: Vec<Arc<Payment>>,
    disputes: BTreeMap<DisputeId, Dispute>,
    ids: u8,
}

impl DisputeLedger {
    fn new(hundredths: i64) -> Self {
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let entity = Entity {
            id: EntityId::new(now, [1; 9]),
            name: "Shop".to_owned(),
            live: false,
            level: Level::Merchant,
            parent: None,
            settings: EntitySettings::default(),
            ahead: SignedDuration::ZERO,
        };
        let mut ledger = Self { now, entity, payments: Vec::new(), disputes: BTreeMap::new(), ids: 0 };
        let debit = ledger.create_debit(hundredths);
        ledger.payments.push(Arc::new(debit));
        ledger
    }

    /// Creates an approved debit.
    fn create_debit(&mut self, hundredths: i64) -> Payment {
        let amount = Amount::from_hundredths(hundredths, Currency::parse("EUR").unwrap()).unwrap();
        let document = serde_json::json!({
            "id": self.next_ids().payment, "entity": self.entity.id, "created": self.now, "payment_type": "DB",
            "brand": "VISA", "amount": [amount.to_string(), "EUR"], "result": "000.100.110", "descriptor": "1 Shop",
            "account": serde_json::to_value(tillgate_domain::payment::Account::Unknown).unwrap(),
            "parameters": Parameters::default(),
        });
        serde_json::from_value(document).unwrap()
    }

    fn next_ids(&mut self) -> NewRecordIds {
        self.ids += 1;
        let random = [self.ids; 9];
        NewRecordIds { dispute: DisputeId::new(self.now, random), payment: PaymentId::new(self.now, random), ndc: None }
    }

    /// Loads a payment with its follow-up payments, and a dispute, as the store does.
    fn load(&self, payment: &PaymentId, dispute: Option<Dispute>) -> DisputeRecords {
        let found = self.payments.iter().find(|other| other.id == *payment);
        let follow_ups = self.payments.iter().filter(|other| other.referenced.as_ref() == Some(payment));
        let loaded = LoadedRecords {
            entity: Some(self.entity.clone()),
            payment: found.map(|found| Payment::clone(found)),
            follow_ups: follow_ups.map(|payment| FollowUpSummary::from_payment(payment)).collect(),
            dispute,
            ..LoadedRecords::default()
        };
        DisputeRecords::new(loaded, self.now).unwrap()
    }

    fn request(action: DisputeAction, hundredths: i64) -> DisputeRequest {
        let amount = (hundredths > 0).then(|| format!("{}.{:02}", hundredths / 100, hundredths % 100));
        DisputeRequest {
            action,
            actor: "token 8a".to_owned(),
            note: Some("proof".to_owned()),
            amount,
            reason: None,
            scheme_reason: None,
            response_days: None,
        }
    }

    fn take_step(&mut self, step: &HistoryStep) {
        let ids = self.next_ids();
        let decided = match step {
            HistoryStep::Open(action, amount) => {
                let open = self.disputes.values().find(|dispute| !dispute.position.stage.has_ended()).cloned();
                let payment = self.payments[0].id.clone();
                self.load(&payment, open).open(Self::request(*action, *amount), ids)
            }
            HistoryStep::Advance(index, action, amount) if !self.disputes.is_empty() => {
                let dispute = self.disputes.values().nth(index.index(self.disputes.len())).unwrap().clone();
                let keys = step_keys(&dispute, *action);
                let payment = keys.payment.unwrap().1;
                self.load(&payment, Some(dispute)).advance(Self::request(*action, *amount), &ids)
            }
            HistoryStep::Advance(..) => return,
            HistoryStep::Wait(days) => return self.pass_days(*days),
        };
        if let Ok((changes, dispute)) = decided {
            self.payments.extend(changes.written_payments().cloned());
            self.disputes.insert(dispute.id.clone(), dispute);
        }
    }

    fn pass_days(&mut self, days: i64) {
        self.now += SignedDuration::from_hours(days * 24);
        for dispute in self.disputes.values_mut() {
            while let Some(act) = dispute.run_timer(self.now) {
                *dispute = match act {
                    DisputeTimerAction::Remind(next)
                    | DisputeTimerAction::Expire(next)
                    | DisputeTimerAction::DeleteEvidence(next) => next,
                };
            }
        }
    }

    fn of_type(&self, payment_type: PaymentType) -> Vec<&Arc<Payment>> {
        self.payments.iter().filter(|payment| payment.payment_type == payment_type).collect()
    }
}

fn random_step() -> impl Strategy<Value = HistoryStep> {
    let action = prop::sample::select(&DisputeAction::ALL[..]);
    let amount = prop_oneof![3 => Just(0_i64), 1 => 1..12_000_i64];
    prop_oneof![
        2 => (action.clone(), amount.clone()).prop_map(|(action, amount)| HistoryStep::Open(action, amount)),
        6 => (any::<prop::sample::Index>(), action, amount)
            .prop_map(|(index, action, amount)| HistoryStep::Advance(index, action, amount)),
        1 => (0..40_i64).prop_map(HistoryStep::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn whatever_is_decided_there_is_one_chargeback_at_most_and_each_reversal_has_its_chargeback(
        hundredths in 1..10_000_i64,
        steps in prop::collection::vec(random_step(), 1..40),
    ) {
        let mut ledger = DisputeLedger::new(hundredths);
        for step in &steps {
            ledger.take_step(step);
            let open = ledger.disputes.values().filter(|dispute| !dispute.position.stage.has_ended()).count();
            prop_assert!(open <= 1);
            let (chargebacks, reversals) =
                (ledger.of_type(PaymentType::Chargeback), ledger.of_type(PaymentType::ChargebackReversal));
            prop_assert!(chargebacks.len() <= 1 && reversals.len() <= 1);
            for chargeback in &chargebacks {
                prop_assert!(chargeback.is_approved() && chargeback.amount.hundredths() <= hundredths);
                prop_assert_eq!(chargeback.referenced.as_ref(), Some(&ledger.payments[0].id));
                let of = ledger.disputes.values().filter(|dispute| dispute.chargeback.as_ref() == Some(&chargeback.id));
                prop_assert_eq!(of.map(|dispute| dispute.amount).collect::<Vec<_>>(), vec![chargeback.amount]);
            }
            for reversal in &reversals {
                prop_assert!(reversal.is_approved());
                prop_assert_eq!(reversal.referenced.as_ref(), Some(&chargebacks[0].id));
                prop_assert!(reversal.amount <= chargebacks[0].amount);
            }
            for dispute in ledger.disputes.values() {
                prop_assert!(dispute.position.awaits_merchant == dispute.deadline.is_some());
                prop_assert!(dispute.position.stage.has_ended() == dispute.ended.is_some());
                prop_assert!(dispute.reversal.is_none() || dispute.chargeback.is_some());
                let is_won = matches!(dispute.position.stage.as_str(), "REVERSAL" | "WON");
                prop_assert_eq!(is_won, dispute.reversal.is_some());
            }
        }
    }
}

#[test]
fn a_chargeback_of_a_debit_that_was_charged_back_already_is_refused() {
    let mut ledger = DisputeLedger::new(9200);
    let first = draft_follow_up(
        ledger.next_ids().payment,
        ledger.now,
        &ledger.payments[0].clone(),
        ModificationType::Chargeback,
        ledger.payments[0].amount,
        codes::CHARGEBACK_WITHOUT_REASON,
        Parameters::default(),
    );
    ledger.payments.push(Arc::new(first));
    let (ids, payment) = (ledger.next_ids(), ledger.payments[0].id.clone());
    let refused =
        ledger.load(&payment, None).open(DisputeLedger::request(DisputeAction::ChargeBack, 0), ids).unwrap_err();
    assert_eq!((refused.status, refused.parameters[0].name.as_ref()), (400, "paymentId"));
}
