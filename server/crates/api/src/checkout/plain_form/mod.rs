//! `/v1/plainForm.html`: the payment form for browsers that are too old for the hosted one. The loader puts it into a
//! frame if it detects such a browser.
//!
//! The form is plain HTML: the gateway renders it, validates the input, and shows the errors. A submit follows the
//! same rules as that of the hosted form. Then the shopper's window is redirected to the brand's page or back to the
//! shop.

mod input;
mod page;
mod texts;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use form_urlencoded::Serializer;
use jiff::Zoned;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::address::{add_parameters, host_and_port};
use tillgate_domain::checkout::{Checkout, CheckoutState};
use tillgate_domain::payment::Redirect;
use tillgate_gateway::Failure;
use tillgate_gateway::checkout::requirements::requires_mandate;
use tillgate_gateway::checkout::submit::SubmitResult;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_shared::brand::{AccountType, Brand};
use tillgate_shared::format::expiry::last_month;
use tillgate_shared::format::text::truncate_text;
use tillgate_shared::format::url;
use tillgate_shared::parameter::Parameters;

use self::input::{FieldError, StoredAccount, convert_input, convert_stored_input, field_errors_of};
use self::page::{PlainForms, style_with_look};
use self::texts::FormTexts;
use crate::app_state::AppState;
use crate::checkout::form::FormQuery;
use crate::checkout::form::checkout_ancestors;
use crate::checkout::form_config::{creditor_name, named_brands};
use crate::client;
use crate::html_page::{HtmlPage, report_directive, report_integrity};
use crate::received::read_form_parameters;

/// Maximum size in bytes of the shop page's address in all forms of a page together. The address is repeated in each
/// form. It is left out if it is long and there are many brands, because a short request would otherwise have a huge
/// response.
const MAX_REPEATED_ADDRESS: usize = 64 * 1024;

/// A request for the form, with its language, the current time of its checkout's entity and the shopper's address.
struct PlainFormRequest<'a> {
    state: &'a AppState,
    query: &'a FormQuery,
    texts: &'static FormTexts,
    now: Zoned,
    shopper: IpAddr,
}

impl<'a> PlainFormRequest<'a> {
    /// Creates the request, and loads the checkout that its query names. The time is that of the checkout's entity, or
    /// the machine's if the checkout cannot be loaded.
    fn load_with_checkout(
        state: &'a AppState,
        query: &'a FormQuery,
        shopper: IpAddr,
    ) -> (Self, Result<Checkout, Failure>) {
        let checkout = state.gateway.load_checkout(query.checkout_id());
        let now = match &checkout {
            Ok(checkout) => state.gateway.now_of_id(&checkout.entity),
            Err(_) => state.gateway.now(),
        };
        let now = now.to_zoned(TimeZone::UTC);
        (Self { state, query, texts: FormTexts::for_locale(query.get("locale")), now, shopper }, checkout)
    }

    /// Renders the forms for an open checkout, with the previous input, its errors and an `alert` in them. Says that
    /// nothing can be paid if the page names brands, none of them is payable, and there are no stored accounts. Wallets
    /// are left out, because they need scripts.
    fn render_forms(
        &self,
        status: StatusCode,
        checkout: &Checkout,
        typed: &Parameters,
        errors: &[FieldError],
        alert: Option<String>,
    ) -> Response {
        let requested = named_brands(self.query.get("brands")).filter(|brand| brand.kind != AccountType::Wallet);
        let brands = self.state.gateway.payable_brands(checkout, requested, self.shopper);
        let (stored, any_card) = (self.offered_accounts(checkout), self.query.get("brands").trim().is_empty());
        if brands.is_empty() && stored.is_empty() && !any_card {
            return self.render_closed(StatusCode::OK, Some(checkout));
        }
        let result = typed.get("shopperResultUrl").unwrap_or(self.query.get("shopperResultUrl"));
        let result = if escaped_length(result) * (brands.len() + 2) <= MAX_REPEATED_ADDRESS { result } else { "" };
        let amount = checkout.amount().filter(|_| !checkout.is_tokenisation());
        let amount = amount.map(|amount| format!("{amount} {}", amount.currency().code()));
        let forms = PlainForms {
            texts: self.texts,
            brands,
            stored,
            any_card,
            action: self.form_action(),
            result,
            creditor: creditor_name(self.state, checkout),
            mandate: requires_mandate(checkout).then(|| self.now.date().to_string()),
            typed,
            errors,
            alert,
            amount,
        };
        let title = [self.texts.get("submit"), forms.amount.as_deref().unwrap_or_default()].join(" ");
        self.render_page(status, &title, forms.render_all(), Some(checkout))
    }

