//! `/v1/plainForm.html`: the payment form for browsers that are too old for the hosted one. The loader puts it into a frame
//! where it finds such a browser.
//!
//! Everything is HTML: the gateway writes the form, reads what is sent, and says what is wrong. What is sent is submitted as
//! the hosted form submits, with the same rules; then the shopper's window goes on to the brand's page or back to the shop.

mod entry;
mod page;
mod texts;

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use form_urlencoded::Serializer;
use jiff::Zoned;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_shared::brand::Kind;
use tillgate_shared::format::text::cut;
use tillgate_shared::format::url;
use tillgate_shared::parameter::Parameters;

use self::entry::{Fault, Stored, faults_of, read, read_stored};
use self::page::{Forms, STYLE};
use self::texts::Texts;
use super::form::{FormQuery, ancestors, named};
use super::received::form_parameters;
use super::shopper_page::{Page, reports};
use super::{Edge, client};
use crate::domain::address::{host, with_parameters};
use crate::domain::checkout::{Checkout, State as CheckoutState};
use crate::domain::payment::Redirect;
use crate::gateway::demands::wants_mandate;
use crate::gateway::once::Once;
use crate::gateway::submit::Submitted;
use crate::gateway::{Failure, order};

/// Bytes that the address of a shop's page may take in all forms of a page together. It is repeated in each form, so that a
/// long one is left out beside many brands: a short request would have a huge answer.
const REPEATED_ADDRESS: usize = 64 * 1024;

/// A request for the form, and whose it is.
struct Visit<'a> {
    edge: &'a Edge,
    query: &'a FormQuery,
    texts: &'static Texts,
    now: Zoned,
}

impl<'a> Visit<'a> {
    /// The visit, and the checkout that it is about.
    fn begin(edge: &'a Edge, query: &'a FormQuery) -> (Self, Result<Checkout, Failure>) {
        let checkout = edge.gateway.checkout_for_shopper(query.checkout());
        let now = match &checkout {
            Ok(checkout) => edge.gateway.now_of_id(&checkout.entity),
            Err(_) => edge.gateway.now(),
        };
        let now = now.to_zoned(TimeZone::UTC);
        (Self { edge, query, texts: Texts::of(query.get("locale")), now }, checkout)
    }

    /// The forms for an open checkout, with what is wrong in them.
    fn forms(
        &self,
        status: StatusCode,
        checkout: &Checkout,
        typed: &Parameters,
        faults: &[Fault],
        alert: Option<String>,
    ) -> Response {
        let wanted = named(self.query.get("brands")).filter(|brand| brand.kind != Kind::Wallet);
        let brands = self.edge.gateway.offered(checkout, wanted);
        let (stored, any_card) = (self.stored(checkout), self.query.get("brands").trim().is_empty());
        if brands.is_empty() && stored.is_empty() && !any_card {
            return self.closed(StatusCode::OK, Some(checkout));
        }
        let result = typed.get("shopperResultUrl").unwrap_or(self.query.get("shopperResultUrl"));
        let result = if escaped_length(result) * (brands.len() + 2) <= REPEATED_ADDRESS { result } else { "" };
        let amount = order::amount(&checkout.parameters).ok().filter(|_| !checkout.is_tokenisation());
        let amount = amount.map(|amount| format!("{amount} {}", amount.currency().code()));
        let forms = Forms {
            texts: self.texts,
            brands,
            stored,
            any_card,
            action: self.action(),
            result,
            mandate: wants_mandate(checkout).then(|| self.now.date().to_string()),
            typed,
            faults,
            alert,
            amount,
        };
        let title = [self.texts.get("submit"), forms.amount.as_deref().unwrap_or_default()].join(" ");
        self.page(status, &title, forms.markup(), Some(checkout))
    }

    /// The address that the forms are sent to. It is repeated in each of them, so it holds only what is known of the query.
    fn action(&self) -> String {
        let brands = self.query.get("brands");
        let mut known: Vec<&str> = named(brands).map(|brand| brand.code).collect();
        if known.is_empty() && !brands.trim().is_empty() {
            // No brand at all would stand for any card.
            known.push("none");
        }
        let page = String::from("plainForm.html?");
        let query = page.len();
        let mut action = Serializer::for_suffix(page, query);
        action
            .append_pair("checkoutId", cut(self.query.get("checkoutId"), 255))
            .append_pair("brands", &known.join(" "))
            .append_pair("locale", cut(self.query.get("locale"), 35))
            .append_pair("requireCvv", cut(self.query.get("requireCvv"), 5));
        action.finish()
    }

