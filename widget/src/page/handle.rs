//! A form of the page, as the parts of the page module share it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use tillgate_shared::brand::FormKind;
use tillgate_shared::frame_messages::FrameField;
use web_sys::{Element, HtmlElement, HtmlIFrameElement};
use yew::Callback;

use super::bridge::{FormNode, PlacedForm, document};
use super::dom::{self, SizeObserver};
use super::engine::form_message::Message;
use super::readiness::Progress;

/// Attribute of the container of a way to pay that is not chosen. `widget/choice/choice.js` sets it.
const CLOSED: &str = "data-closed";

/// Kind of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleKind {
    /// A card that is typed in.
    Card,
    /// Stored cards and accounts.
    Stored,
    /// One brand that is no card.
    Brand(FormKind),
    /// One brand whose description has not come yet.
    Unknown,
}

impl HandleKind {
    /// Returns its name in class names and for merchants.
    pub fn name(self) -> &'static str {
        match self {
            Self::Card => FormKind::Card.as_str(),
            Self::Stored => "registration",
            Self::Brand(kind) => kind.as_str(),
            Self::Unknown => "other",
        }
    }
}

/// A yew app that runs. The form knows it by functions, because the app's type knows the form.
struct RunningApp {
    /// Tells the app something.
    send: Callback<Message>,
    /// Ends the app.
    end: Box<dyn FnOnce()>,
}

/// A form of the page.
pub struct FormHandle {
    /// The form in the loader's hands. `None` for stored accounts, which have no placeholder.
    pub placed: Option<PlacedForm>,
    /// The form beside stored accounts, whose placeholder leads to the result page.
    neighbour: Option<PlacedForm>,
    /// Tells its messages from those of others.
    pub nonce: String,
    /// Brands that the page names for it.
    pub brands: Vec<String>,
    /// Its container.
    pub container: HtmlElement,
    /// Its kind.
    pub kind: Cell<HandleKind>,
    /// Part of its class names that tells it from others.
    pub key: RefCell<String>,
    /// Its progress.
    pub progress: Cell<Progress>,
    /// True once `onReady` has told it.
    pub is_announced: Cell<bool>,
    /// True if it charges a card, typed in or stored.
    pub pays_by_card: Cell<bool>,
    /// True while another form is shown in its favour.
    is_hidden: Cell<bool>,
    /// True while the forms for new accounts wait behind a button of this one.
    pub hides_others: Cell<bool>,
    /// The form element, once it is there.
    pub form: RefCell<Option<FormNode>>,
    /// The frames of its fields.
    pub frames: RefCell<Vec<(FrameField, HtmlIFrameElement)>>,
    /// Element with the focus at the last submit.
    focused: RefCell<Option<Element>>,
    /// Watches the size of a card's form.
    pub size_observer: RefCell<Option<SizeObserver>>,
    /// The yew app in it.
    app: RefCell<Option<RunningApp>>,
}

impl FormHandle {
    /// Creates the handle of a form that the loader has placed.
    pub fn for_placed(placed: PlacedForm) -> Rc<Self> {
        let kind = if placed.is_card() { HandleKind::Card } else { HandleKind::Unknown };
        let number = placed.number().map(|frame| (FrameField::Number, frame));
        let code = placed.code().map(|frame| (FrameField::Code, frame));
        Rc::new(Self {
            nonce: placed.nonce(),
            brands: placed.brands(),
            container: placed.container(),
            kind: Cell::new(kind),
            key: RefCell::new(placed.key()),
            progress: Cell::default(),
            is_announced: Cell::default(),
            pays_by_card: Cell::new(kind == HandleKind::Card),
            is_hidden: Cell::default(),
            hides_others: Cell::default(),
            form: RefCell::new(placed.form()),
            frames: RefCell::new(number.into_iter().chain(code).collect()),
            focused: RefCell::default(),
            size_observer: RefCell::default(),
            app: RefCell::default(),
            placed: Some(placed),
            neighbour: None,
        })
    }

    /// Creates the handle of the form with stored accounts, which stands beside another form.
    pub fn for_stored(container: HtmlElement, neighbour: Option<PlacedForm>) -> Rc<Self> {
        Rc::new(Self {
            placed: None,
            neighbour,
            nonce: container.id(),
            brands: Vec::new(),
            container,
            kind: Cell::new(HandleKind::Stored),
            key: RefCell::default(),
            progress: Cell::default(),
            is_announced: Cell::default(),
            pays_by_card: Cell::default(),
            is_hidden: Cell::default(),
            hides_others: Cell::default(),
            form: RefCell::default(),
            frames: RefCell::default(),
            focused: RefCell::default(),
            size_observer: RefCell::default(),
            app: RefCell::default(),
        })
    }

