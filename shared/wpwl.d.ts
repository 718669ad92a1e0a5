// Type declarations of the hosted payment form: the options object `wpwlOptions` and the global `wpwl`.
// Generated from the table in shared/src/form_options. Copy it into your project, and name it in "files" or "include" of its
// tsconfig.json or by `/// <reference path="wpwl.d.ts" />`. You can add missing declarations: TypeScript merges
// interfaces of the same name.

/** Look, texts and behaviour of the form. Set `window.wpwlOptions` before the form's script runs. */
interface WpwlOptions {
  /**
   * Language of the form, alone or with a country: `de`, `de-AT`. BCP 47 names are accepted as well (`cs`, `da`, `zh`). A country without separate texts gets the texts of its language, and an unknown language gets English.
   * @default "en"
   */
  locale?: "en" | "de" | "fr" | "es" | "it" | "nl" | "dk" | "fi" | "se" | "tr" | "ja" | "sl" | "pt" | "pl" | "cz" | "hu" | "bg" | "ro" | "ru" | "cn" | "gr" | "no" | "sk" | "ar" | "ko" | (string & {});
  /**
   * Style of the form: `card` is complete, `plain` has only layout and states, and `none` has no style sheet. `logos` first lets the shopper choose from the brands' logos.
   * @default "card"
   */
  style?: "card" | "plain" | "logos" | "none";
  /**
   * Ground of the forms. `auto` has none, and its colours follow the text of your page. `light` and `dark` have a ground and a text colour of their own, whatever the page looks like. Has no effect with `style: "none"`.
   * @default "auto"
   */
  theme?: "auto" | "light" | "dark";
  /**
   * Layout of several ways to pay. `stacked` shows their forms below each other. `accordion` and `tabs` make them one choice with one pay button; the page remembers the choice for the tab's session.
   * @default "stacked"
   */
  methodLayout?: "stacked" | "accordion" | "tabs";
  /** Your own texts for labels, placeholders and buttons, by key. `pin`, `applyNow`, `nextStep`, `learnMore`, `ddmmyyyy` and `cvvHelp` are accepted, but no form shows them. */
  labels?: WpwlLabels;
  /** Your own texts for hints and error messages, by key. `pinError`, `pinEmptyError` and `cardBinError` are accepted, but no form shows them. */
  errorMessages?: WpwlErrorMessages;
  /**
   * Shows a label above each field. Screen readers announce hidden labels as well.
   * @default true
   */
  showLabels?: boolean;
  /**
   * Shows an example in each empty field.
   * @default true
   */
  showPlaceholders?: boolean;
  /**
   * Shows the amount on the pay button, in the format of the form's language. A button that only leads to the page of a brand names the brand. In your own labels, `{amount}` stands for it. If your server has changed the amount since, the form shows the new one and asks the shopper to press again.
   * @default false
   */
  showAmount?: boolean;
  /**
   * Purpose of the form's button: `pay` for an order that was made before, `order` and pay (a text that consumer law accepts for the conclusion of a contract, in German "Jetzt kaufen"), or `store` an account. Default: `store` for a checkout that stores an account, else `pay`.
   * @default "pay"
   */
  buttonPurpose?: "pay" | "order" | "store";
  /** Spinner shown while a payment is submitted. Takes the options of spin.js (pixels, turns per second). Default: the theme's spinner. */
  spinner?: WpwlSpinner;
  /**
   * Format of the brands' images. Accepted without effect, because the form always uses vector images.
   * @default "svg"
   */
  imageStyle?: "svg";
  /** Name of the field that gets the focus when the form is ready. */
  autofocus?: "card.number" | "card.holder" | "card.expiry" | "card.cvv" | (string & {});
  /** Fonts of your page that the frames of the card number and the security code may use, 4 at most and 256 kB each. The form loads them from your page and hands them to the frames, so your page's policy has to list them in `connect-src`, and another server has to allow your page (CORS). */
  fonts?: WpwlFont[];
  /** Styles of the placeholders in the frames of the card number and the security code. All other styles are taken from the frame's element in your page. */
  iframeStyles?: WpwlFrameStyles;
  /** Alternative name of `iframeStyles`. */
  iframeStyle?: WpwlFrameStyles;
  /**
   * Shows the field of the security code.
   * @default true
   */
  requireCvv?: boolean;
  /**
   * Accepts an empty security code. A code that was entered must still be valid.
   * @default false
   */
  allowEmptyCvv?: boolean;
  /**
   * Shows dots in place of the security code.
   * @default false
   */
  maskCvv?: boolean;
  /**
   * Shows a drawing and a text under the field of the security code that say where it stands on a card of the brand.
   * @default false
   */
  showCVVHint?: boolean;
  /**
   * Groups the digits of the card number as they are printed on the card.
   * @default true
   */
  numberFormatting?: boolean;
  /**
   * Moves the focus to the next field as soon as the shopper has typed the whole card number or expiry date. Some people who use a screen reader lose their way when the focus moves by itself, so leave it off for them.
   * @default false
   */
  focusNextField?: boolean;
  /**
   * Selects the brand by the card number while the shopper types. A brand that the shopper selected stays selected while the number fits it.
   * @default false
   */
  brandDetection?: boolean;
  /** Order of preference if a number fits several brands, as that of a card with two brands does: the first is selected until the shopper chooses another. Default: the order of the offered brands. */
  brandDetectionPriority?: string[];
  /**
   * Shows the list of brands above the card number. By default, the marks of the brands stand in the field of the number, and the list is shown only if the number does not tell every offered brand, or with another style than `card` and `logos`.
   * @default false
   */
  brandList?: boolean;
  /**
   * Method of brand detection; with `binlist` or `bin`, `onDetectBin` is called as well.
   * @default "regex"
   */
  brandDetectionType?: "regex" | "binlist" | "bin";
  /**
   * Accepts an expiry date in the past.
   * @default false
   */
  disableCardExpiryDateValidation?: boolean;
  /**
   * Prevents the Enter key in a field from submitting the form.
   * @default false
   */
  disableSubmitOnEnter?: boolean;
  /**
   * Puts the holder and the expiry date into frames as well, so that no card data is typed into your page. The `iframeStyles` of the card number also apply to these frames. With `forceCardHolderEqualsBillingName` the two names stay in the page.
   * @default false
   */
  enableSAQACompliance?: boolean;
  /**
   * Accepts an empty card holder.
   * @default true
   */
  allowEmptyCardHolderName?: boolean;
  /**
   * Shows two fields, given name and surname, instead of the field of the card holder. Both are also sent as the customer's name.
   * @default false
   */
  forceCardHolderEqualsBillingName?: boolean;
  /** Shows the fields of the billing address. An object fills in initial values; `{}` has none. */
  billingAddress?: boolean | WpwlAddress;
  /** Required fields of the billing address. */
  mandatoryBillingFields?: { [field in keyof WpwlAddress]?: boolean };
  /**
   * Shows a field for the date of birth in the forms of brands that give credit: invoices and instalments. If the checkout has no customer name, the form also shows fields for the name.
   * @default false
   */
  showBirthDate?: boolean;
  /**
   * Shows a field for the tax number in the forms of voucher brands such as `BOLETO` and `OXXO`. If the checkout has no customer name, the form also shows fields for the name.
   * @default false
   */
  showTaxNumberField?: boolean;
  /** Countries to choose from in the form of `SOFORTUEBERWEISUNG`, each with its code and name. Default: all countries. */
  sofortCountries?: Record<string, string>;
  registrations?: {
    /**
     * Requires the security code of a stored card.
     * @default false
     */
    requireCvv?: boolean;
    /**
     * Hides the other forms until the shopper opens them.
     * @default false
     */
    hideInitialPaymentForms?: boolean;
    /** Shows a checkbox under the card form for storing the card. `"checked"` shows it ticked. */
    offer?: boolean | "checked";
  };
  /**
   * Shows the checkout's stored cards and accounts.
   * @default true
   */
  showOneClickWidget?: boolean;
  /**
   * Hides the button that opens the other forms from the stored cards.
   * @default false
   */
  hideOtherPaymentButton?: boolean;
  /** Address to which the shopper returns after the payment. Overrides the form element's `action`. */
  shopperResultUrl?: string;
  /** Name of the window or frame in which a card's 3-D Secure page opens: `_top` for the whole tab, or the name of a frame in your page. Default: in place of the form. Applies to cards only. */
  paymentTarget?: string;
  browser?: {
    /** Size of the issuer's page: 250 × 400, 390 × 400, 500 × 600, 600 × 400 pixels, or the whole screen. Default: the size that fits the form's width. */
    threeDChallengeWindow?: 1 | 2 | 3 | 4 | 5;
  };
  /** Size of the frame in your page that shows the issuer's page. Default: the size of `browser.threeDChallengeWindow`. */
  threeDIframeSize?: { width?: string | number; height?: string | number };
  /** Window or frame in which the result page opens. With this option, a challenge does not replace your page. Default: the whole tab. Has an effect only together with `paymentTarget`. */
  shopperResultTarget?: string;
  /** Brands whose page opens in a frame of the form, instead of replacing your page or opening a window. Has no effect if the brand's page refuses to be framed. */
  inlineFlow?: string[];
  /**
   * Postpones the payment: the gateway keeps the shopper's input, and the form calls `onSaveTransactionData`. Your server pays with `POST /v1/checkouts/{id}/confirm` after the shopper has agreed on your page.
   * @default false
   */
  useSummaryPage?: boolean;
  /**
   * Keeps the form after a declined payment, with advice for the shopper, who may try another card or way to pay. By default, the shopper returns to your page after each attempt. Has no effect if the merchant hides declines from browsers.
   * @default false
   */
  retryInPlace?: boolean;
  /** Function that creates the checkout when the shopper pays, and returns its id. Required if the script was loaded without a `checkoutId`. */
  createCheckout?: (this: WpwlOptions, order: { brand: string }) => string | PromiseLike<string>;
  /** Called when the forms are ready for input. The callback may move nodes and change options. Called again for forms that the page adds later. */
  onReady?: (this: WpwlOptions, forms: WpwlReadyForm[]) => void;
  /** Called after `onReady`, when the buttons of wallets are ready for use. */
  onReadyExternal?: (this: WpwlOptions) => void;
  /** Called once for each frame, when the frame is ready for input. */
  onReadyIframeCommunication?: (this: WpwlFrameThis, frame: { $iframe: WpwlElements }) => void;
  /** Called when a frame gets the focus. */
  onFocusIframeCommunication?: (this: WpwlFrameThis, frame: { $iframe: WpwlElements }) => void;
  /** Called when a frame loses the focus. */
  onBlurIframeCommunication?: (this: WpwlFrameThis, frame: { $iframe: WpwlElements }) => void;
  /** Called when the brand has changed, by selection or detection. */
  onChangeBrand?: (this: WpwlFormThis, brand: string) => void;
  /** Called when the card number fits other brands than before. The list is empty if the number fits no brand. */
  onDetectBrand?: (this: WpwlFormThis, brands: string[], activeBrand: string, container: string) => void;
  /** Called when the BIN is complete, if `brandDetectionType` is `binlist` or `bin`. */
  onDetectBin?: (this: WpwlFormThis, bin: { brands: string[]; activeBrand: string }) => void;
  /** Called when the field of the card number loses the focus. */
  onBlurCardNumber?: (this: WpwlFormThis, isValid: boolean) => void;
  /** Called when the field of the expiry date loses the focus. */
  onBlurExpiryDate?: (this: WpwlFormThis, isValid: boolean) => void;
  /** Called when the field of the card holder loses the focus. */
  onBlurCardHolder?: (this: WpwlFormThis, isValid: boolean) => void;
  /** Called when the field of the security code loses the focus. */
  onBlurSecurityCode?: (this: WpwlFormThis, isValid: boolean) => void;
  /** Called before a card is submitted. `false`, a promise of `false`, a rejected promise or `event.preventDefault()` cancels the submit. */
  onBeforeSubmitCard?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called like `onBeforeSubmitCard`. A fulfilled promise continues the submit, and a rejected promise cancels it. */
  onBeforeSubmitCardPromise?: (this: WpwlFormThis, event: Event) => PromiseLike<unknown>;
  /** Called before a stored card or account is submitted. Decides like `onBeforeSubmitCard`. */
  onBeforeSubmitOneClickCard?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called before a bank account is submitted. Decides like `onBeforeSubmitCard`. */
  onBeforeSubmitDirectDebit?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called before the shopper goes to the bank. Decides like `onBeforeSubmitCard`. */
  onBeforeSubmitOnlineTransfer?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called before a prepayment is submitted. Decides like `onBeforeSubmitCard`. */
  onBeforeSubmitPrepayment?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called before the shopper goes to the provider of an account. Decides like `onBeforeSubmitCard`. */
  onBeforeSubmitVirtualAccount?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called instead of `onBeforeSubmitVirtualAccount` for a brand of `inlineFlow`. */
  onBeforeSubmitInlineVirtualAccount?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Called with `useSummaryPage` when the gateway has kept the shopper's input. Receives the data that a summary may show. */
  onSaveTransactionData?: (this: WpwlFormThis, data: WpwlSavedData) => void;
  /** Called when the issuer's page is shown in your page. `this` is its frame. */
  onLoadThreeDIframe?: (this: HTMLIFrameElement) => void;
  /** Called when the shopper has closed the window of a payment method. The shopper may choose another one. */
  onLightboxCancel?: (this: WpwlOptions) => void;
  /** Called when the form was submitted. */
  onAfterSubmit?: (this: WpwlFormThis) => void;
  /** Called when a failure occurs. `error.name` names the kind of failure. */
  onError?: (this: WpwlOptions, error: WpwlError) => void;
}

