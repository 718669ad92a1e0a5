//! The form as a yew component: its state, and what each message does to it.
//!
//! Everything that is conditional is the last child of its own wrapper, no event goes through yew, and
//! classes that come and go are toggled on the node itself.

use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::fields::{Fault, Field, FrameState, code_fault, holder_fault, number_fault};
use super::handle::Handle;
use super::texts::{Texts, name_of_code};
use super::{callbacks, frames, js, options, runtime};
use tillgate_shared::format::expiry;

/// What an app is given.
#[derive(Clone, PartialEq, Properties)]
pub struct Properties {
    pub handle: Rc<Handle>,
    /// The gateway's address, ending in a slash.
    pub base: String,
    /// What the locale's script brought.
    pub language: JsValue,
    /// The locale as the merchant wrote it.
    pub locale: String,
}

/// What can happen to a form.
pub enum Message {
    /// A frame said something.
    Frame { is_number: bool, data: JsValue },
    /// The shopper chose a brand.
    Brand,
    /// The shopper typed an expiry date or a name.
    Typed(Field),
    /// The shopper left the field.
    Left(Field),
    /// Somebody wants to pay: button, Enter, or the merchant's script.
    Pay,
    /// The merchant let it go on, or not.
    Allowed(bool),
    /// The style of the page may have changed.
    Restyle,
    /// Whatever was under way is over.
    Idle,
}

/// The state of one form.
pub struct App {
    pub(super) handle: Rc<Handle>,
    pub(super) base: String,
    pub(super) words: Texts,
    locale: String,
    direction: String,
    pub(super) brands: Vec<String>,
    pub(super) brand: String,
    /// The shopper has chosen the brand; detection may not change it while it fits.
    by_hand: bool,
    /// What the merchant was last told about the number's brands.
    detected: Vec<String>,
    /// What the gateway knows of the brands, by code.
    known_brands: JsValue,
    pub(super) number: FrameState,
    pub(super) code: FrameState,
    faults: [Option<Fault>; 4],
    /// Faults have stopped the shopper, and nothing was typed since.
    halted: bool,
    /// What was last said to the frames about their faults.
    told: [Option<Fault>; 4],
    /// A message for the form as a whole; with `ended` it stands in place of the form.
    pub(super) notice: Option<String>,
    pub(super) ended: bool,
    /// Text of the live region.
    pub(super) announcement: String,
    /// A submit is under way.
    pub(super) busy: bool,
    configured: bool,
    shown: bool,
    pub(super) select: NodeRef,
    pub(super) expiry: NodeRef,
    pub(super) holder: NodeRef,
    pub(super) button: NodeRef,
    listeners: Vec<EventListener>,
}

impl Component for App {
    type Message = Message;
    type Properties = Properties;

    fn create(context: &Context<Self>) -> Self {
        let given = context.props();
        let handle = given.handle.clone();
        let direction = js::text(&given.language, "dir");
        let _ = handle.form.set_attribute("lang", &given.locale);
        if !direction.is_empty() {
            let _ = handle.form.set_attribute("dir", &direction);
        }
        let app = Self {
            words: options::words(&given.language),
            brands: handle.brands.clone(),
            brand: handle.brands.first().cloned().unwrap_or_default(),
            handle,
            known_brands: JsValue::UNDEFINED,
            by_hand: false,
            detected: Vec::new(),
            base: given.base.clone(),
            locale: given.locale.clone(),
            direction,
            number: empty_frame(),
            code: empty_frame(),
            faults: [None; 4],
            halted: false,
            told: [None; 4],
            notice: None,
            ended: false,
            announcement: String::new(),
            busy: false,
            configured: false,
            shown: false,
            select: NodeRef::default(),
            expiry: NodeRef::default(),
            holder: NodeRef::default(),
            button: NodeRef::default(),
            listeners: Vec::new(),
        };
        app.dress();
        app
    }

    fn update(&mut self, context: &Context<Self>, message: Message) -> bool {
        match message {
            Message::Frame { is_number, data } => self.heard(context, is_number, &data),
            Message::Brand => {
                if let Some(select) = node::<HtmlSelectElement>(&self.select) {
                    self.by_hand = true;
                    self.choose(select.value());
                }
            }
            Message::Typed(Field::Expiry) => {
                self.halted = false;
                if let Some(input) = node::<HtmlInputElement>(&self.expiry) {
                    format_expiry(&input);
                }
                self.corrected(Field::Expiry);
            }
            Message::Typed(field) => {
                self.halted = false;
                self.corrected(field);
            }
            Message::Left(field) => self.left(field),
            Message::Pay => self.pay(context),
            Message::Allowed(allowed) => self.allowed(allowed),
            Message::Restyle => self.instruct(),
            Message::Idle => self.busy = false,
        }
        true
    }

