//! The view of all kinds of forms: controls with their hints, groups, the button, messages.
//!
//! Classes that are put together are set as `~className`, one text: yew keeps `class` as an ordered set, whose code
//! weighs 2 kB on the wire.

use tillgate_shared::field::{self, FormField, Input};
use tillgate_shared::frame_messages::Source;
use wasm_bindgen::prelude::*;
use web_sys::{Event, HtmlElement};
use yew::prelude::*;

use super::field::{Field, Place, hint_id, label_id};
use super::form::Form;
use super::form_message::{Message, NoticeAction};
use crate::page::amount;
use crate::page::bridge::{FormNode, Value};
use crate::page::button::Button;
use crate::page::dom::{self, Listener};
use crate::page::handle::{FormHandle, HandleKind};
use crate::page::options::Options;
use crate::page::session::Session;
use crate::page::text::keys;

/// Marks a control whose text browsers must not translate.
const UNTRANSLATED: [&str; 2] = ["cardHolder", "expiryDate"];

impl Form {
    /// Listens to the form and the inputs of its fields.
    pub(super) fn attach_listeners(&mut self, context: &Context<Self>) {
        let Some(form) = self.node() else { return };
        self.listeners.extend(form_listeners(context, &form, self.handle.kind.get() != HandleKind::Card));
        for (at, field) in self.fields.iter().enumerate() {
            if let (Place::Input(_), Some(control)) = (&field.place, field.control()) {
                if !field.initial.is_empty() {
                    field.set_value(&field.initial);
                }
                self.listeners.extend(input_listeners(context, at, field, &control));
            }
        }
        if let Some(button) = self.button() {
            // A press of the button must not leave the field first: a hint that appeared then would move the button
            // away, and the click would be lost.
            self.listeners.push(Listener::new(&button, "mousedown", |event| event.prevent_default()));
        }
    }

    /// Returns the control of a field, for an input of the page, and its hint. A control in a frame is placed by the
    /// loader, or is the field's own node. `label` is the id of a visible label.
    pub(in crate::page) fn view_control(&self, at: usize, label: Option<&str>) -> Html {
        let Some(field) = self.fields.get(at) else { return Html::default() };
        let control = match &field.place {
            Place::Frame { is_placed: true, .. } => Html::default(),
            Place::Frame { element, .. } => Html::VRef(element.clone().into()),
            Place::Input(node) => match field.row.input {
                Input::Country | Input::Choice => self.view_select(field, node, label),
                _ => self.view_input(field, node, label),
            },
        };
        html! { <>{ control }{ self.view_hint(field) }</> }
    }

    fn view_input(&self, field: &Field, node: &NodeRef, label: Option<&str>) -> Html {
        let row: &FormField = field.row;
        let is_box = row.input == Input::Checkbox;
        let kind = match row.input {
            Input::Checkbox => "checkbox",
            Input::Date => "date",
            Input::Phone | Input::Digits => "tel",
            _ => "text",
        };
        let caption = self.session.text(if row.key == "expiryDate" { "mmyy" } else { field.caption });
        // A label that the merchant has hidden is no name for every tool.
        let name = if label.is_some() { self.session.text(row.label) } else { caption.clone() };
        let options = self.session.options();
        let placeholder = (!is_box && (options.show_placeholders || label.is_none())).then_some(caption);
        let class = if is_box { "wpwl-tick wpwl-control-" } else { "wpwl-control wpwl-control-" };
        let is_card_field = field.name.starts_with("card.") && label.is_some();
        // Merchants' scripts know the markup of card fields, but for the new date of a stored card, which is ours.
        let is_known = is_card_field && !std::ptr::eq(row, &field::NEW_EXPIRY_DATE);
        html! {
            <input ref={node.clone()} type={kind} name={field.name}
                ~className={[class, &field.class, extra_class(row.key)].concat()}
                id={(!is_card_field).then(|| [&self.handle.container.id(), "-", &field.class].concat())}
                autocomplete={if row.autofill.is_empty() { "off" } else { row.autofill }}
                dir={(row.key == "expiryDate").then_some("ltr")}
                data-action={(row.key == "expiryDate").then_some("blur-card-expiry")}
                spellcheck={row.input.is_code().then_some("false")}
                autocapitalize={(row.input == Input::Code).then_some("characters")}
                translate={UNTRANSLATED.contains(&row.key).then_some("no")}
                aria-invalid="false" aria-required={(!field.optional && !is_known).then_some("true")}
                aria-labelledby={label.map(ToOwned::to_owned)}
                aria-label={(!is_box).then_some(name)}
                {placeholder}
                value={is_box.then_some("true")} />
        }
    }

