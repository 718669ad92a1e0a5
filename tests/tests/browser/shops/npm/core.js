// A page that uses the package without a framework. The test calls the function.
import { loadPaymentWidgets } from "@tillgate/payment-widgets";

window.load = loadPaymentWidgets;
