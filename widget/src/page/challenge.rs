//! 3-D Secure in the page: the card's issuer asks its cardholder in a frame in the place of the form, or in a window of
//! the merchant's (`paymentTarget`). The page learns only that the challenge is over; its result goes to the merchant's
//! server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Function, Promise};
use tillgate_shared::brand::Flow;
use tillgate_shared::frame_messages::{NextStep, Page, RelayCall, Source as _};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{HtmlElement, HtmlIFrameElement};

use super::bridge::{Value, format_number};
use super::callbacks::{self, Callback};
use super::dom::{self, Listener};
use super::engine::form::{Message, Notice, NoticeAction};
use super::handle::FormHandle;
use super::leave::{self, Destination};
use super::popup::PAUSE;
use super::relay::RelayAnswer;
use super::session::Session;
use super::text::keys;

/// Maximum time for the issuer's method page, in milliseconds (EMV 3-D Secure, 3DS Method).
const METHOD_TIME: i32 = 10_000;

/// Widths and heights of challenge windows in pixels (EMV 3-D Secure, challengeWindowSize 01 to 04).
const WINDOW_SIZES: [(u16, u16); 4] = [(250, 400), (390, 400), (500, 600), (600, 400)];

/// A challenge that is under way.
struct Challenge {
    form: Rc<FormHandle>,
    checkout: String,
    target: HtmlIFrameElement,
    /// The frame of the page in which it is shown, if the merchant wants that.
    page_frame: RefCell<Option<HtmlIFrameElement>>,
    bar: RefCell<Option<HtmlElement>>,
    method: RefCell<Option<HtmlElement>>,
    /// True if the form stays after a decline: the merchant wants that, and allows it.
    may_stay: bool,
    /// True once its page has said that it is over.
    is_over: Cell<bool>,
    /// Ends the pause between two questions for the state.
    wake: RefCell<Option<Function>>,
    listeners: RefCell<Vec<Listener>>,
}

/// The challenge of the page. There is one at a time.
#[derive(Default)]
pub struct Challenges {
    current: RefCell<Option<Rc<Challenge>>>,
}

impl Challenges {
    /// Starts the authentication that an answer of the gateway demands.
    pub fn start(&self, session: &Rc<Session>, form: &Rc<FormHandle>, answer: &RelayAnswer) {
        // The shopper has continued in another form.
        self.restore(session);
        let challenge = Rc::new(Challenge {
            form: form.clone(),
            checkout: answer.id.clone(),
            target: form.target_frame(),
            page_frame: RefCell::default(),
            bar: RefCell::default(),
            method: RefCell::default(),
            may_stay: !answer.advice.is_empty(),
            is_over: Cell::default(),
            wake: RefCell::default(),
            listeners: RefCell::default(),
        });
        self.current.replace(Some(challenge.clone()));
        spawn_local(run(session.clone(), challenge, answer.flow, answer.redirect.clone().unwrap_or_default()));
    }

    /// Shows the form again, as it was.
    pub fn restore(&self, session: &Rc<Session>) {
        let Some(challenge) = self.current.take() else { return };
        challenge.remove_bar();
        if let Some(method) = challenge.method.take() {
            method.remove();
        }
        for class in ["wpwl-challenge", "wpwl-challenge-whole"] {
            dom::toggle_class(&challenge.form.container, class, false);
        }
        dom::set_visible(&challenge.target, false);
        challenge.target.set_src("about:blank");
        if let Some(form) = challenge.form.form_node() {
            form.set_visible(true);
        }
        challenge.wake();
        session.each_form(|form| form.send(Message::Idle));
    }

    /// Forgets the challenge: the forms end, and their frames with them. A frame of the page is emptied, since its
    /// challenge would complete a payment that the page no longer shows.
    pub fn abandon(&self) {
        let Some(challenge) = self.current.take() else { return };
        if let Some(frame) = challenge.page_frame.take() {
            frame.set_src("about:blank");
        }
        challenge.wake();
    }

    /// The shopper gives up the challenge. Another card may be used, or the same again.
    pub fn cancel(&self, session: &Rc<Session>) {
        let Some(form) = self.current.borrow().as_ref().map(|challenge| challenge.form.clone()) else { return };
        self.restore(session);
        form.send(Message::Notice(Some(Notice::error(session.text(keys::CANCELLED)))));
        form.focus_pay_button();
    }

    fn is_current(&self, challenge: &Rc<Challenge>) -> bool {
        self.current.borrow().as_ref().is_some_and(|current| Rc::ptr_eq(current, challenge))
    }

