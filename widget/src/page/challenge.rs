//! The 3-D Secure challenge of the page: the card's issuer asks its cardholder.

mod run;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use web_sys::{HtmlElement, HtmlIFrameElement};

use super::bridge::OpenPart;
use super::dom::{Listener, Pause};
use super::handle::FormHandle;

/// A challenge that is under way.
struct Challenge {
    form: Rc<FormHandle>,
    checkout: String,
    target: HtmlIFrameElement,
    /// The frame of the page in which it is shown, if the merchant wants that.
    page_frame: RefCell<Option<HtmlIFrameElement>>,
    /// The place of the frame, and the ways back from it, once it is shown.
    part: RefCell<Option<OpenPart>>,
    is_shown: Cell<bool>,
    method: RefCell<Option<HtmlElement>>,
    /// True if the form stays after a decline: the merchant wants that, and allows it.
    may_stay: bool,
    /// True once its page has said that it is over.
    is_over: Cell<bool>,
    /// The pause between two questions for the state.
    pause: Pause,
    listeners: RefCell<Vec<Listener>>,
}

/// The challenge of the page. There is one at a time.
#[derive(Default)]
pub struct Challenges {
    current: RefCell<Option<Rc<Challenge>>>,
}

impl Challenges {
    /// Forgets the challenge: the forms end, and their frames with them. A frame of the page is emptied, since its
    /// challenge would complete a payment that the page no longer shows.
    pub fn abandon(&self) {
        let Some(challenge) = self.current.take() else { return };
        challenge.part.take();
        if let Some(frame) = challenge.page_frame.take() {
            frame.set_src("about:blank");
        }
        challenge.pause.end();
    }

    fn is_current(&self, challenge: &Rc<Challenge>) -> bool {
        self.current.borrow().as_ref().is_some_and(|current| Rc::ptr_eq(current, challenge))
    }
}