    fn view_select(&self, field: &Field, node: &NodeRef, label: Option<&str>) -> Html {
        let caption = self.session.text(field.caption);
        let name = if label.is_some() { self.session.text(field.row.label) } else { caption.clone() };
        let mut choices: Vec<Html> = Vec::new();
        for (value, name) in &field.choices {
            choices.push(html! { <option value={value.clone()}>{ name }</option> });
        }
        html! {
            <select ref={node.clone()} name={field.name}
                ~className={["wpwl-control wpwl-control-", &field.class, extra_class(field.row.key)].concat()}
                id={[&self.handle.container.id(), "-", &field.class].concat()}
                autocomplete={if field.row.autofill.is_empty() { "off" } else { field.row.autofill }}
                aria-invalid="false" aria-required={(!field.optional).then_some("true")}
                aria-labelledby={label.map(ToOwned::to_owned)} aria-label={name}>
                <option value="">{ caption }</option>
                { choices }
            </select>
        }
    }

    /// Returns the hint of a field, which stands behind its control while it has a fault.
    pub(in crate::page) fn view_hint(&self, field: &Field) -> Html {
        let Some(fault) = field.fault else { return Html::default() };
        html! {
            <div id={hint_id(&self.handle.container.id(), &field.class)} ~className={["wpwl-hint wpwl-hint-", fault.hint].concat()}>
                { self.session.text(fault.text) }
            </div>
        }
    }

    /// Returns a group with a label above the control.
    pub(in crate::page) fn view_group(&self, at: usize) -> Html {
        let Some(field) = self.fields.get(at) else { return Html::default() };
        let id = label_id(&self.handle.container, &field.class);
        let class = &field.class;
        html! {
            <div ~className={["wpwl-group wpwl-group-", class, " wpwl-clearfix"].concat()}>
                <div ~className={["wpwl-label wpwl-label-", class].concat()} id={id.clone()} hidden={!self.session.options().show_labels}>
                    { self.session.text(field.row.label) }
                </div>
                <div ~className={["wpwl-wrapper wpwl-wrapper-", class].concat()}>{ self.view_control(at, Some(&id)) }</div>
            </div>
        }
    }

    /// Returns a group with a box to tick and its meaning.
    pub(in crate::page) fn view_box(&self, at: usize, meaning: &str) -> Html {
        let Some(field) = self.fields.get(at) else { return Html::default() };
        let Place::Input(node) = &field.place else { return Html::default() };
        html! {
            <div ~className={["wpwl-group wpwl-group-", &field.class, " wpwl-clearfix"].concat()}>
                <label class="wpwl-agree">{ self.view_input(field, node, None) }<span>{ meaning }</span></label>
                { self.view_hint(field) }
            </div>
        }
    }

    /// Returns the group with the button. `wrapper` and `class` are the last parts of their class names.
    pub(in crate::page) fn view_button(&self, group: &str, wrapper: &str, class: &str, content: Html) -> Html {
        html! {
            <div ~className={["wpwl-group wpwl-group-", group, " wpwl-clearfix"].concat()}>
                <div ~className={["wpwl-wrapper wpwl-wrapper-", wrapper].concat()}>
                    <button ref={self.button_ref.clone()} type="submit" name="pay" ~className={["wpwl-button wpwl-button-", class].concat()}>
                        { content }
                    </button>
                    { self.view_spinner() }
                </div>
            </div>
        }
    }

    /// Returns the spinner while a submit is under way, and what is said about it.
    pub(in crate::page) fn view_spinner(&self) -> Html {
        if !self.is_busy {
            return Html::default();
        }
        html! {
            <>
                <div ~className={["wpwl-spinner spinner ", &spinner_class(&self.session.options())].concat()} aria-hidden="true"></div>
                if !self.announcement.is_empty() { <div class="wpwl-progress" aria-hidden="true">{ self.announcement.clone() }</div> }
            </>
        }
    }

    /// Returns the amount that the pay button shows, as the gateway compares it, and the text of the button.
    pub(in crate::page) fn button_amount(&self) -> (Option<String>, String) {
        let options = self.session.options();
        let key = match options.button_purpose.as_str() {
            "order" => keys::ORDER,
            "store" => keys::REGISTER,
            "pay" => keys::SUBMIT,
            _ if self.session.loader.purpose() == "payment" => keys::SUBMIT,
            _ => keys::REGISTER,
        };
        let mut text = self.session.text(key);
        let amount = self.session.amount();
        if options.show_amount && key == keys::SUBMIT && amount.is_some() && !text.contains(amount::PLACE) {
            text = self.session.text(keys::PAY_AMOUNT);
        }
        match (text.split_once(amount::PLACE), amount) {
            (Some((before, after)), Some(amount)) => (Some(amount.exact), [before, &amount.text, after].concat()),
            (Some((before, after)), None) => (None, [before, after].concat().trim().to_owned()),
            (None, _) => (None, text),
        }
    }

    /// Returns the region that screen readers read.
    pub(in crate::page) fn view_live_region(&self) -> Html {
        html! { <div class="wpwl-live" role="status">{ self.announcement.clone() }</div> }
    }

