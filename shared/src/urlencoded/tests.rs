#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

/// Returns the pairs of a valid body. Panics if a name is repeated.
fn decode_pairs(body: &str) -> Vec<(String, String)> {
    let DecodedBody { parameters, repeated, .. } = decode_body(body.as_bytes()).unwrap();
    assert_eq!(repeated, None);
    parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Returns the name and the message of a body's error, or of its first repeated name.
fn decode_error(body: &[u8]) -> (Option<String>, String) {
    let error = decode_body(body).map_or_else(Some, |decoded| decoded.repeated).unwrap();
    (error.parameter().map(str::to_owned), error.message())
}

fn owned_pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_body_is_read_in_order() {
    assert_eq!(
        decode_pairs("b=1&a=2+3&c%2Ed=%C3%A9%26%3D&e&&f==&"),
        owned_pairs(&[("b", "1"), ("a", "2 3"), ("c.d", "é&="), ("e", ""), ("f", "=")])
    );
    assert_eq!(decode_pairs(""), []);
    assert_eq!(decode_pairs("a=%ef%bb%bf"), owned_pairs(&[("a", "\u{feff}")]));
    assert_eq!(decode_pairs("a=%0A"), owned_pairs(&[("a", "\n")]), "what a value may hold is for its format to say");
}

#[test]
fn broken_encodings_are_refused() {
    for body in ["a=%", "a=%2", "a=%2x", "a=%x2", "a=100%", "a=%+1", "a=%%41"] {
        assert_eq!(decode_error(body.as_bytes()).0.as_deref(), Some("a"), "{body}");
        assert!(decode_error(body.as_bytes()).1.contains("percent"), "{body}");
    }
    for body in [&b"a=\xff"[..], b"a=%ff", b"a=%C3", b"a=%ED%A0%80", b"a=%C0%80"] {
        assert_eq!(decode_error(body), (Some("a".to_owned()), "is not UTF-8".to_owned()), "{body:?}");
    }
    assert_eq!(decode_error(b"%ff=a").0.as_deref(), Some("%ff"));
    for body in ["a=%00", "a%00=1", "a%0a=1", "a%c2%85=1"] {
        assert!(decode_error(body.as_bytes()).1.contains("not allowed"), "{body}");
    }
}

#[test]
fn names_must_be_there_and_not_too_long() {
    assert_eq!(decode_error(b"=1"), (None, "the body has a value without a name".to_owned()));
    assert_eq!(decode_error(b"a=1&=").0, None);
    let longest = "n".repeat(MAX_NAME);
    assert_eq!(decode_pairs(&format!("{longest}=1")).len(), 1);
    let (name, message) = decode_error(format!("{longest}n=1").as_bytes());
    assert_eq!((name.unwrap().len(), message), (SHOWN, "has a name of more than 256 bytes".to_owned()));
}

#[test]
fn values_must_not_be_too_long() {
    let longest = "v".repeat(MAX_VALUE);
    assert_eq!(decode_pairs(&format!("a={longest}"))[0].1.len(), MAX_VALUE);
    assert!(decode_error(format!("a={longest}v").as_bytes()).1.contains("16384"));
    let encoded = "%41".repeat(MAX_VALUE);
    assert_eq!(decode_pairs(&format!("a={encoded}"))[0].1.len(), MAX_VALUE);
    assert!(decode_error(format!("a={encoded}%41").as_bytes()).1.contains("16384"));
}

#[test]
fn there_must_not_be_too_many() {
    let body = |count: usize| (0..count).map(|n| format!("p{n}=")).collect::<Vec<_>>().join("&");
    assert_eq!(decode_pairs(&body(MAX_PAIRS)).len(), MAX_PAIRS);
    assert_eq!(decode_error(body(MAX_PAIRS + 1).as_bytes()).0, None);
}

#[test]
fn a_name_twice_is_refused_from_a_merchant_and_the_last_one_counts_from_a_form() {
    assert_eq!(decode_error(b"a=1&b=2&%61=3"), (Some("a".to_owned()), "is sent more than once".to_owned()));
    let parameters = decode_body(b"a=1&b=2&a=3").unwrap().parameters;
    assert_eq!(parameters.iter().collect::<Vec<_>>(), [("a", "3"), ("b", "2")]);
}

#[test]
fn two_values_of_what_has_one_are_told_from_one_that_comes_twice() {
    let contradiction = |body: &str| {
        let error = decode_body(body.as_bytes()).unwrap().contradictory?;
        assert_eq!(error.message(), "is sent more than once, with different values");
        error.parameter().map(str::to_owned)
    };
    for name in ["amount", "authentication.password", "registrations[7].id", "overridePaymentType[VISA]"] {
        assert_eq!(contradiction(&format!("{name}=1&{name}=1")), None, "{name}");
        assert_eq!(contradiction(&format!("{name}=1&{name}=1&{name}=2")).as_deref(), Some(name));
        assert_eq!(contradiction(&format!("{name}=2&{name}=1&{name}=1")).as_deref(), Some(name));
        assert_eq!(contradiction(&format!("{name}=1&{name}=")).as_deref(), Some(name));
    }
    assert_eq!(contradiction("customer.email=1&customer.email=2&foo=1&foo=2"), None);
    assert_eq!(contradiction("amount=1&currency=2&currency=3&amount=2").as_deref(), Some("currency"));
}

#[test]
fn indexes_are_0_to_999_and_brackets_match() {
    for name in ["registrations[0].id", "x[999]", "a[1].b[2].c", "other[]", "other[key]", "customParameters[a.b]"] {
        assert_eq!(decode_pairs(&format!("{name}=1")), owned_pairs(&[(name, "1")]));
    }
    for name in ["x[1000]", "x[00]", "x[01].y", "x[-1]", "x[+1]", "x[99999999999999999999]", "a[1].b[1e9]", "x[0x1]"] {
        let error = decode_body(format!("{}=1", name.replace('+', "%2B")).as_bytes()).unwrap_err();
        assert_eq!((error.parameter(), error.fault), (Some(name), BodyFault::Index));
    }
    for name in ["x[", "x]", "x[1", "x[[1]]", "x[1]]", "]x[", "customParameters[a[b]]", "customParameters[a"] {
        assert_eq!(decode_error(format!("{name}=1").as_bytes()).1, "has brackets that do not match", "{name}");
    }
}

#[test]
fn keys_of_the_senders_own_are_opaque() {
    for name in ["customParameters[12345]", "customParameters[007]", "customParameters[-1]", "overridePaymentType[1]"] {
        assert_eq!(decode_pairs(&format!("{name}=1"))[0].0, name);
    }
}

#[test]
fn an_error_shows_neither_card_numbers_nor_control_characters() {
    assert_eq!(decode_error(b"4111111111111111=1&4111111111111111=2").0.as_deref(), Some("411111******1111"));
    assert_eq!(decode_error(b"a%0ab=1").0.as_deref(), Some("a\u{fffd}b"));
    assert_eq!(decode_error(b"[{\"card\":{\"cvv\":\"0917\"}").0.as_deref(), Some("[{"));
    assert_eq!(decode_error(b"a;card.cvv:0917[").0.as_deref(), Some("a;card.cvv"));
    let error = decode_body(b"a=%").unwrap_err();
    assert_eq!(error.to_string(), "a has a percent sign that is not followed by two hexadecimal digits");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(body in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode_body(&body);
    }

    #[test]
    fn no_text_of_the_alphabet_that_matters_makes_it_panic(body in "[a%&=\\[\\]+0-9é.]{0,60}") {
        if let Some(error) = decode_body(body.as_bytes()).map_or_else(Some, |decoded| decoded.repeated) {
            prop_assert!(error.parameter().is_none_or(|name| name.chars().count() <= SHOWN));
            prop_assert!(!error.message().is_empty());
        }
    }

    #[test]
    fn what_another_encoder_writes_is_read_back(
        sent in prop::collection::vec(("[^\\p{Cc}\\[\\]]{1,20}", "[^\\x00]{0,40}"), 0..20)
    ) {
        let mut body = form_urlencoded::Serializer::new(String::new());
        let mut expected = Parameters::default();
        for (name, value) in &sent {
            body.append_pair(name, value);
            expected.set(name, value);
        }
        let read = decode_body(body.finish().as_bytes()).unwrap().parameters;
        prop_assert_eq!(&read, &expected);
        prop_assert!(read.iter().eq(expected.iter()));
    }

    #[test]
    fn another_decoder_reads_the_same(body in "[a-z%0-9A-F&=+]{0,80}") {
        if let Ok(DecodedBody { parameters: read, .. }) = decode_body(body.as_bytes()) {
            let other: Parameters = form_urlencoded::parse(body.as_bytes())
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect();
            prop_assert_eq!(read, other);
        }
    }
}
