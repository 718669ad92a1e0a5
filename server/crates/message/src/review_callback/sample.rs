//! A sample decision, for merchants who try out their configuration.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::{Account, CardSummary, Payment, PaymentType};
use tillgate_domain::review::decision::review_transaction_id;
use tillgate_domain::review::decision::{DecisionType, ReviewDecision};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::request::CallbackDocument;

/// Parameters of the sample payment.
const PARAMETERS: [(&str, &str); 9] = [
    ("merchantInvoiceId", "SAMPLE"),
    ("customer.merchantCustomerId", "SAMPLE"),
    ("customer.givenName", "Jane"),
    ("customer.surname", "Jones"),
    ("customer.email", "jane.jones@shop.example"),
    ("billing.street1", "Mill Lane & Ash Street"),
    ("billing.city", "Brighton"),
    ("billing.country", "GB"),
    ("customParameters[SHOPPER_sample]", "Crème brûlée"),
];

/// Creates a sample decision about a sample payment of an entity, processed now by the entity's clock. Its ids say that
/// it is a sample: the transaction id begins with `SAMPLE-`, the payment's id is that of 1970 with zeros, and the
/// user is `sample`. Returns `None` if the amount is not possible, which cannot happen.
pub fn create_sample(entity: &EntityId, decision: DecisionType, processed: Timestamp) -> Option<CallbackDocument> {
    let mut parameters = Parameters::default();
    parameters.set("merchantTransactionId", processed.strftime("SAMPLE-%Y%m%d%H%M%S%3f").to_string());
    for (name, value) in PARAMETERS {
        parameters.set(name, value);
    }
    let card = CardSummary {
        bin: "420000".to_owned(),
        last4: "0000".to_owned(),
        holder: Some("Jane Jones".to_owned()),
        expiry_month: "05".to_owned(),
        expiry_year: "2034".to_owned(),
    };
    let (id, payment_type) = (PaymentId::new(Timestamp::UNIX_EPOCH, [0; 9]), PaymentType::Debit);
    let amount = Amount::parse("92.00", Currency::parse("EUR")?).ok()?;
    let payment = Payment {
        avs: Some('F'),
        cvv: Some('M'),
        details: BTreeMap::from([("AcquirerResponse".to_owned(), "00".to_owned())]),
        descriptor: "SAMPLE".to_owned(),
        account: Account::Card(card),
        parameters,
        ..Payment::draft(id, entity.clone(), processed, payment_type, "VISA", amount, codes::TEST_INTERNAL)
    };
    let decision = ReviewDecision {
        is_expiry: false,
        payment: payment.id.clone(),
        entity: entity.clone(),
        transaction_id: review_transaction_id(&payment).to_owned(),
        decision,
        user_id: "sample".to_owned(),
        cancel_reason: (decision == DecisionType::Cancel).then_some(1),
        note: Some("A sample decision; nothing was decided.".to_owned()),
        processed,
        at: processed,
        actor: None,
    };
    Some(CallbackDocument { decision, payment })
}
