#![allow(clippy::unwrap_used)]

use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

use super::*;

const SERVER: &str = "8a880dc0-d2d2-4067-bcb1-b08d1690b26e";
const DIRECTORY: &str = "f25084f0-5b16-4c0a-ae5d-b24808a95e4b";
const ACS: &str = "d7c1ee99-9478-44a6-b1f2-391e29c6b340";

fn sample_areq() -> Value {
    json!({
        "messageType": "AReq", "messageVersion": "2.2.0", "threeDSServerTransID": SERVER,
        "threeDSServerURL": "https://pay.example/v1/threeDSecure/0a/result", "threeDSServerRefNumber": "3DS_LOA_1",
        "threeDSCompInd": "Y", "threeDSRequestorID": "10001", "threeDSRequestorName": "Shop",
        "threeDSRequestorURL": "https://shop.example", "threeDSRequestorAuthenticationInd": "01",
        "threeDSRequestorChallengeInd": "04", "acctNumber": "4200000000000018", "deviceChannel": "02",
        "messageCategory": "01", "notificationURL": "https://pay.example/v1/threeDSecure/0a/challenge",
        "acquirerBIN": "400551", "acquirerMerchantID": "m-1", "mcc": "5411", "merchantCountryCode": "276",
        "merchantName": "Shop", "browserAcceptHeader": "text/html", "browserLanguage": "de-AT",
        "browserUserAgent": "Mozilla/5.0", "browserJavaEnabled": false, "browserJavascriptEnabled": true,
        "browserColorDepth": "24", "browserScreenHeight": "1080", "browserScreenWidth": "1920", "browserTZ": "-60",
        "purchaseDate": "20260228235959", "purchaseAmount": "9200", "purchaseCurrency": "978", "purchaseExponent": "2",
        "futureElement": { "nested": [1, 2] },
    })
}

fn sample_ares() -> Value {
    json!({
        "messageType": "ARes", "messageVersion": "2.2.0", "threeDSServerTransID": SERVER, "dsTransID": DIRECTORY,
        "acsTransID": ACS, "transStatus": "Y", "authenticationValue": "AAACAgSRBklmQCFgMpEGAAAAAAA=", "eci": "05",
    })
}

fn sample_rreq() -> Value {
    json!({
        "messageType": "RReq", "messageVersion": "2.2.0", "threeDSServerTransID": SERVER, "dsTransID": DIRECTORY,
        "acsTransID": ACS, "transStatus": "Y", "authenticationValue": "AAACAgSRBklmQCFgMpEGAAAAAAA=", "eci": "05",
        "messageCategory": "01", "interactionCounter": "01",
    })
}

fn sample_pres() -> Value {
    json!({
        "messageType": "PRes", "messageVersion": "2.2.0", "threeDSServerTransID": SERVER, "dsTransID": DIRECTORY,
        "serialNum": "7", "dsStartProtocolVersion": "2.1.0", "dsEndProtocolVersion": "2.2.0",
        "cardRangeData": [{
            "startRange": "4200000000000000", "endRange": "4200000000009999", "actionInd": "A",
            "acsStartProtocolVersion": "2.1.0", "acsEndProtocolVersion": "2.2.0",
            "threeDSMethodURL": "https://acs.example/method", "acsInfoInd": ["01", "02"],
        }],
    })
}

/// Reads a message with some elements replaced; null removes an element. Returns the code and the detail of its fault,
/// or "ok".
fn read_fault<T: WireMessage>(sample: Value, changes: &[(&str, Value)]) -> String {
    let mut message = sample;
    for (name, value) in changes {
        match value {
            Value::Null => drop(message.as_object_mut().unwrap().remove(*name)),
            value => message[*name] = value.clone(),
        }
    }
    match read_message::<T>(message.to_string().as_bytes(), Some(MessageVersion::V22)) {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{} {}", error.code.as_str(), error.detail),
    }
}

