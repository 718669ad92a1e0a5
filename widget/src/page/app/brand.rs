//! The card's brand: chosen by the shopper, or following the number.

use wasm_bindgen::JsValue;
use web_sys::HtmlSelectElement;

use super::{App, node};
use crate::page::runtime::loader;
use crate::page::texts::name_of_code;
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

    /// How a brand is called, as far as the gateway has told.
    pub(in crate::page) fn brand_name(&self, code: &str) -> String {
        let name = js::text(&js::get(&self.known_brands, code), "name");
        if name.is_empty() { name_of_code(code) } else { name }
    }

    /// Makes `brand` the chosen one.
    pub(super) fn choose(&mut self, brand: String) {
        if brand == self.brand {
            return;
        }
        let old = std::mem::replace(&mut self.brand, brand);
        if let Some(select) = node::<HtmlSelectElement>(&self.select) {
            select.set_value(&self.brand);
        }
        self.mark_brand(&old);
        for (frame, state) in [(&self.handle.number, &self.number), (&self.handle.code, &self.code)] {
            if !state.ready {
                continue;
            }
            let message = js::object(&[("brand", &JsValue::from_str(&self.brand))]);
            frames::say(frame, &self.base, &self.handle.nonce, "brand", &message);
        }
        loader("offer", &[self.handle.object.clone()]);
        if self.shown {
            // What is said of the code depends on the brand.
            self.instruct();
        }
        callbacks::of_form("onChangeBrand", &[JsValue::from_str(&self.brand)], &self.handle);
    }

    pub(super) fn mark_brand(&self, old: &str) {
        let classes = self.handle.logo.class_list();
        if !old.is_empty() {
            let _ = classes.remove_1(&js::cat(&["wpwl-brand-", old]));
        }
        if !self.brand.is_empty() {
            let _ = classes.add_1(&js::cat(&["wpwl-brand-", &self.brand]));
        }
    }
}
