// The payment form as a component of Vue 3.

import { defineComponent, h, onActivated, onBeforeUnmount, onDeactivated, onMounted, ref, toRaw, watch } from "vue";
import { loadPaymentWidgets } from "./index.js";

export const PaymentWidgets = defineComponent({
  name: "PaymentWidgets",
  props: {
    gateway: { type: String, required: true },
    checkoutId: String,
    integrity: String,
    action: String,
    brands: [String, Array],
    options: Object,
    revision: [String, Number],
  },
  setup(props) {
    const container = ref(null);
    let form = null, isShown = false;

    const isWanted = () => Boolean(props.checkoutId || (props.options && props.options.createCheckout));
    const unload = () => {
      if (form) form.unload();
      form = null;
    };
    const load = () => {
      if (!isShown) return;
      if (!isWanted()) return unload();
      const { gateway, checkoutId, integrity, action } = props;
      const [brands, options] = [props.brands, props.options].map(toRaw);
      form = loadPaymentWidgets({ gateway, checkoutId, integrity, action, brands, options, container: container.value });
    };
    const show = () => {
      isShown = true;
      load();
    };
    const hide = () => {
      isShown = false;
      unload();
    };
    onMounted(show);
    onBeforeUnmount(hide);
    // KeepAlive takes the element out of the page, and the form with it.
    onActivated(show);
    onDeactivated(hide);

    const readKey = () => {
      const { gateway, checkoutId, integrity, action, brands } = props;
      return JSON.stringify([isWanted(), gateway, checkoutId, integrity, action, brands]);
    };
    // A form that loads now reads the latest state of the checkout, so it needs no refresh.
    watch(
      [readKey, () => props.revision],
      ([key], [earlierKey]) => {
        if (key !== earlierKey) load();
        else if (form) form.refresh();
      },
      { flush: "post" },
    );
    watch(
      () => props.options,
      (options) => {
        if (form) form.update(toRaw(options));
      },
      { deep: true, flush: "post" },
    );

    return () => h("div", { ref: container });
  },
});
