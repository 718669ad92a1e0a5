// Type declarations of the hosted payment form: the options object `wpwlOptions` and the global `wpwl`.
// Made from the table in shared/src/options. Take it into your project, and name it in "files" or "include" of its
// tsconfig.json or by `/// <reference path="wpwl.d.ts" />`. Missing declarations can be added: interfaces of one name
// are joined.

/** Look, texts and behaviour of the form. Set `window.wpwlOptions` before the form's script runs. */
interface WpwlOptions {
  /**
   * Language, alone or with a country: `de`, `de-AT`. BCP 47 names do as well (`cs`, `da`, `zh`). A region without texts of its own gets its language, an unknown language English.
   * @default "en"
   */
  locale?: "en" | "de" | "fr" | "es" | "it" | "nl" | "dk" | "fi" | "se" | "tr" | "ja" | "sl" | "pt" | "pl" | "cz" | "hu" | "bg" | "ro" | "ru" | "cn" | "gr" | "no" | "sk" | "ar" | "ko" | (string & {});
  /**
   * The look: `card` is complete, `plain` only lays out and shows states, `none` brings no style sheet at all; `logos` first shows the brands' logos to choose from.
   * @default "card"
   */
  style?: "card" | "plain" | "logos" | "none";
  /** Your own words for labels, placeholders and buttons, by key. `pin`, `applyNow`, `nextStep`, `learnMore`, `ddmmyyyy` and `cvvHelp` are accepted, but no form shows them. */
  labels?: WpwlLabels;
  /** Your own words for hints and messages, by key. `pinError`, `pinEmptyError` and `cardBinError` are accepted, but no form says them. */
  errorMessages?: WpwlErrorMessages;
  /**
   * Labels above the fields. Hidden ones are still read to those who listen.
   * @default true
   */
  showLabels?: boolean;
  /**
   * Examples inside empty fields.
   * @default true
   */
  showPlaceholders?: boolean;
  /** Spinner shown while a payment is submitted. Takes the options of spin.js (pixels, turns per second). Default: as the theme. */
  spinner?: WpwlSpinner;
  /**
   * The format of the brands' images. Accepted; the form's are drawn by its style sheet and sharp at every size.
   * @default "svg"
   */
  imageStyle?: "svg";
  /** The field that has the caret when the form stands, by its name. */
  autofocus?: "card.number" | "card.holder" | "card.expiry" | "card.cvv" | (string & {});
  /** Styles of the placeholders in the two frames. Everything else there follows the frame's own element in your page. */
  iframeStyles?: WpwlFrameStyles;
  /** The same under its other name. */
  iframeStyle?: WpwlFrameStyles;
  /**
   * Asks for the security code; without it the field is not shown.
   * @default true
   */
  requireCvv?: boolean;
  /**
   * Accepts an empty security code. One that is typed must be right.
   * @default false
   */
  allowEmptyCvv?: boolean;
  /**
   * Shows dots in place of the security code.
   * @default false
   */
  maskCvv?: boolean;
  /**
   * Says where the code stands on the card while its field is in use.
   * @default false
   */
  showCVVHint?: boolean;
  /**
   * Groups the digits of the card number as on the card.
   * @default true
   */
  numberFormatting?: boolean;
  /**
   * Chooses the brand by the number as it is typed. What the shopper chose by hand stays while it fits.
   * @default false
   */
  brandDetection?: boolean;
  /** Which brand is chosen first where a number fits several; by default the order in which the brands are offered. */
  brandDetectionPriority?: string[];
  /**
   * Method of brand detection; with `binlist` or `bin`, `onDetectBin` is called as well.
   * @default "regex"
   */
  brandDetectionType?: "regex" | "binlist" | "bin";
  /**
   * Accepts a month that is over.
   * @default false
   */
  disableCardExpiryDateValidation?: boolean;
  /**
   * Enter in a field does not pay.
   * @default false
   */
  disableSubmitOnEnter?: boolean;
  /**
   * Puts the holder and the expiry date into frames as well, so that nothing of a card is typed into your page. `iframeStyles` for the card number count there too; with `forceCardHolderEqualsBillingName` the two names stay in the page.
   * @default false
   */
  enableSAQACompliance?: boolean;
  /**
   * Without it the card holder must be filled in.
   * @default true
   */
  allowEmptyCardHolderName?: boolean;
  /**
   * Two fields, given name and surname, in place of the one for the card holder. They are posted as the customer's name too.
   * @default false
   */
  forceCardHolderEqualsBillingName?: boolean;
  /** Asks for the billing address; an object fills fields in beforehand, `{}` none of them. */
  billingAddress?: boolean | WpwlAddress;
  /** Which fields of the billing address must be filled in. */
  mandatoryBillingFields?: { [field in keyof WpwlAddress]?: boolean };
  /**
   * Asks for the day of birth in the forms of brands that lend money: invoices and instalments. Where the checkout has no names of the customer, those are asked for too.
   * @default false
   */
  showBirthDate?: boolean;
  /**
   * Asks for the tax number in the forms of brands that are paid by a voucher: `BOLETO`, `OXXO` and others of their kind. Names as above.
   * @default false
   */
  showTaxNumberField?: boolean;
  /** The countries to choose from in the form of `SOFORTUEBERWEISUNG`, each by its code with its name; by default all of them. */
  sofortCountries?: Record<string, string>;
  registrations?: {
    /**
     * Asks for the security code of a stored card.
     * @default false
     */
    requireCvv?: boolean;
    /**
     * Hides the other forms until the shopper asks for them.
     * @default false
     */
    hideInitialPaymentForms?: boolean;
    /** A box under the card form by which the shopper may have the card stored; `"checked"` ticks it beforehand. */
    offer?: boolean | "checked";
  };
  /**
   * Shows the checkout's stored cards and accounts.
   * @default true
   */
  showOneClickWidget?: boolean;
  /**
   * No button that leads from stored cards to the other forms.
   * @default false
   */
  hideOtherPaymentButton?: boolean;
  /** Address to which the shopper returns after the payment. Overrides the form element's `action`. */
  shopperResultUrl?: string;
  /** The window or frame, by its name, in which a card's 3-D Secure page opens: `_top` is the whole tab, any other name a frame of yours. Without it the page opens in place of the form. Cards only. */
  paymentTarget?: string;
  browser?: {
    /** The size of the issuer's page: 250 × 400, 390 × 400, 500 × 600, 600 × 400 pixels, or the whole screen; by default what the form's width has room for. */
    threeDChallengeWindow?: 1 | 2 | 3 | 4 | 5;
  };
  /** The size of the frame in your page that shows the issuer's, in place of the window's. */
  threeDIframeSize?: { width?: string | number; height?: string | number };
  /** The window or frame in which the result page opens, the whole tab by default: also after a challenge, which leaves your page in place then. Heeded together with `paymentTarget`. */
  shopperResultTarget?: string;
  /** Brands whose page opens in a frame of the form, as far as the page lets itself be framed, and not in place of yours or in a window. */
  inlineFlow?: string[];
  /**
   * Does not pay at once: the gateway keeps what the shopper filled in, `onSaveTransactionData` is called, and your server pays with `POST /v1/checkouts/{id}/confirm` when the shopper has agreed on your page.
   * @default false
   */
  useSummaryPage?: boolean;
  /** Creates the checkout when the shopper pays, and returns its id. Required if the script was loaded without a `checkoutId`. */
  createCheckout?: (this: WpwlOptions, order: { brand: string }) => string | PromiseLike<string>;
  /** The forms stand and can be used. Nodes may be moved, and options changed. Called again for forms that the page adds later. */
  onReady?: (this: WpwlOptions, forms: WpwlReadyForm[]) => void;
  /** The buttons of wallets stand and can be used; after `onReady`. */
  onReadyExternal?: (this: WpwlOptions) => void;
  /** A frame can be used; once for each. */
  onReadyIframeCommunication?: (this: WpwlFrameThis, frame: { $iframe: WpwlElements }) => void;
  /** The caret came into a frame. */
  onFocusIframeCommunication?: (this: WpwlFrameThis, frame: { $iframe: WpwlElements }) => void;
  /** The caret left a frame. */
  onBlurIframeCommunication?: (this: WpwlFrameThis, frame: { $iframe: WpwlElements }) => void;
  /** The brand has changed, chosen or detected. */
  onChangeBrand?: (this: WpwlFormThis, brand: string) => void;
  /** The number fits other brands than before; the list is empty where it fits none. */
  onDetectBrand?: (this: WpwlFormThis, brands: string[], activeBrand: string, container: string) => void;
  /** The first digits are known, with `brandDetectionType: "binlist"`. */
  onDetectBin?: (this: WpwlFormThis, bin: { brands: string[]; activeBrand: string }) => void;
  /** The card number was left. */
  onBlurCardNumber?: (this: WpwlFormThis, isValid: boolean) => void;
  /** The expiry date was left. */
  onBlurExpiryDate?: (this: WpwlFormThis, isValid: boolean) => void;
  /** The holder's name was left. */
  onBlurCardHolder?: (this: WpwlFormThis, isValid: boolean) => void;
  /** The security code was left. */
  onBlurSecurityCode?: (this: WpwlFormThis, isValid: boolean) => void;
  /** Before a card is sent. `false`, a promise of `false`, a rejected promise or `event.preventDefault()` stop; everything else goes on. */
  onBeforeSubmitCard?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** The same with a promise: kept goes on, rejected stops. */
  onBeforeSubmitCardPromise?: (this: WpwlFormThis, event: Event) => PromiseLike<unknown>;
  /** Before a stored card or account is used; as `onBeforeSubmitCard`. */
  onBeforeSubmitOneClickCard?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Before a bank account is sent; as `onBeforeSubmitCard`. */
  onBeforeSubmitDirectDebit?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Before the shopper goes to the bank; as `onBeforeSubmitCard`. */
  onBeforeSubmitOnlineTransfer?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Before a prepayment is ordered; as `onBeforeSubmitCard`. */
  onBeforeSubmitPrepayment?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** Before the shopper goes to the provider of an account; as `onBeforeSubmitCard`. */
  onBeforeSubmitVirtualAccount?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** The same for a brand of `inlineFlow`. */
  onBeforeSubmitInlineVirtualAccount?: (this: WpwlFormThis, event: Event) => boolean | void | PromiseLike<boolean | void>;
  /** With `useSummaryPage`: what the shopper filled in is kept, and this much of it may be shown. */
  onSaveTransactionData?: (this: WpwlFormThis, data: WpwlSavedData) => void;
  /** The issuer's page is shown in your page; `this` is its frame. */
  onLoadThreeDIframe?: (this: HTMLIFrameElement) => void;
  /** The shopper closed the window of a payment method. Another may be chosen. */
  onLightboxCancel?: (this: WpwlOptions) => void;
  /** The form was sent. */
  onAfterSubmit?: (this: WpwlFormThis) => void;
  /** Something failed; `error.name` says what. */
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
  /** "The payment form was changed by the page and cannot be sent.\nPlease reload the page." */
  formError?: string;
  /** "{brand} is not available at the moment. Please choose another way to pay." */
  unavailable?: string;
  /** "It could not be removed. Please try again." */
  removeError?: string;
  /** "Please enter the name of the account holder." */
  accountHolderError?: string;
  /** "Please check the IBAN or account number." */
  accountNumberError?: string;
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
  /** "The last three digits on the back of your card." */
  cvvHint?: string;
  /** "The four digits on the front of your card, above the number." */
  cvvHintAmex?: string;
  /** "The last three digits on the back of your card. Some cards have none." */
  cvvHintMaestro?: string;
  /** "MM / YY" */
  mmyy?: string;
  /** "Pay now" */
  submit?: string;
  /** "Save" */
  register?: string;
  /** "Account holder" */
  accountHolder?: string;
  /** "IBAN or account number" */
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
  /** "Remove" */
  remove?: string;
  /** "Remove for good?" */
  removeSure?: string;
  /** "It has been removed." */
  removed?: string;
  /** "You authorise the shop to collect this payment from your account by SEPA Direct Debit, and your bank to carry it out. Within eight weeks of the debit you can ask your bank for a refund." */
  mandate?: string;
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
  /** A frame of the form is missing or silent. */
  | "PciIframeCommunicationError"
  /** Everything else; the message says what. */
  | "WidgetError";

/** One form, as `onReady` lists it. */
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

/** A failure, as `onError` gets it. */
interface WpwlError extends Error {
  name: WpwlErrorName;
  /** Of a WidgetError: what was under way. */
  event?: string;
  /** Of a WidgetError: the brand that it is about. */
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

/** A list of elements: jQuery's own where the page has jQuery, otherwise with these few of its words. */
interface WpwlElements extends ArrayLike<HTMLElement> {
  find(selector: string): WpwlElements;
  val(): string | undefined;
  val(value: string): WpwlElements;
  height(): number | undefined;
  height(value: number | string): WpwlElements;
}

/** Names and values of CSS, for the placeholder in each of the frames. */
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
  /** Classes of yours, beside `spinner`. */
  className?: string;
  /** Round ends of the lines, where it is more than 0. */
  corners?: number;
  /** `spinner-line-fade-quick` and its like, or keyframes of yours. */
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

/** The global that the form's script makes. */
interface Wpwl {
  readonly apiVersion: string;
  /** The form's build, as in the addresses of its files. */
  readonly cacheVersion: string;
  /** The gateway's address, without a slash at its end. */
  readonly endpoint: string;
  readonly url: string;
  readonly isTestSystem?: boolean;
  readonly minified: boolean;
  readonly ndc?: string;
  readonly timestamp?: string;
  readonly checkout: WpwlCheckout;
  /** Sends the form in the container with this class, or with all of these classes joined by dots. */
  executePayment(container: string): void;
  /** Asks again which brands and stored accounts are offered. Call it after your server has updated the checkout. */
  refresh(): void;
  /** Takes all forms away, with everything that belongs to them. The script may then be loaded again. */
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
