// What the form says: in the merchant's own words, else in the page's language, else in English.

var ENGLISH = "%ENGLISH%";

// Keys of ours that merchants cannot know, with the key of the contract whose text stands for them too.
var COARSER = { cardNumberEmpty: "cardNumberError", cardBrandError: "cardNumberError" };

// The first text of this key among groups of texts, any of which may be missing.
var among = function (groups, key) {
  var group = groups.find(function (texts) {
    return texts && typeof texts[key] === "string";
  });
  return group && group[key];
};

var word = function (key) {
  var given = options();
  var own = [given.errorMessages, given.labels];
  var theirs = state.language || {};
  var texts = [
    among(own, key),
    among(own, COARSER[key]),
    among([theirs.labels, theirs.errors, theirs.loading, state.sayings, ENGLISH, state.english], key),
    "",
  ];
  return texts.find(function (text) {
    return text !== undefined;
  });
};

// A message for the form as a whole: a line of its own for each line of the text, and what follows it. Bad news is an alert.
var message = function (text, more, isGood) {
  var box = make("div", "wpwl-message" + (isGood ? "" : " wpwl-has-error"), { role: isGood ? "status" : "alert" });
  text.split("\n").forEach(function (line, at) {
    if (at) box.append(make("br"));
    box.append(line);
  });
  box.append.apply(box, more || []);
  return box;
};
