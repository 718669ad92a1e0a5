// Names the bank of an IBAN by the bank's code in it, if the table of the largest banks (banks.toml) knows the code.
// Nothing is asked of the gateway for it, and other banks have no name.

// The table: in each line a country, the place and the length of its codes, and the banks with the beginnings of their
// codes, such as "IE:4:4:AIB=AIBK|Barclays=BARC".
const COUNTRIES = "%BANKS%".split("\n").map((line) => line.split(":"));

// Returns the number of characters by which a code is one of those that a pattern stands for, and 0 for another code.
function weigh(pattern, code) {
  const [first, last] = pattern.split("-");
  const start = code.slice(0, first.length);
  if (last) return start >= first && start <= last ? first.length : 0;
  let weight = 0;
  for (let at = 0; at < first.length; at++) {
    if (first[at] === "?") continue;
    if (first[at] !== code[at]) return 0;
    weight++;
  }
  return weight;
}

// Returns the name of the bank of an account. Empty if its code is not complete, or not in the table.
export function findBank(account) {
  const row = COUNTRIES.find(([country]) => account.startsWith(country));
  if (!row) return "";
  const [place, length] = [Number(row[1]), Number(row[2])];
  const code = account.slice(place, place + length);
  if (code.length < length) return "";
  let [best, found] = [0, ""];
  for (const bank of row[3].split("|")) {
    const [name, patterns] = bank.split("=");
    // The code that says the most decides: a single bank in the middle of a group has its own name.
    const weight = Math.max(...patterns.split(" ").map((pattern) => weigh(pattern, code)));
    if (weight > best) [best, found] = [weight, name];
  }
  return found;
}
