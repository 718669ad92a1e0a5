//! Tests of the stages, the deadlines and the checks of evidence files.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::evidence::{EvidenceType, sanitize_name};
use super::*;

/// Action, stage, the side that has to act (M or I), and the stage and side that follow. Every other combination is
/// refused.
const ALLOWED: &str = "
    CHARGE_BACK    RETRIEVAL_REQUEST M  CHARGEBACK M
    CHARGE_BACK    RETRIEVAL_REQUEST I  CHARGEBACK M
    REPRESENT      RETRIEVAL_REQUEST M  RETRIEVAL_REQUEST I
    REPRESENT      CHARGEBACK M         REPRESENTMENT I
    REPRESENT      PRE_ARBITRATION M    PRE_ARBITRATION I
    ACCEPT         CHARGEBACK M         ACCEPTED I
    ACCEPT         PRE_ARBITRATION M    ACCEPTED I
    PRE_ARBITRATE  REPRESENTMENT I      PRE_ARBITRATION M
    LOSE           REPRESENTMENT I      LOST I
    LOSE           PRE_ARBITRATION I    LOST I
    REVERSE        CHARGEBACK M         REVERSAL I
    REVERSE        CHARGEBACK I         REVERSAL I
    REVERSE        REPRESENTMENT M      REVERSAL I
    REVERSE        REPRESENTMENT I      REVERSAL I
    REVERSE        PRE_ARBITRATION M    WON I
    REVERSE        PRE_ARBITRATION I    WON I
    REVERSE        LOST M               REVERSAL I
    REVERSE        LOST I               REVERSAL I
    REVERSE        ACCEPTED M           REVERSAL I
    REVERSE        ACCEPTED I           REVERSAL I
    REVERSE        EXPIRED M            REVERSAL I
    REVERSE        EXPIRED I            REVERSAL I
    CLOSE          RETRIEVAL_REQUEST M  CLOSED I
    CLOSE          RETRIEVAL_REQUEST I  CLOSED I
    EXPIRE         RETRIEVAL_REQUEST M  EXPIRED I
    EXPIRE         CHARGEBACK M         EXPIRED I
    EXPIRE         PRE_ARBITRATION M    EXPIRED I
";

fn describe(position: DisputePosition) -> String {
    format!("{} {}", position.stage.as_str(), if position.awaits_merchant { "M" } else { "I" })
}

#[test]
fn every_transition_that_is_not_in_the_table_is_refused() {
    let rows: Vec<Vec<&str>> = ALLOWED
        .lines()
        .map(|line| line.split_whitespace().collect())
        .filter(|row: &Vec<&str>| !row.is_empty())
        .collect();
    let mut allowed = 0;
    for action in DisputeAction::ALL {
        for stage in DisputeStage::ALL {
            for awaits_merchant in [true, false] {
                let before = DisputePosition { stage, awaits_merchant };
                let key = format!("{} {}", action.as_str(), describe(before));
                let expected = rows.iter().find(|row| row[..3].join(" ") == key).map(|row| row[3..].join(" "));
                allowed += usize::from(expected.is_some());
                assert_eq!(before.after_action(action).map(describe), expected, "{key}");
            }
        }
    }
    assert_eq!(allowed, rows.len());
}

#[test]
fn a_dispute_that_was_won_never_moves_again() {
    for stage in [DisputeStage::Reversal, DisputeStage::Won, DisputeStage::Closed] {
        for action in DisputeAction::ALL {
            for awaits_merchant in [true, false] {
                assert_eq!(DisputePosition { stage, awaits_merchant }.after_action(action), None);
            }
        }
    }
}

#[test]
fn the_time_for_an_answer_is_that_of_the_scheme() {
    let days = |brand| default_response_days(brand, DisputeStage::Chargeback);
    assert_eq!((days("VISA"), days("MASTER"), days("AMEX")), (30, 45, 20));
    assert_eq!(default_response_days("MASTER", DisputeStage::PreArbitration), 30);
    assert!(days("MASTER") <= MAX_RESPONSE_DAYS);
}

