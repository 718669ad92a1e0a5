//! Accounts and switches that a sandbox entity can try the service with. What they do is the simulator's to say; the
//! tests use them as they stand here.

/// A heading, what it is about, and rows of value and meaning.
pub(super) struct Table {
    /// Its heading.
    pub(super) title: &'static str,
    /// Headings of the two columns.
    pub(super) columns: [&'static str; 2],
    /// The rows.
    pub(super) rows: &'static [(&'static str, &'static str)],
}

/// Everything there is to try.
pub(super) const TABLES: &[Table] = &[
    Table {
        title: "Cards",
        columns: ["Number", "Brand"],
        rows: &[
            ("4200000000000000", "VISA"),
            ("4111111111111111", "VISA"),
            ("5454545454545454", "MASTER"),
            ("5105105105105100", "MASTER"),
            ("377777777777770", "AMEX, code of four digits"),
            ("36961903000009", "DINERS"),
            ("6011587918359498", "DISCOVER"),
            ("3541599999092431", "JCB"),
            ("6799851000000032", "MAESTRO"),
        ],
    },
    Table {
        title: "Outcomes",
        columns: ["Send", "Get"],
        rows: &[
            ("customParameters[forceResultCode]=800.100.151", "exactly this result code; any code of the table below"),
            ("card.number=4200000000000001", "100.100.101: the check digit is wrong"),
            ("an expiry date in the past", "100.100.303: the card has expired"),
            ("testMode=INTERNAL or nothing", "000.100.110 when approved"),
            ("testMode=EXTERNAL", "000.100.112 when approved"),
        ],
    },
];
