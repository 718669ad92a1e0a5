//! Everything that the forms of a page share: the loader, the checkout's configuration, the relay frame, the list of
//! forms.

mod amount;
mod announcements;
mod errors;
mod frame_messages;
mod lifetime;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tillgate_shared::frame_messages::{Config, Source as _};
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;

use super::amount::ShownAmount;
use super::bridge::{Loader, PlacedForm, Value};
use super::challenge::Challenges;
use super::dom::Listener;
use super::handle::FormHandle;
use super::options::Options;
use super::popup::Windows;
use super::readiness::Progress;
use super::relay::Relay;
use super::wallet::Sheets;
use super::{dom, text};

/// Everything that the forms of a page share.
pub struct Session {
    /// The loader.
    pub loader: Loader,
    /// Calls to the relay frame.
    pub relay: Relay,
    /// Forms that are or become visible, in the order in which `onReady` tells them.
    pub forms: RefCell<Vec<Rc<FormHandle>>>,
    /// Forms of brands that are not offered. Their places stay, because the merchant may change the checkout.
    pub away: RefCell<Vec<Rc<FormHandle>>>,
    /// The last configuration of the checkout in which it could be paid.
    pub config: RefCell<Option<Rc<Config>>>,
    /// The amount that was formatted last.
    pub(super) last_amount: RefCell<ShownAmount>,
    /// True once a frame told that the checkout has been paid.
    pub is_paid: Cell<bool>,
    /// The form that was submitted last.
    pub submitting: RefCell<Option<Rc<FormHandle>>>,
    /// A checkout of which nobody knows if it is paid. A page that creates checkouts must not create another.
    pub uncertain_checkout: RefCell<Option<String>>,
    /// The 3-D Secure challenge.
    pub challenges: Challenges,
    /// The window of a brand.
    pub windows: Windows,
    /// The sheet of a wallet.
    pub sheets: Sheets,
    /// The merchant's options, as long as nobody can have changed them.
    known_options: RefCell<Option<Rc<Options<Value>>>>,
    /// Brand of the logo that the shopper has pressed.
    pub pressed_logo: RefCell<Option<String>>,
    /// Nodes to remove at the end, besides the forms.
    pub nodes: RefCell<Vec<HtmlElement>>,
    /// Listeners that live as long as the forms.
    pub listeners: RefCell<Vec<Listener>>,
    /// True once the loader has ended. Running work then calls no callback, sends nothing and opens no page.
    has_ended: Cell<bool>,
    /// True while the relay frame is loading.
    awaits_relay: Cell<bool>,
    /// True once `onReady` was called.
    is_announced: Cell<bool>,
    /// Callbacks for after `onReady`.
    late: RefCell<Vec<Box<dyn FnOnce()>>>,
    /// True once a merchant has heard that wallets are ready.
    wallets_announced: Cell<bool>,
    timers: RefCell<Vec<i32>>,
}

thread_local! {
    /// The forms of this page. One loader at a time uses the page module.
    static CURRENT: RefCell<Option<Rc<Session>>> = const { RefCell::new(None) };
}

impl Session {
    /// Returns the session of the forms in the page.
    pub fn current() -> Option<Rc<Self>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Returns true if the page has unloaded the forms, or shows another checkout.
    pub fn has_ended(&self) -> bool {
        self.has_ended.get()
    }

    /// Opens the relay frame, which brings the other brands and the stored accounts, unless it is there for these
    /// forms.
    fn open_relay(&self) {
        let frame = self.loader.open_relay(false);
        self.awaits_relay.set(!self.relay.has_loaded(&frame));
    }

    /// Reads again what the checkout offers. The frame of before stays until it has answered its calls.
    pub fn refresh(self: &Rc<Self>) {
        if self.has_ended() {
            return;
        }
        if !self.relay.is_waiting() {
            self.loader.open_relay(true);
            return;
        }
        let session = self.clone();
        dom::call_later(200, move || session.refresh());
    }

    /// Calls `work` for each visible form. The list may change meanwhile.
    pub fn each_form(&self, work: impl Fn(&Rc<FormHandle>)) {
        let forms = self.forms.borrow().clone();
        forms.iter().for_each(work);
    }