/// Returns a PNG of these chunks after its header.
fn png(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in chunks {
        file.extend_from_slice(&u32::try_from(data.len()).unwrap().to_be_bytes());
        file.extend_from_slice(*kind);
        file.extend_from_slice(data);
        file.extend_from_slice(&[0; 4]);
    }
    file
}

#[test]
fn the_type_of_a_file_is_that_of_its_content() {
    let whole = png(&[(b"IHDR", &[0; 13]), (b"IDAT", b"pixels"), (b"IEND", b"")]);
    let jpeg = b"\xFF\xD8\xFF\xE0 pixels \xFF\xD9".to_vec();
    let pdf = b"%PDF-1.7\n1 0 obj\nendobj\n%%EOF\r\n".to_vec();
    for (file, expected) in [(&whole, EvidenceType::Png), (&jpeg, EvidenceType::Jpeg), (&pdf, EvidenceType::Pdf)] {
        assert_eq!(EvidenceType::detect(file), Some(expected));
        // A file that is cut, that begins with something else, or that something follows is refused.
        for cut in 0..file.len() - 2 {
            assert_eq!(EvidenceType::detect(&file[..cut]), None, "{expected:?} {cut}");
        }
        assert_eq!(EvidenceType::detect(&[b"<html>", &file[..]].concat()), None);
        assert_eq!(EvidenceType::detect(&[&file[..], b"<script>alert(1)</script>"].concat()), None);
        let zip = [b"PK\x05\x06".as_slice(), &[0; 16], &[0, 0]].concat();
        assert_eq!(EvidenceType::detect(&[&file[..], &zip].concat()), None);
    }
    for other in ["", "<svg xmlns='http://www.w3.org/2000/svg'/>", "<!doctype html>", "GIF89a;", "MZ", "#!/bin/sh"] {
        assert_eq!(EvidenceType::detect(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn an_archive_is_refused_wherever_it_stands_in_a_document() {
    let directory = [b"PK\x01\x02".as_slice(), &[0; 42], b"a"].concat();
    let end = |size: u32| [b"PK\x05\x06".as_slice(), &[0, 0, 0, 0, 1, 0, 1, 0], &size.to_le_bytes(), &[9; 6]].concat();
    let zip = [b"PK\x03\x04 file ".as_slice(), &directory, &end(47)].concat();
    let long = [b"PK\x06\x07".as_slice(), &[0; 16], &end(u32::MAX)].concat();
    let empty = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    let others = [b"Rar!\x1A\x07\x01\x00".to_vec(), b"7z\xBC\xAF\x27\x1C".to_vec()];
    for archive in [zip, long, empty].into_iter().chain(others) {
        // Readers skip what stands before an archive, and what follows its end.
        for after in [b"".as_slice(), b"\n1 0 obj\n", &[b'x'; 70_000]] {
            let pdf = [b"%PDF-1.4\n".as_slice(), &archive, after, b"\n%%EOF\n"].concat();
            assert_eq!(EvidenceType::detect(&pdf), None, "{archive:x?}");
            let png = png(&[(b"IHDR", &[0; 13]), (b"tEXt", &[&archive, after].concat()), (b"IEND", b"")]);
            assert_eq!(EvidenceType::detect(&png), None, "{archive:x?}");
        }
    }
    let mut tar = [b"%PDF-1.4\n".as_slice(), &[b' '; 248], b"ustar\0", b"\n%%EOF\n"].concat();
    assert_eq!(EvidenceType::detect(&tar), None);
    tar[257] = b'U';
    assert_eq!(EvidenceType::detect(&tar), Some(EvidenceType::Pdf));
    // A signature that occurs by chance is no archive.
    let chance = [b"%PDF-1.4\n".as_slice(), &end(12), b"\n%%EOF\n"].concat();
    assert_eq!(EvidenceType::detect(&chance), Some(EvidenceType::Pdf));
}

#[test]
fn an_archive_is_refused_although_it_has_the_beginning_and_the_end_of_a_document() {
    // The comment of an archive may end like a PDF, and so may its last chunk end like a PNG.
    let zip = |end: &[u8]| {
        let comment = u16::try_from(end.len()).unwrap().to_le_bytes();
        [b"PK\x05\x06".as_slice(), &[0; 16], &comment, end].concat()
    };
    let pdf = [b"%PDF-1.4\nPK\x03\x04 class files ".as_slice(), &zip(b"\n%%EOF\n")].concat();
    assert_eq!(EvidenceType::detect(&pdf), None);
    let jpeg = [b"\xFF\xD8\xFF\xE0 PK\x03\x04 ".as_slice(), &zip(b"\xFF\xD9")].concat();
    assert_eq!(EvidenceType::detect(&jpeg), None);
    let end = png(&[(b"IEND", b"")]);
    let hidden = zip(&[&[0; 4], &end[8..]].concat());
    let mut image = png(&[(b"IHDR", &[0; 13]), (b"tEXt", &hidden[..hidden.len() - end.len() + 8 - 4])]);
    image.extend_from_slice(&end[8..]);
    assert_eq!(EvidenceType::detect(&image), None);
}

#[test]
fn a_file_name_is_safe_and_has_the_extension_of_its_type() {
    for (name, expected) in [
        ("receipt.pdf", "receipt.pdf"),
        ("../../etc/passwd", "passwd.pdf"),
        ("C:\\Temp\\proof.EXE", "proof.pdf"),
        ("a\"; filename=evil.html", "a__ filename_evil.pdf"),
        ("line\r\nSet-Cookie: x", "line__Set-Cookie_ x.pdf"),
        ("", "evidence.pdf"),
        ("...", "evidence.pdf"),
        (".htaccess", "htaccess.pdf"),
        ("Lieferschein Köln.pdf", "Lieferschein K_ln.pdf"),
    ] {
        assert_eq!(sanitize_name(name, EvidenceType::Pdf).unwrap(), expected, "{name:?}");
    }
    assert!(sanitize_name("4200 0000 0000 0000.pdf", EvidenceType::Pdf).is_err());
}

proptest! {
    #[test]
    fn any_bytes_and_any_name_are_answered(content: Vec<u8>, name: String) {
        let _ = EvidenceType::detect(&content);
        if let Ok(name) = sanitize_name(&name, EvidenceType::Png) {
            prop_assert!(name.ends_with(".png") && name.len() <= 90 && !name.starts_with('.'));
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_ ".contains(&byte)));
        }
    }

    #[test]
    fn an_open_dispute_always_ends(actions in prop::collection::vec(prop::sample::select(&DisputeAction::ALL[..]), 0..60)) {
        let mut position = DisputePosition::after_opening(DisputeAction::RequestRetrieval).unwrap();
        let mut moves = 0;
        for action in actions {
            if let Some(next) = position.after_action(action) {
                (position, moves) = (next, moves + 1);
            }
        }
        // No stage comes twice, so the steps of a dispute are few.
        prop_assert!(moves <= 8);
        prop_assert!(position.stage.has_ended() || !position.awaits_merchant
            || position.after_action(DisputeAction::Expire).is_some());
    }
}

#[test]
fn the_reminder_comes_five_days_before_the_deadline_or_half_way() {
    let at = Timestamp::from_second(1_700_000_000).unwrap();
    let (day, lead) = (SignedDuration::from_hours(24), REMINDER_LEAD);
    for (days, expected) in [(30, day * 30 - lead), (10, day * 5), (1, day / 2)] {
        let time = day * days;
        assert_eq!(at + time - lead.min(time / 2), at + expected, "{days}");
    }
}
