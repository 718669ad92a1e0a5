//! The connector to another gateway: orders, and what its operations share.

use async_trait::async_trait;
use tillgate_domain::id::log_tag;
use tillgate_domain::payment::PaymentType;
use tillgate_domain::payment::connector_message::ConnectorOperation;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, ResultGroup, codes};

use super::answer::read_payment;
use super::call::{ApiCall, ApiFault, CallFailure};
use super::client::GatewayClient;
use super::expectation::Expectation;
use super::hops::MAX_HOPS;
use super::order_parameters::{order_parameters, payment_type_code};
use super::recorded_message::{ApiCallEnd, RecordedApiCall};
use crate::http::codes::not_executed_code;
use crate::{Capabilities, Connector, ConnectorOutcome, ConnectorResult, Inquiry, Modification, OrderRequest};

/// Result code of a payment that too many gateways have passed on.
const TOO_MANY_HOPS: &str = "500.100.401";

/// A connector to another gateway.
#[derive(Debug)]
pub struct GatewayConnector {
    pub(super) client: GatewayClient,
    capabilities: Capabilities,
    /// True if its payments move real money.
    pub(super) is_live: bool,
}

impl GatewayConnector {
    /// Creates a connector to another gateway. `is_live`: its payments move real money. Then it takes no approval of a
    /// sandbox, and otherwise none of a live entity.
    pub fn new(client: GatewayClient, is_live: bool) -> Self {
        // The reversal of a payment with increments is answered with the sum, which is not known here.
        let capabilities = Capabilities { increments: false, overcapture: false, ..Capabilities::without_limits(true) };
        Self { client, capabilities, is_live }
    }

    /// Returns the result code of an approval by this connector alone, without one of the other gateway.
    pub(super) fn approval_code(&self) -> ResultCode {
        if self.is_live { codes::SUCCESS_LIVE } else { codes::TEST_CONNECTOR }
    }

    /// Sends an order with this amount, and returns its outcome. Declines an order that would go round in circles, and
    /// one of a type that the contract does not have, without sending it.
    async fn send_order(
        &self,
        operation: ConnectorOperation,
        request: &OrderRequest<'_>,
        amount: Amount,
    ) -> ConnectorOutcome {
        let OrderRequest { reference, merchant_id, order, .. } = *request;
        if let Some(code) = find_circle(request) {
            let hops = order.context.hops;
            tracing::error!(
                reference = log_tag(reference),
                hops,
                "a payment was declined because too many gateways have passed it on: check whether their upstreams lead to each other"
            );
            return code.into();
        }
        let parameters = order_parameters(request, amount, self.is_live);
        let (Some(parameters), Some(payment_type)) = (parameters, payment_type_code(order.payment_type)) else {
            return codes::TYPE_NOT_CONFIGURED.into();
        };
        let call = ApiCall::payment(operation, reference, merchant_id, parameters);
        let expectation = Expectation {
            payment_type,
            reference,
            amount: Some(amount),
            allows_part: order.accepts_partial_approval,
            is_live: Some(self.is_live),
        };
        match self.send_payment(&call, &expectation).await {
            Ok(outcome) => outcome,
            Err(CallFailure::NotExecuted(fault)) => refused_outcome(&fault),
            Err(CallFailure::Unknown(_)) => ConnectorOutcome::Unknown,
        }
    }

    /// Sends the request of a payment or follow-up payment, and returns the outcome in its answer.
    pub(super) async fn send_payment(
        &self,
        call: &ApiCall<'_>,
        expectation: &Expectation<'_>,
    ) -> Result<ConnectorOutcome, CallFailure> {
        let recorded = RecordedApiCall::begin(call, self.client.now());
        let answer = self.client.send(call).await.and_then(|response| read_payment(&response));
        let result = answer
            .and_then(|answer| expectation.read_outcome(&answer, self.client.token()).map_err(CallFailure::Unknown));
        match &result {
            Ok(outcome) => recorded.end(ApiCallEnd::Outcome(outcome)),
            Err(failure) => recorded.end(ApiCallEnd::Failed(failure)),
        }
        result.inspect_err(|failure| log_failure(call, failure))
    }
}