    /// Renders the empty forms for an open checkout, or says that nothing can be paid any more, with this status.
    fn render_forms_of(&self, checkout: &Checkout, status: StatusCode) -> Response {
        match checkout.state_at(self.now.timestamp()) {
            CheckoutState::Open => self.render_forms(status, checkout, &Parameters::default(), &[], None),
            _ => self.render_closed(status, Some(checkout)),
        }
    }

    /// Returns the address to which the forms are submitted. It is repeated in each form, so it contains only the known
    /// part of the query: known brands (`none` if there are only unknown ones), and the other values cut to their
    /// lengths.
    fn form_action(&self) -> String {
        let brands = self.query.get("brands");
        let mut known: Vec<&str> = named_brands(brands).map(|brand| brand.code).collect();
        if known.is_empty() && !brands.trim().is_empty() {
            // An empty list of brands would mean any card.
            known.push("none");
        }
        let page = String::from("plainForm.html?");
        let query = page.len();
        let mut action = Serializer::for_suffix(page, query);
        action
            .append_pair("checkoutId", truncate_text(self.query.get("checkoutId"), 255))
            .append_pair("brands", &known.join(" "))
            .append_pair("locale", truncate_text(self.query.get("locale"), 35))
            .append_pair("requireCvv", truncate_text(self.query.get("requireCvv"), 5));
        action.finish()
    }

    /// Returns the usable stored accounts that the shopper may choose from, none for a tokenisation checkout.
    fn offered_accounts(&self, checkout: &Checkout) -> Vec<StoredAccount> {
        if checkout.is_tokenisation() {
            return Vec::new();
        }
        let code_required = self.query.get("requireCvv") == "true" || self.state.gateway.requires_stored_code(checkout);
        let holder_required = checkout.parameters.get("overrideHolder") == Some("true");
        let offered = self.state.gateway.offered_registrations(checkout, self.shopper);
        offered.iter().map(|registration| StoredAccount::new(registration, code_required, holder_required)).collect()
    }

    /// Renders a page that says that nothing can be paid here, or not any more.
    fn render_closed(&self, status: StatusCode, checkout: Option<&Checkout>) -> Response {
        self.render_message(status, "checkoutError", checkout)
    }

    /// Renders a page with one message, and with a link to the shop if its address is known.
    fn render_message(&self, status: StatusCode, key: &str, checkout: Option<&Checkout>) -> Response {
        let back = checkout.and_then(|checkout| self.shop_return_url(checkout, None));
        self.render_message_with_link(status, key, back.as_deref(), checkout)
    }

    /// Renders a page with one message, and with a link to the shop at `back`. The message's first line is the title.
    fn render_message_with_link(
        &self,
        status: StatusCode,
        key: &str,
        back: Option<&str>,
        checkout: Option<&Checkout>,
    ) -> Response {
        let text = self.texts.get(key);
        let main = html! {
            @for line in text.lines() { p { (line) } }
            @if let Some(back) = back { p { a href=(back) target="_top" { (host_and_port(back)) } } }
        };
        self.render_page(status, text.lines().next().unwrap_or_default(), main, checkout)
    }

    /// Renders the forms with the errors of a refused submit: at the fields if all errors belong to fields of this
    /// form, otherwise as an alert, with `Retry-After` if the refusal has one. If the checkout is not open any more,
    /// says so. Any other failure is logged and gives 503.
    fn render_refusal(&self, failure: &Failure, checkout: &Checkout, typed: &Parameters) -> Response {
        let Failure::Refused(refusal) = failure else {
            tracing::error!(error = %failure, "showing the plain form failed");
            return self.render_message(StatusCode::SERVICE_UNAVAILABLE, "communicationError", Some(checkout));
        };
        let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
        if checkout.state_at(self.now.timestamp()) != CheckoutState::Open {
            return self.render_closed(status, Some(checkout));
        }
        // A brand that is not offered is no fault of a field, and its form may be gone.
        let refused_brand = refusal.parameters.iter().find(|error| error.name == "paymentBrand");
        if let Some(brand) = refused_brand.and_then(|error| Brand::find(error.value.as_deref()?)) {
            let alert = self.texts.get("unavailable").replace("{brand}", brand.name);
            return self.render_forms(status, checkout, typed, &[], Some(alert));
        }
        if let Some(errors) = field_errors_of(&refusal.parameters) {
            return self.render_forms(status, checkout, typed, &errors, None);
        }
        let names = refusal.parameters.iter().map(|error| error.name.as_str());
        let alert = match &refusal.description {
            _ if refusal.retry_after.is_some() => self.texts.get("unsentError").to_owned(),
            Some(description) => std::iter::once(&**description).chain(names).collect::<Vec<_>>().join(" "),
            None => std::iter::once(refusal.code.description()).chain(names).collect::<Vec<_>>().join(" "),
        };
        let mut response = self.render_forms(status, checkout, typed, &[], Some(alert));
        if let Some(seconds) = refusal.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }

