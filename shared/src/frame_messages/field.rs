//! Messages of the frames that hold one field each.

use super::{Config, GatewayAnswer, Sink, Source, VERSION};

/// A field that stands in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameField {
    /// The card number.
    Number,
    /// The month and year of expiry, if the page may not have it.
    Expiry,
    /// The name on the card, if the page may not have it.
    Holder,
    /// The security code.
    Code,
}

impl FrameField {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Number, Self::Expiry, Self::Holder, Self::Code];

    /// Returns its name in messages and in the address of its frame.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "card.number",
            Self::Expiry => "card.expiry",
            Self::Holder => "card.holder",
            Self::Code => "card.cvv",
        }
    }

    /// Finds a field by its name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// The state of a field in a frame, as far as the page may know it. It never contains a character of the value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldState {
    /// True if nothing has been typed.
    pub empty: bool,
    /// True if the value has been checked, by checks that load a moment after the frame. Until then `complete` and
    /// `valid` say nothing.
    pub known: bool,
    /// Brand that the checks used. Results for another than the chosen brand are outdated.
    pub brand: String,
    /// True if the value has a length that its kind of field may have. False for a security code only if it is too
    /// short.
    pub complete: bool,
    /// True if the value passes all checks.
    pub valid: bool,
    /// True if the field may stay empty, as the security code of some brands.
    pub optional: bool,
    /// True if the date of expiry is over.
    pub past: bool,
    /// Offered brands that the card number can belong to, best match first.
    pub brands: Vec<String>,
    /// Number of times that the first six digits have changed, once there are six. It tells the page that another card
    /// is being typed, and nothing about its digits.
    pub bin: Option<u32>,
}

impl FieldState {
    /// The state of a field in which nothing has been typed.
    pub fn empty() -> Self {
        Self { empty: true, ..Self::default() }
    }

    // Three kinds of message carry a state. Its reader is not copied into each: the page module is downloaded.
    #[inline(never)]
    fn read(data: &impl Source) -> Self {
        let bin = data.get("bin").and_then(|value| value.as_number());
        Self {
            empty: data.flag("empty"),
            known: data.flag("known"),
            brand: data.text("brand"),
            complete: data.flag("complete"),
            valid: data.flag("valid"),
            optional: data.flag("optional"),
            past: data.flag("past"),
            brands: data.texts("brands"),
            bin: bin.map(|count| count as u32),
        }
    }
}

/// A message from the frame of a field to the page module.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldReport<S> {
    /// The frame has loaded: for the first time, or again because the page moved it. The frame of the card number sends
    /// the configuration of the checkout along.
    Ready(Option<Box<Config>>),
    /// The state of the field may have changed.
    State(FieldState),
    /// The state of the field, in answer to a question. Whatever was typed before is in it.
    Told(FieldState),
    /// The field has the focus.
    Focus,
    /// The field has lost the focus.
    Blur(FieldState),
    /// Enter was pressed.
    Enter,
    /// The browser filled in the whole card where the number stands.
    Autofill {
        /// The name on the card, or empty.
        holder: String,
        /// The date of expiry, or empty.
        expiry: String,
    },
    /// Parameters whose values the frame refused to send.
    Invalid(Vec<String>),
    /// The gateway's answer to the submit.
    Answer(Box<GatewayAnswer<S>>),
    /// The frame could not send.
    Failed,
}

impl<S> FieldReport<S> {
    /// The types of these messages.
    pub const TYPES: &[&str] =
        &["ready", "state", "told", "focus", "blur", "enter", "autofill", "invalid", "answer", "failed"];
}

impl<S: Source> FieldReport<S> {
    /// Reads a message. `None` if its type is unknown.
    pub fn read(data: &S) -> Option<Self> {
        Some(match data.text("type").as_str() {
            "ready" => Self::Ready(data.get("config").map(|config| Box::new(Config::read(&config)))),
            "state" => Self::State(FieldState::read(data)),
            "told" => Self::Told(FieldState::read(data)),
            "focus" => Self::Focus,
            "blur" => Self::Blur(FieldState::read(data)),
            "enter" => Self::Enter,
            "autofill" => Self::Autofill {
                holder: data.text(FrameField::Holder.name()),
                expiry: data.text(FrameField::Expiry.name()),
            },
            "invalid" => Self::Invalid(data.texts("wrong")),
            "answer" => Self::Answer(Box::new(GatewayAnswer::read(&data.get("answer")?))),
            "failed" => Self::Failed,
            _ => return None,
        })
    }
}

