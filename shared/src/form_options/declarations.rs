//! Writes `wpwl.d.ts`: the table of options as TypeScript declarations.

use std::fmt::Write as _;

use super::{FormOption, OPTIONS, TextKind};

/// The published declarations. A test compares them with [`render_declarations`].
pub const DECLARATIONS: &str = include_str!("../../wpwl.d.ts");

/// Names of errors that `onError` receives, with their meanings.
pub const ERROR_NAMES: [(&str, &str); 4] = [
    ("InvalidCheckoutIdError", "There is no such checkout, or it can no longer be paid."),
    ("PciIframeSubmitError", "The payment request was not answered."),
    ("PciIframeCommunicationError", "A frame of the form is missing or does not respond."),
    ("WidgetError", "Any other failure. The message describes it."),
];

const HEAD: &str = "\
// Type declarations of the hosted payment form: the options object `wpwlOptions` and the global `wpwl`.
// Generated from the table in shared/src/form_options. Copy it into your project, and name it in \"files\" or \"include\" of its
// tsconfig.json or by `/// <reference path=\"wpwl.d.ts\" />`. You can add missing declarations: TypeScript merges
// interfaces of the same name.

/** Look, texts and behaviour of the form. Set `window.wpwlOptions` before the form's script runs. */
interface WpwlOptions {
";

const TAIL: &str = r#"
/** A form in the list that `onReady` receives. */
interface WpwlReadyForm {
  /** The kind of form: the last part of its container's class. */
  containerKey: string;
  /** The card brands it offers. */
  ccMethods: string[];
}

/** Input of the shopper that a summary shows. */
interface WpwlSavedData {
  paymentBrand: string;
  card?: { last4Digits: string; holder?: string; expiryMonth: string; expiryYear: string };
  bankAccount?: { last4Digits?: string; holder?: string; iban?: string; bic?: string };
  virtualAccount?: { accountId: string; holder?: string };
}

/** A failure that `onError` receives. */
interface WpwlError extends Error {
  name: WpwlErrorName;
  /** For a WidgetError: `submit` if the form was being submitted, otherwise `load`. */
  event?: string;
  /** For a WidgetError: the brand of the form that failed. */
  brand?: string;
}

/** `this` of the callbacks of a form. */
interface WpwlFormThis extends WpwlOptions {
  $form: WpwlElements;
}

/** `this` of the callbacks of a frame. */
interface WpwlFrameThis extends WpwlFormThis {
  $iframe: WpwlElements;
}

/** A list of elements: a jQuery object if the page has jQuery, otherwise an object with these jQuery methods. */
interface WpwlElements extends ArrayLike<HTMLElement> {
  find(selector: string): WpwlElements;
  val(): string | undefined;
  val(value: string): WpwlElements;
  height(): number | undefined;
  height(value: number | string): WpwlElements;
}

/** A font that the frames may use. */
interface WpwlFont {
  /** The name that your style sheet uses in `font-family`. */
  family: string;
  /** Address of its file. */
  src: string;
  /** As in `@font-face`: `400`, `bold`, `100 900`. */
  weight?: string | number;
  /** As in `@font-face`: `normal`, `italic`. */
  style?: string;
}

/** CSS properties and values for the placeholder in each of the frames. */
interface WpwlFrameStyles {
  "card-number-placeholder"?: Record<string, string | number>;
  "cvv-placeholder"?: Record<string, string | number>;
}

/** Spinner shown while a payment is submitted. */
interface WpwlSpinner {
  lines?: number;
  length?: number;
  width?: number;
  radius?: number;
  scale?: number;
  speed?: number;
  rotate?: number;
  direction?: 1 | -1;
  color?: string | string[];
  fadeColor?: string;
  top?: string;
  left?: string;
  shadow?: boolean | string;
  zIndex?: number;
  position?: string;
  /** Additional classes, besides `spinner`. */
  className?: string;
  /** Rounds the ends of the lines if it is more than 0. */
  corners?: number;
  /** An animation of spin.js, such as `spinner-line-fade-quick`, or your own keyframes. */
  animation?: string;
}

/** The fields of the billing address. */
interface WpwlAddress {
  country?: string;
  state?: string;
  city?: string;
  postcode?: string;
  street1?: string;
  street2?: string;
}

/** The global object that the form's script creates. */
interface Wpwl {
  readonly apiVersion: string;
  /** The form's build, as in the addresses of its files. */
  readonly cacheVersion: string;
  /** The gateway's address, without a trailing slash. */
  readonly endpoint: string;
  readonly url: string;
  readonly isTestSystem?: boolean;
  readonly minified: boolean;
  readonly ndc?: string;
  readonly timestamp?: string;
  readonly checkout: WpwlCheckout;
  /** Sends the form in the container with this class, or with all of these classes joined by dots. */
  executePayment(container: string): void;
  /** Reloads the offered brands and stored accounts. Call it after your server has updated the checkout. */
  refresh(): void;
  /** Removes all forms, with everything that belongs to them. Afterwards the script may be loaded again. */
  unload(): void;
}

/** The checkout that the form pays. */
interface WpwlCheckout {
  readonly id: string;
  readonly amount?: string | null;
  readonly currency?: string | null;
  readonly resourcePath?: string;
  readonly endpoint: string;
  readonly config: {
    customRedirectPageConfig: { backgroundColor?: string; hyperlinkFontColor?: string; messageFontColor?: string };
  };
}

declare var wpwlOptions: WpwlOptions;
declare var wpwl: Wpwl | undefined;

interface Window {
  wpwlOptions?: WpwlOptions;
  wpwl?: Wpwl;
}
"#;

/// Returns the content of `wpwl.d.ts`: the options, with dotted names grouped into one object, the keys of the texts,
/// the names of the errors, and the fixed types.
pub fn render_declarations() -> String {
    let mut text = HEAD.to_owned();
    let mut objects: Vec<&str> = Vec::new();
    for option in OPTIONS {
        match option.name.split_once('.') {
            None => write_member(&mut text, "  ", option.name, option),
            Some((object, _)) if objects.contains(&object) => {}
            Some((object, _)) => {
                objects.push(object);
                let _ = writeln!(text, "  {object}?: {{");
                let path = format!("{object}.");
                for inner in OPTIONS {
                    if let Some(name) = inner.name.strip_prefix(&path) {
                        write_member(&mut text, "    ", name, inner);
                    }
                }
                text.push_str("  };\n");
            }
        }
    }
    text.push_str("}\n");
    // Error texts are also found among the labels.
    write_text_interface(&mut text, TextKind::Errors, "Hints and messages by key.", "");
    write_text_interface(
        &mut text,
        TextKind::Labels,
        "Labels, placeholders and buttons by key.",
        " extends WpwlErrorMessages",
    );
    text.push_str("\n/** Names of the errors. */\ntype WpwlErrorName =");
    for (name, meaning) in ERROR_NAMES {
        let _ = write!(text, "\n  /** {meaning} */\n  | \"{name}\"");
    }
    text.push_str(";\n");
    text + TAIL
}

/// Appends an option as a member, with its meaning and its default as a comment.
fn write_member(text: &mut String, indent: &str, name: &str, option: &FormOption) {
    let default = option.default_literal().map(|it| format!("\n{indent} * @default {it}")).unwrap_or_default();
    let comment = match default.as_str() {
        "" => format!("/** {} */", option.meaning),
        default => format!("/**\n{indent} * {}{default}\n{indent} */", option.meaning),
    };
    let _ = writeln!(text, "{indent}{comment}\n{indent}{name}?: {};", option.type_name());
}

/// Appends an interface with a member for each key of this kind of texts: those with English texts, commented with
/// them, and the unused ones.
fn write_text_interface(text: &mut String, kind: TextKind, meaning: &str, extends: &str) {
    let _ = writeln!(text, "\n/** {meaning} */\ninterface {}{extends} {{", kind.type_name());
    for (key, english) in kind.keys_and_texts() {
        let _ = writeln!(text, "  /** {english} */\n  {key}?: string;");
    }
    for key in kind.unused_keys() {
        let _ = writeln!(text, "  /** Accepted; no form shows it. */\n  {key}?: string;");
    }
    text.push_str("}\n");
}
