//! The shoppers of the demo data, with their addresses and test cards.

/// A shopper.
#[derive(Debug)]
pub(super) struct DemoShopper {
    pub(super) given_name: &'static str,
    pub(super) surname: &'static str,
    pub(super) street: &'static str,
    pub(super) postcode: &'static str,
    pub(super) city: &'static str,
    /// Code of the country.
    pub(super) country: &'static str,
    /// Documented test card, whose payments succeed.
    pub(super) card: DemoCard,
}

/// Brand and number of a test card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DemoCard {
    pub(super) brand: &'static str,
    pub(super) number: &'static str,
}

impl DemoShopper {
    /// Returns the mail address of a shopper.
    pub(super) fn mail(&self) -> String {
        let ascii = |name: &str| -> String {
            name.to_lowercase()
                .chars()
                .filter_map(|letter| match letter {
                    'a'..='z' => Some(letter.to_string()),
                    'ä' | 'á' | 'à' | 'å' => Some("a".to_owned()),
                    'é' | 'è' | 'ê' | 'ë' => Some("e".to_owned()),
                    'ó' | 'ö' | 'ø' => Some("o".to_owned()),
                    'ü' | 'ú' => Some("u".to_owned()),
                    'í' | 'ï' => Some("i".to_owned()),
                    'ç' => Some("c".to_owned()),
                    'ñ' => Some("n".to_owned()),
                    'ß' => Some("ss".to_owned()),
                    _ => None,
                })
                .collect()
        };
        format!("{}.{}@mail.example", ascii(self.given_name), ascii(self.surname))
    }

    /// Returns the number of a shopper in the shop.
    pub(super) fn number(&self) -> usize {
        let index = SHOPPERS.iter().position(|shopper| std::ptr::eq(shopper, self));
        1_004 + 7 * index.unwrap_or_default()
    }

    /// Returns the currency in which a shopper pays.
    pub(super) fn currency(&self) -> &'static str {
        match self.country {
            "CH" => "CHF",
            "GB" => "GBP",
            "US" => "USD",
            _ => "EUR",
        }
    }
}