    /// Redirects the shopper after a submit: to the brand's page if the payment is pending on one (with a form if that
    /// expects a POST), otherwise to the shop. If the merchant has not named the shop's address itself, a page with a
    /// link, or without one, says that the payment is processed.
    fn redirect_shopper(&self, submitted: &SubmitResult, result: Option<&str>) -> Response {
        let checkout = &submitted.checkout;
        match submitted.pending.as_ref().and_then(|payment| payment.page_to_visit()) {
            Some(page) if page.method == "POST" => self.render_page(
                StatusCode::OK,
                host_and_port(&page.url),
                render_post_form(page, self.texts),
                Some(checkout),
            ),
            Some(page) => {
                let parameters: Vec<(&str, &str)> =
                    page.parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                see_other(&add_parameters(&page.url, &parameters))
            }
            None => match self.shop_return_url(checkout, result) {
                Some(address) if self.state.gateway.is_named_by_merchant(checkout, &address) => see_other(&address),
                Some(address) => self.render_message_with_link(StatusCode::OK, "processing", Some(&address), None),
                None => self.render_message(StatusCode::OK, "processing", None),
            },
        }
    }

    /// Returns the shop's page with the parameters for reading the outcome. Its address is the checkout's
    /// `shopperResultUrl`, otherwise `result`, which the page sent, if it is valid and the merchant's settings allow
    /// it. Returns `None` without either.
    fn shop_return_url(&self, checkout: &Checkout, result: Option<&str>) -> Option<String> {
        let entity = self.state.gateway.directory.find_entity(&checkout.entity);
        let is_allowed = |address: &&str| {
            url::check_return(address).is_ok()
                && entity.as_ref().is_some_and(|entity| entity.settings.allows_result(address))
        };
        let address = checkout.parameters.get("shopperResultUrl").or_else(|| result.filter(is_allowed))?;
        Some(add_parameters(address, &[("id", checkout.id.as_str()), ("resourcePath", &checkout.resource_path())]))
    }

    /// Renders a page in the request's language that the merchant's pages may show in a frame. Browsers report its
    /// policy violations if there is a checkout.
    fn render_page(&self, status: StatusCode, title: &str, main: Markup, checkout: Option<&Checkout>) -> Response {
        let look = checkout.map(|checkout| self.state.gateway.directory.form_look(&checkout.entity));
        let page = HtmlPage {
            title,
            language: self.texts.language.tag,
            rtl: self.texts.language.right_to_left,
            style: &style_with_look(&look.unwrap_or_default()),
            head: html! {},
            main,
            // Chromium checks form-action against every address in a submit's redirect chain, and the redirects of a
            // brand's or a shop's page are unknown.
            directives: &format!(
                "form-action 'self' https: http:{}{}",
                app_source(checkout),
                report_directive("", checkout.map(|checkout| checkout.id.as_str()))
            ),
            ancestors: &checkout_ancestors(self.state, checkout),
        };
        let mut response = page.render_response(status);
        report_integrity(response.headers_mut(), "", checkout.map(|checkout| checkout.id.as_str()));
        response
    }
}

/// Serves the forms of an open checkout to the loader, otherwise a page that says that nothing can be paid: with 404
/// for an unknown checkout.
pub(crate) async fn show_form(
    State(state): State<Arc<AppState>>,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    let shopper = client::resolve_address(&state, &request.into_parts().0);
    let (form_request, checkout) = PlainFormRequest::load_with_checkout(&state, &query, shopper);
    match checkout {
        Ok(checkout) => form_request.render_forms_of(&checkout, StatusCode::OK),
        Err(failure) => form_request.render_checkout_failure(&failure),
    }
}

