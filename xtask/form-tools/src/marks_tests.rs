//! Tests of the marks that ship.

use std::collections::BTreeMap;

use tillgate_shared::brand::Brand;

use super::*;

fn read_marks() -> BrandMarks {
    BrandMarks::read(&crate::workspace_root().join("widget/style/marks.toml")).expect("marks")
}

/// Returns the marks of all brands.
fn all_marks() -> BTreeMap<String, Mark> {
    let marks = read_marks();
    marks.first.into_iter().chain(marks.later).collect()
}

/// Returns the relative luminance of a colour, as WCAG defines it.
fn luminance(colour: &str) -> f64 {
    let digits = colour.trim_start_matches('#');
    let channel = |at: usize| {
        let text = if digits.len() == 3 { digits[at..=at].repeat(2) } else { digits[at * 2..at * 2 + 2].to_owned() };
        let value = f64::from(u8::from_str_radix(&text, 16).expect("a colour")) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2)
}

fn contrast(one: &str, other: &str) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn every_brand_has_exactly_one_mark_and_there_are_no_others() {
    let marks = read_marks();
    let mut codes: Vec<&str> = marks.first.keys().chain(marks.later.keys()).map(String::as_str).collect();
    codes.sort_unstable();
    let brands: Vec<&str> = Brand::all().iter().map(|brand| brand.code).collect();
    assert_eq!(codes, brands);
}

#[test]
fn every_text_has_a_contrast_of_4_5_to_everything_below_it() {
    for (code, mark) in all_marks() {
        let ink = mark.ink.as_deref().unwrap_or(DEFAULT_COLOURS.1);
        let mut below = vec![mark.ground.clone().unwrap_or_else(|| DEFAULT_COLOURS.0.to_owned())];
        if let Some(Shape::Bands(bands)) = &mark.shape {
            below.extend(bands.clone());
        }
        for ground in below {
            let ratio = contrast(ink, &ground);
            assert!(ratio >= 4.5, "{code}: {ink} on {ground} has {ratio:.2}");
        }
    }
}

#[test]
fn every_text_is_at_least_eight_pixels_high() {
    for (code, mark) in all_marks() {
        assert!(mark.text_size() >= 16, "{code}: {:?} has {} half pixels", mark.lines, mark.text_size());
    }
}

#[test]
fn brands_with_different_names_have_different_marks() {
    let mut known: BTreeMap<Vec<String>, &str> = BTreeMap::new();
    let marks = all_marks();
    for brand in Brand::all() {
        let lines = marks[brand.code].lines.clone();
        let earlier = known.insert(lines.clone(), brand.name);
        assert!(earlier.is_none_or(|name| name == brand.name), "{} and {earlier:?} are {lines:?}", brand.name);
    }
}

#[test]
fn dots_leave_the_first_line_to_the_circles() {
    for (code, mark) in all_marks() {
        let has_dots = matches!(mark.shape, Some(Shape::Dots(_)));
        assert_eq!(has_dots, mark.lines.first().is_some_and(String::is_empty), "{code}");
    }
}

#[test]
fn the_sheets_set_nothing_but_the_tiles_properties_and_fetch_nothing() {
    let marks = read_marks();
    for sheet in [marks.first_rules(), marks.later_sheet()] {
        assert!(!sheet.contains("url("), "{sheet}");
        for rule in sheet.split_inclusive('}') {
            let (selector, declarations) = rule.split_once('{').expect("a rule");
            assert!(selector.split(',').all(|one| one.starts_with(".wpwl-brand")), "{rule}");
            assert!(declarations.split(';').all(|one| one.starts_with("--tillgate-")), "{rule}");
        }
    }
}

#[test]
fn a_mark_that_could_break_out_of_its_rule_is_refused() {
    let parse = |row: &str| BrandMarks::parse(&format!("[first]\n[later]\nX = {{ {row} }}\n"));
    assert!(parse("text = 'X', ground = '#fff'").is_ok());
    for row in [
        "ground = '#fff'",
        "text = ''",
        "text = 'X|'",
        "text = 'a|b|c'",
        "text = 'a\"b'",
        "text = 'a\\b'",
        "text = 'X', ground = 'red'",
        "text = 'X', ground = '#fff}'",
        "text = 'X', ink = '#FFFFFF'",
        "text = 'X', dots = '#fff'",
        "text = 'X', dots = ['#fff']",
        "text = 'X', foot = '#fff', corner = '#fff'",
        "text = 'X', colour = '#fff'",
    ] {
        assert!(parse(row).is_err(), "{row}");
    }
}
