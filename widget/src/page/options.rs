//! `wpwlOptions`, read into a typed structure. Names and defaults are those of the table in `shared/src/form_options`,
//! unknown names are ignored. The options are read whenever something depends on them, because merchants change them
//! late.

use tillgate_shared::form_options::rows;
use tillgate_shared::form_options::{FormOption, OptionType};
use tillgate_shared::frame_messages::Source;

/// Name and default of an option, without the meaning, which is for documents and would weigh more than all code here.
#[derive(Debug, Clone, Copy)]
struct Key {
    name: &'static str,
    is_on: bool,
}

impl Key {
    const fn of(row: FormOption) -> Self {
        Self { name: row.name, is_on: matches!(row.kind, OptionType::Boolean(true)) }
    }
}

/// The key of a row of the table.
macro_rules! key {
    ($row:ident) => {
        const { Key::of(rows::$row) }
    };
}

/// Look of all forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Complete.
    #[default]
    Card,
    /// Layout and states only.
    Plain,
    /// Complete, with the brands' logos to choose from.
    Logos,
    /// Without a style sheet.
    None,
}

/// Offer to store a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StoreOffer {
    /// No box.
    #[default]
    None,
    /// A box.
    Box,
    /// A box that is ticked.
    Ticked,
}

/// Keys of the billing address in the options, in the order of its fields.
pub const BILLING_KEYS: [&str; 6] = ["country", "state", "city", "postcode", "street1", "street2"];

/// A field of the billing address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BillingField {
    /// Value that the merchant fills in.
    pub value: String,
    /// True if the shopper has to fill it in.
    pub mandatory: bool,
}

/// The merchant's options, whose meanings are in the table. `S` is the type of values whose shape is the merchant's
/// own.
#[expect(missing_docs, reason = "the table of options documents them")]
#[derive(Debug, Clone)]
pub struct Options<S> {
    pub style: Style,
    pub labels: Option<S>,
    pub error_messages: Option<S>,
    pub show_labels: bool,
    pub show_placeholders: bool,
    pub show_amount: bool,
    pub button_purpose: String,
    pub spinner: Option<S>,
    pub autofocus: String,
    /// Styles of the placeholders in frames, for the card number and for the security code.
    pub frame_styles: [Vec<(String, String)>; 2],
    pub require_code: bool,
    pub allow_empty_code: bool,
    pub mask_code: bool,
    pub show_code_hint: bool,
    pub number_formatting: bool,
    pub brand_detection: bool,
    pub brand_detection_priority: Vec<String>,
    /// True if `onDetectBin` is called.
    pub detects_bin: bool,
    pub accepts_expired: bool,
    pub submits_on_enter: bool,
    pub frames_only: bool,
    pub allow_empty_holder: bool,
    pub split_holder: bool,
    /// Fields of the billing address, in the order of [`BILLING_KEYS`], if the form asks for it.
    pub billing_address: Option<[BillingField; 6]>,
    pub show_birth_date: bool,
    pub show_tax_number: bool,
    /// Countries of SOFORT, code and name.
    pub sofort_countries: Option<Vec<(String, String)>>,
    pub require_stored_code: bool,
    pub hide_initial_forms: bool,
    pub store_offer: StoreOffer,
    pub show_stored: bool,
    pub hide_other_button: bool,
    pub result_url: String,
    pub payment_target: String,
    pub result_target: String,
    /// Size of the challenge window, 1 to 5.
    pub challenge_window: Option<u8>,
    /// Width and height of the frame with the issuer's page, as CSS lengths.
    pub challenge_size: [String; 2],
    pub inline_brands: Vec<String>,
    pub summary_page: bool,
    pub retry_in_place: bool,
}

impl<S: Source> Options<S> {
    /// Reads the merchant's object. Its absence is like an empty one.
    pub fn read(source: Option<&S>) -> Self {
        let given = Given(source);
        Self {
            style: match given.text(key!(STYLE)).as_str() {
                "plain" => Style::Plain,
                "logos" => Style::Logos,
                "none" => Style::None,
                _ => Style::Card,
            },
            labels: given.object(key!(LABELS)),
            error_messages: given.object(key!(ERROR_MESSAGES)),
            show_labels: given.flag(key!(SHOW_LABELS)),
            show_placeholders: given.flag(key!(SHOW_PLACEHOLDERS)),
            show_amount: given.flag(key!(SHOW_AMOUNT)),
            button_purpose: given.text(key!(BUTTON_PURPOSE)),
            spinner: given.object(key!(SPINNER)),
            autofocus: given.text(key!(AUTOFOCUS)),
            frame_styles: given.frame_styles(),
            require_code: given.flag(key!(REQUIRE_CVV)),
            allow_empty_code: given.flag(key!(ALLOW_EMPTY_CVV)),
            mask_code: given.flag(key!(MASK_CVV)),
            show_code_hint: given.flag(key!(SHOW_CVV_HINT)),
            number_formatting: given.flag(key!(NUMBER_FORMATTING)),
            brand_detection: given.flag(key!(BRAND_DETECTION)),
            brand_detection_priority: given.texts(key!(BRAND_DETECTION_PRIORITY)),
            detects_bin: given.text(key!(BRAND_DETECTION_TYPE)).starts_with("bin"),
            accepts_expired: given.flag(key!(DISABLE_CARD_EXPIRY_DATE_VALIDATION)),
            submits_on_enter: !given.flag(key!(DISABLE_SUBMIT_ON_ENTER)),
            frames_only: given.flag(key!(ENABLE_SAQA_COMPLIANCE)),
            allow_empty_holder: given.flag(key!(ALLOW_EMPTY_CARD_HOLDER_NAME)),
            split_holder: given.flag(key!(FORCE_CARD_HOLDER_EQUALS_BILLING_NAME)),
            billing_address: given.billing_address(),
            show_birth_date: given.flag(key!(SHOW_BIRTH_DATE)),
            show_tax_number: given.flag(key!(SHOW_TAX_NUMBER_FIELD)),
            sofort_countries: given.object(key!(SOFORT_COUNTRIES)).map(|countries| text_pairs(&countries)),
            require_stored_code: given.flag(key!(REGISTRATIONS_REQUIRE_CVV)),
            hide_initial_forms: given.flag(key!(REGISTRATIONS_HIDE_INITIAL_PAYMENT_FORMS)),
            store_offer: given.store_offer(),
            show_stored: given.flag(key!(SHOW_ONE_CLICK_WIDGET)),
            hide_other_button: given.flag(key!(HIDE_OTHER_PAYMENT_BUTTON)),
            result_url: given.text(key!(SHOPPER_RESULT_URL)),
            payment_target: given.text(key!(PAYMENT_TARGET)),
            result_target: given.text(key!(SHOPPER_RESULT_TARGET)),
            challenge_window: given.challenge_window(),
            challenge_size: given.challenge_size(),
            inline_brands: given.texts(key!(INLINE_FLOW)),
            summary_page: given.flag(key!(USE_SUMMARY_PAGE)),
            retry_in_place: given.flag(key!(RETRY_IN_PLACE)),
        }
    }
}

