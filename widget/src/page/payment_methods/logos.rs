//! A row of the brands' logos (`style: "logos"`). The logo that the shopper presses decides which form is visible.

use std::rc::Rc;

use tillgate_shared::brand::AccountType;
use tillgate_shared::frame_messages::{Config, OfferedBrand};
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlSelectElement};

use super::mark;
use crate::page::dom::{self, Listener};
use crate::page::engine::form_message::Message;
use crate::page::handle::FormHandle;
use crate::page::options::Style;
use crate::page::session::Session;

/// Class of the row.
const CLASS: &str = "wpwl-logos";

/// Shows the logos of all offered brands, and hides the forms until one is pressed. Called again, it keeps what was
/// pressed.
pub fn show(session: &Rc<Session>, config: &Config) {
    if session.options().style != Style::Logos {
        return;
    }
    let old = session.nodes.borrow().iter().find(|node| node.class_name() == CLASS).cloned();
    let pressed = session.pressed_logo.borrow().clone();
    if let Some(row) = old {
        row.remove();
        session.nodes.borrow_mut().retain(|node| *node != row);
    }
    let forms: Vec<_> = session.forms.borrow().iter().filter(|form| !form.brands.is_empty()).cloned().collect();
    let Some(first) = forms.first() else { return };
    let row = dom::make("div", CLASS, &[("role", "group"), ("aria-label", &session.text("brand"))], "");
    for form in &forms {
        let is_pressed = pressed.as_ref().is_some_and(|brand| form.brands.contains(brand));
        form.show_container(is_pressed);
        for brand in form.brands.iter().filter_map(|code| config.find_brand(code)) {
            let button = make_logo(session, brand, pressed.as_deref() == Some(&brand.code));
            let (weak, form, row_node, code) = (Rc::downgrade(session), form.clone(), row.clone(), brand.code.clone());
            let press = Listener::new(&button, "click", move |_| {
                if let Some(session) = weak.upgrade() {
                    choose(&session, &form, &row_node, &code);
                }
            });
            session.listeners.borrow_mut().push(press);
            let _ = row.append_child(&button);
        }
    }
    let _ = first.container.before_with_node_1(&row);
    session.nodes.borrow_mut().push(row);
}

fn make_logo(session: &Session, brand: &OfferedBrand, is_pressed: bool) -> HtmlElement {
    let pressed = if is_pressed { "true" } else { "false" };
    let attributes = [("type", "button"), ("aria-pressed", pressed), ("data-brand", brand.code.as_str())];
    let button = dom::make("button", if is_pressed { "wpwl-logo wpwl-selected" } else { "wpwl-logo" }, &attributes, "");
    let _ = button.append_child(&mark::make_mark(session, brand.kind == AccountType::Card, &brand.code, &brand.name));
    button
}

/// Shows the form of a brand, and chooses the brand in it.
fn choose(session: &Rc<Session>, form: &Rc<FormHandle>, row: &HtmlElement, brand: &str) {
    session.pressed_logo.replace(Some(brand.to_owned()));
    let logos = row.children();
    for logo in (0..logos.length()).filter_map(|at| logos.item(at)) {
        let is = logo.get_attribute("data-brand").as_deref() == Some(brand);
        let _ = logo.set_attribute("aria-pressed", if is { "true" } else { "false" });
        dom::toggle_class(&logo, "wpwl-selected", is);
    }
    session.each_form(|other| {
        if !other.brands.is_empty() {
            other.show_container(other == form);
        }
    });
    let list = form.form_node().and_then(|node| node.find("select.wpwl-control-brand"));
    if let Some(list) = list.and_then(|list| list.dyn_into::<HtmlSelectElement>().ok()) {
        list.set_value(brand);
        dom::fire(&list, "change");
    }
    form.send(Message::Restyle);
}
