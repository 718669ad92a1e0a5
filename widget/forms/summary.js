// A summary page of the merchant's: what the shopper filled in is kept by the gateway, and the merchant's server pays with
// it when the shopper has agreed there.

const summarizes = () => isOn(options().useSummaryPage) && purpose === "payment";

const { allow, leave } = state;
state.allow = async (form, brand) => {
  const checkout = await allow(form, brand);
  const before = findIn(form, '[name="useSummaryPage"]');
  if (before) before.remove();
  if (checkout && summarizes()) nativeCall(form.form, "append", make("input", "", { type: "hidden", name: "useSummaryPage", value: "true" }));
  return checkout;
};
// Nobody leaves: what comes next is the merchant's to show.
state.leave = (form, answer, popup) => {
  if (answer.flow !== "saved") return leave(form, answer, popup);
  notify("onSaveTransactionData", [answer.saved], form);
  return false;
};
