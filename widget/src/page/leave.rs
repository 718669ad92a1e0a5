//! Takes the shopper to another page: the brand's, the issuer's, or the result page.

use tillgate_shared::format::url;
use tillgate_shared::frame_messages::{NextStep, Page, PageMethod};
use wasm_bindgen::prelude::*;
use web_sys::{HtmlIFrameElement, Window};

use super::bridge::{FormNode, Value, document};
use super::callbacks::ErrorName;
use super::frames::encode;
use super::handle::FormHandle;
use super::options::Options;
use super::session::Session;
use super::target::{self, NamedWindow, TAB, WantedTargets};
use super::{bridge, collect, dom};

/// Screens on which a challenge takes the whole page: phones, upright or lying.
const SMALL: &str = "(max-width: 499px), (max-height: 399px)";

/// The place in which a page opens.
#[derive(Debug, Clone)]
pub enum Destination {
    /// A window or frame, by its name.
    Named(String),
    /// A window that the form has opened.
    Window(Window),
    /// A frame of the form.
    Frame(HtmlIFrameElement),
}

impl Destination {
    /// Returns the name by which a form is sent there.
    fn name(&self) -> String {
        match self {
            Self::Named(name) => name.clone(),
            Self::Window(window) => window.name().unwrap_or_default(),
            Self::Frame(frame) => frame.name(),
        }
    }
}

/// Returns the window that the merchant wants for the pages of cards: `_top`, a frame of this page, or the window that
/// the form is in. A name that the page does not have counts as none.
fn payment_target(options: &Options<Value>) -> String {
    let name = options.payment_target.as_str();
    let exists = !name.is_empty() && (classify_target(name) != NamedWindow::Other || find_frame(name).is_some());
    if exists { name.to_owned() } else { String::new() }
}

/// Returns the frame of this page that the merchant wants for the pages of cards.
pub fn find_target_frame(options: &Options<Value>) -> Option<HtmlIFrameElement> {
    find_frame(&options.payment_target)?.dyn_into().ok()
}

/// Finds the frame of this page with a name.
fn find_frame(name: &str) -> Option<web_sys::Element> {
    let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
    let css = ["iframe[name=\"", &quoted, "\"],frame[name=\"", &quoted, "\"]"].concat();
    document::find(&css).filter(|_| !name.is_empty())
}

fn classify_target(name: &str) -> NamedWindow {
    let own = web_sys::window().and_then(|window| window.name().ok()).unwrap_or_default();
    NamedWindow::classify(name, &own)
}

/// Returns true if a challenge stays beside this page: in a frame of the merchant or of the form.
pub fn keeps_page(options: &Options<Value>) -> bool {
    let name = payment_target(options);
    name.is_empty() || !classify_target(&name).replaces_page(classify_target(&options.result_target), is_tab())
}

/// Returns true if the form is in the tab's own page.
fn is_tab() -> bool {
    let window = web_sys::window();
    window.as_ref().is_some_and(|window| window.top().ok().flatten().as_ref() == Some(window))
}

/// Returns true if a challenge needs the whole page: the screen is small. A frame of the shop has the size that the
/// shop gives it, and may follow its content, of which a page over it is no part.
fn covers_page() -> bool {
    let is_small = |window: web_sys::Window| window.match_media(SMALL).ok().flatten().is_some_and(|it| it.matches());
    is_tab() && web_sys::window().is_some_and(is_small)
}

/// Returns the name of the merchant's frame for challenges. Empty if they are in the form's own frame, or replace the
/// page.
pub fn challenge_frame(options: &Options<Value>) -> String {
    let name = payment_target(options);
    if classify_target(&name) == NamedWindow::Other { name } else { String::new() }
}

/// Returns the page of an issuer that replaces this one, with the window in which the result has to open. Our own page
/// reads it from the query of its address, also if it is posted to.
pub fn with_result_window(session: &Session, mut page: Page) -> Page {
    let options = session.options();
    let is_own = classify_target(&payment_target(&options)) == NamedWindow::Own;
    let window = classify_target(&options.result_target).result_window().filter(|_| is_own);
    let address = page.url.clone().filter(|address| address.starts_with(&session.loader.base()));
    if let (Some(window), Some(address)) = (window, address) {
        let parameter = [("resultWindow".to_owned(), window.to_owned())];
        page.url = Some(target::add_parameters(&address, &parameter, encode));
    }
    page
}

/// Adds the fields about the browser that the authentication of a card needs.
pub fn add_browser_fields(session: &Session, handle: &FormHandle, form: &FormNode) {
    let options = session.options();
    let is_card = handle.pays_by_card.get();
    let size = challenge_window_size(&options, handle);
    collect::put_hidden(
        form,
        "customer.browser.challengeWindow",
        &["0", &bridge::format_number(size)].concat(),
        is_card,
    );
    collect::put_hidden(form, "inlineFlow", if keeps_page(&options) { "true" } else { "false" }, is_card);
}

