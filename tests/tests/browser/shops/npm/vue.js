// A shop in Vue with its router and the package for Vue. The router keeps the component for all checkouts. `shop.revise`
// is the shop's notice that its server has changed the checkout.
import { KeepAlive, createApp, h, ref } from "vue";
import { RouterView, createRouter, createWebHashHistory } from "vue-router";
import { PaymentWidgets } from "@tillgate/payment-widgets/vue";

const Cart = { render: () => h("h1", "Cart") };
const Pay = {
  props: ["number"],
  setup(props) {
    const revision = ref(0);
    shop.revise = () => {
      revision.value += 1;
    };
    return () => {
      const [number, at] = [props.number, revision.value];
      const options = {
        style: "plain",
        onReady: () => witness.note("ready", `${number} at ${at}`),
        onError: (error) => witness.note("failed", error.name),
        onAfterSubmit: () => witness.note("submitted", `${number} at ${at}`),
        applePay: { displayName: "A shop" },
      };
      const checkout = { gateway: shop.gateway, checkoutId: shop.checkouts[number] };
      const page = { action: "/result?own=2", brands: ["VISA", "MASTER"] };
      return h(PaymentWidgets, { ...checkout, ...page, options, revision: at });
    };
  },
};

const routes = [
  { path: "/pay/:number", component: Pay, props: true },
  { path: "/:rest(.*)*", component: Cart },
];
const router = createRouter({ history: createWebHashHistory(), routes });
// With `?kept` in the address, pages stay alive while others are shown.
const keep = { default: ({ Component }) => h(KeepAlive, null, { default: () => Component }) };
const slots = location.search === "?kept" ? keep : undefined;
createApp({ render: () => h(RouterView, null, slots) }).use(router).mount("main");
