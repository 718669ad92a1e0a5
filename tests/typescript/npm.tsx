// Merchants' pages with the npm package: everything here must compile, and what is marked must not.
import { loadPaymentWidgets, type PaymentWidgetsHandle, type PaymentWidgetsOptions } from "@tillgate/payment-widgets";
import { PaymentWidgets } from "@tillgate/payment-widgets/react";
import { PaymentWidgets as VueForm } from "@tillgate/payment-widgets/vue";
import { h } from "vue";

const checkout = { gateway: "https://pay.example/", checkoutId: "0123", integrity: "sha384-AAAA" };

const form: PaymentWidgetsHandle = loadPaymentWidgets({
  ...checkout,
  container: "#payment",
  brands: ["VISA", "MASTER"] as const,
  action: "https://shop.example/result",
  options: {
    locale: "de-AT",
    labels: { submit: "Bestellen" },
    onReady(forms) {
      this.showLabels = forms.some(({ ccMethods }) => ccMethods.length > 1);
    },
    onError: (error) => console.log(error.name, error.brand?.length),
    // The form passes these on, or ignores them.
    applePay: { displayName: "A shop", total: { label: "A shop" }, onCancel() {} },
    googlePay: { gatewayMerchantId: "0123" },
    paypal: { intent: "capture" },
    somethingNew: true,
  },
});
const ready: Promise<string[]> = form.ready.then((forms) => forms.flatMap((it) => it.ccMethods));
form.refresh();
form.update({ style: "plain" });
form.unload();

// Options of the declarations that the gateway serves, and options with others.
const served: WpwlOptions = { style: "card" };
const others: PaymentWidgetsOptions = { ...served, klarnaPayments: {} };
loadPaymentWidgets({ ...checkout, options: served });
loadPaymentWidgets({ gateway: checkout.gateway, options: { createCheckout: async () => "0123" } });

// A page that waits for its server has no checkout yet.
export function Page({ id, total }: { id: string | null; total: string }) {
  return (
    <PaymentWidgets gateway="https://pay.example/" checkoutId={id} options={others} revision={total} className="pay" />
  );
}
export const vuePage = () => h(VueForm, { ...checkout, brands: "VISA", options: { style: "logos" }, revision: 92 });

// @ts-expect-error the gateway is missing
loadPaymentWidgets({ checkoutId: "0123" });
// @ts-expect-error a number where the id is meant
loadPaymentWidgets({ gateway: "https://pay.example/", checkoutId: 7 });
// @ts-expect-error a setting that does not exist
loadPaymentWidgets({ ...checkout, checkoutID: "0123" });
// @ts-expect-error a look that does not exist
loadPaymentWidgets({ ...checkout, options: { style: "fancy" } });
// @ts-expect-error a label that does not exist
loadPaymentWidgets({ ...checkout, options: { labels: { sumbit: "Pay" } } });
// @ts-expect-error an error that does not exist
form.update({ onError: (error) => error.name === "CardError" });
// @ts-expect-error a component that chooses its container itself
export const wrongPage = <PaymentWidgets {...checkout} container="#payment" />;
// @ts-expect-error an id that is a number
export const wrongVuePage = h(VueForm, { gateway: "https://pay.example/", checkoutId: 7 });
