//! Wallets. A merchant with a wallet's own sheet puts the token into a field of the form. In a sandbox a page of the
//! gateway replaces the sheet, in a dialog over the page; its token goes to the relay frame beside it, and this page
//! learns only if there is one.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::bridge::{OpenPart, make_view};
use super::frames::encode;
use super::handle::FormHandle;
use super::session::Session;

/// A sheet that is open.
struct Sheet {
    form: String,
    /// The dialog. Its end returns the focus to where it was.
    part: OpenPart,
    done: Box<dyn FnOnce(bool)>,
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
        let view = make_view("body", &JsValue::NULL, &[("title", title), ("source", &source)]);
        let (weak, nonce) = (Rc::downgrade(session), form.nonce.clone());
        let cancel = move || {
            if let Some(session) = weak.upgrade() {
                session.sheets.close(&nonce, false);
            }
        };
        match OpenPart::open(&session.loader, "sheet", view, cancel) {
            Some(part) => {
                self.current.replace(Some(Sheet { form: form.nonce.clone(), part, done: Box::new(done) }));
            }
            None => done(false),
        }
    }

    /// Closes the sheet of a form. `agreed` is true if there is a token.
    pub fn close(&self, form: &str, agreed: bool) {
        if self.current.borrow().as_ref().is_none_or(|sheet| sheet.form != form) {
            return;
        }
        let Some(sheet) = self.current.take() else { return };
        drop(sheet.part);
        (sheet.done)(agreed);
    }
}
