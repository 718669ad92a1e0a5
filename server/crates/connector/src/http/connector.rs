//! The connector to an acquirer's host. It translates the gateway's requests and the host's responses.

use async_trait::async_trait;
use tillgate_domain::payment::ConnectorTxIds;
use tillgate_shared::result::{ResultCode, codes};

use super::client::HostClient;
use super::codes::{ResponseMeaning, interpret_response, not_executed_code, read_approved_amount};
use super::protocol::{HostOperation, HostResponse};
use super::recorded_message::{DescribedRequest, Exchange};
use super::request::{self, UnsupportedOrder};
use super::response::CallResult;
use crate::{
    Capabilities, Connector, ConnectorOutcome, ConnectorResult, Inquiry, Modification, OrderRequest, ShopperPage,
};

/// A connector to an acquirer's host.
#[derive(Debug)]
pub struct HttpConnector {
    name: String,
    client: HostClient,
    capabilities: Capabilities,
    approval_code: ResultCode,
}

impl HttpConnector {
    /// Creates a connector with this name to a host with these capabilities. `approval_code` is the result code of
    /// approvals: 000.100.112 in a test system, 000.000.000 for real money.
    pub fn new(name: &str, client: HostClient, capabilities: Capabilities, approval_code: ResultCode) -> Self {
        Self { name: name.to_owned(), client, capabilities, approval_code }
    }

    /// Begins the message of a request, which is collected at its end.
    fn begin_exchange<'a>(
        &self,
        operation: HostOperation,
        key: &'a str,
        body: &'a dyn DescribedRequest,
    ) -> Exchange<'a> {
        Exchange::begin(operation, key, body, self.client.now())
    }

    /// Sends the order of a payment, and translates the result. Declines an order that the protocol cannot express,
    /// without sending it.
    async fn send_order(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        match request::authorization_request(request) {
            Ok((operation, body)) => {
                let exchange = self.begin_exchange(operation, request.reference, &body);
                let result = exchange.end(self.client.authorize(operation, request.reference, &body).await);
                self.translate_result(result, request.reference)
            }
            Err(unsupported) => unsupported_outcome(unsupported),
        }
    }

    /// Sends a capture, an increment or a refund, and translates the result. Without an id of the acquirer for the
    /// earlier payment, declines it with `REFERENCE_UNKNOWN`, and sends nothing.
    async fn send_modification(&self, operation: HostOperation, modification: &Modification) -> ConnectorOutcome {
        // An approved payment has an id of the acquirer.
        let Some(reference) = modification.connector_tx_ids.acquirer_id() else {
            return codes::REFERENCE_UNKNOWN.into();
        };
        let key = &modification.reference;
        match request::modification_request(modification, reference) {
            Ok(body) => {
                let exchange = self.begin_exchange(operation, key, &body);
                let result = exchange.end(self.client.modify(operation, key, &body).await);
                self.modification_outcome(modification, result)
            }
            Err(unsupported) => unsupported_outcome(unsupported),
        }
    }

    /// Translates the result of a modification. If it could not be sent but may have been sent before, its outcome is
    /// unknown.
    fn modification_outcome(&self, modification: &Modification, result: CallResult) -> ConnectorOutcome {
        let result = match result {
            CallResult::NotExecuted(fault) if modification.is_repeated => CallResult::Unknown(fault),
            result => result,
        };
        self.translate_result(result, &modification.reference)
    }

    /// Translates the result of a call. A request that was not executed or was reversed is declined with 900.100.600.
    /// The outcome is unknown if it is unknown to the host or contradictory. Logs calls without a response, and
    /// contradictions.
    fn translate_result(&self, result: CallResult, reference: &str) -> ConnectorOutcome {
        let response = match result {
            CallResult::Responded(response) => *response,
            CallResult::NotExecuted(fault) => {
                tracing::warn!(connector = self.name, reference = log_tag(reference), %fault, "the acquirer's host did not execute a request");
                return not_executed_code().into();
            }
            CallResult::Unknown(fault) => {
                tracing::warn!(connector = self.name, reference = log_tag(reference), %fault, "the outcome of a request is unknown");
                return ConnectorOutcome::Unknown;
            }
        };
        match interpret_response(&response) {
            ResponseMeaning::Approved => ConnectorOutcome::Approved(response_result(self.approval_code, response)),
            ResponseMeaning::Redirect => redirect_outcome(response),
            ResponseMeaning::Declined(code) => ConnectorOutcome::Declined(response_result(code, response)),
            ResponseMeaning::Reversed => ConnectorOutcome::Declined(response_result(not_executed_code(), response)),
            ResponseMeaning::NotFound => ConnectorOutcome::Unknown,
            ResponseMeaning::Contradictory => {
                let code = response.response_code;
                tracing::warn!(
                    connector = self.name,
                    reference = log_tag(reference),
                    code,
                    "the response of the acquirer's host contradicts itself"
                );
                ConnectorOutcome::Unknown
            }
        }
    }
}

