//! docs/risk.md: it lists every fact and key, and its starter rules do what it says.

use super::*;
use crate::{VelocityKey, all_facts};

const PAGE: &str = include_str!("../../../../../docs/risk.md");

/// Returns the code blocks of a language.
fn find_blocks(language: &str) -> Vec<&'static str> {
    let start = format!("```{language}\n");
    PAGE.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_page_lists_every_fact_with_its_type_and_who_can_choose_it() {
    let missing: Vec<String> = all_facts()
        .map(|row| {
            let note = row.note.replace('|', "\\|");
            format!("| `{}` | {} | {} | {note} |", row.name, row.kind.as_str(), row.source.as_str())
        })
        .filter(|line| !PAGE.lines().any(|known| known == line))
        .collect();
    assert!(missing.is_empty(), "docs/risk.md lacks:\n{}", missing.join("\n"));
    let rows = PAGE.lines().filter(|line| line.starts_with("| `") && line.matches(" | ").count() == 3).count();
    assert_eq!(rows, all_facts().count(), "docs/risk.md has a fact that does not exist");
}

#[test]
fn the_page_lists_every_key() {
    for (name, _) in VelocityKey::NAMED {
        assert!(PAGE.contains(&format!("| `{name}` | ")), "{name}");
    }
}

#[test]
fn the_starter_rules_are_valid_and_each_is_explained() {
    let blocks = find_blocks("toml");
    let starter = RuleSet::parse(blocks.last().unwrap()).unwrap();
    assert!(starter.rules().len() >= 10);
    for rule in starter.rules() {
        assert!(PAGE.contains(&format!("**{}.**", rule.name)), "{} is not explained", rule.name);
        assert!(rule.note.is_some(), "{} has no note", rule.name);
    }
}

#[test]
fn every_rules_file_on_the_page_is_valid() {
    let blocks = find_blocks("toml");
    assert!(blocks.iter().any(|block| block.contains("[[offer]]")));
    for block in blocks {
        assert_eq!(find_errors(block), [], "{block}");
    }
}
