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
        "Language of the form, alone or with a country: `de`, `de-AT`. BCP 47 names are accepted as well (`cs`, `da`, `zh`). A country without separate texts gets the texts of its language, and an unknown language gets English.");
    STYLE = new_row("style", Appearance, OneOf(&["card", "plain", "logos", "none"]),
        "Style of the form: `card` is complete, `plain` has only layout and states, and `none` has no style sheet. `logos` first lets the shopper choose from the brands' logos.");
    THEME = new_row("theme", Appearance, OneOf(&["auto", "light", "dark"]),
        "Ground of the forms. `auto` has none, and its colours follow the text of your page. `light` and `dark` have a ground and a text colour of their own, whatever the page looks like. Has no effect with `style: \"none\"`.");
    METHOD_LAYOUT = new_row("methodLayout", Appearance, OneOf(&["stacked", "accordion", "tabs"]),
        "Layout of several ways to pay. `stacked` shows their forms below each other. `accordion` and `tabs` make them one choice with one pay button; the page remembers the choice for the tab's session.");
    LABELS = new_row("labels", Appearance, Texts(TextKind::Labels), "Your own texts for labels, placeholders and buttons, by key. `pin`, `applyNow`, `nextStep`, `learnMore`, `ddmmyyyy` and `cvvHelp` are accepted, but no form shows them.");
    ERROR_MESSAGES = new_row("errorMessages", Appearance, Texts(TextKind::Errors), "Your own texts for hints and error messages, by key. `pinError`, `pinEmptyError` and `cardBinError` are accepted, but no form shows them.");
    SHOW_LABELS = new_row("showLabels", Appearance, Boolean(true),
        "Shows a label above each field. Screen readers announce hidden labels as well.");
    SHOW_PLACEHOLDERS = new_row("showPlaceholders", Appearance, Boolean(true), "Shows an example in each empty field.");
    SHOW_AMOUNT = new_row("showAmount", Appearance, Boolean(false),
        "Shows the amount on the pay button, in the format of the form's language. A button that only leads to the page of a brand names the brand. In your own labels, `{amount}` stands for it. If your server has changed the amount since, the form shows the new one and asks the shopper to press again.");
    BUTTON_PURPOSE = new_row("buttonPurpose", Appearance, OneOf(&["pay", "order", "store"]),
        "Purpose of the form's button: `pay` for an order that was made before, `order` and pay (a text that consumer law accepts for the conclusion of a contract, in German \"Jetzt kaufen\"), or `store` an account. Default: `store` for a checkout that stores an account, else `pay`.");

    SPINNER = new_row("spinner", Appearance, Object("WpwlSpinner", r#"{ "lines": 10, "length": 4, "radius": 6, "width": 2, "speed": 1.5 }"#),
        "Spinner shown while a payment is submitted. Takes the options of spin.js (pixels, turns per second). Default: the theme's spinner.");
    IMAGE_STYLE = new_row("imageStyle", Appearance, OneOf(&["svg"]),
        "Format of the brands' images. Accepted without effect, because the form always uses vector images.");
    AUTOFOCUS = new_row("autofocus", Appearance, Suggested(&["", "card.number", "card.holder", "card.expiry", "card.cvv"]),
        "Name of the field that gets the focus when the form is ready.");
    IFRAME_STYLES = new_row("iframeStyles", Appearance, Object("WpwlFrameStyles", r#"{ "card-number-placeholder": { "color": "gray" } }"#),
        "Styles of the placeholders in the frames of the card number and the security code. All other styles are taken from the frame's element in your page.");
    IFRAME_STYLE = new_row("iframeStyle", Appearance, Object("WpwlFrameStyles", r#"{ "cvv-placeholder": { "color": "gray" } }"#),
        "Alternative name of `iframeStyles`.");

    REQUIRE_CVV = new_row("requireCvv", Card, Boolean(true), "Shows the field of the security code.");
    ALLOW_EMPTY_CVV = new_row("allowEmptyCvv", Card, Boolean(false), "Accepts an empty security code. A code that was entered must still be valid.");
    MASK_CVV = new_row("maskCvv", Card, Boolean(false), "Shows dots in place of the security code.");
    SHOW_CVV_HINT = new_row("showCVVHint", Card, Boolean(false), "Shows a drawing and a text under the field of the security code that say where it stands on a card of the brand.");
    NUMBER_FORMATTING = new_row("numberFormatting", Card, Boolean(true), "Groups the digits of the card number as they are printed on the card.");
    BRAND_DETECTION = new_row("brandDetection", Card, Boolean(false), "Selects the brand by the card number while the shopper types. A brand that the shopper selected stays selected while the number fits it.");
    BRAND_DETECTION_PRIORITY = new_row("brandDetectionPriority", Card, Brands,
        "Order of preference if a number fits several brands, as that of a card with two brands does: the first is selected until the shopper chooses another. Default: the order of the offered brands.");
    BRAND_LIST = new_row("brandList", Card, Boolean(false),
        "Shows the list of brands above the card number. By default, the marks of the brands stand in the field of the number, and the list is shown only if the number does not tell every offered brand, or with another style than `card` and `logos`.");
    BRAND_DETECTION_TYPE = new_row("brandDetectionType", Card, OneOf(&["regex", "binlist", "bin"]),
        "Method of brand detection; with `binlist` or `bin`, `onDetectBin` is called as well.");
    DISABLE_CARD_EXPIRY_DATE_VALIDATION = new_row("disableCardExpiryDateValidation", Card, Boolean(false), "Accepts an expiry date in the past.");
    DISABLE_SUBMIT_ON_ENTER = new_row("disableSubmitOnEnter", Card, Boolean(false), "Prevents the Enter key in a field from submitting the form.");

    ENABLE_SAQA_COMPLIANCE = new_row("enableSAQACompliance", Card, Boolean(false),
        "Puts the holder and the expiry date into frames as well, so that no card data is typed into your page. The `iframeStyles` of the card number also apply to these frames. With `forceCardHolderEqualsBillingName` the two names stay in the page.");
    ALLOW_EMPTY_CARD_HOLDER_NAME = new_row("allowEmptyCardHolderName", Card, Boolean(true), "Accepts an empty card holder.");

    FORCE_CARD_HOLDER_EQUALS_BILLING_NAME = new_row("forceCardHolderEqualsBillingName", Billing, Boolean(false),
        "Shows two fields, given name and surname, instead of the field of the card holder. Both are also sent as the customer's name.");
    BILLING_ADDRESS = new_row("billingAddress", Billing, Object("boolean | WpwlAddress", r#"{ "country": "DE", "city": "Hamburg" }"#),
        "Shows the fields of the billing address. An object fills in initial values; `{}` has none.");
    MANDATORY_BILLING_FIELDS = new_row("mandatoryBillingFields", Billing, Object("{ [field in keyof WpwlAddress]?: boolean }", r#"{ "country": true, "postcode": true }"#),
        "Required fields of the billing address.");

    SHOW_BIRTH_DATE = new_row("showBirthDate", Billing, Boolean(false),
        "Shows a field for the date of birth in the forms of brands that give credit: invoices and instalments. If the checkout has no customer name, the form also shows fields for the name.");
    SHOW_TAX_NUMBER_FIELD = new_row("showTaxNumberField", Billing, Boolean(false),
        "Shows a field for the tax number in the forms of voucher brands such as `BOLETO` and `OXXO`. If the checkout has no customer name, the form also shows fields for the name.");
    SOFORT_COUNTRIES = new_row("sofortCountries", Billing, Object("Record<string, string>", r#"{ "DE": "Germany", "AT": "Austria" }"#),
        "Countries to choose from in the form of `SOFORTUEBERWEISUNG`, each with its code and name. Default: all countries.");

    REGISTRATIONS_REQUIRE_CVV = new_row("registrations.requireCvv", Registrations, Boolean(false), "Requires the security code of a stored card.");
    REGISTRATIONS_HIDE_INITIAL_PAYMENT_FORMS = new_row("registrations.hideInitialPaymentForms", Registrations, Boolean(false),
        "Hides the other forms until the shopper opens them.");
    REGISTRATIONS_OFFER = new_row("registrations.offer", Registrations, Object("boolean | \"checked\"", "\"checked\""),
        "Shows a checkbox under the card form for storing the card. `\"checked\"` shows it ticked.");
    SHOW_ONE_CLICK_WIDGET = new_row("showOneClickWidget", Registrations, Boolean(true), "Shows the checkout's stored cards and accounts.");
    HIDE_OTHER_PAYMENT_BUTTON = new_row("hideOtherPaymentButton", Registrations, Boolean(false), "Hides the button that opens the other forms from the stored cards.");

    SHOPPER_RESULT_URL = new_row("shopperResultUrl", Redirects, Text, "Address to which the shopper returns after the payment. Overrides the form element's `action`.");
    PAYMENT_TARGET = new_row("paymentTarget", Redirects, Text,
        "Name of the window or frame in which a card's 3-D Secure page opens: `_top` for the whole tab, or the name of a frame in your page. Default: in place of the form. Applies to cards only.");
    BROWSER_THREE_D_CHALLENGE_WINDOW = new_row("browser.threeDChallengeWindow", Redirects, Object("1 | 2 | 3 | 4 | 5", "3"),
        "Size of the issuer's page: 250 × 400, 390 × 400, 500 × 600, 600 × 400 pixels, or the whole screen. Default: the size that fits the form's width.");
    THREE_D_IFRAME_SIZE = new_row("threeDIframeSize", Redirects, Object("{ width?: string | number; height?: string | number }", r#"{ "width": "100%", "height": "580px" }"#),
        "Size of the frame in your page that shows the issuer's page. Default: the size of `browser.threeDChallengeWindow`.");
    SHOPPER_RESULT_TARGET = new_row("shopperResultTarget", Redirects, Text,
        "Window or frame in which the result page opens. With this option, a challenge does not replace your page. Default: the whole tab. Has an effect only together with `paymentTarget`.");

    INLINE_FLOW = new_row("inlineFlow", Redirects, Brands,
        "Brands whose page opens in a frame of the form, instead of replacing your page or opening a window. Has no effect if the brand's page refuses to be framed.");
    USE_SUMMARY_PAGE = new_row("useSummaryPage", Redirects, Boolean(false),
        "Postpones the payment: the gateway keeps the shopper's input, and the form calls `onSaveTransactionData`. Your server pays with `POST /v1/checkouts/{id}/confirm` after the shopper has agreed on your page.");

    RETRY_IN_PLACE = new_row("retryInPlace", Redirects, Boolean(false),
        "Keeps the form after a declined payment, with advice for the shopper, who may try another card or way to pay. By default, the shopper returns to your page after each attempt. Has no effect if the merchant hides declines from browsers.");

    CREATE_CHECKOUT = new_row("createCheckout", Callbacks, Function(Callback {
        this: OPTIONS_TYPE,
        arguments: "order: { brand: string }",
        returns: "string | PromiseLike<string>",
        decides: false,
    }), "Function that creates the checkout when the shopper pays, and returns its id. Required if the script was loaded without a `checkoutId`.");
    ON_READY = notifying_callback("onReady", OPTIONS_TYPE, "forms: WpwlReadyForm[]", "Called when the forms are ready for input. The callback may move nodes and change options. Called again for forms that the page adds later.");
    ON_READY_EXTERNAL = notifying_callback("onReadyExternal", OPTIONS_TYPE, "", "Called after `onReady`, when the buttons of wallets are ready for use.");
    ON_READY_IFRAME_COMMUNICATION = notifying_callback("onReadyIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "Called once for each frame, when the frame is ready for input.");
    ON_FOCUS_IFRAME_COMMUNICATION = notifying_callback("onFocusIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "Called when a frame gets the focus.");
    ON_BLUR_IFRAME_COMMUNICATION = notifying_callback("onBlurIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "Called when a frame loses the focus.");
    ON_CHANGE_BRAND = notifying_callback("onChangeBrand", FORM, "brand: string", "Called when the brand has changed, by selection or detection.");
    ON_DETECT_BRAND = notifying_callback("onDetectBrand", FORM, "brands: string[], activeBrand: string, container: string",
        "Called when the card number fits other brands than before. The list is empty if the number fits no brand.");
    ON_DETECT_BIN = notifying_callback("onDetectBin", FORM, "bin: { brands: string[]; activeBrand: string }", "Called when the BIN is complete, if `brandDetectionType` is `binlist` or `bin`.");
    ON_BLUR_CARD_NUMBER = notifying_callback("onBlurCardNumber", FORM, "isValid: boolean", "Called when the field of the card number loses the focus.");
    ON_BLUR_EXPIRY_DATE = notifying_callback("onBlurExpiryDate", FORM, "isValid: boolean", "Called when the field of the expiry date loses the focus.");
    ON_BLUR_CARD_HOLDER = notifying_callback("onBlurCardHolder", FORM, "isValid: boolean", "Called when the field of the card holder loses the focus.");
    ON_BLUR_SECURITY_CODE = notifying_callback("onBlurSecurityCode", FORM, "isValid: boolean", "Called when the field of the security code loses the focus.");
    ON_BEFORE_SUBMIT_CARD = deciding_callback("onBeforeSubmitCard", DECISION_TYPE,
        "Called before a card is submitted. `false`, a promise of `false`, a rejected promise or `event.preventDefault()` cancels the submit.");
    ON_BEFORE_SUBMIT_CARD_PROMISE = deciding_callback("onBeforeSubmitCardPromise", "PromiseLike<unknown>", "Called like `onBeforeSubmitCard`. A fulfilled promise continues the submit, and a rejected promise cancels it.");
    ON_BEFORE_SUBMIT_ONE_CLICK_CARD = deciding_callback("onBeforeSubmitOneClickCard", DECISION_TYPE, "Called before a stored card or account is submitted. Decides like `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_DIRECT_DEBIT = deciding_callback("onBeforeSubmitDirectDebit", DECISION_TYPE, "Called before a bank account is submitted. Decides like `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_ONLINE_TRANSFER = deciding_callback("onBeforeSubmitOnlineTransfer", DECISION_TYPE, "Called before the shopper goes to the bank. Decides like `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_PREPAYMENT = deciding_callback("onBeforeSubmitPrepayment", DECISION_TYPE, "Called before a prepayment is submitted. Decides like `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_VIRTUAL_ACCOUNT = deciding_callback("onBeforeSubmitVirtualAccount", DECISION_TYPE, "Called before the shopper goes to the provider of an account. Decides like `onBeforeSubmitCard`.");
    ON_BEFORE_SUBMIT_INLINE_VIRTUAL_ACCOUNT = deciding_callback("onBeforeSubmitInlineVirtualAccount", DECISION_TYPE, "Called instead of `onBeforeSubmitVirtualAccount` for a brand of `inlineFlow`.");
    ON_SAVE_TRANSACTION_DATA = notifying_callback("onSaveTransactionData", FORM, "data: WpwlSavedData", "Called with `useSummaryPage` when the gateway has kept the shopper's input. Receives the data that a summary may show.");
    ON_LOAD_THREE_D_IFRAME = new_row("onLoadThreeDIframe", Callbacks, Function(Callback { this: "HTMLIFrameElement", arguments: "", returns: "void", decides: false }),
        "Called when the issuer's page is shown in your page. `this` is its frame.");
    ON_LIGHTBOX_CANCEL = notifying_callback("onLightboxCancel", OPTIONS_TYPE, "", "Called when the shopper has closed the window of a payment method. The shopper may choose another one.");
    ON_AFTER_SUBMIT = notifying_callback("onAfterSubmit", FORM, "", "Called when the form was submitted.");
    ON_ERROR = notifying_callback("onError", OPTIONS_TYPE, "error: WpwlError", "Called when a failure occurs. `error.name` names the kind of failure.");
}
