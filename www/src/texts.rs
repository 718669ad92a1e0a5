//! Texts of the shop in its two languages.

/// A language of the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lang {
    /// English.
    En,
    /// German.
    De,
}

impl Lang {
    /// Finds the language for `code`, and ignores a country after it. `None` for a language that the shop does not
    /// have.
    pub fn from_code(code: &str) -> Option<Self> {
        match code.split('-').next() {
            Some("en") => Some(Self::En),
            Some("de") => Some(Self::De),
            _ => None,
        }
    }

    /// Returns the code for `lang` attributes and queries.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
        }
    }

    /// Returns all texts in this language.
    pub fn texts(self) -> &'static ShopTexts {
        match self {
            Self::En => &EN,
            Self::De => &DE,
        }
    }
}

/// One field for each text, named after its place.
#[allow(missing_docs)]
pub struct ShopTexts {
    pub languages: &'static str,
    pub home: &'static str,
    pub demo_note: &'static str,
    pub playground: &'static str,
    pub eyebrow: &'static str,
    pub headline: &'static str,
    pub lead: &'static str,
    pub choose: &'static str,
    pub quantity: &'static str,
    pub to_checkout: &'static str,
    pub promise: &'static str,
    pub settings: &'static str,
    pub outcome: &'static str,
    pub outcome_approve: &'static str,
    pub outcome_decline: &'static str,
    pub outcome_pending: &'static str,
    pub suspicious: &'static str,
    pub form_style: &'static str,
    pub detect_brand: &'static str,
    pub checkout: &'static str,
    pub your_order: &'static str,
    pub reference: &'static str,
    pub total: &'static str,
    pub delivery: &'static str,
    pub free: &'static str,
    pub deliver_to: &'static str,
    pub payment: &'static str,
    pub no_script: &'static str,
    pub try_numbers: &'static str,
    pub try_hint: &'static str,
    pub hosted_note: &'static str,
    pub paid_title: &'static str,
    pub paid_text: &'static str,
    pub paid_with: &'static str,
    pub ending_in: &'static str,
    pub declined_title: &'static str,
    pub declined_text: &'static str,
    pub stopped_title: &'static str,
    pub stopped_text: &'static str,
    pub held_title: &'static str,
    pub held_text: &'static str,
    pub for_operator: &'static str,
    pub look_at_it: &'static str,
    pub list_held: &'static str,
    pub approve_held: &'static str,
    pub cancel_held: &'static str,
    pub pending_title: &'static str,
    pub pending_text: &'static str,
    pub again: &'static str,
    pub refresh: &'static str,
    pub back_to_shop: &'static str,
    pub result_code: &'static str,
    pub not_found_title: &'static str,
    pub not_found_text: &'static str,
    pub refused_title: &'static str,
    pub refused_text: &'static str,
    pub gateway_title: &'static str,
    pub gateway_text: &'static str,
    pub mismatch_title: &'static str,
    pub mismatch_text: &'static str,
}

static EN: ShopTexts = ShopTexts {
    languages: "Language",
    home: "Kiln & Tide, to the shop",
    demo_note: "A demo shop for Tillgate. Nothing is sold, and no money moves.",
    playground: "For developers: the form's playground",
    eyebrow: "Stoneware from a studio by the sea",
    headline: "Made slowly, for every day.",
    lead: "Thrown by hand, dipped in a glaze of ash and sand, and fired for two days. No two are quite alike.",
    choose: "Choose a piece",
    quantity: "How many",
    to_checkout: "Go to checkout",
    promise: "Delivery is free in Europe. Thirty days to change your mind.",
    settings: "Demo settings",
    outcome: "The bank will",
    outcome_approve: "approve",
    outcome_decline: "decline",
    outcome_pending: "take its time",
    suspicious: "A suspicious order: throw-away email address, delivery abroad",
    form_style: "Look of the form",
    detect_brand: "Find the card brand from the number",
    checkout: "Checkout",
    your_order: "Your order",
    reference: "Order",
    total: "Total",
    delivery: "Delivery",
    free: "free",
    deliver_to: "Delivered to",
    payment: "Payment",
    no_script: "The payment form needs JavaScript. Please switch it on and load this page again.",
    try_numbers: "Numbers to try",
    try_hint: "Any name, any date to come, any code.",
    hosted_note: "A card’s number and code go straight to the payment service. This shop never sees them.",
    paid_title: "Thank you, Jane.",
    paid_text: "Your payment went through. We are wrapping your order in far too much paper.",
    paid_with: "Paid with",
    ending_in: "ending in",
    declined_title: "That did not work.",
    declined_text: "Your bank said no to this payment, and nothing was charged. Another card, or another try, often helps.",
    stopped_title: "We stopped this order.",
    stopped_text: "It looks suspicious to our risk rules: its email address is a throw-away one, and it goes to another country than the bill. Nothing was charged.",
    held_title: "We are looking at this order.",
    held_text: "It looks suspicious to our risk rules: its email address is a throw-away one, and it goes to another country than the bill. Nothing is charged until somebody has decided about it; nothing more to do for you.",
    for_operator: "For the operator of this demo, in another terminal:",
    look_at_it: "Show which rules fired",
    list_held: "List the held orders",
    approve_held: "Approve this order, and look again above",
    cancel_held: "Or cancel it",
    pending_title: "Almost there.",
    pending_text: "Your payment is being looked at. This can take a little while; nothing more to do for you.",
    again: "Try again",
    refresh: "Look again",
    back_to_shop: "Back to the shop",
    result_code: "Result",
    not_found_title: "Nothing here.",
    not_found_text: "This page does not exist, or the order is no longer in our book.",
    refused_title: "We cannot read this address.",
    refused_text: "It does not belong to this order, so we did not ask about it. Nothing was charged by opening this page.",
    gateway_title: "The payment service is not answering.",
    gateway_text: "We could not reach it just now, or did not understand its answer. Please try again in a moment.",
    mismatch_title: "We need to check this payment.",
    mismatch_text: "The payment service reports a payment that does not match your order. We will check it before anything is sent.",
};