    fn view(&self, _: &Context<Self>) -> Html {
        super::view::view(self)
    }

    fn rendered(&mut self, context: &Context<Self>, first: bool) {
        if first {
            self.listen(context);
        }
        self.mark();
    }
}

/// A frame of which nothing is known yet.
fn empty_frame() -> FrameState {
    FrameState { empty: true, ..FrameState::default() }
}

impl App {
    /// Labels, and the parts that options hide, on the nodes of the loader.
    fn dress(&self) {
        let show = options::on_by_default("showLabels");
        for (name, label) in self.handle.labels() {
            let key = if name == "expiry" { "expiryDate" } else { name };
            label.set_text_content(Some(self.words.get(key)));
            label.set_hidden(!show);
        }
        for (frame, key) in [(&self.handle.number, "cardNumber"), (&self.handle.code, "cvv")] {
            let _ = frame.set_attribute("title", self.words.get(key));
            let _ = frame.set_attribute("placeholder", self.words.get(key));
        }
        if !code_required()
            && let Some(group) = self.handle.wrapper("cvv").parent_element()
        {
            group.unchecked_ref::<HtmlElement>().set_hidden(true);
        }
    }

    /// Our own listeners, dropped with the app.
    fn listen(&mut self, context: &Context<Self>) {
        let mut on = |node: &NodeRef, kind: &'static str, message: fn() -> Message| {
            if let Some(node) = self::node::<web_sys::Element>(node) {
                let link = context.link().clone();
                let listener = EventListener::new(&node, kind, move |_| link.send_message(message()));
                self.listeners.push(listener);
            }
        };
        on(&self.select, "change", || Message::Brand);
        on(&self.expiry, "input", || Message::Typed(Field::Expiry));
        on(&self.expiry, "blur", || Message::Left(Field::Expiry));
        on(&self.holder, "input", || Message::Typed(Field::Holder));
        on(&self.holder, "blur", || Message::Left(Field::Holder));
        // A click on a label goes to its control, as with every form.
        for (name, label) in self.handle.labels() {
            let (handle, base) = (self.handle.clone(), self.base.clone());
            let control = match name {
                "brand" => self.select.clone(),
                "expiry" => self.expiry.clone(),
                _ => self.holder.clone(),
            };
            let field = Field::ALL.into_iter().find(|f| f.class() == name);
            let focus = move |_: &Event| match field.and_then(|f| handle.frame(f)) {
                Some(frame) => frames::focus(frame, &base, &handle.nonce),
                None => focus_element(&control),
            };
            self.listeners.push(EventListener::new(label, "click", focus));
        }
        // The frame's padding belongs to the page.
        for frame in [&self.handle.number, &self.handle.code] {
            let (handle, base, own) = (self.handle.clone(), self.base.clone(), frame.clone());
            let focus = move |_: &Event| frames::focus(&own, &base, &handle.nonce);
            self.listeners.push(EventListener::new(frame, "click", focus));
        }
        // The press of the button must not leave the field first: a hint that appeared then would move the button away
        // from under the pointer, and the click would be lost.
        if let Some(button) = node::<web_sys::Element>(&self.button) {
            let loud = EventListenerOptions::enable_prevent_default();
            let stay = |event: &Event| event.prevent_default();
            self.listeners.push(EventListener::new_with_options(&button, "mousedown", loud, stay));
        }
        if options::is_on("disableSubmitOnEnter") {
            let quiet = |event: &Event| {
                if event.unchecked_ref::<web_sys::KeyboardEvent>().key() == "Enter" {
                    event.prevent_default();
                }
            };
            let loud = EventListenerOptions::enable_prevent_default();
            for node in [&self.expiry, &self.holder] {
                if let Some(node) = self::node::<web_sys::Element>(node) {
                    self.listeners.push(EventListener::new_with_options(&node, "keydown", loud, quiet));
                }
            }
        }
        self.mark_brand("");
    }

    /// What a frame said.
    fn heard(&mut self, context: &Context<Self>, is_number: bool, data: &JsValue) {
        let field = if is_number { Field::Number } else { Field::Code };
        match js::text(data, "type").as_str() {
            "ready" => self.frame_ready(context, is_number, data),
            "state" => {
                if self.take_state(is_number, data) {
                    self.halted = false;
                }
                self.corrected(field);
                if is_number {
                    self.detect();
                }
            }
            "focus" => self.focused(field, true),
            "blur" => {
                self.take_state(is_number, data);
                self.focused(field, false);
                self.left(field);
            }
            "enter" if !options::is_on("disableSubmitOnEnter") && !self.halted => self.pay(context),
            "invalid" => self.refused(&js::texts(data, "wrong")),
            "answer" => self.answered(data),
            "failed" => self.unsent(),
            _ => {}
        }
    }

    /// A frame has loaded: for the first time, or again because the merchant moved it.
    fn frame_ready(&mut self, context: &Context<Self>, is_number: bool, data: &JsValue) {
        let state = if is_number { &mut self.number } else { &mut self.code };
        *state = FrameState { ready: true, ..empty_frame() };
        let field = if is_number { Field::Number } else { Field::Code };
        self.told[field as usize] = None;
        if is_number && !self.configured {
            self.configure(&js::get(data, "config"));
        }
        if self.shown {
            self.instruct();
        } else if self.number.ready && self.code.ready && self.configured && !self.ended {
            self.shown = true;
            self.reveal();
            let (nonce, link) = (self.handle.nonce.clone(), context.link().clone());
            wasm_bindgen_futures::spawn_local(async move {
                runtime::form_is_ready(&nonce);
                // The look is computed once, with what the merchant has just changed.
                link.send_message(Message::Restyle);
            });
        }
    }

    /// The checkout's data, from the number frame's document.
    fn configure(&mut self, config: &JsValue) {
        self.configured = true;
        let error = js::get(config, "error");
        if error.is_object() {
            self.end("checkoutError");
            callbacks::error(&js::text(&error, "name"), &js::text(&error, "message"));
            return;
        }
        super::submit::publish(config);
        let known = js::get(config, "brands");
        self.known_brands = known.clone();
        if known.is_object() {
            let kind = |brand: &String| js::text(&js::get(&known, brand), "kind");
            self.brands.retain(|brand| kind(brand) == "card");
            if self.brands.is_empty() {
                self.end("checkoutError");
                callbacks::error("WidgetError", "none of the brands is a card of this channel");
            } else if !self.brands.contains(&self.brand) {
                self.choose(self.brands[0].clone());
            }
        }
    }

    /// A message takes the form's place for good.
    pub(super) fn end(&mut self, key: &str) {
        self.notice = Some(self.words.get(key).to_owned());
        self.ended = true;
        self.busy = false;
        self.handle.form.set_hidden(true);
        self.reveal();
    }

    fn reveal(&self) {
        let container = &self.handle.container;
        let _ = container.class_list().remove_1("wpwl-loading");
        let _ = container.remove_attribute("aria-busy");
    }

    /// Whether it differs from before is the answer.
    fn take_state(&mut self, is_number: bool, data: &JsValue) -> bool {
        let state = if is_number { &mut self.number } else { &mut self.code };
        let now = FrameState {
            ready: true,
            empty: js::flag(data, "empty"),
            known: js::flag(data, "known"),
            complete: js::flag(data, "complete"),
            valid: js::flag(data, "valid"),
            optional: js::flag(data, "optional"),
            brands: js::texts(data, "brands"),
        };
        std::mem::replace(state, now.clone()) != now
    }

    /// Follows the number with the brand, where the merchant wants that.
    fn detect(&mut self) {
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
            callbacks::call("onDetectBrand", &[all, active]);
        }
    }

    /// How a brand is called, as far as the gateway has told.
    pub(super) fn brand_name(&self, code: &str) -> String {
        let name = js::text(&js::get(&self.known_brands, code), "name");
        if name.is_empty() { name_of_code(code) } else { name }
    }

    /// Makes `brand` the chosen one.
    fn choose(&mut self, brand: String) {
        if brand == self.brand {
            return;
        }
        let old = std::mem::replace(&mut self.brand, brand);
        if let Some(select) = node::<HtmlSelectElement>(&self.select) {
            select.set_value(&self.brand);
        }
        self.mark_brand(&old);
        for frame in [&self.handle.number, &self.handle.code] {
            let message = js::object(&[("brand", &JsValue::from_str(&self.brand))]);
            frames::say(frame, &self.base, &self.handle.nonce, "brand", &message);
        }
        callbacks::call("onChangeBrand", &[JsValue::from_str(&self.brand)]);
    }

    fn mark_brand(&self, old: &str) {
        let classes = self.handle.logo.class_list();
        if !old.is_empty() {
            let _ = classes.remove_1(&js::cat(&["wpwl-brand-", old]));
        }
        if !self.brand.is_empty() {
            let _ = classes.add_1(&js::cat(&["wpwl-brand-", &self.brand]));
        }
    }

    /// Tells both frames how to look and what to say.
    fn instruct(&self) {
        let container = &self.handle.container;
        let _ = container.class_list().toggle_with_force("wpwl-dark", frames::is_on_dark(container));
        let placeholders = options::on_by_default("showPlaceholders");
        let input = node::<web_sys::Element>(&self.holder);
        for (field, state) in [(Field::Number, &self.number), (Field::Code, &self.code)] {
            let Some(frame) = self.handle.frame(field).filter(|_| state.ready) else {
                continue;
            };
            let label = self.words.get(field.class());
            let message = js::object(&[
                ("style", &frames::look(frame, input.as_ref())),
                ("label", &JsValue::from_str(label)),
                ("placeholder", &JsValue::from_str(if placeholders { label } else { "" })),
                ("lang", &JsValue::from_str(&self.locale)),
                ("dir", &JsValue::from_str(&self.direction)),
                ("brand", &JsValue::from_str(&self.brand)),
                ("brands", &js::list(&self.brands)),
                ("formatting", &JsValue::from_bool(options::on_by_default("numberFormatting"))),
            ]);
            frames::say(frame, &self.base, &self.handle.nonce, "options", &message);
        }
    }

    fn focused(&self, field: Field, is: bool) {
        if let Some(frame) = self.handle.frame(field) {
            let _ = frame.class_list().toggle_with_force("wpwl-focus", is);
        }
    }

    /// What is wrong with a field as it stands in the document now.
    fn judge(&self, field: Field) -> Option<Fault> {
        match field {
            Field::Number => number_fault(&self.number, &self.brand),
            Field::Code if !code_required() => None,
            Field::Code => code_fault(&self.code, !options::is_on("allowEmptyCvv")),
            Field::Holder => holder_fault(&self.live_value("card.holder", &self.holder)),
            Field::Expiry => {
                let (year, month) = this_month();
                match self.expiry_date() {
                    None => Some(Fault::Month),
                    Some(date) if date.is_past((year, month)) && !options::is_on("disableCardExpiryDateValidation") => {
                        Some(Fault::Past)
                    }
                    Some(_) => None,
                }
            }
        }
    }

    /// Month and year as typed.
    pub(super) fn expiry_date(&self) -> Option<expiry::Expiry> {
        expiry::Expiry::parse_text(&self.live_value("card.expiry", &self.expiry), this_month().0)
    }

    /// A field's value in the live form; merchants replace nodes by copies of them.
    pub(super) fn live_value(&self, name: &str, ours: &NodeRef) -> String {
        let selector = js::cat(&["[name=\"", name, "\"]"]);
        let live = self.handle.form.query_selector(&selector).ok().flatten();
        let live = live.map(|node| node.unchecked_into::<HtmlInputElement>());
        let input = live.or_else(|| node(ours).filter(|i: &HtmlInputElement| i.is_connected()));
        input.map(|input| input.value()).unwrap_or_default()
    }

    /// Something changed in a field: its fault goes once it is corrected, and the button lives again.
    fn corrected(&mut self, field: Field) {
        let fault = &mut self.faults[field as usize];
        if fault.is_some() {
            let now = match (*fault, field) {
                // It is no longer empty; what it becomes is judged when it is left.
                (Some(Fault::NumberEmpty), _) if !self.number.empty => None,
                _ => self.judge(field),
            };
            let fault = &mut self.faults[field as usize];
            *fault = if now.is_some() { *fault } else { None };
        }
        if !self.is_faulty() {
            self.announcement.clear();
        }
        if field == Field::Number || field == Field::Code {
            return;
        }
        // A date that is complete can be judged while it is being typed.
        if field == Field::Expiry && self.expiry_date().is_some() {
            self.fault(field, self.judge(field));
        }
    }

    /// A field was left: judge it, unless nothing was typed.
    fn left(&mut self, field: Field) {
        let fault = self.judge(field);
        let empty = match field {
            Field::Number => self.number.empty,
            Field::Code => self.code.empty,
            Field::Expiry => self.live_value("card.expiry", &self.expiry).is_empty(),
            Field::Holder => self.live_value("card.holder", &self.holder).is_empty(),
        };
        if !empty || self.faults[field as usize].is_some() {
            self.fault(field, fault);
            if let Some(fault) = fault {
                self.words.get(fault.message()).clone_into(&mut self.announcement);
            }
        }
        let name = match field {
            Field::Number => "onBlurCardNumber",
            Field::Expiry => "onBlurExpiryDate",
            Field::Holder => "onBlurCardHolder",
            Field::Code => "onBlurSecurityCode",
        };
        callbacks::call(name, &[JsValue::from_bool(fault.is_none())]);
    }

    /// Judges all fields; true when the form may be sent.
    pub(super) fn is_valid(&mut self) -> bool {
        for field in Field::ALL {
            self.fault(field, self.judge(field));
        }
        !self.is_faulty()
    }

    pub(super) fn fault(&mut self, field: Field, fault: Option<Fault>) {
        self.faults[field as usize] = fault;
    }

    pub(super) fn fault_of(&self, field: Field) -> Option<Fault> {
        self.faults[field as usize]
    }

    pub(super) fn is_faulty(&self) -> bool {
        self.faults.iter().any(Option::is_some)
    }

    /// Says what is wrong and goes there.
    pub(super) fn show_faults(&mut self) {
        self.halted = true;
        self.announcement.clear();
        for fault in self.faults.iter().flatten() {
            self.announcement.push_str(self.words.get(fault.message()));
            self.announcement.push(' ');
        }
        let first = Field::ALL.into_iter().find(|f| self.faults[*f as usize].is_some());
        match first {
            Some(Field::Expiry) => focus_element(&self.expiry),
            Some(Field::Holder) => focus_element(&self.holder),
            Some(field) => {
                if let Some(frame) = self.handle.frame(field) {
                    frames::focus(frame, &self.base, &self.handle.nonce);
                }
            }
            None => {}
        }
    }

    /// Puts the state on nodes whose classes are not yew's alone.
    fn mark(&mut self) {
        for field in Field::ALL {
            let fault = self.faults[field as usize];
            let control: Option<web_sys::Element> = match field {
                Field::Expiry => node(&self.expiry),
                Field::Holder => node(&self.holder),
                _ => self.handle.frame(field).map(|frame| frame.clone().into()),
            };
            if let Some(control) = control {
                let _ = control.class_list().toggle_with_force("wpwl-has-error", fault.is_some());
            }
            if let Some(frame) = self.handle.frame(field)
                && self.told[field as usize] != fault
            {
                self.told[field as usize] = fault;
                let text = fault.map_or("", |fault| self.words.get(fault.message()));
                let message = js::object(&[("text", &JsValue::from_str(text))]);
                frames::say(frame, &self.base, &self.handle.nonce, "error", &message);
            }
        }
        if let Some(button) = node::<web_sys::HtmlButtonElement>(&self.button) {
            // A fault that was only met in passing leaves the button alive: pressing it leads to the field.
            let halted = self.halted && self.is_faulty();
            button.set_disabled(halted);
            let _ = button.class_list().toggle_with_force("wpwl-button-error", halted);
            let _ = button.class_list().toggle_with_force("wpwl-button-busy", self.busy);
        }
    }
}

fn code_required() -> bool {
    options::on_by_default("requireCvv")
}

/// The node of a reference that view.rs gives to an element of this type.
fn node<T: JsCast>(reference: &NodeRef) -> Option<T> {
    reference.get().map(JsCast::unchecked_into)
}

fn focus_element(node: &NodeRef) {
    if let Some(element) = self::node::<HtmlElement>(node) {
        let _ = element.focus();
    }
}

/// Year and month of the shopper's clock.
fn this_month() -> (u16, u8) {
    let now = js_sys::Date::new_0();
    (now.get_full_year() as u16, now.get_month() as u8 + 1)
}

/// Formats while typing, at the end of the text only: a caret in the middle is left alone.
fn format_expiry(input: &HtmlInputElement) {
    let typed = input.value();
    let at_end = input.selection_start().ok().flatten() == Some(typed.encode_utf16().count() as u32);
    let shown = expiry::format_typed(&typed);
    if at_end && shown != typed {
        input.set_value(&shown);
    }
}
