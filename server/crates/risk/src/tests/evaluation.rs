//! Outcomes: scores, thresholds, precedence, codes, versions.

use super::*;
use crate::Outcome;

/// Returns a file with thresholds and rules that always fire: `s5` scores 5, `deny` denies.
fn make_file(effects: &[&str]) -> String {
    let mut file = "[thresholds]\nchallenge = 20\nreview = 50\ndeny = 80\n".to_owned();
    for (index, effect) in effects.iter().enumerate() {
        let effect = match effect.parse::<i32>() {
            Ok(score) => format!("score = {score}"),
            Err(_) => format!("outcome = \"{effect}\""),
        };
        file += &format!("[[rule]]\nname = \"r{index}\"\nwhen = 'hour >= 0'\n{effect}\n");
    }
    file
}

#[test]
fn scores_add_up_and_reach_thresholds() {
    for (effects, score, outcome) in [
        (&["19"][..], 19, Outcome::Accept),
        (&["10", "10"], 20, Outcome::Challenge),
        (&["60", "-10"], 50, Outcome::Review),
        (&["40", "40"], 80, Outcome::Deny),
        (&["80", "-99999"], -99_919, Outcome::Accept),
        (&["99999", "99999", "-99999"], 99_999, Outcome::Deny),
        (&["99999", "99999"], 99_999, Outcome::Deny),
        (&["-99999", "-99999"], -99_999, Outcome::Accept),
    ] {
        let assessment = assess(&make_file(effects), &make_payment(&[]));
        assert_eq!((assessment.score, assessment.outcome), (score, outcome), "{effects:?}");
    }
}

#[test]
fn a_denial_wins_then_an_acceptance_then_the_most_severe() {
    for (effects, outcome) in [
        (&["deny", "accept", "review", "-99999"][..], Outcome::Deny),
        (&["accept", "review", "challenge", "99999"], Outcome::Accept),
        (&["review", "90"], Outcome::Deny),
        (&["review", "challenge"], Outcome::Review),
        (&["challenge", "60"], Outcome::Review),
        (&["challenge", "-500"], Outcome::Challenge),
        (&[], Outcome::Accept),
    ] {
        assert_eq!(assess(&make_file(effects), &make_payment(&[])).outcome, outcome, "{effects:?}");
    }
}

#[test]
fn a_review_may_demand_a_challenge_too_and_a_denial_does_not() {
    for (effects, challenge) in [
        (&["challenge", "review"][..], true),
        (&["60"], true),
        (&["challenge"], true),
        (&["challenge", "deny"], false),
        (&["challenge", "accept"], false),
        (&["review"], false),
    ] {
        assert_eq!(assess(&make_file(effects), &make_payment(&[])).challenge, challenge, "{effects:?}");
    }
}

#[test]
fn the_code_is_that_of_the_first_rule_by_name_with_the_outcome() {
    let file = "[[rule]]\nname = 'b'\noutcome = 'deny'\ncode = '100.400.121'\nwhen = 'hour >= 0'\n\
                [[rule]]\nname = 'a'\noutcome = 'deny'\ncode = '100.400.021'\nwhen = 'hour >= 0'\n\
                [[rule]]\nname = '0'\noutcome = 'review'\ncode = '100.400.030'\nwhen = 'hour >= 0'\n";
    let assessment = assess(file, &make_payment(&[]));
    assert_eq!(assessment.code.map(|code| code.code()), Some("100.400.021"));
    assert_eq!(assessment.fired, ["0", "a", "b"]);
    assert_eq!(assessment.inputs, ["hour"]);
}

#[test]
fn an_assessment_names_its_inputs_and_no_values() {
    let payment = make_payment(&[("customer.email", "secret@mail.example"), ("card.holder", "Anna Secret")]);
    let rule = make_rule("card.holder contains \"secret\" and count(email, 1 h) = 1 and not mismatch.country");
    let assessment = assess(&rule, &payment);
    assert_eq!(assessment.inputs, ["card.holder", "count(email, 1 h)", "mismatch.country"]);
    assert!(!serde_json::to_string(&assessment).unwrap().to_lowercase().contains("secret"));
}

#[test]
fn the_zone_of_the_file_decides_the_time_of_day() {
    let payment = make_payment(&[]);
    for (zone, time) in [("UTC", "12:30"), ("Europe/Berlin", "13:30"), ("Asia/Kolkata", "18:00")] {
        let file = format!("zone = \"{zone}\"\n{}", make_rule(&format!("time = {time}")));
        assert_eq!(assess(&file, &payment).fired, ["r"], "{zone}");
    }
}

#[test]
fn a_version_names_what_decides_and_nothing_else() {
    let version = |file: &str| RuleSet::parse(file).unwrap().version().to_string();
    let a = "[[rule]]\nname = 'a'\nscore = 1\nwhen = 'hour = 1'\n";
    let b = "[[rule]]\nname = 'b'\nscore = 2\nwhen = 'hour = 2'\n";
    let whole = version(&format!("{a}{b}"));
    assert_eq!(whole.len(), 16);
    assert_eq!(whole, version(&format!("# a comment\n{b}note = 'x'\n{a}")));
    assert_eq!(whole, version(&format!("{a}{}", b.replace("hour = 2", "((hour=2.0))"))));
    for other in [
        format!("zone = 'Europe/Berlin'\n{a}{b}"),
        format!("[thresholds]\ndeny = 5\n{a}{b}"),
        format!("{a}{}", b.replace("score = 2", "score = 3")),
        format!("{a}{}", b.replace("hour = 2", "hour = 3")),
        format!("{a}{}", b.replace("'b'", "'c'")),
        a.to_owned(),
    ] {
        assert_ne!(whole, version(&other), "{other}");
    }
}