    /// Listens to the page of the challenge, which says that it is over.
    pub fn listen(session: &Rc<Session>) -> Listener {
        let session = Rc::downgrade(session);
        let window: JsValue = js_sys::global().into();
        Listener::new(&window, "message", move |event| {
            let event = Value(event.into());
            let Some(session) = session.upgrade() else { return };
            let Some(challenge) = session.challenges.current.borrow().clone() else { return };
            let is_end = event.get("data").is_some_and(|data| data.text("threeDSecure") == "ended");
            if !is_end || !leave::is_from_gateway(&session, &event) {
                return;
            }
            let is_own_frame = challenge
                .target
                .content_window()
                .is_some_and(|window| event.get("source").is_some_and(|source| source.0 == JsValue::from(window)));
            // In a window of the merchant's it is another window.
            if is_own_frame || !leave::challenge_frame(&session.options()).is_empty() {
                challenge.is_over.set(true);
                challenge.wake();
            }
        })
    }
}

impl Challenge {
    fn wake(&self) {
        if let Some(wake) = self.wake.take() {
            let _ = wake.call0(&JsValue::UNDEFINED);
        }
    }

    fn remove_bar(&self) {
        if let Some(bar) = self.bar.take() {
            bar.remove();
        }
    }

    /// Sets the size of the frame: the merchant's, or the one that the issuer was told. It is never wider than its
    /// place.
    fn set_size(&self, session: &Session) {
        let options = session.options();
        let size = WINDOW_SIZES.get(usize::from(leave::challenge_window_size(&options, &self.form)) - 1);
        let [width, height] = &options.challenge_size;
        let is_whole = size.is_none() && width.is_empty() && height.is_empty();
        dom::toggle_class(&self.form.container, "wpwl-challenge-whole", is_whole);
        let pixels = |wanted: &String, usual: Option<u16>, otherwise: &str| match (wanted.is_empty(), usual) {
            (false, _) => wanted.clone(),
            (true, Some(pixels)) => format_number(pixels) + "px",
            (true, None) => otherwise.to_owned(),
        };
        if is_whole {
            for (name, value) in [
                ("position", "fixed"),
                ("inset", "0 0 4rem"),
                ("width", "100%"),
                ("height", "calc(100% - 4rem)"),
                ("z-index", "2147483646"),
            ] {
                dom::set_style(&self.target, name, value);
            }
            return;
        }
        dom::set_style(&self.target, "width", &pixels(width, size.map(|size| size.0), "100%"));
        dom::set_style(&self.target, "height", &pixels(height, size.map(|size| size.1), "600px"));
        dom::set_style(&self.target, "max-width", "100%");
    }

    /// Shows the issuer's page in the place of the form. The form keeps its values, for a shopper who cancels.
    fn reveal(&self, session: &Rc<Session>) {
        dom::toggle_class(&self.form.container, "wpwl-challenge", true);
        if let Some(form) = self.form.form_node() {
            form.set_visible(false);
        }
        dom::set_visible(&self.target, true);
        dom::set_style(&self.target, "display", "block");
        let bar = dom::make("div", "wpwl-challenge-bar", &[], "");
        let classes = "wpwl-button wpwl-button-small wpwl-button-cancel";
        let cancel = dom::make("button", classes, &[("type", "button")], &session.text(keys::CANCEL));
        let weak = Rc::downgrade(session);
        self.listeners.borrow_mut().push(Listener::new(&cancel, "click", move |_| {
            if let Some(session) = weak.upgrade() {
                session.challenges.cancel(&session);
            }
        }));
        let _ = bar.append_child(&cancel);
        let _ = self.form.container.append_child(&bar);
        self.bar.replace(Some(bar));
        let _ = self.target.focus();
        callbacks::notify(session, &Callback::ChallengeShown(&self.target), None);
    }
}

/// Runs an authentication: the issuer's method pages, then the challenge, until it is over.
async fn run(session: Rc<Session>, challenge: Rc<Challenge>, step: Option<NextStep>, page: Page) {
    for method in &page.preconditions {
        load_method_page(&session, &challenge, method).await;
    }
    if !session.challenges.is_current(&challenge) {
        return;
    }
    // The page leads back to the shop by itself, so there is nothing to wait for.
    if step != Some(NextStep::Inline) {
        leave::leave_page(&session, &challenge.form, step, &leave::with_result_window(&session, page));
        return;
    }
    if leave::challenge_frame(&session.options()).is_empty() {
        show(&session, &challenge, &page);
    } else {
        challenge.page_frame.replace(leave::find_target_frame(&session.options()));
        leave::leave_page(&session, &challenge.form, step, &page);
        let actions = vec![(session.text(keys::CANCEL), NoticeAction::CancelChallenge)];
        challenge.form.send(Message::Notice(Some(Notice { text: session.text(keys::CHALLENGE), actions })));
    }
    wait_for_end(&session, &challenge).await;
}

