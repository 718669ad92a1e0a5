//! Decides which brand a card number has, among those that it fits.

/// Orders brands that a number fits, best match first: the merchant's order comes before that of the match.
pub fn order_brands(fitting: &[String], priority: &[String]) -> Vec<String> {
    let mut found: Vec<String> = priority.iter().filter(|brand| fitting.contains(brand)).cloned().collect();
    for brand in fitting {
        if !found.contains(brand) {
            found.push(brand.clone());
        }
    }
    found
}

/// Returns the brand to change to, or `None` to keep the chosen one: it stays if the shopper has chosen it and the
/// number allows it, or if the number tells nothing.
pub fn select_brand(found: &[String], chosen: &str, is_chosen_by_hand: bool) -> Option<String> {
    let is_allowed = found.iter().any(|brand| brand == chosen);
    let best = found.first()?;
    (!(is_chosen_by_hand && is_allowed) && best != chosen).then(|| best.clone())
}

/// Returns the brands that the merchant is told: all that the number fits with brand detection, otherwise the active
/// one.
pub fn reported_brands(found: Vec<String>, active: &str, detects: bool) -> Vec<String> {
    match (detects, found.is_empty()) {
        (true, _) | (false, true) => found,
        (false, false) => vec![active.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(brands: &[&str]) -> Vec<String> {
        brands.iter().map(|brand| (*brand).to_owned()).collect()
    }

    #[test]
    fn the_number_decides_unless_the_shopper_chose_a_brand_that_fits() {
        let found = list(&["CARTEBANCAIRE", "VISA"]);
        assert_eq!(select_brand(&found, "MASTER", false).as_deref(), Some("CARTEBANCAIRE"));
        assert_eq!(select_brand(&found, "MASTER", true).as_deref(), Some("CARTEBANCAIRE"), "it does not fit");
        assert_eq!(select_brand(&found, "VISA", true), None);
        assert_eq!(select_brand(&found, "VISA", false).as_deref(), Some("CARTEBANCAIRE"));
        assert_eq!(select_brand(&[], "VISA", false), None);
    }

    #[test]
    fn the_merchants_order_comes_first() {
        let fitting = list(&["VISA", "CARTEBANCAIRE", "VPAY"]);
        assert_eq!(
            order_brands(&fitting, &list(&["VPAY", "AMEX", "CARTEBANCAIRE"])),
            ["VPAY", "CARTEBANCAIRE", "VISA"]
        );
        assert_eq!(order_brands(&fitting, &[]), fitting);
    }

    #[test]
    fn without_detection_one_brand_is_told() {
        let found = list(&["VISA", "VPAY"]);
        assert_eq!(reported_brands(found.clone(), "VISA", true), found);
        assert_eq!(reported_brands(found, "VISA", false), ["VISA"]);
        assert_eq!(reported_brands(Vec::new(), "VISA", false), [""; 0]);
    }
}