    /// The yew app of the form runs from now on: `send` tells it something, and `end` ends it.
    pub fn set_app(&self, send: Callback<Message>, end: impl FnOnce() + 'static) {
        self.app.replace(Some(RunningApp { send, end: Box::new(end) }));
    }

    /// Returns true if the form has a yew app.
    pub fn is_mounted(&self) -> bool {
        self.app.borrow().is_some()
    }

    /// Tells the form something. Before its app runs, and after its end, nothing happens.
    pub fn send(&self, message: Message) {
        let send = self.app.borrow().as_ref().map(|app| app.send.clone());
        if let Some(send) = send {
            send.emit(message);
        }
    }

    /// Ends the yew app and removes the form from the page.
    pub fn destroy(&self) {
        let app = self.app.borrow_mut().take();
        let form = self.form.borrow_mut().take();
        self.size_observer.take();
        if let Some(app) = app {
            (app.end)();
        }
        if let Some(form) = form {
            form.remove();
        }
        self.container.remove();
    }

    /// Returns the form element.
    pub fn form_node(&self) -> Option<FormNode> {
        self.form.borrow().clone()
    }

    /// Notes the element with the focus at a submit. The form is locked afterwards, which takes the focus away.
    pub fn note_focus(&self) {
        self.focused.replace(document::active_element());
    }

    /// Sets the focus to where it was at the submit, or to the pay button. A frame only keeps the focus while the
    /// button is pressed with a mouse, and would open the keyboard of a phone.
    pub fn return_focus(&self) {
        use wasm_bindgen::JsCast as _;
        let noted = self.focused.take().filter(|node| {
            let tag = node.tag_name();
            node.is_connected() && tag != "BODY" && tag != "IFRAME"
        });
        let node = noted.or_else(|| self.form_node()?.find("button[name=pay]"));
        if let Some(node) = node.and_then(|node| node.dyn_into::<HtmlElement>().ok()) {
            let _ = node.focus();
        }
    }

    /// Returns the frame of a field.
    pub fn frame(&self, field: FrameField) -> Option<HtmlIFrameElement> {
        self.frames.borrow().iter().find(|(known, _)| *known == field).map(|(_, frame)| frame.clone())
    }

    /// Returns true if the page module has removed it from the forms that shoppers see, or a message stands in its
    /// place.
    pub fn has_ended(&self) -> bool {
        self.progress.get() == Progress::Ended
    }

    /// Returns the address to which its placeholder leads, or empty text.
    pub fn result_address(&self) -> String {
        self.placed.as_ref().or(self.neighbour.as_ref()).map(PlacedForm::read_result).unwrap_or_default()
    }

    /// Shows its container or hides it: another form is chosen, or waits to be.
    pub fn show_container(&self, is_visible: bool) {
        self.is_hidden.set(!is_visible);
        self.reveal_container();
    }

    /// Shows its container, unless it is hidden in favour of another form, or another way to pay is chosen. Scripts
    /// look for `display: block`.
    pub fn reveal_container(&self) {
        let is_hidden = self.is_hidden.get() || self.container.has_attribute(CLOSED);
        dom::set_style(&self.container, "display", if is_hidden { "none" } else { "block" });
    }

    /// Returns the frame in which brands and issuers show their pages inside of this page. An empty frame takes
    /// browsers as long as everything else, so it is created late.
    pub fn target_frame(&self) -> HtmlIFrameElement {
        use wasm_bindgen::JsCast as _;
        if let Ok(Some(frame)) = self.container.query_selector("iframe.wpwl-target") {
            return frame.unchecked_into();
        }
        let name = self.form_node().and_then(|form| form.get_attribute("target")).unwrap_or_default();
        let attributes =
            [("name", name.as_str()), ("title", "3D Secure"), ("src", "about:blank"), ("frameborder", "0")];
        let frame = dom::make("iframe", "wpwl-target", &attributes, "");
        dom::set_visible(&frame, false);
        let _ = self.container.append_child(&frame);
        frame.unchecked_into()
    }

    /// Returns true if a merchant may hear of it: it stands in the page.
    pub fn is_in_page(&self) -> bool {
        document::body().is_some() && self.container.is_connected()
    }
}

impl PartialEq for FormHandle {
    fn eq(&self, other: &Self) -> bool {
        self.nonce == other.nonce
    }
}
