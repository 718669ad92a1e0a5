//! Errors of rules files: their places and their texts.

use super::*;

/// Asserts that a file has one error, at this place and with this text in it.
fn assert_error(file: &str, line: usize, column: usize, text: &str) {
    let errors = find_errors(file);
    let [error] = errors.as_slice() else { panic!("{file}: {errors:?}") };
    assert_eq!((error.line, error.column), (line, column), "{file}: {error}");
    assert!(error.message.contains(text), "{file}: {error}");
}

/// Asserts the column of an error in a condition, and its text.
fn assert_condition_error(condition: &str, column: usize, text: &str) {
    let file = format!("[[rule]]\nname = 'r'\nscore = 1\nwhen = '{condition}'\n");
    assert_error(&file, 4, column + 8, text);
}

#[test]
fn an_error_in_a_condition_names_its_column_in_the_file() {
    assert_condition_error("bilingCountry = \"DE\"", 1, "did you mean `billing.country`?");
    assert_condition_error("amount > 1 and x.y > 3", 16, "there is no fact `x.y`");
    assert_condition_error("amount > \"a\"", 10, "`amount` is an amount: compare it with a number");
    assert_condition_error("amount > 1.234", 10, "an amount has at most 2 decimals");
    assert_condition_error("amount > 5 EUR", 12, "amounts are in the payment's currency");
    assert_condition_error("billing.country = DE", 19, "there is no fact `DE`");
    assert_condition_error("billing.country > \"DE\"", 17, "which has no order");
    assert_condition_error("billing.country = hour", 19, "`billing.country` is a text, and `hour` is a number");
    assert_condition_error("mismatch.country = 1", 18, "write `mismatch.country` or `not mismatch.country`");
    assert_condition_error("amount", 1, "`amount` needs a comparison, such as `amount > 100`");
    assert_condition_error("amount contain 3", 8, "did you mean `contains`?");
    assert_condition_error("amount contains \"3\"", 8, "`contains` is for texts");
    assert_condition_error("amount > 1 amount < 5", 12, "expected `and`, `or` or the end");
    assert_condition_error("(amount > 1", 12, "expected `)`");
    assert_condition_error("amount > 1)", 11, "closes none");
    assert_condition_error("amount == 1", 8, "write `=`");
    assert_condition_error("amount > 1 && hour = 2", 12, "write `and`");
    assert_condition_error("amount > 1 AND hour = 2", 12, "expected `and`, `or`");
    assert_condition_error("amount > 1 and", 15, "expected a fact");
    assert_condition_error("", 1, "expected a fact");
    assert_condition_error("time > 24:00", 8, "from 00:00 to 23:59");
    assert_condition_error("account.age < 3", 16, "a whole number and a unit");
    assert_condition_error("account.age < 3 weeks", 17, "a whole number and a unit");
    assert_condition_error("count(card, 30 s) > 3", 13, "between 1 min and 90 d");
    assert_condition_error("count(card, 91 d) > 3", 13, "between 1 min and 90 d");
    assert_condition_error("count(mail, 1 h) > 3", 7, "did you mean `email`?");
    assert_condition_error("count(card, 1 h)", 17, "expected a comparison, such as `count(card, 1 h) > 3`");
    assert_condition_error("distinct(card, 1 h) > 3", 14, "expected `by`");
    assert_condition_error("distinct(amount by ip, 1 h) > 3", 10, "neither");
    assert_condition_error("source(ip) = shopper", 14, "browser, merchant or gateway");
    assert_condition_error("customer.email contains \"\"", 25, "every text has this");
    assert_condition_error("hour = 1 and cart.items[x].sku = \"a\"", 14, "there is no fact");
    assert_condition_error("risk.parameters[ab] = \"a\"", 1, "there is no fact");
    assert_condition_error("card.number is present", 1, "there is no fact `card.number`");
    assert_condition_error("customer.email = \"ä🦀\" and x.y = 1", 27, "there is no fact");
    assert_condition_error("amount = cart.items[n].price", 10, "left side only");
}

