// A shop in React, in strict mode, with the package for React. `shop.revise` is the shop's notice that its server has
// changed the checkout.
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { PaymentWidgets } from "@tillgate/payment-widgets/react";

function Pay({ number }) {
  const [revision, setRevision] = useState(0);
  useEffect(() => {
    shop.revise = () => setRevision((last) => last + 1);
  }, []);
  // Other objects and functions at each rendering, as in most shops.
  const options = {
    style: "plain",
    onReady: () => witness.note("ready", `${number} at ${revision}`),
    onError: (error) => witness.note("failed", error.name),
    onAfterSubmit: () => witness.note("submitted", `${number} at ${revision}`),
    applePay: { displayName: "A shop" },
  };
  return (
    <PaymentWidgets
      gateway={shop.gateway}
      checkoutId={shop.checkouts[number]}
      action="/result?own=2"
      brands={["VISA", "MASTER"]}
      options={options}
      revision={revision}
    />
  );
}

// Creates the checkout itself. Strict mode creates two, and the second one is shown.
function PayNew() {
  const [number, setNumber] = useState(null);
  useEffect(() => {
    shop.createCheckout().then(setNumber);
  }, []);
  return <Pay number={number} />;
}

function App() {
  const [place, setPlace] = useState(location.hash);
  useEffect(() => {
    const follow = () => setPlace(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  if (place === "#/new") return <PayNew />;
  const [, number] = /^#\/pay\/(\d)/.exec(place) || [];
  return number ? <Pay number={number} /> : <h1>Cart</h1>;
}

createRoot(document.querySelector("main")).render(<StrictMode><App /></StrictMode>);
