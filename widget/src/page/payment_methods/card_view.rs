//! The view of a card form: controls in the groups that the loader has placed.

use tillgate_shared::field;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, HtmlInputElement};
use yew::prelude::*;

use super::card_part::CardPart;
use super::{billing, mark};
use crate::page::dom::Listener;
use crate::page::engine::field::label_id;
use crate::page::engine::form::{Form, Part};
use crate::page::engine::form_message::Message;
use crate::page::text::keys;

/// Maximum number of marks in the field of the number.
const MARKS: usize = 4;

impl Form {
    pub(in crate::page) fn view_card(&self, part: &CardPart) -> Html {
        let skeleton = &part.skeleton;
        let into = |place: Option<Element>, content: Html| match place {
            Some(place) => create_portal(content, place),
            None => Html::default(),
        };
        let label = |class: &str| {
            let key = if class == "expiry" { field::EXPIRY_DATE.label } else { class };
            into(skeleton.label(class), html! { { self.session.text(key) } })
        };
        let (mut labels, mut controls) = (vec![label("brand")], Vec::<Html>::new());
        for (at, field) in self.fields.iter().enumerate() {
            let id = label_id(&self.handle.container, &field.class);
            labels.push(label(&field.class));
            controls.push(into(skeleton.wrapper(&field.class), self.view_control(at, Some(&id))));
        }
        let group = |name: &str, content: Html| into(skeleton.group(name).cloned().map(Element::from), content);
        let store =
            self.find_field(field::CREATE_REGISTRATION.key).map(|at| self.view_box_content(at)).unwrap_or_default();
        let has_billing = self.fields.iter().any(billing::is_field);
        let billing = if has_billing { group("billing", self.view_billing()) } else { Html::default() };
        let submit = html! { <>{ self.view_pay_button() }{ self.view_spinner() }</> };
        html! {
            <>
                { self.view_live_region() }
                { labels }
                { into(skeleton.wrapper("brand"), self.view_brand_list(part)) }
                { controls }
                { billing }
                { group("createRegistration", store) }
                { into(skeleton.wrapper("submit"), submit) }
                { into(skeleton.wrapper("cardNumber"), self.view_brands(part)) }
                { group("cvv", self.view_code_hint()) }
                { create_portal(self.view_notice(), self.handle.container.clone().into()) }
            </>
        }
    }

    fn view_pay_button(&self) -> Html {
        let (_, text) = self.button_amount();
        html! {
            <button ref={self.button_ref.clone()} class="wpwl-button wpwl-button-pay" type="submit" name="pay" aria-label={text.clone()}>
                { text }
            </button>
        }
    }

    fn view_brand_list(&self, part: &CardPart) -> Html {
        let mut options: Vec<Html> = Vec::new();
        for brand in &part.cards {
            options.push(html! { <option value={brand.code.clone()}>{ brand.name.clone() }</option> });
        }
        html! {
            <select ref={part.select.clone()} class="wpwl-control wpwl-control-brand" name="paymentBrand"
                aria-labelledby={label_id(&self.handle.container, "brand")}>
                { options }
            </select>
        }
    }

    /// Returns the marks in the field of the number: those of the offered brands, that of the card's brand once the
    /// number tells it, or the choice between the brands of one card.
    fn view_brands(&self, part: &CardPart) -> Html {
        if part.choices.len() > 1 {
            return self.view_brand_choice(part);
        }
        if !part.skeleton.hides_brand_list() {
            return Html::default();
        }
        let mut marks: Vec<Html> = Vec::new();
        for brand in part.cards.iter().filter(|brand| !part.is_told || brand.code == self.brand).take(MARKS) {
            marks.push(mark::view_mark(&self.session, true, &brand.code, &brand.name));
        }
        html! { <div class="wpwl-brands">{ marks }</div> }
    }

    /// Returns the choice between the brands of one card (Regulation (EU) 2015/751, article 8).
    fn view_brand_choice(&self, part: &CardPart) -> Html {
        let mut choices: Vec<Html> = Vec::new();
        for brand in part.cards.iter().filter(|brand| part.choices.contains(&brand.code)) {
            // Without a form of its own it is not posted: the list is.
            choices.push(html! {
                <label class="wpwl-brand-option">
                    <input type="radio" name={self.handle.nonce.clone()} form="" value={brand.code.clone()} checked={brand.code == self.brand} />
                    { mark::view_mark(&self.session, false, &brand.code, &brand.name) }
                </label>
            });
        }
        html! {
            <div class="wpwl-brands wpwl-brand-choice" role="radiogroup" aria-label={self.session.text("brand")}>{ choices }</div>
        }
    }

