//! The table of options. A new option is a new row; the tests report what else it needs.

use super::OptionGroup::{Appearance, Billing, Callbacks, Card, Redirects, Registrations};
use super::OptionType::{Boolean, Brands, Function, Locale, Object, OneOf, Suggested, Text, Texts};
use super::{Callback, FormOption, OptionGroup, OptionType, TextKind};

const fn new_row(name: &'static str, group: OptionGroup, kind: OptionType, meaning: &'static str) -> FormOption {
    FormOption { name, group, kind, meaning }
}

/// Creates the row of a callback that only receives a notification and returns nothing.
const fn notifying_callback(
    name: &'static str,
    this: &'static str,
    arguments: &'static str,
    meaning: &'static str,
) -> FormOption {
    new_row(name, Callbacks, Function(Callback { this, arguments, returns: "void", decides: false }), meaning)
}

/// Creates the row of a callback that receives the submit event of a form, and decides by its return value if the form
/// is sent.
const fn deciding_callback(name: &'static str, returns: &'static str, meaning: &'static str) -> FormOption {
    let arguments = "event: Event";
    new_row(name, Callbacks, Function(Callback { this: FORM, arguments, returns, decides: true }), meaning)
}

const OPTIONS_TYPE: &str = "WpwlOptions";
const FORM: &str = "WpwlFormThis";
const FRAME: &str = "WpwlFrameThis";
const DECISION_TYPE: &str = "boolean | void | PromiseLike<boolean | void>";

