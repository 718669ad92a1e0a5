//! The part that all handlers share: the identifier of the request, the recorder of its response, and the conversion of
//! failures. A handler is therefore the call of its use case and the fields of its response.

use std::borrow::Borrow;
use std::str::FromStr;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use tillgate_domain::idempotency::EncodedResponse;
use tillgate_domain::ndc::Ndc;
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_store::watch_commits;

use super::error_response::ApiError;
use super::extract::MerchantRequest;
use super::response::{build_response, into_http_response, ndc_of_checkout};

/// The response of a handler, or its error response.
pub(super) type ApiResult = Result<Response, ApiError>;

impl MerchantRequest {
    /// Responds to a request that only reads: with the response that `run` builds, or with its failure.
    pub(super) async fn respond(self, run: impl AsyncFnOnce(Self) -> Result<Response, Failure>) -> ApiResult {
        respond_as(self.ndc.clone(), async |_| run(self).await).await
    }

    /// Responds to a request that changes something. `run` calls the use case with the recorder that stores the
    /// response for a request with an idempotency key. `encode` builds the response of the outcome: inside the write
    /// transaction for the recorder, and again for the merchant. It has to return the same bytes each time.
    pub(super) async fn respond_recorded<T, O: Borrow<T>>(
        self,
        encode: impl Fn(&T, &Ndc) -> EncodedResponse + Clone + Send + Sync + 'static,
        run: impl AsyncFnOnce(Self, ResponseRecorder<T>) -> Result<O, Failure>,
    ) -> ApiResult {
        let recorder = self.response_recorder(encode.clone());
        respond_as(self.ndc.clone(), async |ndc| {
            let outcome = run(self, recorder).await?;
            Ok(into_http_response(encode(outcome.borrow(), &ndc)))
        })
        .await
    }

    /// Builds the response 200 with these fields.
    pub(super) fn build_response(&self, fields: impl Serialize) -> Response {
        build_response(StatusCode::OK, fields, &self.ndc)
    }

    /// Returns the number of entries in a page of a list: `limit`, but at most `page`, which is also the usual number.
    pub(super) fn page_limit<N: FromStr + Ord + From<u8> + Copy>(&self, page: N) -> N {
        self.parameters.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(page).clamp(1.into(), page)
    }

    /// Returns the position after which the page of a list begins, from `cursor`. `None` for the first page.
    ///
    /// # Errors
    /// 400 if `decode` does not know the cursor.
    pub(super) fn page_cursor<T>(&self, decode: impl FnOnce(&str) -> Option<T>) -> Result<Option<T>, Refusal> {
        let Some(cursor) = self.own.get("cursor").filter(|cursor| !cursor.is_empty()) else { return Ok(None) };
        let refuse = || Refusal::invalid_parameter("cursor", None, "is not the cursor of an answer");
        decode(cursor).map(Some).ok_or_else(refuse)
    }
}

/// Responds to the request of a browser about a checkout, whose id is the request's identifier.
pub(super) async fn respond_to_shopper(
    checkout: &str,
    run: impl AsyncFnOnce(Ndc) -> Result<Response, Failure>,
) -> ApiResult {
    respond_as(ndc_of_checkout(checkout), run).await
}

/// Responds to a request with this identifier.
async fn respond_as(ndc: Ndc, run: impl AsyncFnOnce(Ndc) -> Result<Response, Failure>) -> ApiResult {
    let (result, may_be_stored) = watch_commits(run(ndc.clone())).await;
    result.map_err(|failure| ApiError::Failed { failure: Box::new(failure), ndc, may_be_stored })
}