/// Loads a page of the issuer in a hidden frame. One that does not load is not waited for long.
async fn load_method_page(session: &Rc<Session>, challenge: &Rc<Challenge>, page: &Page) {
    let name = ["tillgate-method-", &challenge.form.nonce].concat();
    let attributes =
        [("name", name.as_str()), ("title", &name), ("tabindex", "-1"), ("aria-hidden", "true"), ("frameborder", "0")];
    let frame = dom::make("iframe", "", &attributes, "");
    dom::set_visible(&frame, false);
    let _ = challenge.form.container.append_child(&frame);
    let frame: HtmlIFrameElement = frame.unchecked_into();
    challenge.method.replace(Some(frame.clone().into()));
    let destination = Destination::Frame(frame.clone());
    leave::open_page(session, &challenge.form, page, &destination);
    let loaded = Promise::new(&mut |done, _| {
        let finish = done.clone();
        challenge
            .listeners
            .borrow_mut()
            .push(Listener::new(&frame, "load", move |_| drop(finish.call0(&JsValue::UNDEFINED))));
        dom::call_later(METHOD_TIME, move || drop(done.call0(&JsValue::UNDEFINED)));
    });
    let _ = JsFuture::from(loaded).await;
}

/// Opens the issuer's page in the form's frame. It is shown a moment after it has loaded, unless it has said by then
/// that the cardholder need not be asked.
fn show(session: &Rc<Session>, challenge: &Rc<Challenge>, page: &Page) {
    challenge.target.set_title(&session.text(keys::CHALLENGE));
    let _ = challenge.target.set_attribute("allow", &session.loader.issuer_permissions());
    challenge.set_size(session);
    let (weak, own) = (Rc::downgrade(session), Rc::downgrade(challenge));
    let load = Listener::new(&challenge.target, "load", move |_| {
        let (weak, own) = (weak.clone(), own.clone());
        dom::call_later(100, move || {
            let (Some(session), Some(challenge)) = (weak.upgrade(), own.upgrade()) else { return };
            let is_shown = challenge.bar.borrow().is_some();
            if session.challenges.is_current(&challenge) && !challenge.is_over.get() && !is_shown {
                challenge.reveal(&session);
            }
        });
    });
    challenge.listeners.borrow_mut().push(load);
    leave::open_page(session, &challenge.form, page, &Destination::Frame(challenge.target.clone()));
}

/// Waits until the challenge is over: its page says so, or else the gateway.
async fn wait_for_end(session: &Rc<Session>, challenge: &Rc<Challenge>) {
    while session.challenges.is_current(challenge) {
        // An answer from before the end says nothing about it.
        let was_over = challenge.is_over.get();
        let answer = session.relay.call(&session.loader, RelayCall::ReadState, &challenge.checkout).await;
        if !session.challenges.is_current(challenge) {
            return;
        }
        let has_ended = answer.status == 200 && answer.checkout_state != "PENDING";
        if was_over || answer.status == 404 || has_ended {
            return finish(session, challenge, &answer);
        }
        if challenge.is_over.get() {
            continue;
        }
        let pause = Promise::new(&mut |done, _| {
            challenge.wake.replace(Some(done.clone()));
            dom::call_later(PAUSE, move || drop(done.call0(&JsValue::UNDEFINED)));
        });
        let _ = JsFuture::from(pause).await;
    }
}

/// Takes the shopper to the result page. The result itself is the merchant's server's to read. After a decline the form
/// is back if the merchant wants that.
fn finish(session: &Rc<Session>, challenge: &Rc<Challenge>, answer: &RelayAnswer) {
    if challenge.may_stay && answer.checkout_state == "OPEN" {
        session.challenges.restore(session);
        challenge.form.send(Message::Declined);
        return challenge.form.focus_pay_button();
    }
    let page = leave::result_page(session, &challenge.checkout);
    challenge.form.send(Message::Notice(None));
    if leave::leave_page(session, &challenge.form, Some(NextStep::Flow(Flow::Now)), &page) {
        session.challenges.current.take();
    } else {
        session.challenges.restore(session);
    }
}
