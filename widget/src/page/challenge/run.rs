//! 3-D Secure in the page: the card's issuer asks its cardholder in a frame in the place of the form, or in a window of
//! the merchant's (`paymentTarget`). The page learns only that the challenge is over; its result goes to the merchant's
//! server.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Promise;
use tillgate_shared::brand::Flow;
use tillgate_shared::frame_messages::{NextStep, Page, RelayCall, Sink as _, Source as _};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::HtmlIFrameElement;

use super::{Challenge, Challenges};
use crate::page::bridge::{Data, OpenPart, Value, make_view};
use crate::page::callbacks::{self, Callback};
use crate::page::dom::{self, Listener, Pause};
use crate::page::engine::form_message::{Message, Notice, NoticeAction};
use crate::page::handle::FormHandle;
use crate::page::leave::{self, Destination};
use crate::page::popup::PAUSE;
use crate::page::relay::RelayAnswer;
use crate::page::session::Session;
use crate::page::text::keys;

/// Maximum time for the issuer's method page, in milliseconds (EMV 3-D Secure, 3DS Method).
const METHOD_TIME: i32 = 10_000;

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
            part: RefCell::default(),
            is_shown: Cell::default(),
            method: RefCell::default(),
            may_stay: !answer.advice.is_empty(),
            is_over: Cell::default(),
            pause: Pause::default(),
            listeners: RefCell::default(),
        });
        self.current.replace(Some(challenge.clone()));
        spawn_local(run(session.clone(), challenge, answer.flow, answer.redirect.clone().unwrap_or_default()));
    }

    /// Shows the form again, as it was.
    pub fn restore(&self, session: &Rc<Session>) {
        let Some(challenge) = self.current.take() else { return };
        challenge.part.take();
        if let Some(method) = challenge.method.take() {
            method.remove();
        }
        dom::toggle_class(&challenge.form.container, "wpwl-challenge", false);
        dom::set_visible(&challenge.target, false);
        challenge.target.set_src("about:blank");
        if let Some(form) = challenge.form.form_node() {
            form.set_visible(true);
        }
        challenge.pause.end();
        session.each_form(|form| form.send(Message::Idle));
    }

    /// The shopper gives up the challenge. Another card may be used, or the same again.
    pub fn cancel(&self, session: &Rc<Session>) {
        let Some(form) = self.current.borrow().as_ref().map(|challenge| challenge.form.clone()) else { return };
        self.restore(session);
        form.send(Message::Notice(Some(Notice::error(session.text(keys::CANCELLED)))));
        form.send(Message::ReturnFocus);
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
                challenge.pause.end();
            }
        })
    }
}

impl Challenge {
    /// Shows the issuer's page in the place of the form. The form keeps its values, for a shopper who cancels.
    fn reveal(&self, session: &Rc<Session>) {
        self.is_shown.set(true);
        dom::toggle_class(&self.form.container, "wpwl-challenge", true);
        if let Some(form) = self.form.form_node() {
            form.set_visible(false);
        }
        dom::set_visible(&self.target, true);
        dom::set_style(&self.target, "display", "block");
        let options = session.options();
        let [width, height] = &options.challenge_size;
        let (title, label) = (session.text(keys::CHALLENGE), session.text(keys::CANCEL));
        let texts = [("title", &*title), ("label", &*label), ("width", width), ("height", height)];
        let mut view = make_view("frame", &self.target, &texts).with("container", &self.form.container);
        view.set_number("size", leave::challenge_window_size(&options, &self.form).into());
        self.open_part(session, "challenge", view);
        callbacks::notify(session, &Callback::ChallengeShown(&self.target), None);
    }

    /// Opens the part that holds the ways back. Without it, the form offers one in its message.
    fn open_part(&self, session: &Rc<Session>, name: &str, view: Data) {
        let weak = Rc::downgrade(session);
        let cancel = move || {
            if let Some(session) = weak.upgrade() {
                session.challenges.cancel(&session);
            }
        };
        let part = OpenPart::open(&session.loader, name, view, cancel);
        if part.is_none() || self.page_frame.borrow().is_some() {
            let actions = vec![(session.text(keys::CANCEL), NoticeAction::CancelChallenge)];
            self.form.send(Message::Notice(Some(Notice { text: session.text(keys::CHALLENGE), actions })));
        }
        self.part.replace(part);
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
        show(&session, &challenge, page);
    } else {
        let frame = leave::find_target_frame(&session.options());
        let view = make_view("frame", &frame.clone().into(), &[]);
        challenge.page_frame.replace(frame);
        leave::leave_page(&session, &challenge.form, step, &page);
        challenge.open_part(&session, "visit", view);
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
fn show(session: &Rc<Session>, challenge: &Rc<Challenge>, page: Page) {
    challenge.target.set_title(&session.text(keys::CHALLENGE));
    let (weak, own) = (Rc::downgrade(session), Rc::downgrade(challenge));
    let load = Listener::new(&challenge.target, "load", move |_| {
        let (weak, own) = (weak.clone(), own.clone());
        dom::call_later(100, move || {
            let (Some(session), Some(challenge)) = (weak.upgrade(), own.upgrade()) else { return };
            if session.challenges.is_current(&challenge) && !challenge.is_over.get() && !challenge.is_shown.get() {
                challenge.reveal(&session);
            }
        });
    });
    let challenge = challenge.clone();
    // The script with the frame's permissions was loaded with the last texts.
    session.with_later_parts(move |session| {
        if !session.challenges.is_current(&challenge) {
            return;
        }
        let _ = session.loader.open_part("permit", &make_view("frame", &challenge.target, &[]).finish());
        challenge.listeners.borrow_mut().push(load);
        leave::open_page(session, &challenge.form, &page, &Destination::Frame(challenge.target.clone()));
    });
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
        challenge.pause.wait(PAUSE).await;
    }
}

/// Takes the shopper to the result page. The result itself is the merchant's server's to read. After a decline the form
/// is back if the merchant wants that.
fn finish(session: &Rc<Session>, challenge: &Rc<Challenge>, answer: &RelayAnswer) {
    if challenge.may_stay && answer.checkout_state == "OPEN" {
        session.challenges.restore(session);
        challenge.form.send(Message::Declined);
        return challenge.form.send(Message::ReturnFocus);
    }
    // The result may open elsewhere, and this page stays.
    challenge.part.take();
    let page = leave::result_page(session, &challenge.checkout);
    challenge.form.send(Message::Notice(None));
    if leave::leave_page(session, &challenge.form, Some(NextStep::Flow(Flow::Now)), &page) {
        session.challenges.current.take();
    } else {
        session.challenges.restore(session);
    }
}