    /// Returns the explanation where the security code is, with a drawing, under its field.
    fn view_code_hint(&self) -> Html {
        let text = self.code_help();
        if text.is_empty() {
            return Html::default();
        }
        let is_on_front = self.brand == "AMEX";
        let class = if is_on_front { "wpwl-cvv-hint wpwl-cvv-hint-front" } else { "wpwl-cvv-hint" };
        html! { <div ~className={class}>{ text }</div> }
    }

    /// Returns the explanation of the security code, or empty text if the merchant does not want it.
    pub(super) fn code_help(&self) -> String {
        let key = match self.brand.as_str() {
            "AMEX" => keys::CVV_HINT_AMEX,
            "MAESTRO" => keys::CVV_HINT_MAESTRO,
            _ => keys::CVV_HINT,
        };
        if self.session.options().show_code_hint { self.session.text(key) } else { String::new() }
    }

    /// Attaches what a card form needs once it is rendered.
    pub(in crate::page) fn complete_kind(&mut self, context: &Context<Self>) {
        match &self.part {
            Part::None => {}
            Part::Card(_) => self.listen_to_card(context),
            Part::Brand(_) => self.complete_rendered_form(context),
            Part::Stored(_) => {
                self.complete_rendered_form(context);
                self.complete_stored(context);
            }
        }
    }

    fn listen_to_card(&mut self, context: &Context<Self>) {
        let Part::Card(part) = &self.part else { return };
        let mut listeners = Vec::new();
        if let Some(select) = part.select.cast::<HtmlElement>() {
            for kind in ["change", "input"] {
                let (link, node) = (context.link().clone(), part.select.clone());
                listeners.push(Listener::new(&select, kind, move |_| {
                    if let Some(select) = node.cast::<web_sys::HtmlSelectElement>() {
                        link.send_message(Message::BrandChosen(select.value()));
                    }
                }));
            }
        }
        for (at, field) in self.fields.iter().enumerate() {
            let label = part.skeleton.label(&field.class).and_then(|label| label.dyn_into::<HtmlElement>().ok());
            for target in [label, field.frame().map(|frame| frame.clone().into())].into_iter().flatten() {
                let link = context.link().clone();
                listeners.push(Listener::new(&target, "click", move |_| link.send_message(Message::FocusWanted(at))));
            }
        }
        listeners.extend(choice_listeners(context, part, &self.handle.nonce));
        for class in ["brand"].into_iter().chain(self.fields.iter().map(|field| field.class.as_str())) {
            if let Some(label) = part.skeleton.label(class).and_then(|label| label.dyn_into::<HtmlElement>().ok()) {
                label.set_hidden(!self.session.options().show_labels);
            }
        }
        self.listeners.extend(listeners);
    }

    /// Returns the content of a group with a box to tick.
    fn view_box_content(&self, at: usize) -> Html {
        // The group itself is the skeleton's.
        html! { <label class="wpwl-agree">{ self.view_control(at, None) }<span>{ self.session.text(keys_of_box(self, at)) }</span></label> }
    }
}

fn keys_of_box(form: &Form, at: usize) -> &'static str {
    form.fields.get(at).map(|field| field.row.label).unwrap_or_default()
}

/// Listens to the choice between two brands. A click counts like a change, because scripts fire one without the other.
fn choice_listeners(context: &Context<Form>, part: &CardPart, nonce: &str) -> Vec<Listener> {
    let Some(group) = part.skeleton.group("cardNumber") else { return Vec::new() };
    let listen = |kind| {
        let (link, nonce) = (context.link().clone(), nonce.to_owned());
        Listener::new(group, kind, move |event: web_sys::Event| {
            let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
            if let Some(input) = input.filter(|input| input.name() == nonce) {
                link.send_message(Message::BrandChosen(input.value()));
            }
        })
    };
    vec![listen("change"), listen("click")]
}