    /// The stored accounts that the shopper may choose from.
    fn stored(&self, checkout: &Checkout) -> Vec<Stored> {
        if checkout.is_tokenisation() {
            return Vec::new();
        }
        let asks = self.query.get("requireCvv") == "true" || self.edge.gateway.wants_stored_code(checkout);
        let completes = checkout.parameters.get("overrideHolder") == Some("true");
        let offered = self.edge.gateway.offered_registrations(checkout);
        offered.iter().map(|registration| Stored::new(registration, asks, completes)).collect()
    }

    /// Nothing can be paid here any more, or never could be.
    fn closed(&self, status: StatusCode, checkout: Option<&Checkout>) -> Response {
        self.says(status, "checkoutError", checkout)
    }

    /// A page that says one thing, and where the shop is, as far as that is known.
    fn says(&self, status: StatusCode, key: &str, checkout: Option<&Checkout>) -> Response {
        let back = checkout.and_then(|checkout| self.way_back(checkout, None));
        self.says_with_link(status, key, back.as_deref(), checkout)
    }

    /// A page that says one thing, with a link to the shop.
    fn says_with_link(
        &self,
        status: StatusCode,
        key: &str,
        back: Option<&str>,
        checkout: Option<&Checkout>,
    ) -> Response {
        let text = self.texts.get(key);
        let main = html! {
            @for line in text.lines() { p { (line) } }
            @if let Some(back) = back { p { a href=(back) target="_top" { (host(back)) } } }
        };
        self.page(status, text.lines().next().unwrap_or_default(), main, checkout)
    }

    /// A submit was refused.
    fn refused(&self, failure: &Failure, checkout: &Checkout, typed: &Parameters) -> Response {
        let Failure::Refused(refusal) = failure else {
            tracing::error!(error = %failure, "plain form");
            return self.says(StatusCode::SERVICE_UNAVAILABLE, "communicationError", Some(checkout));
        };
        let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
        if checkout.state(self.now.timestamp()) != CheckoutState::Open {
            return self.closed(status, Some(checkout));
        }
        if let Some(faults) = faults_of(&refusal.parameters) {
            return self.forms(status, checkout, typed, &faults, None);
        }
        let names = refusal.parameters.iter().map(|error| error.name.as_str());
        let alert = match &refusal.description {
            _ if refusal.retry_after.is_some() => self.texts.get("unsentError").to_owned(),
            Some(description) => std::iter::once(&**description).chain(names).collect::<Vec<_>>().join(" "),
            None => std::iter::once(refusal.code.description()).chain(names).collect::<Vec<_>>().join(" "),
        };
        let mut response = self.forms(status, checkout, typed, &[], Some(alert));
        if let Some(seconds) = refusal.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }

    /// Where the shopper goes after a submit.
    fn leave(&self, submitted: &Submitted, result: Option<&str>) -> Response {
        let checkout = &submitted.checkout;
        match submitted.pending.as_ref().and_then(|payment| payment.redirect.as_ref()) {
            Some(page) if page.method == "POST" => {
                self.page(StatusCode::OK, host(&page.url), handed_on(page, self.texts), Some(checkout))
            }
            Some(page) => {
                let parameters: Vec<(&str, &str)> =
                    page.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                see_other(&with_parameters(&page.url, &parameters))
            }
            None => match self.way_back(checkout, result) {
                Some(address) if self.edge.gateway.is_named_by_merchant(checkout, &address) => see_other(&address),
                Some(address) => self.says_with_link(StatusCode::OK, "processing", Some(&address), None),
                None => self.says(StatusCode::OK, "processing", None),
            },
        }
    }

    /// The shop's page with what says which payment it was: the merchant's word, or else that of its page, where that may
    /// be one of the merchant's.
    fn way_back(&self, checkout: &Checkout, result: Option<&str>) -> Option<String> {
        let settings = self.edge.gateway.directory.entity(&checkout.entity);
        let is_page = |address: &&str| {
            url::check(address).is_ok() && settings.as_ref().is_some_and(|entity| entity.settings.has_page(address))
        };
        let address = checkout.parameters.get("shopperResultUrl").or_else(|| result.filter(is_page))?;
        Some(with_parameters(address, &[("id", checkout.id.as_str()), ("resourcePath", &checkout.resource_path())]))
    }

