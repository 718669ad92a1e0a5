import type { DefineComponent } from "vue";
import type { PaymentWidgetsSettings } from "./index.js";

/** Properties of the component. It shows no form while it has neither `checkoutId` nor `options.createCheckout`. */
export interface PaymentWidgetsProps extends Omit<PaymentWidgetsSettings, "container"> {
  /**
   * Any value that changes with the checkout, such as its amount. If it changes, the form reads the checkout again.
   * Change it after your server has updated the checkout.
   */
  revision?: string | number | null;
}

/** The payment form. Other options keep the form; every other change loads another one. */
export declare const PaymentWidgets: DefineComponent<PaymentWidgetsProps>;