/** Hints and messages by key. */
interface WpwlErrorMessages {
  /** "Please check the card number." */
  cardNumberError?: string;
  /** "Please enter the card number." */
  cardNumberEmpty?: string;
  /** "This number does not belong to the chosen brand." */
  cardBrandError?: string;
  /** "Please enter month and year." */
  expiryMonthError?: string;
  /** "This card has expired." */
  expiryYearError?: string;
  /** "Please check the code." */
  cvvError?: string;
  /** "Please enter the code." */
  cvvEmpty?: string;
  /** "The code is too short." */
  cvvShort?: string;
  /** "Please check the name on the card." */
  cardHolderError?: string;
  /** "Your payment is being processed." */
  processing?: string;
  /** "The payment could not be sent. Please check your connection and try again." */
  unsentError?: string;
  /** "No answer came, so it is not known whether the payment arrived. Please check your connection and try again. You will be charged only once." */
  communicationError?: string;
  /** "This payment can no longer be made.\nPlease return to the shop and start again." */
  checkoutError?: string;
  /** "This payment has already been made.\nPlease return to the shop." */
  paidError?: string;
  /** "It could not be removed. Please try again." */
  removeError?: string;
  /** "Please enter the name of the account holder." */
  accountHolderError?: string;
  /** "Please check the IBAN or account number." */
  accountNumberError?: string;
  /** "Please enter the IBAN." */
  accountNumberErrorEmpty?: string;
  /** "This IBAN is too short." */
  accountNumberErrorShort?: string;
  /** "This IBAN is not valid. Please compare it character by character." */
  accountNumberErrorDigits?: string;
  /** "No IBAN begins with these letters. Please check the first two." */
  accountNumberErrorCountry?: string;
  /** "Please check the BIC or bank code." */
  accountBankError?: string;
  /** "Please enter the name of your bank." */
  bankNameError?: string;
  /** "Please choose the country." */
  countryError?: string;
  /** "Please enter the e-mail or number of your account." */
  accountIdError?: string;
  /** "Please check the date of birth." */
  birthDateError?: string;
  /** "Please check the tax number." */
  taxNumberError?: string;
  /** "Please check the mobile number." */
  mobilePhoneNumberError?: string;
  /** "Please agree to the direct debit." */
  mandateError?: string;
  /** "Please enter your given name." */
  givenNameError?: string;
  /** "Please enter your surname." */
  surNameError?: string;
  /** "Please choose the country." */
  billingCountryError?: string;
  /** "Please enter the state or province (ten characters at most)." */
  billingStateError?: string;
  /** "Please enter the city." */
  billingCityError?: string;
  /** "Please enter the postcode." */
  billingPostCodeError?: string;
  /** "Please enter street and number." */
  billingStreetError?: string;
  /** "Please enter address line 2." */
  billingStreetError2?: string;
  /** "The payment form was changed by the page and cannot be sent.\nPlease reload the page." */
  formError?: string;
  /** Accepted; no form shows it. */
  pinError?: string;
  /** Accepted; no form shows it. */
  pinEmptyError?: string;
  /** Accepted; no form shows it. */
  cardBinError?: string;
}