/// The look of the field in a frame, and what it is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrameLook {
    /// CSS properties of the frame's element that the text in the frame inherits.
    pub inherited: Vec<(String, String)>,
    /// Colour of placeholders in the page, or empty.
    pub placeholder_color: String,
    /// CSS properties of the placeholder that the merchant set.
    pub own: Vec<(String, String)>,
    /// True if the typed characters are shown as dots.
    pub mask: bool,
    /// Label of the field.
    pub label: String,
    /// Placeholder, or empty.
    pub placeholder: String,
    /// Language of the texts, a BCP 47 tag.
    pub lang: String,
    /// `rtl` if the language is written from right to left, or else empty.
    pub dir: String,
    /// Chosen brand.
    pub brand: String,
    /// Offered brands.
    pub brands: Vec<String>,
    /// Explanation of the field, or empty.
    pub help: String,
    /// True if the digits of a card number are shown in groups.
    pub formatting: bool,
}

/// A submit of a card: everything except number and code, which only their frames know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submit {
    /// Fields of the page, as names and values.
    pub fields: Vec<(String, String)>,
    /// Id of the checkout.
    pub checkout: String,
    /// True if the form asks for the security code.
    pub code: bool,
    /// True if the security code may not be empty, unless the brand allows it.
    pub code_required: bool,
}

/// A message from the page module to the frame of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldMessage {
    /// Look and label of the field.
    Options(Box<FrameLook>),
    /// The chosen brand.
    Brand(String),
    /// The error message of the field, or empty.
    Error(String),
    /// The page wants to know the state of the field now.
    Ask,
    /// The field gets the focus.
    Focus,
    /// The form is submitted.
    Submit(Submit),
}

impl FieldMessage {
    /// The types of these messages.
    pub const TYPES: &[&str] = &["options", "brand", "error", "ask", "focus", "submit"];

    /// Writes the message for the frame of the form with this nonce.
    pub fn write<T: Sink>(&self, form: &str) -> T {
        let mut data = T::empty();
        data.set_number("tillgate", f64::from(VERSION));
        data.set_text("form", form);
        match self {
            Self::Options(look) => {
                data.set_text("type", "options");
                look.write(&mut data);
            }
            Self::Brand(brand) => {
                data.set_text("type", "brand");
                data.set_text("brand", brand);
            }
            Self::Error(text) => {
                data.set_text("type", "error");
                data.set_text("text", text);
            }
            Self::Ask => data.set_text("type", "ask"),
            Self::Focus => data.set_text("type", "focus"),
            Self::Submit(submit) => {
                data.set_text("type", "submit");
                data.set_pairs("fields", &submit.fields);
                data.set_text("checkout", &submit.checkout);
                data.set_flag("code", submit.code);
                data.set_flag("codeRequired", submit.code_required);
            }
        }
        data
    }
}

impl FrameLook {
    fn write<T: Sink>(&self, data: &mut T) {
        let mut style = T::empty();
        for (name, value) in &self.inherited {
            style.set_text(name, value);
        }
        style.set_text("placeholder", &self.placeholder_color);
        style.set_pairs("own", &self.own);
        style.set_flag("mask", self.mask);
        data.set_object("style", style);
        data.set_texts("brands", &self.brands);
        data.set_flag("formatting", self.formatting);
        let texts = [
            ("label", &self.label),
            ("placeholder", &self.placeholder),
            ("lang", &self.lang),
            ("dir", &self.dir),
            ("brand", &self.brand),
            ("help", &self.help),
        ];
        for (name, value) in texts {
            data.set_text(name, value);
        }
    }
}
