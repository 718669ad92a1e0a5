//! The card's brand: chosen by the shopper, or following the number.

use wasm_bindgen::JsValue;

use super::App;
use crate::page::runtime::loader;
use crate::page::{callbacks, frames, js, options};

impl App {
    /// Follows the number with the brand, where the merchant wants that.
    pub(super) fn detect(&mut self) {
        if !options::is_on("brandDetection") || !self.number.known {
            return;
        }
        let fits = &self.number.brands;
        if fits.is_empty() {
            self.by_hand = false;
        }
        // The frame names the closest first; a merchant's own order goes before.
        let mut found = options::texts("brandDetectionPriority");
        found.retain(|brand| fits.contains(brand));
        for brand in fits {
            if !found.contains(brand) {
                found.push(brand.clone());
            }
        }
        if let Some(first) = found.first()
            && !(self.by_hand && found.contains(&self.brand))
        {
            self.choose(first.clone());
        }
        let (all, active) = (js::list(&found), JsValue::from_str(&self.brand));
        if found != self.detected {
            self.detected = found;
            let container = js::get(&self.handle.object, "key");
            callbacks::of_form("onDetectBrand", &[all, active, container], &self.handle);
        }
    }

    /// Makes `brand` the chosen one.
    pub(super) fn choose(&mut self, brand: String) {
        if brand == self.brand {
            return;
        }
        let old = std::mem::replace(&mut self.brand, brand);
        self.handle.select.set_value(&self.brand);
        let classes = self.handle.logo.class_list();
        let _ = classes.remove_1(&js::cat(&["wpwl-brand-", &old]));
        let _ = classes.add_1(&js::cat(&["wpwl-brand-", &self.brand]));
        for (frame, state) in [(&self.handle.number, &self.number), (&self.handle.code, &self.code)] {
            if !state.ready {
                continue;
            }
            let message = js::object(&[("brand", &JsValue::from_str(&self.brand))]);
            frames::say(frame, &self.frames_base, &self.handle.nonce, "brand", &message);
        }
        // What they have said of their fields went by the other brand; they check once more before they send.
        (self.number.fresh, self.code.fresh) = (false, false);
        loader("offer", std::slice::from_ref(&self.handle.object));
        // What is said of the code depends on the brand.
        loader("instruct", std::slice::from_ref(&self.handle.object));
        callbacks::of_form("onChangeBrand", &[JsValue::from_str(&self.brand)], &self.handle);
    }
}
