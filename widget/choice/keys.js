// Keys that move the choice: arrows, and the first and last tab.

// Returns the position to which a key moves the choice, or -1 for another key. Rows stand below each other and tabs
// beside each other, in the direction of the text.
export function stepOf(event, at, count, hasTabs) {
  if (at < 0 || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return -1;
  const forward = getComputedStyle(event.target).direction === "rtl" ? -1 : 1;
  const steps = { __proto__: null, ArrowRight: forward, ArrowLeft: -forward };
  if (hasTabs && event.key === "Home") return 0;
  if (hasTabs && event.key === "End") return count - 1;
  if (!hasTabs) Object.assign(steps, { ArrowDown: 1, ArrowUp: -1 });
  const step = steps[event.key];
  return step ? (at + step + count) % count : -1;
}
