//! Options for the look of the payment form, for the commands that create and change entities.

use clap::Args;
use tillgate_domain::access::form_look::LookPart;

/// The look of the payment form.
#[derive(Debug, Args)]
#[command(next_help_heading = "Look of the form")]
pub(in crate::cli) struct LookOptions {
    /// Colour of the button and of the focused field, such as #6d3a97, or `none` for the form's default. The merchant's
    /// page may set another look. Channels without an own value use that of their merchant.
    #[arg(long, value_name = "COLOUR", value_parser = check_value(LookPart::Accent))]
    form_accent: Option<String>,
    /// Colour of the text on the button, or `none`. Its contrast to the button is at least 4.5:1.
    #[arg(long, value_name = "COLOUR", value_parser = check_value(LookPart::OnAccent))]
    form_on_accent: Option<String>,
    /// Colour of hints and of the border of invalid fields, or `none`.
    #[arg(long, value_name = "COLOUR", value_parser = check_value(LookPart::Error))]
    form_error: Option<String>,
    /// Corner radius of fields and buttons, 0px to 40px (2.5rem), or `none`.
    #[arg(long, value_name = "LENGTH", value_parser = check_value(LookPart::Radius))]
    form_radius: Option<String>,
    /// Height of fields and buttons, 44px (2.75rem) to 96px (6rem), or `none`.
    #[arg(long, value_name = "LENGTH", value_parser = check_value(LookPart::Height))]
    form_height: Option<String>,
    /// Space between fields, 0px to 48px (3rem), or `none`.
    #[arg(long, value_name = "LENGTH", value_parser = check_value(LookPart::Gap))]
    form_gap: Option<String>,
}

/// Returns the check of an option.
fn check_value(part: LookPart) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |text| part.parse(text).map(|_| text.to_owned())
}

impl LookOptions {
    /// Returns the parts that were given, each with its value.
    pub(in crate::cli) fn to_change(&self) -> Vec<(LookPart, Option<String>)> {
        let given = [
            (LookPart::Accent, &self.form_accent),
            (LookPart::OnAccent, &self.form_on_accent),
            (LookPart::Error, &self.form_error),
            (LookPart::Radius, &self.form_radius),
            (LookPart::Height, &self.form_height),
            (LookPart::Gap, &self.form_gap),
        ];
        let given = given.into_iter().filter_map(|(part, text)| Some((part, text.as_deref()?)));
        // The parser of the option has checked the value.
        given.map(|(part, text)| (part, part.parse(text).unwrap_or_default())).collect()
    }
}