/// Returns the size of the window for a challenge, 1 to 5.
pub fn challenge_window_size(options: &Options<Value>, handle: &FormHandle) -> u8 {
    let has_own_window = !payment_target(options).is_empty();
    target::challenge_window(options.challenge_window, has_own_window, covers_page(), handle.container.client_width())
}

/// Takes the shopper to a page, in the window that it belongs to. A page without an address is the result page. Returns
/// false if no address is known.
pub fn leave_page(session: &Session, handle: &FormHandle, step: Option<NextStep>, page: &Page) -> bool {
    let options = session.options();
    let payment = payment_target(&options);
    let wanted = WantedTargets { payment: &payment, result: &options.result_target };
    let name = target::select_target(handle.pays_by_card.get(), step, wanted);
    open_page(session, handle, page, &Destination::Named(name.to_owned()))
}

/// Opens a page in this place. A page without an address is the result page. Returns false if no address is known, or
/// if the forms have ended: the shopper has gone on to something else.
pub fn open_page(session: &Session, handle: &FormHandle, page: &Page, destination: &Destination) -> bool {
    if session.has_ended() {
        return false;
    }
    let options = session.options();
    let given = [page.url.clone().unwrap_or_default(), options.result_url.clone(), handle.result_address()];
    let Some(address) = given.into_iter().find(|address| !address.is_empty()) else {
        session.raise(ErrorName::Widget, "there is no shopperResultUrl and no form action");
        return false;
    };
    if !is_allowed_address(&address) {
        // Such an address would be a script of the page, or a page of its own making.
        session.raise(ErrorName::Widget, &["shopperResultUrl has a scheme that is not allowed: ", &address].concat());
        return false;
    }
    if page.method == PageMethod::Post {
        post_form(&address, &page.parameters, &destination.name());
    } else {
        open_address(&target::add_parameters(&address, &page.parameters, encode), destination);
    }
    true
}

fn open_address(address: &str, destination: &Destination) {
    match destination {
        Destination::Frame(frame) => frame.set_src(address),
        Destination::Window(window) => drop(window.location().set_href(address)),
        Destination::Named(name) if name == TAB => {
            let Some(window) = web_sys::window() else { return };
            let top = window.top().ok().flatten();
            // A frame without permission to navigate the tab shows the page itself.
            if top.is_none_or(|top| top.location().set_href(address).is_err()) {
                let _ = window.location().set_href(address);
            }
        }
        Destination::Named(name) => dom::make("a", "", &[("href", address), ("target", name)], "").click(),
    }
}

/// Sends a form with these fields to a page.
fn post_form(address: &str, parameters: &[(String, String)], target: &str) {
    let attributes = [("method", "POST"), ("action", address), ("target", target), ("hidden", "")];
    let form = dom::make("form", "", &attributes, "");
    for (name, value) in parameters {
        let _ = form.append_child(&dom::make("input", "", &[("type", "hidden"), ("name", name), ("value", value)], ""));
    }
    let Some(body) = document::body() else { return };
    let _ = body.append_child(&form);
    let form: FormNode = form.unchecked_into();
    form.submit();
    form.remove();
}

/// Returns true if a shopper may be sent to an address, which may be relative to the page: one of http or https, or of
/// an app.
fn is_allowed_address(address: &str) -> bool {
    web_sys::Url::new_with_base(address, &document::base_uri())
        .is_ok_and(|parsed| url::allows_scheme(parsed.protocol().trim_end_matches(':')))
}

/// Returns the result page of a checkout, with the two parameters that say which payment it was.
pub fn result_page(session: &Session, checkout: &str) -> Page {
    let config = session.config.borrow();
    let property =
        |name: &str| config.as_ref().and_then(|config| config.find_checkout_property(name).map(str::to_owned));
    let path = property("resourcePath")
        .unwrap_or_else(|| ["/v1/checkouts/", checkout, "/", &session.loader.purpose()].concat());
    let parameters = vec![("id".to_owned(), checkout.to_owned()), ("resourcePath".to_owned(), path)];
    Page { url: property("shopperResultUrl"), parameters, ..Page::default() }
}

/// Opens a window for a brand's page, whose address follows. `None` if the browser refuses.
pub fn open_window(nonce: &str) -> Option<Window> {
    let window = web_sys::window()?;
    let screen = window.screen().ok()?;
    let (width, height) = (screen.avail_width().ok()?.min(600), screen.avail_height().ok()?.min(760));
    let features = ["popup,width=", &bridge::format_number(width), ",height=", &bridge::format_number(height)].concat();
    let name = ["tillgate-", nonce].concat();
    window.open_with_url_and_target_and_features("about:blank", &name, &features).ok()?
}

/// Returns true if the message was sent by the gateway's own pages.
pub fn is_from_gateway(session: &Session, event: &bridge::Value) -> bool {
    use tillgate_shared::frame_messages::Source as _;
    let origin = event.text("origin");
    !origin.is_empty() && session.loader.base().starts_with(&[&origin, "/"].concat())
}