/** Labels, placeholders and buttons by key. */
interface WpwlLabels extends WpwlErrorMessages {
  /** "The payment form could not be loaded. Please check your connection." */
  failed?: string;
  /** "Try again" */
  retry?: string;
  /** "Brand" */
  brand?: string;
  /** "Card Number" */
  cardNumber?: string;
  /** "Expiry Date" */
  expiryDate?: string;
  /** "Card holder" */
  cardHolder?: string;
  /** "CVV" */
  cvv?: string;
  /** "MM / YY" */
  mmyy?: string;
  /** "Pay now" */
  submit?: string;
  /** "Pay {amount}" */
  payAmount?: string;
  /** "Buy now" */
  orderNow?: string;
  /** "Save" */
  register?: string;
  /** "Account holder" */
  accountHolder?: string;
  /** "IBAN" */
  accountNumber?: string;
  /** "BIC or bank code" */
  accountBank?: string;
  /** "Bank" */
  bankName?: string;
  /** "Country" */
  country?: string;
  /** "E-mail or number of your account" */
  accountId?: string;
  /** "Date of birth" */
  birthDate?: string;
  /** "Tax number" */
  taxNumber?: string;
  /** "Mobile number" */
  mobilePhoneNumber?: string;
  /** "QR code" */
  qrCode?: string;
  /** "Given name" */
  givenName?: string;
  /** "Surname" */
  surname?: string;
  /** "Billing address" */
  billingAddress?: string;
  /** "Country" */
  billingCountryPlaceholder?: string;
  /** "State or province" */
  billingStatePlaceholder?: string;
  /** "City" */
  billingCityPlaceholder?: string;
  /** "Postcode" */
  billingPostCodePlaceholder?: string;
  /** "Street and number" */
  billingStreet1Placeholder?: string;
  /** "Address line 2 (optional)" */
  billingStreet2Placeholder?: string;
  /** "Address line 2" */
  billingStreet2PlaceholderMandatory?: string;
  /** "Pay with {brand}" */
  payWith?: string;
  /** "Save this card for my next purchases" */
  saveCard?: string;
  /** "Show other payment methods" */
  showOtherPaymentMethods?: string;
  /** "Payment method" */
  paymentMethods?: string;
  /** "Card" */
  cardMethod?: string;
  /** "Saved" */
  savedMethods?: string;
  /** "You will continue to {brand}." */
  continueAt?: string;
  /** "Expired" */
  expired?: string;
  /** "New expiry date" */
  newExpiryDate?: string;
  /** "Keep" */
  keep?: string;
  /** "Remove" */
  remove?: string;
  /** "Remove for good?" */
  removeSure?: string;
  /** "It has been removed." */
  removed?: string;
  /** "You authorise {creditor} to send instructions to your bank to debit your account by SEPA Direct Debit, and your bank to debit your account in accordance with these instructions. You are entitled to a refund from your bank under the terms of your agreement with it. A refund must be claimed within eight weeks of the date on which your account was debited." */
  mandate?: string;
  /** "Creditor identifier: {creditor}" */
  mandateCreditor?: string;
  /** "Mandate reference: {reference}" */
  mandateReference?: string;
  /** "You will receive the mandate reference separately." */
  mandateLater?: string;
  /** "Cancel" */
  cancel?: string;
  /** "Please continue in the window of {brand}." */
  popupOpen?: string;
  /** "Show the window" */
  popupShow?: string;
  /** "Confirmation by your bank" */
  challenge?: string;
  /** "The payment was cancelled. You can choose another way to pay." */
  cancelled?: string;
  /** "The last three digits on the back of your card." */
  cvvHint?: string;
  /** "The four digits on the front of your card, above the number." */
  cvvHintAmex?: string;
  /** "The last three digits on the back of your card. Some cards have none." */
  cvvHintMaestro?: string;
  /** "Back to the shop" */
  backToShop?: string;
  /** "The amount has changed. Please check it, and press the button again." */
  amountChanged?: string;
  /** "This takes a little longer. Please keep this page open." */
  processingLong?: string;
  /** "Your bank has not answered yet. You will be charged only once." */
  processingLonger?: string;
  /** "The amount is above the balance or the limit. Please use another card or another way to pay." */
  declinedFunds?: string;
  /** "Your bank could not match the details. Please check them, and try again." */
  declinedData?: string;
  /** "The payment was not confirmed with your bank. Please try again, or use another way to pay." */
  declinedAuthentication?: string;
  /** "The bank cannot be reached at the moment. Please try again in a few minutes." */
  declinedLater?: string;
  /** "The payment was declined. Please use another card or another way to pay." */
  declinedOther?: string;
  /** "{brand} is not available at the moment. Please choose another way to pay." */
  unavailable?: string;
  /** Accepted; no form shows it. */
  pin?: string;
  /** Accepted; no form shows it. */
  applyNow?: string;
  /** Accepted; no form shows it. */
  nextStep?: string;
  /** Accepted; no form shows it. */
  learnMore?: string;
  /** Accepted; no form shows it. */
  ddmmyyyy?: string;
  /** Accepted; no form shows it. */
  cvvHelp?: string;
}

