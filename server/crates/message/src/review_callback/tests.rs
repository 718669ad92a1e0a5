//! Configurations, bodies and received decisions.

use axum::http::HeaderMap;
use jiff::Timestamp;
use tillgate_domain::id::EntityId;
use tillgate_domain::review::decision::DecisionType;

use super::*;

/// A configuration with every kind of key.
const CONFIG: &str = r#"
urls = ["https://shop.example/decisions", "https://203.0.113.9:8443/decisions"]
active = 2
retry-minutes = 2
retries = 1
accepted = [200, 202]
keys = [
  { name = "client", constant = "KILN & TIDE" },
  { name = "transactionid", field = "transactionId" },
  { name = "decision", field = "decision" },
  { name = "userid", field = "userId" },
  { name = "cancelreason", field = "cancelReason" },
  { name = "note", field = "note" },
  { name = "processdate", field = "processDate" },
  { name = "amount", field = "amount" },
  { name = "code", field = "result.code" },
  { name = "iban", field = "bankAccount.iban" },
  { name = "sweet", field = "customParameters[SHOPPER_sample]" },
  { name = "password", secret = "p&ss=word" },
]
headers = [{ name = "X-Shop", constant = "kiln" }, { name = "X-Key", secret = "header secret" }]

[receiving]
credentials = [{ header = "X-Api-Key", secret = "received secret" }, { key = "pass", secret = "second secret" }]
"#;

fn sample_config() -> CallbackConfig {
    parse_config(CONFIG, true).unwrap()
}

/// Returns the messages of the faults of a file.
fn fault_messages(text: &str) -> Vec<String> {
    parse_config(text, true).unwrap_err().iter().map(ToString::to_string).collect()
}

fn sample_document(decision: DecisionType) -> CallbackDocument {
    let processed: Timestamp = "2026-11-24T00:10:05.007Z".parse().unwrap();
    create_sample(&EntityId::new(Timestamp::UNIX_EPOCH, [1; 9]), decision, processed).unwrap()
}

#[test]
fn a_body_has_the_configured_pairs_in_order_encoded_once() {
    let config = sample_config();
    let body = render_body(&config, &sample_document(DecisionType::Cancel));
    assert_eq!(
        body,
        "client=KILN+%26+TIDE&transactionid=SAMPLE-20261124001005007&decision=CANCEL&userid=sample&cancelreason=1\
         &note=A+sample+decision%3B+nothing+was+decided.&processdate=2026-11-24+00%3A10%3A05.007&amount=92.00\
         &code=000.100.110&sweet=Cr%C3%A8me+br%C3%BBl%C3%A9e&password=p%26ss%3Dword"
    );
    for decision in [DecisionType::Approve, DecisionType::Pending] {
        let mut document = sample_document(decision);
        // A reason does not belong to such a decision, even if there is one.
        document.decision.cancel_reason = Some(7);
        document.decision.note = Some(String::new());
        let body = render_body(&config, &document);
        assert!(body.contains(&format!("&decision={}&userid=sample&processdate=", decision.as_str())), "{body}");
    }
}

#[test]
fn a_configuration_is_stored_as_it_was_and_its_secrets_are_not_printed() {
    let config = sample_config();
    let stored = serde_json::to_vec(&config).unwrap();
    assert_eq!(serde_json::from_slice::<CallbackConfig>(&stored).unwrap(), config);
    let printed = format!("{config:?}");
    for secret in ["p&ss=word", "header secret", "received secret", "second secret"] {
        assert!(!printed.contains(secret), "{printed}");
    }
    assert_eq!(config.active_url(), Some("https://203.0.113.9:8443/decisions"));
    assert_eq!(config.retry_delay(1), Some(jiff::SignedDuration::from_mins(2)));
    assert_eq!(config.retry_delay(2), None);
}