    /// Returns the merchant's options as the page has them now.
    pub fn given_options(&self) -> Value {
        Value(self.loader.read_options())
    }

    /// Returns the merchant's options as they are now. They are read once until the browser calls the next listener or
    /// timer, and again after each callback of the merchant.
    pub fn options(&self) -> Rc<Options<Value>> {
        if let Some(options) = &*self.known_options.borrow() {
            return options.clone();
        }
        let options = Rc::new(Options::read(Some(&self.given_options())));
        self.known_options.replace(Some(options.clone()));
        wasm_bindgen_futures::spawn_local(async {
            if let Some(session) = Self::current() {
                session.expire_options();
            }
        });
        options
    }

    /// Reads the options anew the next time: the merchant may have changed them.
    pub fn expire_options(&self) {
        self.known_options.take();
    }

    /// Returns a text of the form.
    pub fn text(&self, key: &str) -> String {
        let options = self.options();
        let own = [options.error_messages.as_ref(), options.labels.as_ref()];
        text::find_text(own, &Value(self.loader.read_texts()), key)
    }

    /// Loads the texts and rules of style that a form of cards does not need at once, if that has not begun.
    pub fn load_later_parts(&self) {
        self.loader.load_later_parts(&JsValue::UNDEFINED);
    }

    /// Calls `work` when the later texts and rules have come or are lost, unless the session ends before.
    pub fn with_later_parts(self: &Rc<Self>, work: impl FnOnce(&Rc<Self>) + 'static) {
        let session = self.clone();
        let work = move || {
            if !session.has_ended() {
                work(&session);
            }
        };
        self.loader.load_later_parts(&dom::make_callback(work));
    }

    /// Returns a text with the name of a brand in it.
    pub fn text_about(&self, key: &str, brand: &str) -> String {
        let text = self.text(key);
        let parts = text.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?.1)));
        parts.map(|(before, after)| [before, brand, after].concat()).unwrap_or(text)
    }

    /// Returns the address that forms name as their own for a checkout. They are never submitted to it.
    pub fn submit_address(&self, checkout: &str) -> String {
        [&self.loader.base(), "v1/checkouts/", checkout, "/", &self.loader.purpose()].concat()
    }

    /// Marks an element as one in the language of the form's texts, and in their direction if they run from the right.
    pub fn mark_language(&self, element: &web_sys::Element) {
        let _ = element.set_attribute("lang", &self.loader.read_locale());
        if let Some(direction) = self.text_direction() {
            let _ = element.set_attribute("dir", &direction);
        }
    }

    /// Returns the direction of the language's script for the attribute `dir`: `rtl`, or `None` for that of the page.
    pub fn text_direction(&self) -> Option<String> {
        Some(Value(self.loader.read_texts()).text("dir")).filter(|direction| !direction.is_empty())
    }

    /// Takes a form out of those that shoppers see. Its place stays.
    pub fn put_away(&self, form: &Rc<FormHandle>) {
        self.forms.borrow_mut().retain(|other| other != form);
        form.container.set_class_name("");
        form.container.set_hidden(true);
        let _ = form.container.remove_attribute("aria-busy");
        self.away.borrow_mut().push(form.clone());
        if let Some(placed) = &form.placed {
            self.loader.release_form(placed);
        }
    }

    /// The form is ready.
    pub fn complete(self: &Rc<Self>, form: &Rc<FormHandle>) {
        if form.progress.get() != Progress::Loading {
            return;
        }
        form.progress.set(Progress::Ready);
        if let Some(placed) = &form.placed {
            self.loader.complete_form(placed);
        }
        form.reveal_container();
        // Stored accounts have their rows now.
        self.loader.show_choice();
        self.announce_forms();
    }

    /// A message stands in the place of the form from now on.
    pub fn end(self: &Rc<Self>, form: &Rc<FormHandle>) {
        form.progress.set(Progress::Ended);
        if let Some(placed) = &form.placed {
            self.loader.release_form(placed);
            self.loader.complete_form(placed);
        }
        self.announce_forms();
    }

    /// Returns the loader's form if this is one.
    pub fn placed(form: &FormHandle) -> Option<&PlacedForm> {
        form.placed.as_ref()
    }
}