/** Names of the errors. */
type WpwlErrorName =
  /** There is no such checkout, or it can no longer be paid. */
  | "InvalidCheckoutIdError"
  /** The payment request was not answered. */
  | "PciIframeSubmitError"
  /** A frame of the form is missing or does not respond. */
  | "PciIframeCommunicationError"
  /** Any other failure. The message describes it. */
  | "WidgetError";

/** A form in the list that `onReady` receives. */
interface WpwlReadyForm {
  /** The kind of form: the last part of its container's class. */
  containerKey: string;
  /** The card brands it offers. */
  ccMethods: string[];
}

/** Input of the shopper that a summary shows. */
interface WpwlSavedData {
  paymentBrand: string;
  card?: { last4Digits: string; holder?: string; expiryMonth: string; expiryYear: string };
  bankAccount?: { last4Digits?: string; holder?: string; iban?: string; bic?: string };
  virtualAccount?: { accountId: string; holder?: string };
}

/** A failure that `onError` receives. */
interface WpwlError extends Error {
  name: WpwlErrorName;
  /** For a WidgetError: `submit` if the form was being submitted, otherwise `load`. */
  event?: string;
  /** For a WidgetError: the brand of the form that failed. */
  brand?: string;
}

/** `this` of the callbacks of a form. */
interface WpwlFormThis extends WpwlOptions {
  $form: WpwlElements;
}

