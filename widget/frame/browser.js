// What 3D authentication wants to know of the browser: a frame sees the same as the page around it.
const browser = (body) => {
  const known = {
    userAgent: navigator.userAgent,
    // At most eight characters of a language tag, cut at a hyphen.
    language: (navigator.language.match(/^.{1,8}(?=-|$)/) || [""])[0],
    screenWidth: screen.width,
    screenHeight: screen.height,
    screenColorDepth: screen.colorDepth,
    timezone: new Date().getTimezoneOffset(),
    javaEnabled: false,
  };
  for (const name in known) if (known[name] !== "") body.set(`customer.browser.${name}`, known[name]);
  return body;
};
