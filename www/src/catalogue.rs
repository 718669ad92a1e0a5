//! What the shop sells: three pieces of stoneware.

use crate::money::Cents;
use crate::texts::Lang;

/// One piece of the range.
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    /// Name in forms and addresses.
    pub key: &'static str,
    /// Price of one piece.
    pub price: Cents,
    name: [&'static str; 2],
    note: [&'static str; 2],
}

/// The whole range, in the order it is shown.
pub static ITEMS: [Item; 3] = [
    Item {
        key: "cup",
        price: Cents(2800),
        name: ["Harbour cup", "Becher Hafen"],
        note: ["Holds 300 ml, and your hands", "Für 300 ml und zwei Hände"],
    },
    Item {
        key: "bowl",
        price: Cents(3650),
        name: ["Dune bowl", "Schale Düne"],
        note: ["For soup, or three peaches", "Für Suppe oder drei Pfirsiche"],
    },
    Item {
        key: "teapot",
        price: Cents(9200),
        name: ["Tidal teapot", "Kanne Gezeiten"],
        note: ["One litre, cane handle", "Ein Liter, Griff aus Rohr"],
    },
];

impl Item {
    /// The piece that forms call `key`.
    pub fn find(key: &str) -> Option<&'static Item> {
        ITEMS.iter().find(|item| item.key == key)
    }

    /// What people call it.
    pub fn name(&self, lang: Lang) -> &'static str {
        self.name[lang as usize]
    }

    /// One line about it.
    pub fn note(&self, lang: Lang) -> &'static str {
        self.note[lang as usize]
    }
}
