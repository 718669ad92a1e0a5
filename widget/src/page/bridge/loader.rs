//! Functions of the loader, and the forms that it has placed.

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, HtmlIFrameElement};

use super::FormNode;

#[wasm_bindgen]
extern "C" {
    /// The loader, which has placed the forms and their frames (`widget/loader/main.js`).
    #[derive(Debug, Clone)]
    pub type Loader;
    /// Address of the gateway, which ends in a slash.
    #[wasm_bindgen(method, getter)]
    pub fn base(this: &Loader) -> String;
    /// Address of the frames, which ends in a slash.
    #[wasm_bindgen(method, getter, js_name = framesBase)]
    pub fn frames_base(this: &Loader) -> String;
    /// Id of the build.
    #[wasm_bindgen(method, getter)]
    pub fn build(this: &Loader) -> String;
    /// Id of the checkout. Empty if the page creates it when the shopper pays.
    #[wasm_bindgen(method, getter, js_name = checkoutId)]
    pub fn checkout_id(this: &Loader) -> String;
    /// `payment` or `registration`.
    #[wasm_bindgen(method, getter)]
    pub fn purpose(this: &Loader) -> String;
    /// Value of the attribute `allow` of frames with a field.
    #[wasm_bindgen(method, getter, js_name = framePermissions)]
    pub fn frame_permissions(this: &Loader) -> String;
    /// Opens a part of the form with the script of later parts. Returns the function that closes it, or nothing if the
    /// script is lost.
    #[wasm_bindgen(method, catch, js_name = openPart)]
    pub fn open_part(this: &Loader, name: &str, view: &JsValue) -> Result<Option<Function>, JsValue>;
    /// The merchant's options as they are now.
    #[wasm_bindgen(method, js_name = readOptions)]
    pub fn read_options(this: &Loader) -> JsValue;
    /// The texts that have come: those of the page's language, and English ones in the place of others.
    #[wasm_bindgen(method, js_name = readTexts)]
    pub fn read_texts(this: &Loader) -> JsValue;
    /// Loads the texts and rules of style that a form of cards does not need at once, and calls the function `work`, if
    /// it is one, when they have come or are lost.
    #[wasm_bindgen(method, js_name = loadLaterParts)]
    pub fn load_later_parts(this: &Loader, work: &JsValue);
    /// The page's locale, as far as there are texts for it.
    #[wasm_bindgen(method, js_name = readLocale)]
    pub fn read_locale(this: &Loader) -> String;
    /// All forms that stand.
    #[wasm_bindgen(method, js_name = listForms)]
    pub fn list_forms(this: &Loader) -> Vec<PlacedForm>;
    /// Opens the relay frame for the forms that stand, again if `anew`. Returns it.
    #[wasm_bindgen(method, js_name = openRelay)]
    pub fn open_relay(this: &Loader, anew: bool) -> HtmlIFrameElement;
    /// The relay frame, if it is open.
    #[wasm_bindgen(method, js_name = findRelay)]
    pub fn find_relay(this: &Loader) -> Option<HtmlIFrameElement>;
    /// Makes sure that the mark of a brand is drawn, unless the merchant brings all of the style.
    #[wasm_bindgen(method, js_name = showMark)]
    pub fn show_mark(this: &Loader, brand: &str);
    /// Runs `work` in a task of its own, before any timer.
    #[wasm_bindgen(method, js_name = runSoon)]
    pub fn run_soon(this: &Loader, work: &JsValue);
    /// The form does not wait for its frames any more.
    #[wasm_bindgen(method, js_name = releaseForm)]
    pub fn release_form(this: &Loader, form: &PlacedForm);
    /// The form stands; its container is not busy any more.
    #[wasm_bindgen(method, js_name = completeForm)]
    pub fn complete_form(this: &Loader, form: &PlacedForm);
    /// Shows the forms as one choice if the merchant wants that. To be called when forms appear or vanish without a new
    /// configuration.
    #[wasm_bindgen(method, js_name = showChoice)]
    pub fn show_choice(this: &Loader);
    /// Hands over what the page module does with messages, new forms, a changed look and the end. Messages that came
    /// before follow.
    #[wasm_bindgen(method)]
    pub fn connect(this: &Loader, page: &JsValue);
    /// Tells the developer a fault of the page, from a script that is loaded for this: `brands` and the codes of brands
    /// that are not offered.
    #[wasm_bindgen(method)]
    pub fn explain(this: &Loader, fault: &str);
    /// Tells shoppers and merchant that the form cannot be used.
    #[wasm_bindgen(method)]
    pub fn fail(this: &Loader, error: &JsValue);

    /// A form that the loader has placed.
    #[derive(Debug, Clone)]
    pub type PlacedForm;
    /// Tells its messages from those of others.
    #[wasm_bindgen(method, getter)]
    pub fn nonce(this: &PlacedForm) -> String;
    /// Brands that its placeholder names: those of a card form, or one other.
    #[wasm_bindgen(method, getter)]
    pub fn brands(this: &PlacedForm) -> Vec<String>;
    /// True for a form of cards.
    #[wasm_bindgen(method, getter, js_name = isCard)]
    pub fn is_card(this: &PlacedForm) -> bool;
    /// Part of its class names that tells it from other card forms.
    #[wasm_bindgen(method, getter)]
    pub fn key(this: &PlacedForm) -> String;
    /// Its container.
    #[wasm_bindgen(method, getter)]
    pub fn container(this: &PlacedForm) -> HtmlElement;
    /// The form element of cards.
    #[wasm_bindgen(method, getter)]
    pub fn form(this: &PlacedForm) -> Option<FormNode>;
    /// Frame of the card number.
    #[wasm_bindgen(method, getter)]
    pub fn number(this: &PlacedForm) -> Option<HtmlIFrameElement>;
    /// Frame of the security code.
    #[wasm_bindgen(method, getter)]
    pub fn code(this: &PlacedForm) -> Option<HtmlIFrameElement>;
    /// The address in its placeholder's `action`, or empty.
    #[wasm_bindgen(method, js_name = readResult)]
    pub fn read_result(this: &PlacedForm) -> String;
}