fn read<T: WireMessage>(message: &Value) -> T {
    match read_message::<T>(message.to_string().as_bytes(), None) {
        Ok(MessageOrError::Message(message)) => message,
        Ok(MessageOrError::Error(erro)) => panic!("{erro:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_message_is_written_as_it_was_read_without_unknown_elements() {
    fn check<T: WireMessage>(sample: Value, unknown: &str) {
        let written: Value = serde_json::from_slice(&write_message(&read::<T>(&sample)).unwrap()).unwrap();
        let mut expected = sample;
        expected.as_object_mut().unwrap().remove(unknown);
        assert_eq!(written, expected);
    }
    check::<AReq>(sample_areq(), "futureElement");
    check::<ARes>(sample_ares(), "");
    check::<RReq>(sample_rreq(), "");
    let receipt = read::<RReq>(&sample_rreq()).receipt();
    assert_eq!(read::<RRes>(&serde_json::to_value(&receipt).unwrap()), receipt);
    check::<PReq>(
        json!({
            "messageType": "PReq", "messageVersion": "2.3.1", "threeDSServerTransID": SERVER,
            "threeDSServerRefNumber": "3DS_LOA_1", "serialNum": "7",
        }),
        "",
    );
    let entry = read::<PRes>(&sample_pres()).ranges.unwrap().remove(0);
    assert_eq!(entry.number_ranges().collect::<Vec<_>>(), [("4200000000000000", "4200000000009999")]);
    let challenge = CReq::new(MessageVersion::V22, SERVER, ACS, "07");
    assert_eq!(challenge.window_size, "05");
    let encoded = encode_browser_message(&challenge).unwrap();
    assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{encoded}");
    for padded in [encoded.clone(), format!("{encoded}{}", "=".repeat((4 - encoded.len() % 4) % 4))] {
        assert_eq!(decode_browser_message(&padded), Ok(MessageOrError::Message(challenge.clone())));
    }
}

#[test]
fn entries_of_2_3_1_have_several_ranges_and_versions() {
    let mut message = sample_pres();
    message["messageVersion"] = json!("2.3.1");
    message["cardRangeData"] = json!([{
        "ranges": [
            { "startRange": "4200000000000000", "endRange": "4200000000009999" },
            { "startRange": "4300000000000", "endRange": "4300000009999" },
        ],
        "actionInd": "M",
        "acsProtocolVersions": [{ "version": "2.3.1", "acsInfoInd": ["01"], "threeDSMethodURL": "https://acs.example/m" }],
    }]);
    let entry = read::<PRes>(&message).ranges.unwrap().remove(0);
    assert_eq!(entry.number_ranges().count(), 2);
    assert_eq!((entry.action, entry.acs_versions.len()), (CardRangeAction::Modify, 1));
    let mut areq = sample_areq();
    areq["messageVersion"] = json!("2.3.1");
    areq["threeDSRequestorChallengeInd"] = json!(["04", "09"]);
    assert_eq!(read::<AReq>(&areq).challenge_indicators.unwrap().codes(), ["04", "09"]);
    let written = |version| serde_json::to_value(ChallengeIndicators::new("04", version)).unwrap();
    assert_eq!((written(MessageVersion::V22), written(MessageVersion::V231)), (json!("04"), json!(["04"])));
}

#[test]
fn a_wrong_authentication_response_is_refused_by_the_name_of_its_element() {
    let cases: [(&[(&str, Value)], &str); 20] = [
        (&[], "ok"),
        (&[("transStatus", json!("D"))], "ok"),
        (
            &[("messageExtension", json!([{ "name": "n", "id": "A-1", "criticalityIndicator": false, "data": {} }]))],
            "ok",
        ),
        (
            &[("messageExtension", json!([{ "name": "n", "id": "A-1", "criticalityIndicator": true, "data": {} }]))],
            "202 A-1",
        ),
        (&[("messageType", json!("AReq"))], "101 messageType"),
        (&[("messageType", Value::Null)], "201 messageType"),
        (&[("messageVersion", json!("2.1.0"))], "102 messageVersion"),
        (&[("messageVersion", json!("9.9.9"))], "102 messageVersion"),
        (&[("messageVersion", Value::Null)], "201 messageVersion"),
        (&[("dsTransID", Value::Null)], "201 dsTransID"),
        (&[("acsTransID", json!("x"))], "203 acsTransID"),
        (&[("transStatus", json!("y"))], "203 transStatus"),
        (&[("transStatus", json!("N"))], "ok"),
        (&[("transStatus", json!("R")), ("transStatusReason", json!("1"))], "203 transStatusReason"),
        (&[("transStatus", json!("C"))], "201 acsURL"),
        (&[("transStatus", json!("C")), ("acsURL", json!("javascript:alert(1)"))], "203 acsURL"),
        (&[("transStatus", json!("C")), ("acsURL", json!("http://acs.example/"))], "203 acsURL"),
        (&[("transStatus", json!("C")), ("acsURL", json!("https://a;script-src * x/"))], "203 acsURL"),
        (&[("authenticationValue", json!("AAAC"))], "203 authenticationValue"),
        (&[("eci", json!("5"))], "203 eci"),
    ];
    for (changes, fault) in cases {
        assert_eq!(read_fault::<ARes>(sample_ares(), changes), fault, "{changes:?}");
    }
    let number = read_fault::<ARes>(sample_ares(), &[("eci", json!(5))]);
    assert!(number.starts_with("203 line"), "{number}");
}

#[test]
fn a_wrong_request_or_result_is_refused_by_the_name_of_its_element() {
    for (name, value, fault) in [
        ("acctNumber", json!("420000000000"), "203 acctNumber"),
        ("acctNumber", Value::Null, "201 acctNumber"),
        ("mcc", Value::Null, "201 mcc"),
        ("notificationURL", json!("http://pay.example/"), "203 notificationURL"),
        ("notificationURL", json!(format!("https://pay.example/{}", "x".repeat(256))), "203 notificationURL"),
        ("browserTZ", Value::Null, "201 browserTZ"),
        ("purchaseDate", json!("20261301000000"), "203 purchaseDate"),
        ("threeDSRequestorChallengeInd", json!("4"), "203 threeDSRequestorChallengeInd"),
    ] {
        assert_eq!(read_fault::<AReq>(sample_areq(), &[(name, value)]), fault, "{name}");
    }
    let no_scripts = [("browserJavascriptEnabled", json!(false)), ("browserTZ", Value::Null)];
    assert_eq!(read_fault::<AReq>(sample_areq(), &no_scripts), "ok");
    let no_payment = [("messageCategory", json!("02")), ("mcc", Value::Null)];
    assert_eq!(read_fault::<AReq>(sample_areq(), &no_payment), "ok");
    for (name, value, fault) in [
        ("transStatus", json!("C"), "203 transStatus"),
        ("challengeCancel", json!("1"), "203 challengeCancel"),
        ("threeDSServerTransID", json!(""), "203 threeDSServerTransID"),
        ("messageCategory", Value::Null, "201 messageCategory"),
    ] {
        assert_eq!(read_fault::<RReq>(sample_rreq(), &[(name, value)]), fault, "{name}");
    }
}

#[test]
fn a_result_belongs_to_one_transaction_and_one_version() {
    let result = read::<RReq>(&sample_rreq());
    let capitals = SERVER.to_uppercase();
    let check = |ids, version| result.check_transaction(ids, version).err().map(|error| error.detail);
    assert_eq!(check([SERVER, DIRECTORY, ACS], MessageVersion::V22), None);
    assert_eq!(check([&capitals, DIRECTORY, ACS], MessageVersion::V22), None);
    assert_eq!(check([ACS, DIRECTORY, ACS], MessageVersion::V22).as_deref(), Some("threeDSServerTransID"));
    assert_eq!(check([SERVER, ACS, ACS], MessageVersion::V22).as_deref(), Some("dsTransID"));
    assert_eq!(check([SERVER, DIRECTORY, ""], MessageVersion::V22).as_deref(), Some("acsTransID"));
    assert_eq!(check([SERVER, DIRECTORY, ACS], MessageVersion::V231).as_deref(), Some("messageVersion"));
}

#[test]
fn wrong_card_ranges_are_refused() {
    for (name, value, detail) in [
        ("startRange", json!("4200"), "203 startRange"),
        ("endRange", json!("4199999999999999"), "203 endRange"),
        ("endRange", json!("4200000000000"), "203 endRange"),
        ("endRange", Value::Null, "201 endRange"),
        ("threeDSMethodURL", json!("data:text/html,x"), "203 threeDSMethodURL"),
    ] {
        let mut message = sample_pres();
        match value {
            Value::Null => drop(message["cardRangeData"][0].as_object_mut().unwrap().remove(name)),
            value => message["cardRangeData"][0][name] = value,
        }
        assert_eq!(read_fault::<PRes>(message, &[]), detail, "{name}");
    }
    let mut unknown = sample_pres();
    unknown["cardRangeData"][0]["actionInd"] = json!("X");
    assert!(read_fault::<PRes>(unknown, &[]).starts_with("203"));
}

#[test]
fn an_error_message_is_read_in_place_of_any_other() {
    let fault = MessageError::new(ErrorCode::MissingElement, "acctNumber");
    let erro = Erro::new(&fault, "D", "AReq", MessageVersion::V21);
    let body = write_message(&erro).unwrap();
    assert_eq!(
        read_message::<ARes>(&body, Some(MessageVersion::V22)),
        Ok(MessageOrError::Error(Box::new(erro.clone())))
    );
    let unknown_component = Erro { error_component: "X".to_owned(), ..erro };
    assert!(read_message::<ARes>(&write_message(&unknown_component).unwrap(), None).is_err());
    for code in ErrorCode::ALL {
        assert_eq!((code.as_str().len(), code.description().is_empty()), (3, false));
    }
}

#[test]
fn bodies_that_are_no_message_are_refused() {
    let read = |body: &[u8]| read_message::<ARes>(body, None).unwrap_err().code;
    for body in ["", "null", "[]", "{", "\"ARes\"", "{}{}", "{\"messageType\":\"ARes\"", "\u{feff}{}"] {
        let code = read(body.as_bytes());
        assert!(
            matches!(code, ErrorCode::InvalidMessage | ErrorCode::InvalidFormat | ErrorCode::MissingElement),
            "{body}"
        );
    }
    assert_eq!(read(&vec![b' '; MESSAGE_LIMIT + 1]), ErrorCode::InvalidMessage);
    assert_eq!(read("[".repeat(MESSAGE_LIMIT).as_bytes()), ErrorCode::InvalidMessage);
    let twice = sample_ares().to_string().replacen("\"eci\":\"05\"", "\"eci\":\"05\",\"eci\":\"06\"", 1);
    let error = read_message::<ARes>(twice.as_bytes(), None).unwrap_err();
    assert_eq!((error.code, error.detail.as_str()), (ErrorCode::DuplicateElement, "eci"));
    let invalid_utf8 = [sample_ares().to_string().as_bytes(), b"\xff"].concat();
    assert_eq!(read(&invalid_utf8), ErrorCode::InvalidMessage);
    for text in ["", "%%%", "e30", "bnVsbA", &"A".repeat(MESSAGE_LIMIT + 1)] {
        assert!(decode_browser_message::<CRes>(text).is_err(), "{text}");
        assert!(MethodData::decode(text).is_err(), "{text}");
    }
}

#[test]
fn a_fault_never_shows_a_card_number() {
    for (name, value) in [("acctNumber", json!("4200000000000018x")), ("eci", json!(4_200_000_000_000_018_i64))] {
        let mut message = sample_areq();
        message[name] = value;
        if let Err(error) = read_message::<AReq>(message.to_string().as_bytes(), None) {
            assert!(!format!("{error:?} {error}").contains("420000000000"), "{error:?}");
        }
    }
    let request = read::<AReq>(&sample_areq());
    assert!(!format!("{request:?}").contains("4200000000000018"));
}

proptest! {
    #[test]
    fn no_bytes_make_the_parser_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_message::<ARes>(&body, None);
        let _ = read_message::<PRes>(&body, None);
        let _ = MethodData::decode(&String::from_utf8_lossy(&body));
    }
}