/// The merchant's object, if there is one.
struct Given<'a, S>(Option<&'a S>);

impl<S: Source> Given<'_, S> {
    /// Finds an option by its row. A dot in its name leads into an object.
    fn find(&self, key: Key) -> Option<S> {
        let mut names = key.name.split('.');
        let first = self.0?.get(names.next()?)?;
        names.try_fold(first, |object, name| object.get(name))
    }

    /// Reads a boolean, which shops also pass as text.
    fn flag(&self, key: Key) -> bool {
        self.find(key).and_then(|value| as_flag(&value)).unwrap_or(key.is_on)
    }

    fn text(&self, key: Key) -> String {
        self.find(key).and_then(|value| value.as_text()).unwrap_or_default()
    }

    /// Reads a list of texts. A single text counts as a list of one.
    fn texts(&self, key: Key) -> Vec<String> {
        let Some(value) = self.find(key) else { return Vec::new() };
        value.as_text().map_or_else(|| value.items().iter().filter_map(Source::as_text).collect(), |text| vec![text])
    }

    fn object(&self, key: Key) -> Option<S> {
        self.find(key)
            .filter(|value| value.as_text().is_none() && value.as_flag().is_none() && value.as_number().is_none())
    }

    fn frame_styles(&self) -> [Vec<(String, String)>; 2] {
        let styles = self.object(key!(IFRAME_STYLES)).or_else(|| self.object(key!(IFRAME_STYLE)));
        ["card-number-placeholder", "cvv-placeholder"].map(|key| {
            let style = styles.as_ref().and_then(|styles| styles.get(key));
            style.map(|style| text_pairs(&style)).unwrap_or_default()
        })
    }

    fn billing_address(&self) -> Option<[BillingField; 6]> {
        let wanted = self.find(key!(BILLING_ADDRESS)).filter(|value| as_flag(value) != Some(false))?;
        // One shop nests the mandatory fields in the address.
        let mandatory =
            self.object(key!(MANDATORY_BILLING_FIELDS)).or_else(|| wanted.get(key!(MANDATORY_BILLING_FIELDS).name));
        Some(BILLING_KEYS.map(|key| BillingField {
            value: wanted.get(key).map(|value| text_of(&value)).unwrap_or_default(),
            mandatory: mandatory.as_ref().and_then(|fields| as_flag(&fields.get(key)?)).unwrap_or_default(),
        }))
    }

    fn store_offer(&self) -> StoreOffer {
        match self.find(key!(REGISTRATIONS_OFFER)) {
            Some(value) if value.as_text().as_deref() == Some("checked") => StoreOffer::Ticked,
            Some(value) if as_flag(&value) == Some(true) => StoreOffer::Box,
            _ => StoreOffer::None,
        }
    }

    fn challenge_window(&self) -> Option<u8> {
        let value = text_of(&self.find(key!(BROWSER_THREE_D_CHALLENGE_WINDOW))?);
        value.parse().ok().filter(|size| (1..=5).contains(size))
    }

    /// Reads width and height. Numbers are pixels.
    fn challenge_size(&self) -> [String; 2] {
        let size = self.object(key!(THREE_D_IFRAME_SIZE));
        ["width", "height"].map(|name| {
            let value = size.as_ref().and_then(|size| size.get(name)).map(|value| text_of(&value)).unwrap_or_default();
            let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            if is_number { value + "px" } else { value }
        })
    }
}

/// Reads true and false, also as text.
fn as_flag(value: &impl Source) -> Option<bool> {
    value.as_flag().or_else(|| match value.as_text()?.as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    })
}

/// Reads text, or a number as text.
fn text_of(value: &impl Source) -> String {
    if value.as_flag().is_some() { String::new() } else { value.display() }
}

fn text_pairs(object: &impl Source) -> Vec<(String, String)> {
    let pair = |name: String| object.get(&name).map(|value| (name, text_of(&value)));
    object.keys().into_iter().filter_map(pair).collect()
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