/// Declares the rows as constants, from which the page module reads names and defaults, and lists them in a table.
macro_rules! options {
    ($($(#[$attribute:meta])* $name:ident = $row:expr;)*) => {
        $($(#[$attribute])* #[doc = concat!("The row of `", stringify!($name), "`.")] pub const $name: FormOption = $row;)*

        /// All options of the form.
        pub static OPTIONS: &[FormOption] = &[$($name),*];

        /// The names of the constants, in the order of the table.
        #[cfg(test)]
        pub static CONSTANTS: &[&str] = &[$(stringify!($name)),*];
    };
}

#[rustfmt::skip] // a row reads as a line
options! {
    LOCALE = new_row("locale", Appearance, Locale,
        "Language, alone or with a country: `de`, `de-AT`. BCP 47 names do as well (`cs`, `da`, `zh`). A region without texts of its own gets its language, an unknown language English.");
    STYLE = new_row("style", Appearance, OneOf(&["card", "plain", "logos", "none"]),
        "The look: `card` is complete, `plain` only lays out and shows states, `none` brings no style sheet at all; `logos` first shows the brands' logos to choose from.");
    LABELS = new_row("labels", Appearance, Texts(TextKind::Labels), "Your own words for labels, placeholders and buttons, by key. `pin`, `applyNow`, `nextStep`, `learnMore`, `ddmmyyyy` and `cvvHelp` are accepted, but no form shows them.");
    ERROR_MESSAGES = new_row("errorMessages", Appearance, Texts(TextKind::Errors), "Your own words for hints and messages, by key. `pinError`, `pinEmptyError` and `cardBinError` are accepted, but no form says them.");
    SHOW_LABELS = new_row("showLabels", Appearance, Boolean(true),
        "Labels above the fields. Hidden ones are still read to those who listen.");
    SHOW_PLACEHOLDERS = new_row("showPlaceholders", Appearance, Boolean(true), "Examples inside empty fields.");

    SPINNER = new_row("spinner", Appearance, Object("WpwlSpinner", r#"{ "lines": 10, "length": 4, "radius": 6, "width": 2, "speed": 1.5 }"#),
        "Spinner shown while a payment is submitted. Takes the options of spin.js (pixels, turns per second). Default: as the theme.");
    IMAGE_STYLE = new_row("imageStyle", Appearance, OneOf(&["svg"]),
        "The format of the brands' images. Accepted; the form's are drawn by its style sheet and sharp at every size.");
    AUTOFOCUS = new_row("autofocus", Appearance, Suggested(&["", "card.number", "card.holder", "card.expiry", "card.cvv"]),
        "The field that has the caret when the form stands, by its name.");
    IFRAME_STYLES = new_row("iframeStyles", Appearance, Object("WpwlFrameStyles", r#"{ "card-number-placeholder": { "color": "gray" } }"#),
        "Styles of the placeholders in the two frames. Everything else there follows the frame's own element in your page.");
    IFRAME_STYLE = new_row("iframeStyle", Appearance, Object("WpwlFrameStyles", r#"{ "cvv-placeholder": { "color": "gray" } }"#),
        "The same under its other name.");

    REQUIRE_CVV = new_row("requireCvv", Card, Boolean(true), "Asks for the security code; without it the field is not shown.");
    ALLOW_EMPTY_CVV = new_row("allowEmptyCvv", Card, Boolean(false), "Accepts an empty security code. One that is typed must be right.");
    MASK_CVV = new_row("maskCvv", Card, Boolean(false), "Shows dots in place of the security code.");
    SHOW_CVV_HINT = new_row("showCVVHint", Card, Boolean(false), "Says where the code stands on the card while its field is in use.");
    NUMBER_FORMATTING = new_row("numberFormatting", Card, Boolean(true), "Groups the digits of the card number as on the card.");
    BRAND_DETECTION = new_row("brandDetection", Card, Boolean(false), "Chooses the brand by the number as it is typed. What the shopper chose by hand stays while it fits.");
    BRAND_DETECTION_PRIORITY = new_row("brandDetectionPriority", Card, Brands,
        "Which brand is chosen first where a number fits several; by default the order in which the brands are offered.");
    BRAND_DETECTION_TYPE = new_row("brandDetectionType", Card, OneOf(&["regex", "binlist", "bin"]),
        "Method of brand detection; with `binlist` or `bin`, `onDetectBin` is called as well.");
    DISABLE_CARD_EXPIRY_DATE_VALIDATION = new_row("disableCardExpiryDateValidation", Card, Boolean(false), "Accepts a month that is over.");
    DISABLE_SUBMIT_ON_ENTER = new_row("disableSubmitOnEnter", Card, Boolean(false), "Enter in a field does not pay.");

    ENABLE_SAQA_COMPLIANCE = new_row("enableSAQACompliance", Card, Boolean(false),
        "Puts the holder and the expiry date into frames as well, so that nothing of a card is typed into your page. `iframeStyles` for the card number count there too; with `forceCardHolderEqualsBillingName` the two names stay in the page.");
    ALLOW_EMPTY_CARD_HOLDER_NAME = new_row("allowEmptyCardHolderName", Card, Boolean(true), "Without it the card holder must be filled in.");

    FORCE_CARD_HOLDER_EQUALS_BILLING_NAME = new_row("forceCardHolderEqualsBillingName", Billing, Boolean(false),
        "Two fields, given name and surname, in place of the one for the card holder. They are posted as the customer's name too.");
    BILLING_ADDRESS = new_row("billingAddress", Billing, Object("boolean | WpwlAddress", r#"{ "country": "DE", "city": "Hamburg" }"#),
        "Asks for the billing address; an object fills fields in beforehand, `{}` none of them.");
    MANDATORY_BILLING_FIELDS = new_row("mandatoryBillingFields", Billing, Object("{ [field in keyof WpwlAddress]?: boolean }", r#"{ "country": true, "postcode": true }"#),
        "Which fields of the billing address must be filled in.");

    SHOW_BIRTH_DATE = new_row("showBirthDate", Billing, Boolean(false),
        "Asks for the day of birth in the forms of brands that lend money: invoices and instalments. Where the checkout has no names of the customer, those are asked for too.");
    SHOW_TAX_NUMBER_FIELD = new_row("showTaxNumberField", Billing, Boolean(false),
        "Asks for the tax number in the forms of brands that are paid by a voucher: `BOLETO`, `OXXO` and others of their kind. Names as above.");
    SOFORT_COUNTRIES = new_row("sofortCountries", Billing, Object("Record<string, string>", r#"{ "DE": "Germany", "AT": "Austria" }"#),
        "The countries to choose from in the form of `SOFORTUEBERWEISUNG`, each by its code with its name; by default all of them.");

    REGISTRATIONS_REQUIRE_CVV = new_row("registrations.requireCvv", Registrations, Boolean(false), "Asks for the security code of a stored card.");
    REGISTRATIONS_HIDE_INITIAL_PAYMENT_FORMS = new_row("registrations.hideInitialPaymentForms", Registrations, Boolean(false),
        "Hides the other forms until the shopper asks for them.");
    REGISTRATIONS_OFFER = new_row("registrations.offer", Registrations, Object("boolean | \"checked\"", "\"checked\""),
        "A box under the card form by which the shopper may have the card stored; `\"checked\"` ticks it beforehand.");
    SHOW_ONE_CLICK_WIDGET = new_row("showOneClickWidget", Registrations, Boolean(true), "Shows the checkout's stored cards and accounts.");
    HIDE_OTHER_PAYMENT_BUTTON = new_row("hideOtherPaymentButton", Registrations, Boolean(false), "No button that leads from stored cards to the other forms.");

    SHOPPER_RESULT_URL = new_row("shopperResultUrl", Redirects, Text, "Address to which the shopper returns after the payment. Overrides the form element's `action`.");
    PAYMENT_TARGET = new_row("paymentTarget", Redirects, Text,
        "The window or frame, by its name, in which a card's 3-D Secure page opens: `_top` is the whole tab, any other name a frame of yours. Without it the page opens in place of the form. Cards only.");
    BROWSER_THREE_D_CHALLENGE_WINDOW = new_row("browser.threeDChallengeWindow", Redirects, Object("1 | 2 | 3 | 4 | 5", "3"),
        "The size of the issuer's page: 250 × 400, 390 × 400, 500 × 600, 600 × 400 pixels, or the whole screen; by default what the form's width has room for.");
    THREE_D_IFRAME_SIZE = new_row("threeDIframeSize", Redirects, Object("{ width?: string | number; height?: string | number }", r#"{ "width": "100%", "height": "580px" }"#),
        "The size of the frame in your page that shows the issuer's, in place of the window's.");
    SHOPPER_RESULT_TARGET = new_row("shopperResultTarget", Redirects, Text,
        "The window or frame in which the result page opens, the whole tab by default: also after a challenge, which leaves your page in place then. Heeded together with `paymentTarget`.");

    INLINE_FLOW = new_row("inlineFlow", Redirects, Brands,
        "Brands whose page opens in a frame of the form, as far as the page lets itself be framed, and not in place of yours or in a window.");
    USE_SUMMARY_PAGE = new_row("useSummaryPage", Redirects, Boolean(false),
        "Does not pay at once: the gateway keeps what the shopper filled in, `onSaveTransactionData` is called, and your server pays with `POST /v1/checkouts/{id}/confirm` when the shopper has agreed on your page.");

    CREATE_CHECKOUT = new_row("createCheckout", Callbacks, Function(Callback {
        this: OPTIONS_TYPE,
        arguments: "order: { brand: string }",
        returns: "string | PromiseLike<string>",
        decides: false,
    }), "Creates the checkout when the shopper pays, and returns its id. Required if the script was loaded without a `checkoutId`.");
    ON_READY = notifying_callback("onReady", OPTIONS_TYPE, "forms: WpwlReadyForm[]", "The forms stand and can be used. Nodes may be moved, and options changed. Called again for forms that the page adds later.");
    ON_READY_EXTERNAL = notifying_callback("onReadyExternal", OPTIONS_TYPE, "", "The buttons of wallets stand and can be used; after `onReady`.");
    ON_READY_IFRAME_COMMUNICATION = notifying_callback("onReadyIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "A frame can be used; once for each.");
    ON_FOCUS_IFRAME_COMMUNICATION = notifying_callback("onFocusIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "The caret came into a frame.");
    ON_BLUR_IFRAME_COMMUNICATION = notifying_callback("onBlurIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "The caret left a frame.");
    ON_CHANGE_BRAND = notifying_callback("onChangeBrand", FORM, "brand: string", "The brand has changed, chosen or detected.");
    ON_DETECT_BRAND = notifying_callback("onDetectBrand", FORM, "brands: string[], activeBrand: string, container: string",
        "The number fits other brands than before; the list is empty where it fits none.");
    ON_DETECT_BIN = notifying_callback("onDetectBin", FORM, "bin: { brands: string[]; activeBrand: string }", "The first digits are known, with `brandDetectionType: \"binlist\"`.");
    ON_BLUR_CARD_NUMBER = notifying_callback("onBlurCardNumber", FORM, "isValid: boolean", "The card number was left.");
    ON_BLUR_EXPIRY_DATE = notifying_callback("onBlurExpiryDate", FORM, "isValid: boolean", "The expiry date was left.");
    ON_BLUR_CARD_HOLDER = notifying_callback("onBlurCardHolder", FORM, "isValid: boolean", "The holder's name was left.");
    ON_BLUR_SECURITY_CODE = notifying_callback("onBlurSecurityCode", FORM, "isValid: boolean", "The security code was left.");
    ON_BEFORE_SUBMIT_CARD = deciding_callback("onBeforeSubmitCard", DECISION_TYPE,
        "Before a card is sent. `false`, a promise of `false`, a rejected promise or `event.preventDefault()` stop; everything else goes on.");
    ON_BEFORE_SUBMIT_CARD_PROMISE = deciding_callback("onBeforeSubmitCardPromise", "PromiseLike<unknown>", "The same with a promise: kept goes on, rejected stops.");
    ON_BEFORE_SUBMIT_ONE_CLICK_CARD = deciding_callback("onBeforeSubmitOneClickCard", DECISION_TYPE, "Before a stored card or account is used; as `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_DIRECT_DEBIT = deciding_callback("onBeforeSubmitDirectDebit", DECISION_TYPE, "Before a bank account is sent; as `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_ONLINE_TRANSFER = deciding_callback("onBeforeSubmitOnlineTransfer", DECISION_TYPE, "Before the shopper goes to the bank; as `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_PREPAYMENT = deciding_callback("onBeforeSubmitPrepayment", DECISION_TYPE, "Before a prepayment is ordered; as `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_VIRTUAL_ACCOUNT = deciding_callback("onBeforeSubmitVirtualAccount", DECISION_TYPE, "Before the shopper goes to the provider of an account; as `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_INLINE_VIRTUAL_ACCOUNT = deciding_callback("onBeforeSubmitInlineVirtualAccount", DECISION_TYPE, "The same for a brand of `inlineFlow`.");
    ON_SAVE_TRANSACTION_DATA = notifying_callback("onSaveTransactionData", FORM, "data: WpwlSavedData", "With `useSummaryPage`: what the shopper filled in is kept, and this much of it may be shown.");
    ON_LOAD_THREE_D_IFRAME = new_row("onLoadThreeDIframe", Callbacks, Function(Callback { this: "HTMLIFrameElement", arguments: "", returns: "void", decides: false }),
        "The issuer's page is shown in your page; `this` is its frame.");
    ON_LIGHTBOX_CANCEL = notifying_callback("onLightboxCancel", OPTIONS_TYPE, "", "The shopper closed the window of a payment method. Another may be chosen.");
    ON_AFTER_SUBMIT = notifying_callback("onAfterSubmit", FORM, "", "The form was sent.");
    ON_ERROR = notifying_callback("onError", OPTIONS_TYPE, "error: WpwlError", "Something failed; `error.name` says what.");
}
