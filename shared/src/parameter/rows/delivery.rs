//! Fields of an address to or from which goods are sent; the shopper and the merchant have the same.

/// Creates the rows of an address whose names begin with `$of`, with the constructor `$row`.
macro_rules! delivery {
    ($row:ident, $of:literal) => { &[
        $row(concat!($of, "street1"), Conditional, text(1, 100),
            "Street, with house number unless houseNumber1 is sent."),
        $row(concat!($of, "street2"), Conditional, text(1, 100), "Second line of the street."),
        $row(concat!($of, "houseNumber1"), Optional, text(1, 100),
            "House number. With it, street1 is the street's name alone and street2 is ignored."),
        $row(concat!($of, "houseNumber2"), Optional, text(1, 100), "Addition to the house number. Requires houseNumber1."),
        $row(concat!($of, "city"), Conditional, Format::Place { digits: false, max: 80 },
            "City: letters, which spaces, dots, hyphens and similar characters may separate."),
        $row(concat!($of, "state"), Conditional, Format::Place { digits: true, max: 50 },
            "State, province or county: letters, digits, dots and other characters of such names."),
        $row(concat!($of, "postcode"), Conditional, Format::Characters { class: Class::Postcode, min: 1, max: 16 },
            "Postal code: letters and digits, which a space or hyphen may separate."),
        $row(concat!($of, "country"), Conditional, Format::CountryAnyCase, "Country, two letters."),
        $row(concat!($of, "method"), Conditional, Format::OneOf(&[
            "LOWEST_COST", "CARRIER_DESIGNATED_BY_CUSTOMER", "ELECTRONIC_DELIVERY", "GROUND", "INTERNATIONAL",
            "MILITARY", "NEXT_DAY_OVERNIGHT", "OTHER", "STORE_PICKUP", "SAME_DAY_SERVICE", "TWO_DAY_SERVICE",
            "THREE_DAY_SERVICE", "PUDO", "EXPEDITED",
        ]), "Shipping method of the goods."),
        $row(concat!($of, "cost"), Conditional, Format::Amount, "Cost of shipping, included in the amount."),
        $row(concat!($of, "comment"), Conditional, Format::Lines { min: 1, max: 160 }, "Comment about the delivery."),
        $row(concat!($of, "expectedDate"), Optional, Format::Date, "Day on which the goods should arrive."),
        $row(concat!($of, "logisticsProvider"), Optional, text(1, 255), "Carrier of the goods."),
        $row(concat!($of, "trackingNumber"), Optional, verbatim(1, 255), "Tracking number of the parcel."),
        $row(concat!($of, "returnTrackingNumber"), Optional, verbatim(1, 255),
            "Tracking number of a returned parcel."),
        $row(concat!($of, "normalized"), Optional, text(1, 255),
            "Indicates whether the shopper confirmed the normalized address."),
        $row(concat!($of, "validationStatus"), Optional, text(1, 255), "Result of the address validation."),
        $row(concat!($of, "warehouse"), Optional, text(1, 100), "Warehouse that ships the goods."),
        $row(concat!($of, "preference"), Optional,
            Format::OneOf(&["GET_FROM_FILE", "NO_SHIPPING", "SET_PROVIDED_ADDRESS"]),
            "GET_FROM_FILE, the default, uses the address that the shopper has stored with the acquirer. NO_SHIPPING is \
             for goods that are not shipped. SET_PROVIDED_ADDRESS uses the address in the request, and the shopper cannot change it.")
            .with_default(DefaultValue::Value("GET_FROM_FILE")),
        $row(concat!($of, "middleName"), Optional, text(1, 255), "Middle name."),
        $row(concat!($of, "companyName"), Optional, text(1, 60), "The company at this address."),
        $row(concat!($of, "phone"), Optional, Format::Phone { min: 6, max: 26 }, "Phone number.").with_compatible_format(verbatim(6, 26)),
        $row(concat!($of, "mobile"), Optional, Format::Phone { min: 6, max: 26 }, "Mobile phone number.").with_compatible_format(verbatim(6, 26)),
        $row(concat!($of, "workPhone"), Optional, verbatim(1, 25), "Work phone number."),
        $row(concat!($of, "email"), Optional, text(6, 128), "Email address."),
        $row(concat!($of, "type"), Optional, Format::OneOf(&["RETURN", "SHIPMENT"]),
            "Direction of the delivery: SHIPMENT to the shopper, or RETURN to you."),
    ] };
}

pub(super) use delivery;
