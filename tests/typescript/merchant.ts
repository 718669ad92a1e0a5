// A merchant's page in TypeScript: everything here must compile, and what is marked must not.
// `npx tsc --strict --noEmit` runs over it together with the declarations that the gateway serves.

var wpwlOptions: WpwlOptions = {
  locale: "de-AT",
  style: "plain",
  labels: { submit: "Bestellen", cvvError: "Bitte prüfen" },
  errorMessages: { cardNumberError: "Bitte prüfen Sie die Nummer." },
  brandDetection: true,
  brandDetectionPriority: ["MAESTRO", "MASTER"],
  requireCvv: false,
  shopperResultUrl: "https://shop.example/result",
  onReady(forms) {
    const brands: string[] = forms.flatMap((form) => form.ccMethods);
    this.showLabels = brands.length > 1;
  },
  onChangeBrand: (brand) => console.log(brand.toLowerCase()),
  onBlurCardNumber: (isValid) => void (isValid || console.log("not yet")),
  onBeforeSubmitCard(event) {
    event.preventDefault();
    return false;
  },
  onError(error) {
    switch (error.name) {
      case "InvalidCheckoutIdError":
      case "PciIframeCommunicationError":
      case "PciIframeSubmitError":
      case "WidgetError":
        return console.log(error.message);
      default:
        // Nothing is left.
        const never: never = error.name;
        return never;
    }
  },
};

// As shops do it: the frame's height, a field's own check, an address that is known.
window.wpwlOptions = {
  billingAddress: { country: "DE", city: "Hamburg" },
  mandatoryBillingFields: { country: true, street2: false },
  registrations: { requireCvv: true, hideInitialPaymentForms: true },
  iframeStyles: { "cvv-placeholder": { color: "#999", "font-size": "16px" } },
  onReadyIframeCommunication(frame) {
    this.$iframe.height(40);
    frame.$iframe[0].classList.add("mine");
  },
  onBeforeSubmitCard() {
    return this.$form.find(".wpwl-control-cardHolder").val() !== "";
  },
  createCheckout: ({ brand }) => fetch(`/checkout?brand=${brand}`).then((answer) => answer.text()),
};

// A brand that was taken away meanwhile: the shop says so, and asks for another one.
window.wpwlOptions = {
  onError: (error) => {
    const brand: string | undefined = error.brand;
    if (error.name === "WidgetError" && brand) console.log(error.event?.length, brand.toLowerCase());
  },
};

// Assigned late, changed late, answered late.
window.wpwlOptions = { onBeforeSubmitCard: async () => (await fetch("/stock")).ok };
window.wpwlOptions.locale = "ar";
window.wpwlOptions = { onBeforeSubmitCard: () => {} };

// A single-page application.
const leave = () => {
  window.wpwl?.unload();
  document.querySelectorAll("script[src*='paymentWidgets.js']").forEach((script) => script.remove());
};
const updateOrder = () => fetch("/order", { method: "POST" }).then(() => window.wpwl?.refresh());
const pay = () => wpwl?.executePayment("wpwl-container-card");
if (wpwl) {
  wpwl.checkout.config.customRedirectPageConfig.backgroundColor = "#fff";
  const id: string = wpwl.checkout.id;
}

// @ts-expect-error an option that does not exist
window.wpwlOptions = { brandDetecton: true };
// @ts-expect-error a look that does not exist
window.wpwlOptions = { style: "fancy" };
// @ts-expect-error a text for what is a switch
window.wpwlOptions = { showLabels: "false" };
// @ts-expect-error a label that does not exist
window.wpwlOptions = { labels: { sumbit: "Pay" } };
// @ts-expect-error a callback that is none
window.wpwlOptions = { onReady: "ready" };
// @ts-expect-error an answer that decides nothing
window.wpwlOptions = { onBeforeSubmitCard: () => "yes" };
// @ts-expect-error an argument of another type
window.wpwlOptions = { onChangeBrand: (brand: number) => {} };
// @ts-expect-error an error that does not exist
window.wpwlOptions = { onError: (error) => error.name === "CardError" };
// @ts-expect-error an error that is about no brand
window.wpwlOptions = { onError: (error) => error.brand.toLowerCase() };
// @ts-expect-error the form asks the gateway what is offered
wpwl!.refresh(["VISA"]);
// @ts-expect-error a field that no address has
window.wpwlOptions = { billingAddress: { town: "Hamburg" } };
// @ts-expect-error an object where its members are meant
window.wpwlOptions = { registrations: true };
// @ts-expect-error what the form reports cannot be set
wpwl!.endpoint = "https://elsewhere.example";
// @ts-expect-error a container is named by its class
wpwl!.executePayment(1);