/** `this` of the callbacks of a frame. */
interface WpwlFrameThis extends WpwlFormThis {
  $iframe: WpwlElements;
}

/** A list of elements: a jQuery object if the page has jQuery, otherwise an object with these jQuery methods. */
interface WpwlElements extends ArrayLike<HTMLElement> {
  find(selector: string): WpwlElements;
  val(): string | undefined;
  val(value: string): WpwlElements;
  height(): number | undefined;
  height(value: number | string): WpwlElements;
}

/** A font that the frames may use. */
interface WpwlFont {
  /** The name that your style sheet uses in `font-family`. */
  family: string;
  /** Address of its file. */
  src: string;
  /** As in `@font-face`: `400`, `bold`, `100 900`. */
  weight?: string | number;
  /** As in `@font-face`: `normal`, `italic`. */
  style?: string;
}

/** CSS properties and values for the placeholder in each of the frames. */
interface WpwlFrameStyles {
  "card-number-placeholder"?: Record<string, string | number>;
  "cvv-placeholder"?: Record<string, string | number>;
}

/** Spinner shown while a payment is submitted. */
interface WpwlSpinner {
  lines?: number;
  length?: number;
  width?: number;
  radius?: number;
  scale?: number;
  speed?: number;
  rotate?: number;
  direction?: 1 | -1;
  color?: string | string[];
  fadeColor?: string;
  top?: string;
  left?: string;
  shadow?: boolean | string;
  zIndex?: number;
  position?: string;
  /** Additional classes, besides `spinner`. */
  className?: string;
  /** Rounds the ends of the lines if it is more than 0. */
  corners?: number;
  /** An animation of spin.js, such as `spinner-line-fade-quick`, or your own keyframes. */
  animation?: string;
}

