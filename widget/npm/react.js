"use client";
// The payment form as a component of React 18 and later.

import { createElement, useEffect, useRef } from "react";
import { loadPaymentWidgets } from "./index.js";

export function PaymentWidgets({ gateway, checkoutId, integrity, action, brands, options, revision, id, className }) {
  const container = useRef(null);
  const form = useRef(null);
  const shownRevision = useRef(revision);
  const brandList = [].concat(brands || []).join(" ");
  const isWanted = Boolean(checkoutId || (options && options.createCheckout));

  useEffect(() => {
    if (!isWanted) return undefined;
    const settings = { gateway, checkoutId, integrity, action, brands: brandList, options };
    const handle = loadPaymentWidgets({ ...settings, container: container.current });
    form.current = handle;
    // A form that loads now reads the latest state of the checkout.
    shownRevision.current = revision;
    return () => {
      form.current = null;
      handle.unload();
    };
    // Other options and revisions keep the form.
  }, [isWanted, gateway, checkoutId, integrity, action, brandList]);

  // Callbacks of the latest render see its state.
  useEffect(() => {
    if (form.current) form.current.update(options);
  });

  useEffect(() => {
    if (shownRevision.current === revision) return;
    shownRevision.current = revision;
    if (form.current) form.current.refresh();
  }, [revision]);

  // React never looks into this element, so the form may fill it.
  return createElement("div", { ref: container, id, className });
}
