//! The opening of a wallet's sheet.

use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::{Sheet, Sheets};
use crate::page::bridge::{OpenPart, make_view};
use crate::page::frames::encode;
use crate::page::handle::FormHandle;
use crate::page::session::Session;

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
}