const fn new_shopper(
    [given_name, surname]: [&'static str; 2],
    [street, postcode, city, country]: [&'static str; 4],
    [brand, number]: [&'static str; 2],
) -> DemoShopper {
    DemoShopper { given_name, surname, street, postcode, city, country, card: DemoCard { brand, number } }
}

/// The shoppers.
#[rustfmt::skip] // a shopper reads as a line
pub(super) static SHOPPERS: [DemoShopper; 40] = [
    new_shopper(["Anna", "Schneider"], ["Lindenstraße 12", "10969", "Berlin", "DE"], ["VISA", "4000002760000016"]),
    new_shopper(["Lukas", "Weber"], ["Hafenweg 3", "20457", "Hamburg", "DE"], ["MASTER", "2222400010000008"]),
    new_shopper(["Sophie", "Wagner"], ["Rosenheimer Straße 118", "81669", "München", "DE"], ["VISA", "4646464646464644"]),
    new_shopper(["Jonas", "Becker"], ["Aachener Straße 44", "50674", "Köln", "DE"], ["MASTER", "5100060000000002"]),
    new_shopper(["Marie", "Hoffmann"], ["Königstraße 27", "70173", "Stuttgart", "DE"], ["VISA", "4977949494949497"]),
    new_shopper(["Felix", "Krüger"], ["Karl-Liebknecht-Straße 9", "04107", "Leipzig", "DE"], ["VISA", "4444333322221111"]),
    new_shopper(["Leonie", "Vogel"], ["Bahnhofstraße 61", "28195", "Bremen", "DE"], ["MASTER", "5555444433331111"]),
    new_shopper(["Paul", "Hartmann"], ["Goethestraße 5", "60313", "Frankfurt am Main", "DE"], ["AMEX", "370000000000002"]),
    new_shopper(["Clara", "Neumann"], ["Prager Straße 14", "01069", "Dresden", "DE"], ["VISA", "4988080000000000"]),
    new_shopper(["Tim", "Schäfer"], ["Südring 80", "48153", "Münster", "DE"], ["MASTER", "5136333333333335"]),
    new_shopper(["Emma", "Brandt"], ["Holstenstraße 33", "24103", "Kiel", "DE"], ["VISA", "4871049999999910"]),
    new_shopper(["Noah", "Lorenz"], ["Kaiserstraße 190", "76133", "Karlsruhe", "DE"], ["VISA", "4166676667666746"]),
    new_shopper(["Katharina", "Gruber"], ["Mariahilfer Straße 71", "1060", "Wien", "AT"], ["VISA", "4000000400000008"]),
    new_shopper(["Florian", "Steiner"], ["Landstraße 22", "4020", "Linz", "AT"], ["MASTER", "5500000000000004"]),
    new_shopper(["Lena", "Hofer"], ["Getreidegasse 40", "5020", "Salzburg", "AT"], ["VISA", "4151500000000008"]),
    new_shopper(["Lara", "Meier"], ["Bahnhofstrasse 16", "8001", "Zürich", "CH"], ["VISA", "4000007560000009"]),
    new_shopper(["Nicolas", "Favre"], ["Rue du Rhône 54", "1204", "Genève", "CH"], ["MASTER", "5424000000000015"]),
    new_shopper(["Julien", "Moreau"], ["12 rue des Martyrs", "75009", "Paris", "FR"], ["VISA", "4000002500000003"]),
    new_shopper(["Camille", "Lefèvre"], ["8 quai Saint-Antoine", "69002", "Lyon", "FR"], ["VISA", "4035501000000008"]),
    new_shopper(["Hugo", "Girard"], ["21 rue de la République", "13001", "Marseille", "FR"], ["MASTER", "5577000055770004"]),
    new_shopper(["Sanne", "de Vries"], ["Prinsengracht 263", "1016 GV", "Amsterdam", "NL"], ["VISA", "4000005280000002"]),
    new_shopper(["Daan", "Bakker"], ["Oudegracht 112", "3511 AW", "Utrecht", "NL"], ["MASTER", "2222410740360010"]),
    new_shopper(["Lieke", "Visser"], ["Witte de Withstraat 19", "3012 BM", "Rotterdam", "NL"], ["MAESTRO", "6771798021000008"]),
    new_shopper(["Emma", "Peeters"], ["Veldstraat 31", "9000", "Gent", "BE"], ["VISA", "4000000560000004"]),
    new_shopper(["Louis", "Janssens"], ["Meir 57", "2000", "Antwerpen", "BE"], ["MASTER", "5585558555855583"]),
    new_shopper(["Giulia", "Rossi"], ["Via Garibaldi 18", "16124", "Genova", "IT"], ["VISA", "4000003800000008"]),
    new_shopper(["Marco", "Ferrari"], ["Corso Buenos Aires 36", "20124", "Milano", "IT"], ["MASTER", "5555341244441115"]),
    new_shopper(["Lucía", "García"], ["Calle de Atocha 92", "28012", "Madrid", "ES"], ["VISA", "4000007240000007"]),
    new_shopper(["Javier", "Ortega"], ["Carrer de Mallorca 214", "08008", "Barcelona", "ES"], ["MASTER", "2222400030000004"]),
    new_shopper(["Freja", "Nielsen"], ["Nørrebrogade 45", "2200", "København", "DK"], ["VISA", "4000002080000001"]),
    new_shopper(["Emil", "Andersson"], ["Götgatan 28", "118 46", "Stockholm", "SE"], ["VISA", "4484600000000004"]),
    new_shopper(["Aino", "Virtanen"], ["Fredrikinkatu 51", "00100", "Helsinki", "FI"], ["MASTER", "2222400050000009"]),
    new_shopper(["Zofia", "Kowalska"], ["ul. Nowy Świat 15", "00-029", "Warszawa", "PL"], ["VISA", "4000006160000005"]),
    new_shopper(["Oliver", "Hughes"], ["27 Park Row", "LS1 5JF", "Leeds", "GB"], ["VISA", "4000008260000000"]),
    new_shopper(["Amelia", "Clarke"], ["5 Clifton Hill", "BS8 1BN", "Bristol", "GB"], ["MASTER", "2222400060000007"]),
    new_shopper(["Harry", "Walker"], ["64 Byres Road", "G12 8TZ", "Glasgow", "GB"], ["VISA", "4607000000000009"]),
    new_shopper(["Niamh", "Byrne"], ["18 Capel Street", "D01 H0A8", "Dublin", "IE"], ["VISA", "4000003720000005"]),
    new_shopper(["Inês", "Carvalho"], ["Rua das Flores 77", "4050-265", "Porto", "PT"], ["MASTER", "2222400070000005"]),
    new_shopper(["Emily", "Carter"], ["412 Elm Street", "97205", "Portland", "US"], ["AMEX", "378282246310005"]),
    new_shopper(["Michael", "Reed"], ["88 Commercial Street", "02109", "Boston", "US"], ["DISCOVER", "6011111111111117"]),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn forty_shoppers_differ_in_mail_address_and_card() {
        let mails: HashSet<String> = SHOPPERS.iter().map(DemoShopper::mail).collect();
        let cards: HashSet<&str> = SHOPPERS.iter().map(|shopper| shopper.card.number).collect();
        assert_eq!((mails.len(), cards.len()), (40, 40));
        assert!(mails.contains("tim.schafer@mail.example") && mails.contains("sanne.devries@mail.example"));
        assert!(mails.iter().all(|mail| mail.is_ascii()), "{mails:?}");
    }
}
