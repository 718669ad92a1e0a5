//! The connector to an acquirer's host: translates the gateway's requests, and what the client makes of the answers.

use async_trait::async_trait;
use tillgate_shared::result::{ResultCode, codes};

use super::answer::CallResult;
use super::client::HostClient;
use super::codes::{Decision, decide, not_executed};
use super::order::{self, Unsupported};
use super::wire::{HostAnswer, HostOperation};
use crate::connector::{Capabilities, Connector, ConnectorResult, Inquiry, Modification, OrderRequest, Outcome};

/// The abilities of every such host. Accounts that it does not take are declined by [`HttpConnector::authorize`].
pub const CAPABILITIES: Capabilities = Capabilities { leaves_process: true, ..Capabilities::EVERYTHING_IN_PROCESS };

/// A connector to an acquirer's host.
#[derive(Debug)]
pub struct HttpConnector {
    name: String,
    client: HostClient,
    merchant_id: String,
    approved: ResultCode,
}

impl HttpConnector {
    /// A connector of this name. `merchant_id` is what the acquirer knows this gateway as; `approved` is the result code of
    /// approvals: 000.100.112 of a test system, 000.000.000 of real money.
    pub fn new(name: &str, client: HostClient, merchant_id: &str, approved: ResultCode) -> Self {
        Self { name: name.to_owned(), client, merchant_id: merchant_id.to_owned(), approved }
    }

    /// Sends the order of a payment.
    async fn send(&self, request: &OrderRequest<'_>) -> Outcome {
        if request.order.requires_redirect() {
            return codes::METHOD_NOT_CONFIGURED.into();
        }
        match order::authorization(request, &self.merchant_id) {
            Ok((operation, body)) => {
                let called = self.client.authorize(operation, request.reference, &body).await;
                self.outcome(called, request.reference)
            }
            Err(unsupported) => declined(unsupported),
        }
    }

    /// Captures or refunds.
    async fn modify(&self, operation: HostOperation, modification: &Modification) -> Outcome {
        // What was approved has an id of the acquirer's.
        let Some(reference) = modification.connector_tx_ids.first() else {
            return codes::REFERENCE_UNKNOWN.into();
        };
        let key = &modification.reference;
        match order::modification(&self.merchant_id, key, reference, modification.amount) {
            Ok(body) => {
                let called = self.client.modify(operation, key, &body).await;
                self.outcome_of(modification, called)
            }
            Err(unsupported) => declined(unsupported),
        }
    }

    /// Translates the result of a modification. One that has not arrived may have arrived before, if it was sent before.
    fn outcome_of(&self, modification: &Modification, called: CallResult) -> Outcome {
        let called = match called {
            CallResult::NotExecuted(fault) if modification.is_repeated => CallResult::Unknown(fault),
            called => called,
        };
        self.outcome(called, &modification.reference)
    }

    /// Translates the result of a call.
    fn outcome(&self, result: CallResult, reference: &str) -> Outcome {
        let answer = match result {
            CallResult::Answered(answer) => answer,
            CallResult::NotExecuted(fault) => {
                tracing::warn!(connector = self.name, reference = tag(reference), %fault, "not carried out");
                return not_executed().into();
            }
            CallResult::Unknown(fault) => {
                tracing::warn!(connector = self.name, reference = tag(reference), %fault, "the outcome is unknown");
                return Outcome::Unknown;
            }
        };
        match decide(&answer) {
            Decision::Approved => Outcome::Approved(with_details(self.approved, answer)),
            Decision::Declined(code) => Outcome::Declined(with_details(code, answer)),
            Decision::Reversed => Outcome::Declined(with_details(not_executed(), answer)),
            Decision::NotFound => Outcome::Unknown,
            Decision::Contradictory => {
                let code = answer.response_code;
                tracing::warn!(
                    connector = self.name,
                    reference = tag(reference),
                    code,
                    "the answer contradicts itself"
                );
                Outcome::Unknown
            }
        }
    }
}

