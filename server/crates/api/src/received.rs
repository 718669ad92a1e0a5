//! Parameters of a request as received: where they are read from, size limits, and repeated names.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::Failure;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::urlencoded::{BodyError, DecodedBody, decode_body};
use zeroize::Zeroizing;

/// Maximum time for a body to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(15);

/// Media type of a body that is a text.
const TEXT_TYPE: &str = "application/toml";

/// Parameters of a merchant's request, before its entity is known.
pub(super) struct ReceivedParameters {
    /// Each name once; the last value of a repeated name.
    pub(super) parameters: Parameters,
    /// Set if a name was repeated, with the first such name. Only the compatibility mode accepts the request then.
    pub(super) repeated: Option<Refusal>,
    /// The request with its body unread, if all parameters are in its query.
    pub(super) unread: Option<Request>,
}

/// Reads the parameters of a browser's form: the query of a GET or DELETE, otherwise the body. The last value of a
/// repeated name wins, because pages have pairs of hidden inputs and checkboxes.
///
/// # Errors
/// If the body or the query is not a form, or if the body is compressed, too large or too slow.
pub(super) async fn read_form_parameters(request: Request) -> Result<Parameters, Failure> {
    let encoded = match has_body(request.method()) {
        true => read_form_body(request).await?,
        false => query_bytes(&request),
    };
    Ok(decode_body(&encoded).map_err(|error| refuse_form(&error))?.parameters)
}

/// Reads the parameters of a merchant's request: the query of a GET or DELETE, otherwise the body. On a route that
/// takes a text, a body of the type [`TEXT_TYPE`] is the parameter `text_name`, and the query has the others. On a
/// route that takes a file (`has_file`), the query has all parameters, and the body is left unread. If there is a body,
/// the query may still contain `entityId` and the older pair of credentials, which are accepted in either place
/// (contract, 3.2); the body wins. The rest of that query is ignored.
///
/// # Errors
/// If the body or the query is not a form, if the body is compressed, too large or too slow, or if a parameter that may
/// have only one value has two different ones.
pub(super) async fn read_merchant_parameters(
    request: Request,
    text_name: Option<&str>,
    has_file: bool,
) -> Result<ReceivedParameters, Failure> {
    if has_file || !has_body(request.method()) {
        let decoded = decode_parameters(&query_bytes(&request))?;
        let repeated = decoded.repeated.map(|error| refuse_form(&error));
        return Ok(ReceivedParameters { parameters: decoded.parameters, repeated, unread: Some(request) });
    }
    let mut in_query = decode_parameters(&query_bytes(&request))?;
    if let Some(name) = text_name.filter(|_| has_media_type(request.headers(), TEXT_TYPE)) {
        let repeated = in_query.repeated.map(|error| refuse_form(&error));
        let mut parameters = in_query.parameters;
        parameters.set(name, read_text_body(request, name).await?);
        return Ok(ReceivedParameters { parameters, repeated, unread: None });
    }
    in_query.parameters.retain(|name, _| name == "entityId" || name.starts_with("authentication."));
    let decoded = decode_parameters(&read_form_body(request).await?)?;
    let mut parameters = decoded.parameters;
    parameters.extend_missing(&in_query.parameters);
    let repeated = decoded.repeated.or(in_query.repeated).map(|error| refuse_form(&error));
    Ok(ReceivedParameters { parameters, repeated, unread: None })
}

/// Reads the `entityId` or `authentication.entityId` in the form-encoded body of a GET or DELETE (contract, 0.23).
/// Returns `None` if there is none, or if the body has another content type.
///
/// # Errors
/// Those of [`read_merchant_parameters`], and if the two ids differ.
pub(super) async fn read_entity_in_body(request: Request) -> Result<Option<String>, Failure> {
    if !is_form(request.headers()) {
        return Ok(None);
    }
    let parameters = decode_parameters(&read_form_body(request).await?)?.parameters;
    match (non_empty_id(&parameters, "entityId"), non_empty_id(&parameters, "authentication.entityId")) {
        (Some(id), Some(other)) if id != other => Err(refuse_different_entities(other).into()),
        (id, other) => Ok(id.or(other).map(str::to_owned)),
    }
}

/// Returns the value of `entityId`, or of `authentication.entityId` without one. Returns `None` if it is empty.
pub(super) fn entity_id(parameters: &Parameters) -> Option<&str> {
    parameters.get("entityId").or_else(|| parameters.get("authentication.entityId")).filter(|id| !id.is_empty())
}

/// Refuses a request whose parts name different entities.
pub(super) fn refuse_different_entities(id: &str) -> Refusal {
    Refusal::invalid_parameter("entityId", Some(id), "is sent more than once, with different values")
}

/// Returns the value of a parameter, or `None` if it is missing or empty.
fn non_empty_id<'a>(parameters: &'a Parameters, name: &str) -> Option<&'a str> {
    parameters.get(name).filter(|id| !id.is_empty())
}

/// Returns true if the parameters of this method are in its body: not for GET, HEAD, OPTIONS, TRACE and DELETE.
fn has_body(method: &Method) -> bool {
    !method.is_safe() && *method != Method::DELETE
}

/// Returns a copy of the query, empty if there is none, that is zeroed after use.
fn query_bytes(request: &Request) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(request.uri().query().unwrap_or_default().as_bytes().to_vec())
}

