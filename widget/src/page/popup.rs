//! Windows and frames with a brand's page that are open.

mod visit;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use web_sys::{HtmlIFrameElement, Window};

use super::bridge::OpenPart;
use super::dom::{self, Pause};
use super::engine::form_message::Message;
use super::handle::FormHandle;

/// Time between two questions, in milliseconds.
pub const PAUSE: i32 = 1500;

/// A window or frame with a brand's page.
#[derive(Debug, Clone)]
enum BrandWindow {
    /// A window of its own.
    Window(Window),
    /// A frame of the form.
    Frame(HtmlIFrameElement),
}

impl BrandWindow {
    fn close(&self) {
        match self {
            Self::Window(window) => drop(window.close()),
            Self::Frame(frame) => {
                dom::set_visible(frame, false);
                frame.set_src("about:blank");
            }
        }
    }

    fn is_closed(&self) -> bool {
        match self {
            Self::Window(window) => window.closed().unwrap_or(true),
            Self::Frame(_) => false,
        }
    }
}

/// A visit of the shopper to a brand's page.
struct Visit {
    form: Rc<FormHandle>,
    checkout: String,
    window: BrandWindow,
    /// True once the shopper has left the brand's page.
    is_gone: Cell<bool>,
    is_stopped: Cell<bool>,
    /// Watches the window or frame.
    part: RefCell<Option<OpenPart>>,
    /// The pause between two questions.
    pause: Pause,
}

/// The window of a brand that is open, or was opened for a submit that is under way.
#[derive(Default)]
pub struct Windows {
    opened: RefCell<Option<(Rc<FormHandle>, BrandWindow)>>,
    visit: RefCell<Option<Rc<Visit>>>,
}

impl Windows {
    /// Returns true if a window was opened for the submit of this form.
    pub fn has_opened(&self, form: &FormHandle) -> bool {
        self.opened.borrow().as_ref().is_some_and(|(other, _)| **other == *form)
    }

    /// Closes the window that was opened for a submit that came to nothing.
    pub fn drop_opened(&self, form: &FormHandle) {
        if self.has_opened(form)
            && let Some((_, window)) = self.opened.take()
        {
            window.close();
        }
    }

    /// Brings the window to the front. A window that is closed is opened by another submit.
    pub fn show(&self, form: &Rc<FormHandle>) {
        let visit = self.visit.borrow().clone();
        match visit.as_ref().map(|visit| &visit.window) {
            Some(BrandWindow::Window(window)) if !window.closed().unwrap_or(true) => drop(window.focus()),
            _ => form.send(Message::Pay),
        }
    }

    /// Forgets the brand's page: another payment begins.
    pub fn abandon(&self) {
        let Some(visit) = self.visit.take() else { return };
        visit.part.take();
        if !visit.is_stopped.replace(true) {
            visit.window.close();
            visit.form.send(Message::Notice(None));
        }
    }

    /// Closes every window: the forms end.
    pub fn close(&self) {
        if let Some((_, window)) = self.opened.take() {
            window.close();
        }
        self.abandon();
    }

    fn is_current(&self, visit: &Rc<Visit>) -> bool {
        self.visit.borrow().as_ref().is_some_and(|current| Rc::ptr_eq(current, visit))
    }
}