    fn page(&self, status: StatusCode, title: &str, main: Markup, checkout: Option<&Checkout>) -> Response {
        let page = Page {
            title,
            language: self.texts.language.tag,
            rtl: self.texts.language.right_to_left,
            style: STYLE,
            head: html! {},
            main,
            // Chromium judges form-action by every address on the way that a submit takes, and nobody knows where the pages
            // of a brand or a shop lead.
            does: &format!(
                "form-action 'self' https: http:{}",
                reports("", checkout.map(|checkout| checkout.id.as_str()))
            ),
            ancestors: &ancestors(self.edge, checkout),
        };
        let mut response = page.respond(status);
        let headers = response.headers_mut();
        headers.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
        response
    }
}

/// The form as the loader asks for it.
pub(super) async fn show(State(edge): State<Arc<Edge>>, Query(query): Query<FormQuery>) -> Response {
    let (visit, checkout) = Visit::begin(&edge, &query);
    match checkout {
        Ok(checkout) if checkout.state(visit.now.timestamp()) == CheckoutState::Open => {
            visit.forms(StatusCode::OK, &checkout, &Parameters::default(), &[], None)
        }
        Ok(checkout) => visit.closed(StatusCode::OK, Some(&checkout)),
        Err(failure) => visit.without_checkout(&failure),
    }
}

/// What the shopper sends.
pub(super) async fn pay(State(edge): State<Arc<Edge>>, Query(query): Query<FormQuery>, request: Request) -> Response {
    let (visit, checkout) = Visit::begin(&edge, &query);
    let checkout = match checkout {
        Ok(checkout) => checkout,
        Err(failure) => return visit.without_checkout(&failure),
    };
    let (parts, body) = request.into_parts();
    let (shopper, public_url) = (client::address(&edge, &parts), client::public_url(&edge, &parts));
    let typed = match form_parameters(Request::from_parts(parts, body)).await {
        Ok(typed) => typed,
        Err(failure) => return visit.refused(&failure, &checkout, &Parameters::default()),
    };
    let month = (visit.now.year().unsigned_abs(), visit.now.month().unsigned_abs());
    let stored = visit.stored(&checkout).into_iter().find(|stored| typed.get("registrationId") == Some(&stored.id));
    let (read, faults) = match &stored {
        Some(stored) => read_stored(typed.clone(), stored),
        // Gone meanwhile: the gateway says so.
        None if typed.contains("registrationId") => (typed.clone(), Vec::new()),
        None => read(typed.clone(), wants_mandate(&checkout), month),
    };
    // One that has been paid charges nobody: whoever sends it twice comes to the same page twice.
    if !faults.is_empty() && checkout.state(visit.now.timestamp()) == CheckoutState::Open {
        return visit.forms(StatusCode::BAD_REQUEST, &checkout, &typed, &faults, None);
    }
    let id = checkout.id.as_str();
    match edge.gateway.submit(id, checkout.is_tokenisation(), read, shopper, &public_url, &Once::unnamed).await {
        Ok(submitted) => visit.leave(&submitted, typed.get("shopperResultUrl")),
        Err(failure) => visit.refused(&failure, &checkout, &typed),
    }
}

impl Visit<'_> {
    fn without_checkout(&self, failure: &Failure) -> Response {
        match failure {
            Failure::Refused(_) => self.closed(StatusCode::NOT_FOUND, None),
            failure => {
                tracing::error!(error = %failure, "plain form");
                self.says(StatusCode::SERVICE_UNAVAILABLE, "unsentError", None)
            }
        }
    }
}

/// A brand's page that is sent a form: the shopper sends it.
fn handed_on(page: &Redirect, texts: &Texts) -> Markup {
    let brand = |code: &str| texts.get("payWith").replace("{brand}", code);
    html! {
        form method="post" action=(page.url) target="_top" {
            @for (name, value) in &page.parameters { input type="hidden" name=(name) value=(value); }
            button type="submit" { (brand(host(&page.url))) }
        }
    }
}

/// On to another page, which is asked for with GET. What an address may not hold outside of ASCII is encoded (RFC 3987).
fn see_other(address: &str) -> Response {
    let mut ascii = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'!'..=b'~' => ascii.push(char::from(byte)),
            other => ascii.extend(["%", &format!("{other:02X}")]),
        }
    }
    (StatusCode::SEE_OTHER, [(header::LOCATION, ascii)]).into_response()
}

/// The length of a text as the value of an attribute, in bytes.
fn escaped_length(text: &str) -> usize {
    let length = |byte| match byte {
        b'"' => "&quot;".len(),
        b'&' => "&amp;".len(),
        b'<' | b'>' => "&lt;".len(),
        _ => 1,
    };
    text.bytes().map(length).sum()
}
