//! The shop's range: three pieces of stoneware.

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
    description: [&'static str; 2],
}

/// The whole range, in the order of the page.
pub static ITEMS: [Item; 3] = [
    Item {
        key: "cup",
        price: Cents(2800),
        name: ["Harbour cup", "Becher Hafen"],
        description: ["Holds 300 ml, and your hands", "Für 300 ml und zwei Hände"],
    },
    Item {
        key: "bowl",
        price: Cents(3650),
        name: ["Dune bowl", "Schale Düne"],
        description: ["For soup, or three peaches", "Für Suppe oder drei Pfirsiche"],
    },
    Item {
        key: "teapot",
        price: Cents(9200),
        name: ["Tidal teapot", "Kanne Gezeiten"],
        description: ["One litre, cane handle", "Ein Liter, Griff aus Rohr"],
    },
];

impl Item {
    /// Finds the piece with this `key`.
    pub fn find(key: &str) -> Option<&'static Item> {
        ITEMS.iter().find(|item| item.key == key)
    }

    /// Returns its name for people.
    pub fn name(&self, lang: Lang) -> &'static str {
        self.name[lang as usize]
    }

    /// Returns its description, one line.
    pub fn description(&self, lang: Lang) -> &'static str {
        self.description[lang as usize]
    }
}