#[test]
fn defaults_are_five_retries_of_five_minutes_and_status_200() {
    let text = "urls = [\"https://shop.example/\"]\nkeys = [{ name = \"id\", field = \"transactionId\" }]";
    let config = parse_config(text, true).unwrap();
    assert_eq!((config.active, config.retry_minutes, config.retries, &config.accepted[..]), (1, 5, 5, &[200][..]));
    assert!(config.headers.is_empty() && config.receiving.is_none());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn every_fault_of_a_file_has_its_place_and_says_what_helps() {
    for (text, expected) in [
        ("", "1:1: missing field `keys`"),
        ("urls = 1", "1:8: invalid type: integer `1`, expected a sequence"),
        ("keys = []\nx = 1", "2:1: unknown field `x`"),
    ] {
        let found = fault_messages(text);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: {found:?}");
    }
    let text = r#"
urls = ["http://shop.example/", "https://shop.example:8443/", "https://a.example/", "https://a.example/"]
active = 5
retry-minutes = 0
retries = 6
accepted = [200, 302]
keys = [
  { name = "decision", field = "decision" },
  { name = "decision", field = "decison" },
  { name = "number", field = "card.number" },
  { name = "both", field = "amount", constant = "1" },
  { name = "", constant = "x" },
  { name = "empty", constant = "" },
]
headers = [
  { name = "Host", constant = "evil.example" },
  { name = "X A", constant = "1" },
  { name = "X-Split", constant = "1\r\nHost: evil.example" },
  { name = "X-Field", field = "amount" },
  { name = "x-split", constant = "2" },
]
[receiving]
credentials = [{ header = "X", key = "y", secret = "long enough secret" }, { key = "z", secret = "short" }]
"#;
    let found = fault_messages(text);
    for expected in [
        "2:9: http://shop.example/ is http",
        "2:33: https://shop.example:8443/ has the port 8443, which needs an IP address",
        "2:85: `urls` has at most 3",
        "2:85: https://a.example/ is in `urls` already",
        "3:10: `active` is a number from 1 to 4",
        "4:17: `retry-minutes` is a number from 1 to 5",
        "5:11: `retries` is a number from 1 to 5",
        "6:18: `accepted` lists statuses of success",
        "7:8: `keys` lacks the field transactionId",
        "9:3: there is a key `decision` already",
        "9:3: there is no field `decison`",
        "10:3: `card.number` is secret",
        "11:3: `both` has exactly one of",
        "12:3: the name of a key",
        "13:3: the value of `empty`",
        "16:3: `Host` is a standard header",
        "17:3: `X A` is no name of a header",
        "18:3: the value of `X-Split` has characters",
        "19:3: the header `X-Field` is fixed",
        "20:3: there is a header `x-split` already",
        "23:16: a credential has exactly one of",
        "23:76: a received secret has 12 to 1024 bytes",
    ] {
        assert!(found.iter().any(|fault| fault.starts_with(expected)), "{expected}: {found:#?}");
    }
    assert_eq!(found.len(), 22, "{found:#?}");
    assert!(
        parse_config("urls = [\"http://a.example/\"]\nkeys = [{ name = \"t\", field = \"transactionId\" }]", false)
            .is_ok()
    );
}

#[test]
fn credentials_are_all_needed_and_each_once() {
    let receiving = sample_config().receiving.unwrap();
    let header = |values: &[&str]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("x-api-key", value.parse().unwrap());
        }
        headers
    };
    for (headers, body, expected) in [
        (header(&["received secret"]), "pass=second+secret", Ok(())),
        (header(&["received secret"]), "a=b&pass=second%20secret", Ok(())),
        (header(&[]), "pass=second+secret", Err(CredentialFault::Missing)),
        (header(&["received secret"]), "", Err(CredentialFault::Missing)),
        (header(&["received secret"]), "pass=", Err(CredentialFault::Missing)),
        (header(&["received secret"]), "pass=wrong", Err(CredentialFault::Wrong)),
        (header(&["received secre"]), "pass=second+secret", Err(CredentialFault::Wrong)),
        (header(&["received secret", "received secret"]), "pass=second+secret", Err(CredentialFault::Wrong)),
        (header(&["received secret"]), "pass=second+secret&pass=second+secret", Err(CredentialFault::Wrong)),
    ] {
        let pairs = ReceivedPairs::parse(body.as_bytes()).unwrap();
        assert_eq!(receiving.check_credentials(&headers, &pairs), expected, "{headers:?} {body}");
    }
    let none = ReceivingConfig { credentials: Vec::new() };
    assert!(none.check_credentials(&HeaderMap::new(), &ReceivedPairs::parse(b"").unwrap()).is_err());
}

#[test]
fn a_rendered_body_is_read_as_the_decision_that_it_reports() {
    let config = sample_config();
    for decision in DecisionType::ALL {
        let document = sample_document(decision);
        let body = render_body(&config, &document);
        let read = read_decision(&config, &ReceivedPairs::parse(body.as_bytes()).unwrap()).unwrap();
        let sent = document.decision;
        assert_eq!((read.transaction_id, read.decision), (sent.transaction_id, sent.decision));
        assert_eq!((read.user_id, read.cancel_reason), (sent.user_id, sent.cancel_reason));
        assert_eq!((read.note, read.processed), (sent.note, Some(sent.processed)));
    }
}

#[test]
fn a_decision_that_is_not_clear_is_refused() {
    let config = sample_config();
    let read = |body: &str| ReceivedPairs::parse(body.as_bytes()).and_then(|pairs| read_decision(&config, &pairs));
    let minimal = read("transactionid=a&decision=approve&cancelreason=&unknown[=1").unwrap();
    assert_eq!((minimal.user_id.as_str(), minimal.decision), ("review-system", DecisionType::Approve));
    for body in [
        "".to_owned(),
        "transactionid=a".to_owned(),
        "decision=APPROVE".to_owned(),
        "transactionid=&decision=APPROVE".to_owned(),
        "transactionid=a&decision=ACCEPT".to_owned(),
        "transactionid=a&transactionid=a&decision=APPROVE".to_owned(),
        "transactionid=a&decision=APPROVE&decision=CANCEL".to_owned(),
        "transactionid=a&decision=APPROVE&cancelreason=1".to_owned(),
        "transactionid=a&decision=CANCEL&cancelreason=-1".to_owned(),
        "transactionid=a&decision=CANCEL&cancelreason=4294967296".to_owned(),
        "transactionid=a&decision=CANCEL&cancelreason=one".to_owned(),
        "transactionid=a&decision=APPROVE&processdate=2026-11-24".to_owned(),
        "transactionid=a&decision=APPROVE&processdate=2026-13-24+00:10:05.007".to_owned(),
        "transactionid=a&decision=APPROVE&processdate=2026-11-24T00:10:05.007".to_owned(),
        "transactionid=a&decision=APPROVE&note=paid+with+4111+1111+1111+1111".to_owned(),
        "transactionid=a&decision=APPROVE&userid=%00".to_owned(),
        "transactionid=a&decision=APPROVE&userid=%1b[2J".to_owned(),
        "transactionid=a&decision=APPROVE&userid=%ff".to_owned(),
        "transactionid=a&decision=APPROVE&userid=%4".to_owned(),
        format!("transactionid=a&decision=APPROVE&note={}", "x".repeat(2049)),
        format!("transactionid={}&decision=APPROVE", "x".repeat(256)),
        "a=b&".repeat(201),
    ] {
        assert!(read(&body).is_err(), "{body}");
    }
}
