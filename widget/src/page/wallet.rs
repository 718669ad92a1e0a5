//! Wallets. A merchant with a wallet's own sheet puts the token into a field of the form. In a sandbox a page of the
//! gateway replaces the sheet, in a dialog over the page; its token goes to the relay frame beside it, and this page
//! learns only if there is one.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::HtmlDialogElement;

use super::bridge::document;
use super::dom::{self, Listener};
use super::frames::encode;
use super::handle::FormHandle;
use super::session::Session;

/// A sheet that is open.
struct Sheet {
    form: String,
    dialog: HtmlDialogElement,
    done: Box<dyn FnOnce(bool)>,
    _cancel: Listener,
}

/// The sheet of a wallet.
#[derive(Default)]
pub struct Sheets {
    current: RefCell<Option<Sheet>>,
}

impl Sheets {
    /// Opens the sheet for a checkout, and calls `done` with true once the shopper has agreed, or with false.
    pub fn open(
        &self,
        session: &Rc<Session>,
        form: &FormHandle,
        title: &str,
        checkout: &str,
        done: impl FnOnce(bool) + 'static,
    ) {
        let brand = form.brands.first().map(String::as_str).unwrap_or_default();
        let query = ["brand=", &encode(brand), "&form=", &encode(&form.nonce)].concat();
        let source = [&session.loader.base(), "v1/simulator/wallet/", checkout, "?", &query].concat();
        let attributes =
            [("title", title), ("width", "360"), ("height", "500"), ("frameborder", "0"), ("src", source.as_str())];
        let frame = dom::make("iframe", "wpwl-wallet-sheet", &attributes, "");
        let dialog = dom::make("dialog", "wpwl-wallet", &[("aria-label", title)], "");
        let _ = dialog.append_child(&frame);
        session.nodes.borrow_mut().push(dialog.clone());
        let Some(body) = document::body() else { return done(false) };
        let _ = body.append_child(&dialog);
        let dialog: HtmlDialogElement = dialog.unchecked_into();
        let (weak, nonce) = (Rc::downgrade(session), form.nonce.clone());
        // Escape.
        let cancel = Listener::new(&dialog, "cancel", move |_| {
            if let Some(session) = weak.upgrade() {
                session.sheets.close(&nonce, false);
            }
        });
        let sheet = Sheet { form: form.nonce.clone(), dialog: dialog.clone(), done: Box::new(done), _cancel: cancel };
        self.current.replace(Some(sheet));
        let _ = dialog.show_modal();
    }

    /// Closes the sheet of a form. `agreed` is true if there is a token.
    pub fn close(&self, form: &str, agreed: bool) {
        if self.current.borrow().as_ref().is_none_or(|sheet| sheet.form != form) {
            return;
        }
        let Some(sheet) = self.current.take() else { return };
        // Returns the focus to where it was.
        sheet.dialog.close();
        sheet.dialog.remove();
        (sheet.done)(agreed);
    }
}
