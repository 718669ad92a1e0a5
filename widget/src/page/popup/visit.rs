//! Visits of shoppers to brands' pages. A window tells little: a brand's page may cut itself off from the page that
//! opened it, and then looks closed. So `widget/parts/visit.js` decides by more than a look if the shopper is gone, and
//! the gateway is asked for the state of the checkout until it knows.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tillgate_shared::frame_messages::RelayCall;
use wasm_bindgen_futures::spawn_local;

use super::{BrandWindow, PAUSE, Visit, Windows};
use crate::page::bridge::{OpenPart, make_view};
use crate::page::callbacks::{self, Callback};
use crate::page::dom::{self, Pause};
use crate::page::engine::form_message::{Message, Notice, NoticeAction};
use crate::page::handle::FormHandle;
use crate::page::leave::{self, Destination};
use crate::page::relay::RelayAnswer;
use crate::page::session::Session;
use crate::page::text::keys;
use crate::page::wpwl;

/// Same as [`PAUSE`], while a window looks closed whose page tells the gateway if it is: one of a sandbox.
const SHORT_PAUSE: i32 = 500;

impl BrandWindow {
    fn destination(&self) -> Destination {
        match self {
            Self::Window(window) => Destination::Window(window.clone()),
            Self::Frame(frame) => Destination::Frame(frame.clone()),
        }
    }
}

impl Windows {
    /// Opens a window for a submit. It has to be opened in the shopper's click, or the browser blocks it.
    pub fn open_window(&self, form: &Rc<FormHandle>) {
        let window = leave::open_window(&form.nonce).map(BrandWindow::Window);
        self.opened.replace(window.map(|window| (form.clone(), window)));
    }

    /// Shows the frame of the form for a brand's page.
    pub fn open_frame(&self, form: &Rc<FormHandle>, title: &str) {
        let frame = form.target_frame();
        frame.set_title(title);
        dom::set_visible(&frame, true);
        self.opened.replace(Some((form.clone(), BrandWindow::Frame(frame))));
    }

    /// Opens the brand's page in the window, and waits for the shopper.
    pub fn follow(&self, session: &Rc<Session>, form: &Rc<FormHandle>, answer: &RelayAnswer, brand: &str) {
        let Some((_, window)) = self.opened.take() else { return };
        leave::open_page(session, form, &answer.redirect.clone().unwrap_or_default(), &window.destination());
        self.abandon();
        let is_frame = matches!(window, BrandWindow::Frame(_));
        let visit = Rc::new(Visit {
            form: form.clone(),
            checkout: if answer.id.is_empty() { wpwl::checkout_id() } else { answer.id.clone() },
            window,
            is_gone: Cell::default(),
            is_stopped: Cell::default(),
            part: RefCell::default(),
            pause: Pause::default(),
        });
        visit.watch(session);
        self.visit.replace(Some(visit.clone()));
        let text = session.text_about(if is_frame { keys::PAY_WITH } else { keys::POPUP_OPEN }, brand);
        let show = (session.text(keys::POPUP_SHOW), NoticeAction::ShowWindow);
        let cancel = (session.text(keys::CANCEL), NoticeAction::CancelWindow);
        let actions = if is_frame { vec![cancel] } else { vec![show, cancel] };
        form.send(Message::Notice(Some(Notice { text: text.clone(), actions })));
        form.send(Message::Announce(text));
        spawn_local(watch(session.clone(), visit));
    }

    /// The shopper gives up the brand's page, as far as can be told; another brand may be used. What is paid there all
    /// the same is not lost.
    pub fn stop(&self, session: &Rc<Session>) {
        let visit = self.visit.borrow().clone();
        if let Some(visit) = visit {
            visit.stop(session);
        }
    }
}

impl Visit {
    /// Has the window or frame watched.
    fn watch(self: &Rc<Self>, session: &Session) {
        let view = match &self.window {
            BrandWindow::Window(window) => make_view("window", window, &[]),
            BrandWindow::Frame(frame) => make_view("frame", frame, &[]),
        };
        let visit = Rc::downgrade(self);
        let leave = move || {
            if let Some(visit) = visit.upgrade() {
                visit.is_gone.set(true);
                visit.pause.end();
            }
        };
        self.part.replace(OpenPart::open(&session.loader, "visit", view, leave));
    }

    fn stop(&self, session: &Rc<Session>) {
        if self.is_stopped.replace(true) {
            return;
        }
        self.part.take();
        self.window.close();
        self.form.send(Message::Notice(None));
        self.form.send(Message::Announce(session.text(keys::CANCELLED)));
        self.form.send(Message::ReturnFocus);
        callbacks::notify(session, &Callback::WindowClosed, self.form.form_node().as_ref());
    }
}

/// Asks for the state of the checkout until it is known how the visit ended.
async fn watch(session: Rc<Session>, visit: Rc<Visit>) {
    while session.windows.is_current(&visit) {
        // An answer from before the shopper left says nothing about the time after.
        let was_gone = visit.is_gone.get();
        let answer = session.relay.call(&session.loader, RelayCall::ReadState, &visit.checkout).await;
        if !session.windows.is_current(&visit) {
            return;
        }
        let looks_closed = visit.window.is_closed() && !visit.is_stopped.get();
        match answer.checkout_state.as_str() {
            "PAID" | "REGISTERED" | "EXPIRED" => {
                visit.part.take();
                visit.window.close();
                let page = leave::result_page(&session, &visit.checkout);
                let step = tillgate_shared::frame_messages::NextStep::Flow(tillgate_shared::brand::Flow::Now);
                leave::leave_page(&session, &visit.form, Some(step), &page);
                return;
            }
            "OPEN" => return visit.stop(&session),
            "LEFT" if looks_closed => visit.stop(&session),
            _ if was_gone => visit.stop(&session),
            _ => {}
        }
        if answer.status == 404 {
            return;
        }
        if was_gone == visit.is_gone.get() {
            let is_test = session.config.borrow().as_ref().is_some_and(|config| config.test);
            visit.pause.wait(if looks_closed && is_test { SHORT_PAUSE } else { PAUSE }).await;
        }
    }
}