/// Handles a submit: validates the input, pays or registers with it, and redirects the shopper; approved and declined
/// payments alike. Wrong input shows the forms again with 400 while the checkout is open.
pub(crate) async fn submit_form(
    State(state): State<Arc<AppState>>,
    Query(query): Query<FormQuery>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let (shopper, public_url) = (client::resolve_address(&state, &parts), client::public_url(&state, &parts));
    let (form_request, checkout) = PlainFormRequest::load_with_checkout(&state, &query, shopper);
    let checkout = match checkout {
        Ok(checkout) => checkout,
        Err(failure) => return form_request.render_checkout_failure(&failure),
    };
    let typed = match read_form_parameters(Request::from_parts(parts, body)).await {
        Ok(typed) => typed,
        Err(failure) => return form_request.render_refusal(&failure, &checkout, &Parameters::default()),
    };
    // Another site has posted the form, which has no fields then (`BrowserAccess::Visits`).
    if typed.is_empty() {
        return form_request.render_forms_of(&checkout, StatusCode::BAD_REQUEST);
    }
    let month = last_month(form_request.now.timestamp().as_second());
    let stored = form_request
        .offered_accounts(&checkout)
        .into_iter()
        .find(|stored| typed.get("registrationId") == Some(&stored.id));
    let (parameters, errors) = match &stored {
        Some(stored) => convert_stored_input(typed.clone(), stored),
        // The registration has been deleted meanwhile: the gateway refuses the submit.
        None if typed.contains("registrationId") => (typed.clone(), Vec::new()),
        None => convert_input(typed.clone(), requires_mandate(&checkout), month),
    };
    // A paid checkout charges nobody again: a second submit leads to the same page, even with wrong input.
    if !errors.is_empty() && checkout.state_at(form_request.now.timestamp()) == CheckoutState::Open {
        return form_request.render_forms(StatusCode::BAD_REQUEST, &checkout, &typed, &errors, None);
    }
    let id = checkout.id.as_str();
    match state
        .gateway
        .submit_form(id, checkout.is_tokenisation(), parameters, shopper, &public_url, &ResponseRecorder::disabled)
        .await
    {
        Ok(submitted) => form_request.redirect_shopper(&submitted, typed.get("shopperResultUrl")),
        Err(failure) => form_request.render_refusal(&failure, &checkout, &typed),
    }
}

impl PlainFormRequest<'_> {
    /// Renders a page for a checkout that cannot be loaded: 404 for an unknown one, otherwise 503, which is logged.
    fn render_checkout_failure(&self, failure: &Failure) -> Response {
        match failure {
            Failure::Refused(_) => self.render_closed(StatusCode::NOT_FOUND, None),
            failure => {
                tracing::error!(error = %failure, "showing the plain form failed");
                self.render_message(StatusCode::SERVICE_UNAVAILABLE, "unsentError", None)
            }
        }
    }
}

/// Returns the source of a Content-Security-Policy for the app that the shopper returns to, after a space. Empty if the
/// merchant names none.
fn app_source(checkout: Option<&Checkout>) -> String {
    let address = checkout.and_then(|checkout| checkout.parameters.get("shopperResultUrl"));
    let app = address.filter(|address| !url::is_http(address)).and_then(|address| address.split_once(':'));
    app.map(|(scheme, _)| format!(" {scheme}:")).unwrap_or_default()
}

/// Renders a form that posts to a brand's page. Without scripts, the shopper has to submit it.
fn render_post_form(page: &Redirect, texts: &FormTexts) -> Markup {
    let brand = |code: &str| texts.get("payWith").replace("{brand}", code);
    html! {
        form method="post" action=(page.url) target="_top" {
            @for (name, value) in &page.parameters { input type="hidden" name=(name) value=(value); }
            button type="submit" { (brand(host_and_port(&page.url))) }
        }
    }
}

/// Redirects to another page with 303, so with GET. Characters outside of ASCII, spaces and control characters are
/// percent-encoded (RFC 3987).
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

/// Returns the length of a text as an escaped attribute value, in bytes.
fn escaped_length(text: &str) -> usize {
    let length = |byte| match byte {
        b'"' => "&quot;".len(),
        b'&' => "&amp;".len(),
        b'<' | b'>' => "&lt;".len(),
        _ => 1,
    };
    text.bytes().map(length).sum()
}