/// Decodes the parameters of a merchant. Repeated names are left to the caller.
///
/// # Errors
/// If they are not form-encoded, or if a parameter that may have only one value has two different ones.
fn decode_parameters(encoded: &[u8]) -> Result<DecodedBody, Refusal> {
    let decoded = decode_body(encoded).map_err(|error| refuse_form(&error))?;
    // Contradictory values are refused in every mode: the entity and the payment must be unambiguous.
    match &decoded.contradictory {
        Some(error) => Err(refuse_form(error)),
        None => Ok(decoded),
    }
}

/// Returns the refusal of a form that cannot be decoded, with the parameter at fault if it is known.
fn refuse_form(error: &BodyError) -> Refusal {
    match error.parameter() {
        Some(name) => Refusal::invalid_parameter(name, None, error.message()),
        None => Refusal::malformed_body(error.message()),
    }
}

/// Returns true if the content type is that of a form, or is missing.
pub(super) fn is_form(headers: &HeaderMap) -> bool {
    headers.get(header::CONTENT_TYPE).is_none() || has_media_type(headers, "application/x-www-form-urlencoded")
}

/// Returns true if the content type is this one, with or without parameters.
fn has_media_type(headers: &HeaderMap, expected: &str) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(expected)
}

/// Reads a body that is a text, the value of the parameter `name`.
///
/// # Errors
/// 400 if the body is compressed, ends early or is not UTF-8; 413 above 1 MiB; 408 after 15 seconds.
async fn read_text_body(request: Request, name: &str) -> Result<String, Refusal> {
    refuse_compression(request.headers())?;
    let body = read_limited_body(request, super::BODY_LIMIT).await?;
    String::from_utf8(body.to_vec()).map_err(|_| Refusal::invalid_parameter(name, None, "must be UTF-8"))
}

/// Reads a body that is a file of at most `limit` bytes.
///
/// # Errors
/// 400 if the body is compressed or ends early; 413 if it is larger; 408 after 15 seconds.
pub(super) async fn read_file_body(request: Request, limit: usize) -> Result<Bytes, Refusal> {
    refuse_compression(request.headers())?;
    read_limited_body(request, limit).await
}

/// Refuses a compressed body, because a few bytes can decompress to any size.
fn refuse_compression(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(header::CONTENT_ENCODING) {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            Err(Refusal::malformed_body("The body may not be compressed (Content-Encoding)"))
        }
        _ => Ok(()),
    }
}

/// Reads a form-encoded body. Its bytes contain card data, so they are zeroed after use.
///
/// # Errors
/// 400 if the content type is another, if the body is compressed or ends early; 413 above 1 MiB; 408 after 15 seconds.
async fn read_form_body(request: Request) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    if !is_form(request.headers()) {
        return Err(Refusal::malformed_body("The body must be application/x-www-form-urlencoded"));
    }
    refuse_compression(request.headers())?;
    let body = read_limited_body(request, super::BODY_LIMIT).await?;
    Ok(Zeroizing::new(body.to_vec()))
}

/// Reads a body of at most `limit` bytes.
///
/// # Errors
/// 413 if it is larger, 408 if it does not arrive within 15 seconds, 400 if it ends early.
pub(super) async fn read_limited_body(request: Request, limit: usize) -> Result<Bytes, Refusal> {
    let announced =
        request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > limit) {
        return Err(Refusal::body_too_large(limit));
    }
    // A client that delays its body must not occupy a connection, or delay a shutdown, forever.
    let limited = Limited::new(request.into_body(), limit).collect();
    match tokio::time::timeout(BODY_TIMEOUT, limited).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Refusal::body_too_large(limit)),
        Ok(Err(_)) => Err(Refusal::malformed_body("The body ended early")),
        Err(_) => Err(Refusal::body_too_slow()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::VecDeque;
    use std::io;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use axum::body::{Body, HttpBody};
    use hyper::body::Frame;

    use super::*;

    /// A body that arrives in parts, without an announced length.
    struct PartedBody(VecDeque<io::Result<Vec<u8>>>);

    impl HttpBody for PartedBody {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
            Poll::Ready(self.0.pop_front().map(|part| part.map(|bytes| Frame::data(bytes.into()))))
        }
    }

    /// Reads a body of at most 16 KiB. Returns the status and the description of its refusal.
    async fn read_refused(parts: Vec<io::Result<Vec<u8>>>) -> (u16, String) {
        let request = Request::new(Body::new(PartedBody(parts.into())));
        let refusal = read_limited_body(request, 16 * 1024).await.unwrap_err();
        (refusal.status, refusal.description.unwrap_or_default().into_owned())
    }

    #[tokio::test]
    async fn a_body_is_too_large_only_above_its_limit_which_the_refusal_names() {
        let (status, description) = read_refused(vec![Ok(vec![b'x'; 16 * 1024]), Ok(vec![b'x'])]).await;
        assert_eq!((status, description.as_str()), (413, "The request body is larger than 16 KiB"));
        let broken = io::Error::from(io::ErrorKind::ConnectionReset);
        let (status, description) = read_refused(vec![Ok(vec![b'x'; 5]), Err(broken)]).await;
        assert_eq!((status, description.as_str()), (400, "The body ended early"));
        let announced = Request::builder().header(header::CONTENT_LENGTH, "1048577").body(Body::empty()).unwrap();
        let refusal = read_limited_body(announced, super::super::BODY_LIMIT).await.unwrap_err();
        assert_eq!(refusal.description.unwrap(), "The request body is larger than 1 MiB");
    }
}
