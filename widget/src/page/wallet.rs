//! Wallets. A merchant with a wallet's own sheet puts the token into a field of the form. In a sandbox a page of the
//! gateway replaces the sheet, in a dialog over the page; its token goes to the relay frame beside it, and this page
//! learns only if there is one.

mod opening;

use std::cell::RefCell;

use super::bridge::OpenPart;

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