/// Returns a reference in the form for logs.
fn log_tag(reference: &str) -> String {
    tillgate_domain::id::log_tag(reference)
}

/// Returns the decline of an order that the protocol cannot express.
fn unsupported_outcome(unsupported: UnsupportedOrder) -> ConnectorOutcome {
    match unsupported {
        UnsupportedOrder::PaymentType => codes::TYPE_NOT_CONFIGURED.into(),
        UnsupportedOrder::Amount => codes::SUBTYPE_NOT_CONFIGURED.into(),
    }
}

/// Makes the redirect to the page in a response, by `GET`.
fn redirect_outcome(response: HostResponse) -> ConnectorOutcome {
    let url = response.redirect_url.clone().unwrap_or_default();
    let page = ShopperPage::Foreign { url, method: "GET".to_owned(), parameters: Vec::new() };
    ConnectorOutcome::Redirect(response_result(codes::PENDING, response), page)
}

/// Returns a result with this code, the acquirer's response code, the results of the checks, and the ids that the
/// response has.
fn response_result(code: ResultCode, response: HostResponse) -> ConnectorResult {
    let approved_amount = read_approved_amount(&response);
    let result = ConnectorResult::from(code).with_acquirer_response(&response.response_code);
    let result = match &response.advice_code {
        Some(advice) => result.with_advice_code(advice),
        None => result,
    };
    let ids = [response.connector_tx_id1, response.connector_tx_id2, response.connector_tx_id3];
    ConnectorResult {
        approved_amount,
        avs: response.avs,
        cvv: response.cvv,
        connector_tx_ids: ConnectorTxIds::new(ids),
        ..result
    }
}

#[async_trait]
impl Connector for HttpConnector {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.send_order(request).await
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.send_order(request).await
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        match request::verification_request(request) {
            Ok(body) => {
                let operation = HostOperation::Authorize;
                let exchange = self.begin_exchange(operation, request.reference, &body);
                let result = exchange.end(self.client.authorize(operation, request.reference, &body).await);
                self.translate_result(result, request.reference)
            }
            Err(unsupported) => unsupported_outcome(unsupported),
        }
    }

    async fn capture(&self, modification: &Modification) -> ConnectorOutcome {
        self.send_modification(HostOperation::Capture, modification).await
    }

    async fn increment(&self, modification: &Modification) -> ConnectorOutcome {
        self.send_modification(HostOperation::Increment, modification).await
    }

    async fn refund(&self, modification: &Modification) -> ConnectorOutcome {
        self.send_modification(HostOperation::Refund, modification).await
    }

    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome {
        let Modification { reference, original_reference, merchant_id, amount, .. } = modification;
        match request::earlier_request(merchant_id, original_reference, *amount) {
            Ok(body) => {
                let exchange = self.begin_exchange(HostOperation::Reverse, reference, &body);
                let result = exchange.end(self.client.reverse(reference, &body).await);
                self.modification_outcome(modification, result)
            }
            Err(unsupported) => unsupported_outcome(unsupported),
        }
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Option<ConnectorOutcome> {
        let reference = &inquiry.reference;
        match request::earlier_request(&inquiry.merchant_id, reference, inquiry.amount) {
            Ok(body) => {
                let key = format!("{reference}-inquiry");
                let exchange = self.begin_exchange(HostOperation::Inquire, &key, &body);
                let result = exchange.end(self.client.inquire(&key, &body).await);
                let is_answered = match &result {
                    CallResult::Responded(_) => true,
                    CallResult::Unknown(fault) | CallResult::NotExecuted(fault) => fault.is_answer(),
                };
                let result = match result {
                    // If the inquiry cannot be sent, the request may still have been executed.
                    CallResult::NotExecuted(fault) => CallResult::Unknown(fault),
                    result => result,
                };
                // An answer without an outcome would be the same the next time.
                Some(self.translate_result(result, reference))
                    .filter(|outcome| !is_answered || *outcome != ConnectorOutcome::Unknown)
            }
            Err(unsupported) => Some(unsupported_outcome(unsupported)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_the_host_leaves_out_shifts_no_other() {
        let json = serde_json::json!({
            "operation": "authorize", "idempotencyKey": "p1", "merchantId": "m", "paymentId": "p1", "amount": 9200,
            "currency": "EUR", "outcome": "approved", "responseCode": "00",
            "connectorTxId1": "000000000001", "connectorTxId3": "300000000000001",
        });
        let ids = response_result(codes::TEST_CONNECTOR, serde_json::from_value(json).unwrap()).connector_tx_ids;
        let expected = [Some("000000000001"), None, Some("300000000000001")];
        assert_eq!(std::array::from_fn(|place| ids.get(place).map(String::as_str)), expected);
    }
}
