//! Parts of the form that a script of their own opens (`widget/parts`). The loader loads it with the texts that are
//! said later.

use js_sys::Function;
use tillgate_shared::frame_messages::Sink as _;
use wasm_bindgen::prelude::*;

use super::{Data, Loader};

/// Something that the script has opened. It is closed when this is dropped.
#[derive(Debug)]
pub struct OpenPart(Function);

impl OpenPart {
    /// Opens the part with this name. `cancel` is called when the shopper wants it closed. `None` if the script is
    /// lost.
    pub fn open(loader: &Loader, name: &str, view: Data, cancel: impl Fn() + 'static) -> Option<Self> {
        let cancel: Box<dyn Fn()> = Box::new(cancel);
        let view = view.with("cancel", &Closure::wrap(cancel).into_js_value());
        loader.open_part(name, &view.finish()).ok().flatten().map(Self)
    }
}

impl Drop for OpenPart {
    fn drop(&mut self) {
        let _ = self.0.call0(&JsValue::UNDEFINED);
    }
}

/// Makes a view with a node and texts.
pub fn make_view(name: &str, node: &JsValue, texts: &[(&str, &str)]) -> Data {
    let mut view = Data::empty().with(name, node);
    for (name, text) in texts {
        view.set_text(name, text);
    }
    view
}
