//! The table of options. Adding one is adding a row; the tests say what else it needs.

use super::Group::{Appearance, Billing, Callbacks, Card, Registrations, Ways};
use super::Kind::{Brands, Function, Locale, Object, OneOf, Open, Switch, Text, Words};
use super::{Callback, FormOption, Group, Kind, Section};

const fn row(name: &'static str, group: Group, kind: Kind, meaning: &'static str) -> FormOption {
    FormOption { name, group, kind, meaning }
}

/// A callback that is told something.
const fn told(name: &'static str, this: &'static str, arguments: &'static str, meaning: &'static str) -> FormOption {
    row(name, Callbacks, Function(Callback { this, arguments, returns: "void", decides: false }), meaning)
}

/// A callback that is asked whether the form may be sent.
const fn asked(name: &'static str, returns: &'static str, meaning: &'static str) -> FormOption {
    let arguments = "event: Event";
    row(name, Callbacks, Function(Callback { this: FORM, arguments, returns, decides: true }), meaning)
}

const OPTIONS_TYPE: &str = "WpwlOptions";
const FORM: &str = "WpwlFormThis";
const FRAME: &str = "WpwlFrameThis";
const ANSWER: &str = "boolean | void | PromiseLike<boolean | void>";

/// Every option of the form.
#[rustfmt::skip] // a row reads as a line
pub static OPTIONS: &[FormOption] = &[
    row("locale", Appearance, Locale,
        "Language, alone or with a country: `de`, `de-AT`. BCP 47 names do as well (`cs`, `da`, `zh`). A region without texts of its own gets its language, an unknown language English."),
    row("style", Appearance, OneOf(&["card", "plain", "logos", "none"]),
        "The look: `card` is complete, `plain` only lays out and shows states, `none` brings no style sheet at all; `logos` first shows the brands' logos to choose from."),
    row("labels", Appearance, Words(Section::Labels), "Your own words for labels, placeholders and buttons, by key. `pin`, `applyNow`, `nextStep`, `learnMore`, `ddmmyyyy` and `cvvHelp` are accepted, but no form shows them."),
    row("errorMessages", Appearance, Words(Section::Errors), "Your own words for hints and messages, by key. `pinError`, `pinEmptyError` and `cardBinError` are accepted, but no form says them."),
    row("showLabels", Appearance, Switch(true),
        "Labels above the fields. Hidden ones are still read to those who listen."),
    row("showPlaceholders", Appearance, Switch(true), "Examples inside empty fields."),

    row("spinner", Appearance, Object("WpwlSpinner", r#"{ "lines": 10, "length": 4, "radius": 6, "width": 2, "speed": 1.5 }"#),
        "What turns while a payment is sent, by the measures of spin.js, in pixels and turns a second. By default it follows the theme."),
    row("imageStyle", Appearance, OneOf(&["svg"]),
        "The format of the brands' images. Accepted; the form's are drawn by its style sheet and sharp at every size."),
    row("autofocus", Appearance, Open(&["", "card.number", "card.holder", "card.expiry", "card.cvv"]),
        "The field that has the caret when the form stands, by its name."),
    row("iframeStyles", Appearance, Object("WpwlFrameStyles", r#"{ "card-number-placeholder": { "color": "gray" } }"#),
        "Styles of the placeholders in the two frames. Everything else there follows the frame's own element in your page."),
    row("iframeStyle", Appearance, Object("WpwlFrameStyles", r#"{ "cvv-placeholder": { "color": "gray" } }"#),
        "The same under its other name."),

    row("requireCvv", Card, Switch(true), "Asks for the security code; without it the field is not shown."),
    row("allowEmptyCvv", Card, Switch(false), "Accepts an empty security code. One that is typed must be right."),
    row("maskCvv", Card, Switch(false), "Shows dots in place of the security code."),
    row("showCVVHint", Card, Switch(false), "Says where the code stands on the card while its field is in use."),
    row("numberFormatting", Card, Switch(true), "Groups the digits of the card number as on the card."),
    row("brandDetection", Card, Switch(false), "Chooses the brand by the number as it is typed. What the shopper chose by hand stays while it fits."),
    row("brandDetectionPriority", Card, Brands,
        "Which brand is chosen first where a number fits several; by default the order in which the brands are offered."),
    row("brandDetectionType", Card, OneOf(&["regex", "binlist", "bin"]),
        "How a brand is found; with `binlist` or `bin`, `onDetectBin` is called as well."),
    row("disableCardExpiryDateValidation", Card, Switch(false), "Accepts a month that is over."),
    row("disableSubmitOnEnter", Card, Switch(false), "Enter in a field does not pay."),

    row("enableSAQACompliance", Card, Switch(false),
        "Puts the holder and the expiry date into frames as well, so that nothing of a card is typed into your page. `iframeStyles` for the card number count there too; with `forceCardHolderEqualsBillingName` the two names stay in the page."),
    row("allowEmptyCardHolderName", Card, Switch(true), "Without it the card holder must be filled in."),

    row("forceCardHolderEqualsBillingName", Billing, Switch(false),
        "Two fields, given name and surname, in place of the one for the card holder. They are posted as the customer's name too."),
    row("billingAddress", Billing, Object("boolean | WpwlAddress", r#"{ "country": "DE", "city": "Hamburg" }"#),
        "Asks for the billing address; an object fills fields in beforehand, `{}` none of them."),
    row("mandatoryBillingFields", Billing, Object("{ [field in keyof WpwlAddress]?: boolean }", r#"{ "country": true, "postcode": true }"#),
        "Which fields of the billing address must be filled in."),

    row("showBirthDate", Billing, Switch(false),
        "Asks for the day of birth in the forms of brands that lend money: invoices and instalments. Where the checkout has no names of the customer, those are asked for too."),
    row("showTaxNumberField", Billing, Switch(false),
        "Asks for the tax number in the forms of brands that are paid by a voucher: `BOLETO`, `OXXO` and others of their kind. Names as above."),
    row("sofortCountries", Billing, Object("Record<string, string>", r#"{ "DE": "Germany", "AT": "Austria" }"#),
        "The countries to choose from in the form of `SOFORTUEBERWEISUNG`, each by its code with its name; by default all of them."),

    row("registrations.requireCvv", Registrations, Switch(false), "Asks for the security code of a stored card."),
    row("registrations.hideInitialPaymentForms", Registrations, Switch(false),
        "Hides the other forms until the shopper asks for them."),
    row("registrations.offer", Registrations, Object("boolean | \"checked\"", "\"checked\""),
        "A box under the card form by which the shopper may have the card stored; `\"checked\"` ticks it beforehand."),
    row("showOneClickWidget", Registrations, Switch(true), "Shows the checkout's stored cards and accounts."),
    row("hideOtherPaymentButton", Registrations, Switch(false), "No button that leads from stored cards to the other forms."),

    row("shopperResultUrl", Ways, Text, "Where the shopper goes afterwards, instead of the form element's `action`."),
    row("paymentTarget", Ways, Text,
        "The window or frame, by its name, in which a card's 3D page opens: `_top` is the whole tab, any other name a frame of yours. Without it the page opens in place of the form. Cards only."),
    row("browser.threeDChallengeWindow", Ways, Object("1 | 2 | 3 | 4 | 5", "3"),
        "The size of the issuer's page: 250 × 400, 390 × 400, 500 × 600, 600 × 400 pixels, or the whole screen; by default what the form's width has room for."),
    row("threeDIframeSize", Ways, Object("{ width?: string | number; height?: string | number }", r#"{ "width": "100%", "height": "580px" }"#),
        "The size of the frame in your page that shows the issuer's, in place of the window's."),
    row("shopperResultTarget", Ways, Text,
        "The window or frame in which the result page opens, the whole tab by default. Heeded together with `paymentTarget`."),

    row("inlineFlow", Ways, Brands,
        "Brands whose page opens in a frame of the form, as far as the page lets itself be framed, and not in place of yours or in a window."),
    row("useSummaryPage", Ways, Switch(false),
        "Does not pay at once: the gateway keeps what the shopper filled in, `onSaveTransactionData` is called, and your server pays with `POST /v1/checkouts/{id}/confirm` when the shopper has agreed on your page."),

    row("createCheckout", Callbacks, Function(Callback {
        this: OPTIONS_TYPE,
        arguments: "order: { brand: string }",
        returns: "string | PromiseLike<string>",
        decides: false,
    }), "Where the script came without a `checkoutId`: makes the checkout when the shopper pays, and gives back its id."),
    told("onReady", OPTIONS_TYPE, "forms: WpwlReadyForm[]", "The forms stand and can be used. Nodes may be moved, and options changed. Called again for forms that the page adds later."),
    told("onReadyExternal", OPTIONS_TYPE, "", "The buttons of wallets stand and can be used; after `onReady`."),
    told("onReadyIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "A frame can be used; once for each."),
    told("onFocusIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "The caret came into a frame."),
    told("onBlurIframeCommunication", FRAME, "frame: { $iframe: WpwlElements }", "The caret left a frame."),
    told("onChangeBrand", FORM, "brand: string", "The brand has changed, chosen or detected."),
    told("onDetectBrand", FORM, "brands: string[], activeBrand: string, container: string",
        "The number fits other brands than before; the list is empty where it fits none."),
    told("onDetectBin", FORM, "bin: { brands: string[]; activeBrand: string }", "The first digits are known, with `brandDetectionType: \"binlist\"`."),
    told("onBlurCardNumber", FORM, "isValid: boolean", "The card number was left."),
    told("onBlurExpiryDate", FORM, "isValid: boolean", "The expiry date was left."),
    told("onBlurCardHolder", FORM, "isValid: boolean", "The holder's name was left."),
    told("onBlurSecurityCode", FORM, "isValid: boolean", "The security code was left."),
    asked("onBeforeSubmitCard", ANSWER,
        "Before a card is sent. `false`, a promise of `false`, a rejected promise or `event.preventDefault()` stop; everything else goes on."),
    asked("onBeforeSubmitCardPromise", "PromiseLike<unknown>", "The same with a promise: kept goes on, rejected stops."),
    asked("onBeforeSubmitOneClickCard", ANSWER, "Before a stored card or account is used; as `onBeforeSubmitCard`."),
    asked("onBeforeSubmitDirectDebit", ANSWER, "Before a bank account is sent; as `onBeforeSubmitCard`."),
    asked("onBeforeSubmitOnlineTransfer", ANSWER, "Before the shopper goes to the bank; as `onBeforeSubmitCard`."),
    asked("onBeforeSubmitPrepayment", ANSWER, "Before a prepayment is ordered; as `onBeforeSubmitCard`."),
    asked("onBeforeSubmitVirtualAccount", ANSWER, "Before the shopper goes to the provider of an account; as `onBeforeSubmitCard`."),
    asked("onBeforeSubmitInlineVirtualAccount", ANSWER, "The same for a brand of `inlineFlow`."),
    told("onSaveTransactionData", FORM, "data: WpwlSavedData", "With `useSummaryPage`: what the shopper filled in is kept, and this much of it may be shown."),
    row("onLoadThreeDIframe", Callbacks, Function(Callback { this: "HTMLIFrameElement", arguments: "", returns: "void", decides: false }),
        "The issuer's page is shown in your page; `this` is its frame."),
    told("onLightboxCancel", OPTIONS_TYPE, "", "The shopper closed the window of a payment method. Another may be chosen."),
    told("onAfterSubmit", FORM, "", "The form was sent."),
    told("onError", OPTIONS_TYPE, "error: WpwlError", "Something failed; `error.name` says what."),
];
