// Hands the token, or that there is none, to the form's hidden frame beside this one.
const form = new URLSearchParams(location.search).get("form");
const hand = (token) => {
  for (let i = 0; i < parent.length; i++) {
    try {
      const { wallet } = parent[i].tillgate;
      if (wallet) return wallet(form, token);
    } catch (foreign) {
      // Another origin's frame, or one of ours that takes none.
    }
  }
};
const made = document.getElementById("token");
if (made) hand(made.textContent);
const cancel = document.getElementById("cancel");
if (cancel) cancel.onclick = () => hand("");
addEventListener("keydown", ({ key }) => key === "Escape" && hand(""));
