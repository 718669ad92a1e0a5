// A shop in React, in strict mode. As in most guides, the form is an element of the component, and an effect adds the
// script. Strict mode mounts everything twice.
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

function Pay({ number }) {
  useEffect(() => {
    const script = shop.makeScript(number);
    document.body.append(script);
    return () => script.remove();
  }, [number]);
  return <form className="paymentWidgets" action="/result?own=2" data-brands="VISA MASTER"></form>;
}

// Creates the checkout itself, so in strict mode there are two of them, and the script of each is inserted.
function PayNew() {
  const [number, setNumber] = useState(null);
  useEffect(() => {
    shop.createCheckout().then(setNumber);
  }, []);
  return number === null ? <p>One moment</p> : <Pay number={number} />;
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