/** The fields of the billing address. */
interface WpwlAddress {
  country?: string;
  state?: string;
  city?: string;
  postcode?: string;
  street1?: string;
  street2?: string;
}

/** The global object that the form's script creates. */
interface Wpwl {
  readonly apiVersion: string;
  /** The form's build, as in the addresses of its files. */
  readonly cacheVersion: string;
  /** The gateway's address, without a trailing slash. */
  readonly endpoint: string;
  readonly url: string;
  readonly isTestSystem?: boolean;
  readonly minified: boolean;
  readonly ndc?: string;
  readonly timestamp?: string;
  readonly checkout: WpwlCheckout;
  /** Sends the form in the container with this class, or with all of these classes joined by dots. */
  executePayment(container: string): void;
  /** Reloads the offered brands and stored accounts. Call it after your server has updated the checkout. */
  refresh(): void;
  /** Removes all forms, with everything that belongs to them. Afterwards the script may be loaded again. */
  unload(): void;
}

/** The checkout that the form pays. */
interface WpwlCheckout {
  readonly id: string;
  readonly amount?: string | null;
  readonly currency?: string | null;
  readonly resourcePath?: string;
  readonly endpoint: string;
  readonly config: {
    customRedirectPageConfig: { backgroundColor?: string; hyperlinkFontColor?: string; messageFontColor?: string };
  };
}

declare var wpwlOptions: WpwlOptions;
declare var wpwl: Wpwl | undefined;

interface Window {
  wpwlOptions?: WpwlOptions;
  wpwl?: Wpwl;
}
