//! Form with files (`multipart/form-data`). The whole body is read first, so its size is limited by its route, and the
//! number of bodies by places that users share.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts as _, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use multer::Multipart;
use tillgate_net::shares::Place;
use zeroize::Zeroizing;

use super::{Fields, OfficeClient, Problem, SignedIn};
use crate::OfficeState;

/// Maximum time for a body to arrive. A file takes longer than the fields of other forms.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// Largest number of parts of a body.
const MAX_PARTS: usize = 20;

/// A file of a form.
pub struct SentFile {
    /// Name of its field.
    field: String,
    /// Name of the file, as the browser sent it. Not to be trusted.
    pub name: String,
    /// The bytes.
    pub content: Zeroizing<Vec<u8>>,
}

/// A form with files. A body of another kind has neither fields nor files.
#[derive(Default)]
pub struct Upload {
    /// The fields without a file.
    pub fields: Fields,
    /// The files.
    files: Vec<SentFile>,
    /// True if the body was larger than its route allows, and was not read.
    pub is_too_large: bool,
    /// The place, held until the form is answered, because its files are in memory until then.
    _place: Option<Place>,
}

impl Upload {
    /// Takes the file of a field. `None` if no file was chosen.
    pub fn take_file(&mut self, field: &str) -> Option<SentFile> {
        let index = self.files.iter().position(|file| file.field == field)?;
        // A browser sends an empty file without a name if nobody has chosen one.
        Some(self.files.swap_remove(index)).filter(|file| !file.name.is_empty() || !file.content.is_empty())
    }
}

impl FromRequest<Arc<OfficeState>> for Upload {
    type Rejection = Response;

    async fn from_request(request: Request, state: &Arc<OfficeState>) -> Result<Self, Response> {
        let (mut parts, body) = request.into_parts();
        let signed_in = SignedIn::from_request_parts(&mut parts, state).await?;
        // Taken before the body is read, so that one user cannot fill the memory with bodies.
        let Some(place) = state.upload_places.try_take(signed_in.user.id.as_str()) else {
            let texts = OfficeClient::from_request_parts(&mut parts, state).await;
            let texts = texts.map_err(|status| status.into_response())?.texts;
            return Err(Problem::RunningUpload.render(texts, Some(&signed_in.user)));
        };
        let upload = Self::read(Request::from_parts(parts, body)).await?;
        Ok(Self { _place: Some(place), ..upload })
    }
}

impl Upload {
    /// Reads a form.
    async fn read(request: Request) -> Result<Self, Response> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let Some(boundary) = kind.and_then(|kind| multer::parse_boundary(kind).ok()) else {
            return Ok(Self::default());
        };
        // The user was checked before the body, so a body that arrives hours later would be that of somebody else.
        let read = tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, &())).await;
        let slow = |_| (StatusCode::REQUEST_TIMEOUT, "The form did not arrive within a minute").into_response();
        let Ok(body) = read.map_err(slow)? else { return Ok(Self { is_too_large: true, ..Self::default() }) };
        // A body that is no form has no fields, so that its form is shown again with its errors.
        Ok(read_parts(body, boundary).await.unwrap_or_default())
    }
}

/// Reads the parts of a body.
async fn read_parts(body: Bytes, boundary: String) -> Result<Upload, multer::Error> {
    let mut parts = Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
    let (mut fields, mut files) = (Vec::new(), Vec::new());
    for _ in 0..MAX_PARTS {
        let Some(part) = parts.next_field().await? else { break };
        let field = part.name().unwrap_or_default().to_owned();
        let name = part.file_name().map(str::to_owned);
        let content = part.bytes().await?;
        match name {
            Some(name) => files.push(SentFile { field, name, content: Zeroizing::new(content.to_vec()) }),
            None => fields.push((field, Zeroizing::new(String::from_utf8_lossy(&content).into_owned()))),
        }
    }
    Ok(Upload { fields: Fields::from_pairs(fields), files, ..Upload::default() })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use axum::body::Body;

    use super::*;

    async fn read(kind: &str, body: &str) -> Upload {
        let request = Request::builder().header(header::CONTENT_TYPE, kind).body(Body::from(body.to_owned())).unwrap();
        Upload::read(request).await.unwrap()
    }

    #[tokio::test]
    async fn a_form_has_its_fields_and_files() {
        let body = "--x\r\ncontent-disposition: form-data; name=\"institute\"\r\n\r\nAcme\r\n--x\r\n\
            content-disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\ncontent-type: text/csv\r\n\r\n1;2\r\n\r\n--x\r\n\
            content-disposition: form-data; name=\"mapping\"; filename=\"\"\r\n\r\n\r\n--x--\r\n";
        let mut upload = read("multipart/form-data; boundary=x", body).await;
        assert_eq!(upload.fields.get("institute"), "Acme");
        let file = upload.take_file("file").unwrap();
        assert_eq!((file.name.as_str(), file.content.as_slice()), ("a.csv", &b"1;2\r\n"[..]));
        assert!(upload.take_file("mapping").is_none() && upload.take_file("file").is_none());
    }

    #[tokio::test]
    async fn a_body_that_is_no_form_has_nothing() {
        for (kind, body) in [
            ("application/x-www-form-urlencoded", "file=x"),
            ("multipart/form-data", "--x\r\n"),
            ("multipart/form-data; boundary=x", "no part at all"),
            ("multipart/form-data; boundary=x", "--x\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nno end"),
        ] {
            let mut upload = read(kind, body).await;
            assert!(upload.take_file("file").is_none() && upload.fields.get("file").is_empty(), "{kind} {body}");
        }
    }
}