static DE: ShopTexts = ShopTexts {
    languages: "Sprache",
    home: "Kiln & Tide, zum Laden",
    demo_note: "Ein Vorführladen für Tillgate. Hier wird nichts verkauft, und es fließt kein Geld.",
    playground: "Für Entwickler: das Formular zum Ausprobieren",
    eyebrow: "Steinzeug aus einer Werkstatt am Meer",
    headline: "In Ruhe gemacht, für jeden Tag.",
    lead: "Von Hand gedreht, in Asche und Sand glasiert und zwei Tage gebrannt. Kein Stück gleicht dem anderen ganz.",
    choose: "Wählen Sie ein Stück",
    quantity: "Anzahl",
    to_checkout: "Zur Kasse",
    promise: "Versand in Europa kostenlos. Dreißig Tage Zeit, es sich anders zu überlegen.",
    settings: "Einstellungen der Vorführung",
    outcome: "Die Bank wird",
    outcome_approve: "zustimmen",
    outcome_decline: "ablehnen",
    outcome_pending: "sich Zeit lassen",
    suspicious: "Eine verdächtige Bestellung: Wegwerfadresse, Lieferung ins Ausland",
    form_style: "Aussehen des Formulars",
    detect_brand: "Kartenmarke an der Nummer erkennen",
    checkout: "Kasse",
    your_order: "Ihre Bestellung",
    reference: "Bestellung",
    total: "Summe",
    delivery: "Versand",
    free: "kostenlos",
    deliver_to: "Lieferung an",
    payment: "Zahlung",
    no_script: "Das Zahlungsformular braucht JavaScript. Bitte schalten Sie es ein und laden Sie die Seite neu.",
    try_numbers: "Nummern zum Ausprobieren",
    try_hint: "Beliebiger Name, beliebiges Datum in der Zukunft, beliebiger Code.",
    hosted_note: "Nummer und Code einer Karte gehen direkt an den Zahlungsdienst. Dieser Laden sieht sie nie.",
    paid_title: "Danke, Jane.",
    paid_text: "Ihre Zahlung ist angekommen. Wir packen Ihre Bestellung gerade in viel zu viel Papier.",
    paid_with: "Gezahlt mit",
    ending_in: "mit den Endziffern",
    declined_title: "Das hat nicht geklappt.",
    declined_text: "Ihre Bank hat die Zahlung abgelehnt, es wurde nichts abgebucht. Oft hilft eine andere Karte oder ein zweiter Versuch.",
    stopped_title: "Wir haben diese Bestellung angehalten.",
    stopped_text: "Unseren Risikoregeln fällt sie auf: Die E-Mail-Adresse ist eine Wegwerfadresse, und die Lieferung geht in ein anderes Land als die Rechnung. Es wurde nichts abgebucht.",
    held_title: "Wir sehen uns diese Bestellung an.",
    held_text: "Unseren Risikoregeln fällt sie auf: Die E-Mail-Adresse ist eine Wegwerfadresse, und die Lieferung geht in ein anderes Land als die Rechnung. Bis jemand darüber entschieden hat, wird nichts abgebucht; für Sie gibt es nichts mehr zu tun.",
    for_operator: "Für den Betreiber dieser Vorführung, in einem zweiten Terminal:",
    look_at_it: "Zeigen, welche Regeln zutrafen",
    list_held: "Die angehaltenen Bestellungen auflisten",
    approve_held: "Diese Bestellung freigeben, und oben noch einmal nachsehen",
    cancel_held: "Oder sie ablehnen",
    pending_title: "Fast geschafft.",
    pending_text: "Ihre Zahlung wird noch geprüft. Das kann etwas dauern; für Sie gibt es nichts mehr zu tun.",
    again: "Noch einmal versuchen",
    refresh: "Noch einmal nachsehen",
    back_to_shop: "Zurück zum Laden",
    result_code: "Ergebnis",
    not_found_title: "Hier ist nichts.",
    not_found_text: "Diese Seite gibt es nicht, oder die Bestellung steht nicht mehr in unserem Buch.",
    refused_title: "Mit dieser Adresse können wir nichts anfangen.",
    refused_text: "Sie gehört nicht zu dieser Bestellung, deshalb haben wir nicht nachgefragt. Durch das Öffnen dieser Seite wurde nichts abgebucht.",
    gateway_title: "Der Zahlungsdienst antwortet nicht.",
    gateway_text: "Wir haben ihn gerade nicht erreicht oder seine Antwort nicht verstanden. Bitte versuchen Sie es gleich noch einmal.",
    mismatch_title: "Wir müssen diese Zahlung prüfen.",
    mismatch_text: "Der Zahlungsdienst nennt eine Zahlung, die nicht zu Ihrer Bestellung passt. Jemand sieht sie sich an, bevor etwas verschickt wird.",
};

#[cfg(test)]
mod tests {
    use super::Lang;

    #[test]
    fn languages_are_found_with_and_without_a_country() {
        assert_eq!(Lang::from_code("de"), Some(Lang::De));
        assert_eq!(Lang::from_code("de-AT"), Some(Lang::De));
        assert_eq!(Lang::from_code("en-US"), Some(Lang::En));
        assert_eq!(Lang::from_code("sr"), None);
    }
}
