// Spaces that the form puts between the groups of a number while it is typed.

// Shows a text in an input. The caret, which was behind so many characters that are no spaces, stays there.
export function showGroups(control, shown, before) {
  if (shown === control.value) return;
  control.value = shown;
  let place = 0;
  for (; before > 0 && place < shown.length; place++) if (shown[place] !== " ") before--;
  if (control.matches(":focus")) control.setSelectionRange(place, place);
}

// Lets Backspace behind a space, and Delete before one, remove the character beyond it.
export function skipSpace({ inputType, target }) {
  const { selectionStart: at, selectionEnd, value } = target;
  if (at !== selectionEnd) return;
  if (inputType === "deleteContentBackward" && value[at - 1] === " ") target.setSelectionRange(at - 1, at - 1);
  if (inputType === "deleteContentForward" && value[at] === " ") target.setSelectionRange(at + 1, at + 1);
}
