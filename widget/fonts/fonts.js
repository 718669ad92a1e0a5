// Gives the frames of the form the fonts of the page (option `fonts`): loads them where the page loads its own, and hands
// their bytes to the frames, which load nothing for a page. Only pages with the option load this script.

import { copyBare, globalOf, listen, nativeCall, nativeGet, readMember, unlisten } from "../loader/native.js";

// Number of fonts, and bytes of each. Frames take no larger ones.
const MOST = 4;
const LARGEST = 256 * 1024;

function warn({ src }, fault) { console.warn(`Tillgate: the option fonts: ${src} ${fault}`); }

// Reads what the page wants, whatever it is.
function describeFont(font) {
  const text = (name, otherwise) => String((font && readMember(font, name)) || otherwise);
  return { src: text("src", ""), family: text("family", ""), weight: text("weight", "normal"), style: text("style", "normal") };
}

// Returns a font with its bytes, or undefined with a warning for the developer.
async function loadFont(font) {
  try {
    const response = await fetch(new URL(font.src, nativeGet(document, "baseURI")), copyBare({ credentials: "omit" }));
    if (!response.ok) throw new Error(response.status);
    const bytes = await response.arrayBuffer();
    if (bytes.byteLength <= LARGEST) return { ...font, bytes };
    warn(font, "has more than 256 kB");
  } catch (lost) {
    warn(font, "does not load. connect-src of the page's policy has to list it, and its server to allow this page (CORS)");
  }
}

// Returns the fields' frames of the forms, which stand in the page.
function listFrames(origin) {
  const frames = Array.from(nativeCall(document, "querySelectorAll", "iframe.wpwl-control-iframe"));
  return frames.filter((frame) => frame.src.startsWith(`${origin}/`));
}

async function begin(loader) {
  const origin = new URL(loader.framesBase).origin;
  const given = readMember(loader.readOptions(), "fonts");
  if (!Array.isArray(given)) return;
  const wanted = given.map(describeFont);
  if (wanted.length > MOST) warn(wanted[MOST], `is one too many: ${MOST} fonts at most`);
  const fonts = (await Promise.all(wanted.slice(0, MOST).map(loadFont))).filter(Boolean);
  const isEnded = () => globalOf("__tillgate") !== loader;
  const send = (target, form) => target.postMessage({ tillgate: loader.version, type: "fonts", form, fonts }, origin);
  if (!fonts.length || isEnded()) return;
  // A frame that loads later, or again, says so.
  const greet = (event) => {
    if (isEnded()) return unlisten(window, "message", greet);
    const { data, source } = event;
    if (event.origin === origin && data && data.tillgate === loader.version && data.type === "ready" && data.field) send(source, data.form);
  };
  listen(window, "message", greet);
  for (const frame of listFrames(origin)) send(frame.contentWindow, new URL(frame.src).searchParams.get("form"));
}

const loader = globalOf("__tillgate");
if (loader && loader.framesBase) begin(loader);
