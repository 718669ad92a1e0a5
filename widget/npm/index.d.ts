/// <reference path="./wpwl.d.ts" />

/** Options of the form. Known ones are checked; others, such as the objects of wallets, are passed on to the form. */
export type PaymentWidgetsOptions = WpwlOptions & { [option: string]: any };

/** A checkout and its place in the page. */
export interface PaymentWidgetsSettings {
  /** Address of the gateway, of `https` or `http`: `https://pay.example/`. */
  gateway: string;
  /** Id of the checkout. May be left out if the options have `createCheckout`. */
  checkoutId?: string | null;
  /** Hash of the form's script, which the gateway returns for a checkout that is created with `integrity=true`. */
  integrity?: string | null;
  /** Options of the form. Without them, those in the page's `wpwlOptions` apply. */
  options?: PaymentWidgetsOptions | null;
  /**
   * Element that the form fills, or a selector of one. It must not be in a shadow root. Without a container, the form
   * replaces the page's own `form.paymentWidgets`.
   */
  container?: Element | string | null;
  /** Address to which the shopper returns after the payment, unless your server has set `shopperResultUrl`. */
  action?: string | null;
  /** Brands to offer, in this order: `"VISA MASTER"` or a list. */
  brands?: string | readonly string[] | null;
}

/** The form in the page. */
export interface PaymentWidgetsHandle {
  /** Id of the checkout; empty if the form creates the checkout itself. */
  readonly checkoutId: string;
  /**
   * Fulfilled with the forms when these are ready for input. Rejected with the first failure before that, and with an
   * `AbortError` if the form is unloaded earlier. It may be ignored: `onError` gets the same failures.
   */
  readonly ready: Promise<WpwlReadyForm[]>;
  /** Replaces the options. The form reads them when it needs them, so callbacks change at once. */
  update(options?: PaymentWidgetsOptions | null): void;
  /** Reads the checkout again, after your server has updated it. During loading, waits until the form is ready. */
  refresh(): void;
  /** Removes the form. A payment that was already sent is completed by the gateway. Can be called repeatedly. */
  unload(): void;
}

/**
 * Shows the form of a checkout. A page has one form: the last call wins, and the earlier form is removed. A second call
 * with the same settings returns the same handle, with the new options.
 *
 * Throws a `TypeError` that names the wrong setting, and on a server, where only the import is possible.
 */
export declare function loadPaymentWidgets(settings: PaymentWidgetsSettings): PaymentWidgetsHandle;