#[test]
fn columns_are_right_in_every_kind_of_toml_string() {
    let file = |when: &str| format!("[[rule]]\nname = \"r\"\nscore = 1\nwhen = {when}\n");
    assert_error(&file("'hour = 1 or x.y = 1'"), 4, 21, "no fact");
    assert_error(&file("'''hour = 1 or x.y = 1'''"), 4, 23, "no fact");
    assert_error(&file("'''\nhour = 1\n  or x.y = 1\n'''"), 6, 6, "no fact");
    assert_error(&file("'''\r\nhour = 1\r\n  or x.y = 1\r\n'''"), 6, 6, "no fact");
    assert_error(&file("\"hour = 1 or x.y = 1\""), 4, 21, "no fact");
    assert_error(&file("\"\"\"\nhour = 1\nor x.y = 1\"\"\""), 6, 4, "no fact");
    // In a string with escapes, the place is the beginning of the string.
    assert_error(&file("\"currency = \\\"EUR\\\" or x.y = 1\""), 4, 8, "no fact");
}

#[test]
fn a_wrong_rule_is_reported_at_the_value_that_is_wrong() {
    let rule = |lines: &str| format!("[[rule]]\nname = \"r\"\nwhen = 'hour = 1'\n{lines}");
    assert_error(&rule("score = 100000\n"), 4, 9, "between -99999 and 99999");
    assert_error(&rule("score = 99999999999999999999\n"), 4, 9, "");
    assert_error(&rule("score = nan\n"), 4, 9, "not a number with decimals");
    assert_error(&rule("score = 1.5\n"), 4, 9, "whole number");
    assert_error(&rule("score = \"1\"\n"), 4, 9, "not a text");
    assert_error(&rule("outcome = \"reject\"\n"), 4, 11, "\"accept\", \"review\"");
    assert_error(&rule("score = 1\noutcome = \"deny\"\n"), 5, 11, "either");
    assert_error(&rule(""), 1, 1, "no effect");
    assert_error(&rule("scores = 1\nscore = 1\n"), 4, 1, "did you mean `score`?");
    assert_error(&rule("score = 1\ncode = \"100.400.142\"\n"), 5, 8, "only a rule with outcome");
    assert_error(&rule("outcome = \"deny\"\ncode = \"100.400.999\"\n"), 5, 8, "documented result code");
    assert_error(&rule("outcome = \"deny\"\ncode = \"000.000.000\"\n"), 5, 8, "group 100.400");
    assert_error(&rule("outcome = \"deny\"\ncode = \"100.400.500\"\n"), 5, 8, "a payment that is held");
    assert_error(&rule("outcome = \"review\"\ncode = \"100.400.500\"\n"), 5, 8, "a payment that is held");
    assert_error(&rule("outcome = \"deny\"\nnote = 3\n"), 5, 8, "`note` is a text");
    assert_error("[[rule]]\nscore = 1\nwhen = 'hour = 1'\n", 1, 1, "no `name`");
    assert_error("[[rule]]\nscore = 1\nname = 'a'\n", 1, 1, "no `when`");
    assert_error("zone = 'Mars/Base'\n", 1, 8, "IANA");
    assert_error("threshold = 1\n", 1, 1, "did you mean `thresholds`?");
    assert_error("[thresholds]\nreview = 50\ndeny = 40\n", 2, 10, "`review` has to be below `deny`");
    assert_error("rule = 3\n", 1, 8, "[[rule]]");
    assert_error("rule = [3]\n", 1, 9, "a rule is a table");
    assert_error("zone = \n", 1, 8, "");
}

#[test]
fn a_name_that_is_used_twice_is_reported_with_the_line_of_the_first() {
    let rule = "[[rule]]\nname = 'a'\nscore = 1\nwhen = 'hour = 1'\n";
    assert_error(&format!("{rule}{rule}"), 6, 8, "in line 2");
}

#[test]
fn all_errors_of_a_file_are_reported_in_order() {
    let file = "zone = 'x'\n[[rule]]\nname = 'a'\nscore = 'b'\nwhen = 'x.y = 1'\n[[rule]]\nnote = 'c'\n";
    let places: Vec<(usize, usize)> = find_errors(file).iter().map(|error| (error.line, error.column)).collect();
    assert_eq!(places, [(1, 8), (4, 9), (5, 9), (6, 1), (6, 1), (6, 1)]);
}
