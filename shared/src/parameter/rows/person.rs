//! Fields of a person, which the shopper and the recipient of the goods have.

/// Creates the rows of a person whose names begin with `$of`, with the constructor `$row`, and `$more` after them.
/// `$names` is appended to the notes of the names.
macro_rules! person {
    ($row:ident, $of:literal, $names:literal, [$($more:expr),* $(,)?]) => { &[
        $row(concat!($of, "merchantCustomerId"), Optional, verbatim(1, 255), "Your id for the customer."),
        $row(concat!($of, "givenName"), Conditional, Format::Cut { max: 48 },
            concat!("Given name, cut after 48 characters.", $names)),
        $row(concat!($of, "surname"), Conditional, Format::Cut { max: 48 },
            concat!("Family name, cut after 48 characters.", $names)),
        $row(concat!($of, "middleName"), Optional, text(2, 50), "Middle name."),
        $row(concat!($of, "sex"), Optional, Format::OneOf(&["M", "F"]), "Sex of the customer, M or F."),
        $row(concat!($of, "birthDate"), Optional, Format::Date, "Date of birth."),
        $row(concat!($of, "phone"), Optional, Format::Phone { min: 8, max: 26 }, "Phone number.").with_compatible_format(verbatim(8, 26)),
        $row(concat!($of, "mobile"), Optional, Format::Phone { min: 6, max: 26 }, "Mobile phone number.").with_compatible_format(verbatim(6, 26)),
        $row(concat!($of, "workPhone"), Optional, verbatim(1, 25), "Work phone number."),
        $row(concat!($of, "email"), Optional, Format::Email { min: 6, max: 128 }, "Email address. Some risk checks and direct debit mandates need it."),
        $row(concat!($of, "companyName"), Optional, text(1, 60), "Name of the company, for business customers."),
        $row(concat!($of, "identificationDocType"), Conditional, Format::OneOf(&["IDCARD", "PASSPORT", "TAXSTATEMENT"]),
            "Type of identity document. Requires identificationDocId."),
        $row(concat!($of, "identificationDocId"), Conditional, verbatim(8, 64), "Number of the identity document. Requires identificationDocType."),
        $row(concat!($of, "ip"), Optional, verbatim(1, 255), "IP address that the order came from."),
        $row(concat!($of, "merchantReference"), Optional, verbatim(1, 255), "The payer's reference, which is passed on to the payee."),
        $row(concat!($of, "salutation"), Optional, Format::OneOf(&["MR", "MRS", "MS", "MX"]), "The customer's salutation."),
        $row(concat!($of, "language"), Optional, Format::Characters { class: Class::Uppercase, min: 2, max: 2 },
            "Language of the customer, two uppercase letters."),
        $row(concat!($of, "category"), Optional, Format::OneOf(&["INDIVIDUAL", "COMPANY"]), "Type of the customer: a person or a company."),
        $row(concat!($of, "status"), Optional, Format::OneOf(&["NEW", "EXISTING"]), "Indicates whether the customer has ordered before."),
        $row(concat!($of, "browser.acceptHeader"), Conditional, text(1, 2048), "The browser's Accept header, unchanged."),
        $row(concat!($of, "browser.language"), Conditional, Format::Characters { class: Class::Tag, min: 1, max: 8 },
            "The browser's language, a BCP 47 tag."),
        $row(concat!($of, "browser.screenHeight"), Conditional, digits(1, 6), "Height of the screen in pixels."),
        $row(concat!($of, "browser.screenWidth"), Conditional, digits(1, 6), "Width of the screen in pixels."),
        $row(concat!($of, "browser.timezone"), Conditional, Format::Offset,
            "Minutes between UTC and the browser's local time. Positive if local time is behind UTC."),
        $row(concat!($of, "browser.userAgent"), Conditional, text(1, 2048), "The browser's User-Agent header."),
        $row(concat!($of, "browser.javaEnabled"), Conditional, Format::Flag, "Indicates whether the browser runs Java."),
        $row(concat!($of, "browser.screenColorDepth"), Optional, digits(1, 2), "Colour depth of the screen in bits per pixel."),
        $row(concat!($of, "browser.challengeWindow"), Optional, Format::TwoDigits, "Code of the size of the challenge window, 01 to 05."),
        $($more),*
    ] };
}

pub(super) use person;
