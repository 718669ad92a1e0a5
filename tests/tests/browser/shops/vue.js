// A shop in Vue with its router, which keeps a component for all checkouts: only the script changes.
import { createApp, h, onBeforeUnmount, watch } from "vue";
import { RouterView, createRouter, createWebHashHistory } from "vue-router";

const Cart = { render: () => h("h1", "Cart") };
const Pay = {
  props: ["number"],
  setup(props) {
    let script;
    const replaceScript = (number) => {
      if (script) script.remove();
      script = shop.makeScript(number);
      document.body.append(script);
    };
    watch(() => props.number, replaceScript, { immediate: true, flush: "post" });
    onBeforeUnmount(() => script.remove());
    return () => h("form", { class: "paymentWidgets", action: "/result?own=2", "data-brands": "VISA MASTER" });
  },
};

const routes = [
  { path: "/pay/:number", component: Pay, props: true },
  { path: "/:rest(.*)*", component: Cart },
];
const router = createRouter({ history: createWebHashHistory(), routes });
createApp({ render: () => h(RouterView) }).use(router).mount("main");