/// Returns the result code with which an order is declined because gateways lead to each other. `None` if it may be
/// sent.
fn find_circle(request: &OrderRequest<'_>) -> Option<ResultCode> {
    let code = || ResultCode::find(TOO_MANY_HOPS).unwrap_or(codes::INTERNAL_ERROR);
    (request.order.context.hops >= MAX_HOPS).then(code)
}

/// Logs a request without an outcome.
pub(super) fn log_failure(call: &ApiCall<'_>, failure: &CallFailure) {
    let (reference, path, fault) = (log_tag(call.reference), call.path.as_str(), failure.fault());
    if fault.is_about_credentials() {
        tracing::error!(reference, path, %fault, "the other gateway refused the access token or the entity of a request");
    } else if matches!(fault, ApiFault::OtherMode { .. }) {
        tracing::error!(reference, path, %fault, "a payment was approved in the wrong mode; it counts for nothing here and is reversed");
    } else if matches!(failure, CallFailure::NotExecuted(_)) {
        tracing::warn!(reference, path, %fault, "the other gateway did not execute a request");
    } else {
        tracing::warn!(reference, path, %fault, "the outcome of a request is unknown");
    }
}

/// Returns the decline of a request that the other gateway has not executed. The code is the other gateway's own if it
/// is about the payment, and not about the form of the request, its credentials or the connection.
pub(super) fn refused_outcome(fault: &ApiFault) -> ConnectorOutcome {
    let ApiFault::Refused { status, code, .. } = fault else { return not_executed_code().into() };
    let own = ResultCode::find(code).filter(|own| {
        let is_decline = !own.is_success() && !own.is_pending();
        let is_about_request =
            matches!(own.group(), ResultGroup::InvalidFormat | ResultGroup::RejectedSystem | ResultGroup::Other);
        *status == 400 && is_decline && !is_about_request
    });
    let result = ConnectorResult::from(own.unwrap_or_else(not_executed_code));
    ConnectorOutcome::Declined(if code.is_empty() { result } else { result.with_acquirer_response(code) })
}

#[async_trait]
impl Connector for GatewayConnector {
    fn name(&self) -> &str {
        super::NAME
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn known_decline(&self, request: &OrderRequest<'_>) -> Option<ResultCode> {
        find_circle(request)
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.send_order(ConnectorOperation::Authorization, request, request.order.amount).await
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.send_order(ConnectorOperation::Credit, request, request.order.amount).await
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        let Some(nothing) = Amount::from_hundredths(0, request.order.amount.currency()) else {
            return codes::SUBTYPE_NOT_CONFIGURED.into();
        };
        let mut order = request.order.clone();
        order.payment_type = PaymentType::Preauthorization;
        let request = OrderRequest { order: &order, ..*request };
        self.send_order(ConnectorOperation::Verification, &request, nothing).await
    }

    async fn capture(&self, modification: &Modification) -> ConnectorOutcome {
        self.send_modification(PaymentType::Capture, modification).await
    }

    async fn increment(&self, _: &Modification) -> ConnectorOutcome {
        codes::TYPE_NOT_CONFIGURED.into()
    }

    async fn refund(&self, modification: &Modification) -> ConnectorOutcome {
        self.send_modification(PaymentType::Refund, modification).await
    }

    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome {
        self.reverse_request(modification).await
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Option<ConnectorOutcome> {
        let payment_type = payment_type_code(inquiry.payment_type).unwrap_or(inquiry.payment_type.code());
        let expectation = Expectation {
            payment_type,
            reference: &inquiry.reference,
            amount: Some(inquiry.amount),
            // The inquiry does not know the order; without acceptance, the caller reverses a part.
            allows_part: true,
            is_live: Some(self.is_live),
        };
        match self.find_outcome(ConnectorOperation::Inquiry, &inquiry.merchant_id, &expectation).await {
            Ok(outcome) => outcome,
            // Asking again does not change such an answer. Only a reversal ends the payment.
            Err(failure) if failure.fault().is_contradiction() => None,
            Err(_) => Some(ConnectorOutcome::Unknown),
        }
    }
}