    /// Returns the message for the form as a whole.
    pub(in crate::page) fn view_notice(&self) -> Html {
        let Some(notice) = &self.notice else { return Html::default() };
        let is_error = notice.actions.is_empty();
        let mut content: Vec<Html> = Vec::new();
        for (number, text) in notice.text.lines().enumerate() {
            content.push(html! { <>if number > 0 { <br /> }{ text.to_owned() }</> });
        }
        for (text, action) in &notice.actions {
            let (session, handle, action) = (self.session.clone(), self.handle.clone(), *action);
            let on_press = yew::Callback::from(move |()| run_action(&session, &handle, action));
            content.push(html! { <Button class="wpwl-button wpwl-button-small" text={text.clone()} {on_press} /> });
        }
        html! {
            <div ~className={if is_error { "wpwl-message wpwl-has-error" } else { "wpwl-message" }} role={if is_error { "alert" } else { "status" }}>
                { content }
            </div>
        }
    }
}

fn run_action(session: &std::rc::Rc<Session>, handle: &std::rc::Rc<FormHandle>, action: NoticeAction) {
    match action {
        NoticeAction::ShowWindow => session.windows.show(handle),
        NoticeAction::CancelWindow => session.windows.stop(session),
        NoticeAction::CancelChallenge => session.challenges.cancel(session),
    }
}

/// Returns further classes of controls that merchants' scripts look for, with a space before them.
fn extra_class(key: &str) -> &'static str {
    match key {
        "accountNumber" => " wpwl-control-accountIban",
        "accountBank" => " wpwl-control-accountBic",
        "billing-state" => " wpwl-control-stateText",
        "billing-country" => " wpwl-control-country",
        "billing-city" => " wpwl-control-city",
        "billing-postcode" => " wpwl-control-postcode",
        "billing-street1" => " wpwl-control-street1",
        "billing-street2" => " wpwl-control-street2",
        _ => "",
    }
}

/// Returns the classes that the merchant gives to the spinner.
fn spinner_class(options: &Options<Value>) -> String {
    let class = options.spinner.as_ref().map(|spinner| Source::text(spinner, "className"));
    class.filter(|class| class != "spinner").unwrap_or_default()
}

/// Returns the listeners of a form element: its submit, keys that must not submit, and its first use. Scripts that call
/// `submit()` press its button too if `replaces_submit` is true; the loader has done so for the forms that it has
/// placed.
fn form_listeners(context: &Context<Form>, form: &FormNode, replaces_submit: bool) -> Vec<Listener> {
    let session = context.props().session.clone();
    let focus = Listener::new(form, "focusin", move |_| session.load_later_parts());
    let link = context.link().clone();
    let submit = Listener::with_capture(form, "submit", true, move |event| {
        event.prevent_default();
        link.send_message(Message::Pay);
    });
    let session = context.props().session.clone();
    let key = Listener::new(form, "keydown", move |event: Event| {
        let key = Value(event.clone().into());
        let target = event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok());
        let tag = target.map(|target| target.tag_name()).unwrap_or_default();
        let is_quiet = tag == "SELECT" || (tag == "INPUT" && !session.options().submits_on_enter);
        if is_quiet && Source::text(&key, "key") == "Enter" {
            event.prevent_default();
        }
    });
    if replaces_submit {
        let node = form.clone();
        let submit = Closure::<dyn Fn()>::new(move || drop(node.request_submit()));
        Value(form.into()).set("submit", &submit.into_js_value());
    }
    vec![focus, submit, key]
}

/// Returns the listeners of an input. A click counts like a change of a box, because scripts fire one without the
/// other.
fn input_listeners(context: &Context<Form>, at: usize, field: &Field, control: &HtmlElement) -> Vec<Listener> {
    let listen = |kind: &'static str, message: fn(usize) -> Message| {
        let link = context.link().clone();
        Listener::new(control, kind, move |_| link.send_message(message(at)))
    };
    // An input method replaces its own text: to format that would type it once more. Its end counts as typing.
    let link = context.link().clone();
    let typed = Listener::new(control, "input", move |event| {
        if !Source::flag(&Value(event.into()), "isComposing") {
            link.send_message(Message::Typed(at));
        }
    });
    let mut listeners = vec![typed, listen("compositionend", Message::Typed), listen("blur", Message::Left)];
    match field.row.input {
        Input::Checkbox => listeners.extend([listen("change", Message::Typed), listen("click", Message::Typed)]),
        Input::Country | Input::Choice => listeners.push(listen("change", Message::Typed)),
        _ => {}
    }
    listeners
}

/// Hides the live region of a form visually, once it is there.
pub fn hide_live_region(form: &FormNode) {
    if let Some(region) = form.find(".wpwl-live").and_then(|region| region.dyn_into::<HtmlElement>().ok()) {
        dom::hide_visually(&region);
    }
}