/// A reference as logs show it.
fn tag(reference: &str) -> String {
    crate::domain::id::log_tag(reference)
}

fn declined(unsupported: Unsupported) -> Outcome {
    match unsupported {
        Unsupported::Account => codes::METHOD_NOT_CONFIGURED.into(),
        Unsupported::PaymentType => codes::TYPE_NOT_CONFIGURED.into(),
        Unsupported::Amount => codes::SUBTYPE_NOT_CONFIGURED.into(),
    }
}

fn with_details(code: ResultCode, answer: HostAnswer) -> ConnectorResult {
    let ids = [answer.connector_tx_id1, answer.connector_tx_id2, answer.connector_tx_id3];
    ConnectorResult {
        avs: answer.avs,
        cvv: answer.cvv,
        connector_tx_ids: ids.into_iter().flatten().collect(),
        ..ConnectorResult::from(code).with_acquirer_response(&answer.response_code)
    }
}

#[async_trait]
impl Connector for HttpConnector {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> Outcome {
        self.send(request).await
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> Outcome {
        self.send(request).await
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> Outcome {
        match order::verification(request, &self.merchant_id) {
            Ok(body) => {
                let called = self.client.authorize(HostOperation::Authorize, request.reference, &body).await;
                self.outcome(called, request.reference)
            }
            Err(unsupported) => declined(unsupported),
        }
    }

    async fn capture(&self, modification: &Modification) -> Outcome {
        self.modify(HostOperation::Capture, modification).await
    }

    async fn refund(&self, modification: &Modification) -> Outcome {
        self.modify(HostOperation::Refund, modification).await
    }

    async fn reverse(&self, modification: &Modification) -> Outcome {
        let Modification { reference, referenced, amount, .. } = modification;
        match order::earlier(&self.merchant_id, referenced, referenced, *amount) {
            Ok(body) => {
                let called = self.client.reverse(reference, &body).await;
                self.outcome_of(modification, called)
            }
            Err(unsupported) => declined(unsupported),
        }
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Outcome {
        let reference = &inquiry.reference;
        match order::earlier(&self.merchant_id, reference, reference, inquiry.amount) {
            Ok(body) => {
                let called = self.client.inquire(&format!("{reference}-inquiry"), &body).await;
                // A request that cannot be asked about may have been carried out all the same.
                match called {
                    CallResult::NotExecuted(_) => Outcome::Unknown,
                    called => self.outcome(called, reference),
                }
            }
            Err(unsupported) => declined(unsupported),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use tillgate_shared::brand::Brand;
    use tillgate_shared::format::card_number::CardNumber;
    use tillgate_shared::format::expiry::Expiry;
    use tillgate_shared::money::{Amount, Currency};

    use super::*;
    use crate::acquirer_host::{AcquirerHost, HostOptions};
    use crate::clock::SystemClock;
    use crate::connector::http::{Deadlines, HostAddress, SharedKey};
    use crate::connector::{Address, Entry, FullAccount, FullCard, Order, OrderContext};
    use crate::domain::payment::PaymentType;

    fn euros(text: &str) -> Amount {
        Amount::parse(text, Currency::parse("EUR").unwrap()).unwrap()
    }

    fn order(payment_type: PaymentType, amount: &str) -> Order {
        Order {
            payment_type,
            amount: euros(amount),
            brand: Brand::find("VISA").unwrap(),
            account: FullAccount::Card(FullCard {
                number: CardNumber::parse("4200000000000000").unwrap(),
                expiry: Expiry::parse("05", "2034").unwrap(),
                holder: None,
                code: None,
                cryptogram: None,
                entry: Entry::Keyed,
            }),
            address: Address::default(),
            mandate_signed: None,
            shopper_present: true,
            proof: None,
            any_number: false,
            forced: None,
            context: OrderContext::default(),
        }
    }

    fn request<'a>(reference: &'a str, order: &'a Order) -> OrderRequest<'a> {
        OrderRequest { reference, descriptor: "Kiln & Tide", today: "2026-01-01".parse().unwrap(), order }
    }

    fn about(reference: &str, referenced: &str, ids: &[String], amount: &str) -> Modification {
        Modification {
            reference: reference.to_owned(),
            referenced: referenced.to_owned(),
            connector_tx_ids: ids.to_vec(),
            amount: euros(amount),
            forced: None,
            is_repeated: false,
        }
    }

    fn inquiry(reference: &str, amount: &str) -> Inquiry {
        let payment_type = PaymentType::Debit;
        Inquiry { reference: reference.to_owned(), payment_type, amount: euros(amount) }
    }

    fn code(outcome: &Outcome) -> &'static str {
        outcome.result().map_or("unknown", |result| result.code.code())
    }

    async fn started(folder: &std::path::Path) -> (AcquirerHost, HttpConnector) {
        let key = SharedKey::random().unwrap();
        let host = AcquirerHost::start(HostOptions::on_loopback(folder.join("host"), key.clone())).await.unwrap();
        let address = HostAddress::parse(&format!("http://{}", host.address())).unwrap();
        let client = HostClient::new(address, key, Deadlines::default(), Arc::new(SystemClock)).unwrap();
        (host, HttpConnector::new("acquirer-host", client, "tillgate", codes::TEST_CONNECTOR))
    }

    #[tokio::test]
    async fn a_payment_is_authorised_captured_refunded_and_reversed_at_a_host() {
        let folder = tempfile::tempdir().unwrap();
        let (_host, connector) = started(folder.path()).await;
        let order = order(PaymentType::Preauthorization, "92.00");
        let authorized = connector.authorize(&request("p1", &order)).await;
        assert_eq!(code(&authorized), "000.100.112");
        let ids = &authorized.result().unwrap().connector_tx_ids;
        assert_eq!(ids.len(), 3);
        let captured = connector.capture(&about("c1", "p1", ids, "90.00")).await;
        assert_eq!(code(&captured), "000.100.112");
        assert_eq!(code(&connector.capture(&about("c2", "p1", ids, "2.01")).await), "800.100.174");
        let captured = &captured.result().unwrap().connector_tx_ids;
        assert_eq!(code(&connector.refund(&about("r1", "c1", captured, "1.00")).await), "000.100.112");
        assert_eq!(code(&connector.reverse(&about("v1", "p1", ids, "92.00")).await), "800.100.191");
        assert_eq!(code(&connector.reverse(&about("v2", "r1", &[], "1.00")).await), "000.100.112");
        assert_eq!(code(&connector.verify(&request("g1", &order)).await), "000.100.112");
        assert_eq!(code(&connector.inquire(&inquiry("p1", "92.00")).await), "000.100.112");
        assert_eq!(code(&connector.inquire(&inquiry("p1", "91.00")).await), "unknown", "it is another amount");
    }

    #[tokio::test]
    async fn what_is_given_up_before_it_arrives_is_declined_when_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let (_host, connector) = started(folder.path()).await;
        assert_eq!(connector.inquire(&inquiry("p1", "92.00")).await, Outcome::Unknown);
        assert_eq!(code(&connector.reverse(&about("p1-reversal", "p1", &[], "92.00")).await), "000.100.112");
        assert_eq!(code(&connector.inquire(&inquiry("p1", "92.00")).await), "900.100.600");
        let order = order(PaymentType::Debit, "92.00");
        assert_eq!(code(&connector.authorize(&request("p1", &order)).await), "800.100.191");
    }

    #[tokio::test]
    async fn a_host_that_is_gone_declines_a_payment_and_leaves_an_inquiry_open() {
        let folder = tempfile::tempdir().unwrap();
        let (host, connector) = started(folder.path()).await;
        host.stop().await;
        let order = order(PaymentType::Debit, "92.00");
        assert_eq!(code(&connector.authorize(&request("p1", &order)).await), "900.100.600");
        assert_eq!(connector.inquire(&inquiry("p1", "92.00")).await, Outcome::Unknown);
    }
}
