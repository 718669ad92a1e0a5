//! MACs: known vectors, covered bytes, padding.

use super::*;
use crate::iso8583::mac::MacKey;

/// Key of two DES keys.
const DES_KEYS: &str = "7CA110454A1A6E570131D9619DC1376E";
/// AES key of NIST SP 800-38B.
const AES_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
/// Fields for a MAC.
const FIELDS: &str = r#"
    2 = { name = "card", kind = "n", length = "LL", max = 19 }
    64 = { name = "MAC", kind = "b", length = 8 }
    70 = { name = "network", kind = "n", length = 4 }
    128 = { name = "MAC", kind = "b", length = 4 }
"#;

fn key(algorithm: MacAlgorithm, text: &str) -> MacKey {
    MacKey::parse(algorithm, text).unwrap()
}

fn mac_dialect(encoding: &str, mac: &str) -> Dialect {
    Dialect::parse(&dialect_text(encoding, FIELDS, mac)).unwrap()
}

#[test]
fn retail_macs_have_the_values_of_known_vectors() {
    // The test of Bouncy Castle for ISO 9797-1 algorithm 3, without padding.
    let mac = key(MacAlgorithm::RetailX919, DES_KEYS).compute(b"Hello World !!!!", Some(MacPadding::Zeros)).unwrap();
    assert_eq!(mac, hex("F09B856213BAB83B"));
    // The worked example of ICAO Doc 9303 part 11, appendix D.3, with the byte 80 and zeros.
    let data = hex("72C29C2371CC9BDB65B779B8E8D37B29ECC154AA56A8799FAE2F498F76ED92F2");
    let key = key(MacAlgorithm::RetailX919, "7962D9ECE03D1ACD4C76089DCE131543");
    assert_eq!(key.compute(&data, Some(MacPadding::OneAndZeros)).unwrap(), hex("5F1448EEA8AD90A7"));
}

#[test]
fn zeros_fill_the_last_block_and_the_byte_80_makes_another_mac() {
    let key = key(MacAlgorithm::RetailX919, DES_KEYS);
    let compute = |data: &[u8], padding| key.compute(data, Some(padding)).unwrap();
    assert_eq!(compute(b"12345", MacPadding::Zeros), compute(b"12345\0\0\0", MacPadding::Zeros));
    assert_eq!(compute(b"12345", MacPadding::OneAndZeros), compute(b"12345\x80\0\0", MacPadding::Zeros));
    // A whole block gets none of the zeros, but a further block with the byte 80.
    assert_ne!(compute(b"12345678", MacPadding::Zeros), compute(b"12345678", MacPadding::OneAndZeros));
}

#[test]
fn cmacs_have_the_values_of_the_standard() {
    // NIST SP 800-38B, appendix D, and its examples for AES-192 and AES-256.
    let message = hex("6bc1bee22e409f96e93d7e117393172a ae2d8a571e03ac9c9eb76fac45af8e51 30c81c46a35ce411");
    for (text, length, mac) in [
        (AES_KEY, 0, "bb1d6929e95937287fa37d129b756746"),
        (AES_KEY, 16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (AES_KEY, 40, "dfa66747de9ae63030ca32611497c827"),
        ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", 16, "9e99a7bf31e710900662f65e617c5184"),
        ("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", 16, "28a7023f452e8f82bd4bf28d8c37c35c"),
    ] {
        assert_eq!(key(MacAlgorithm::CmacAes, text).compute(&message[..length], None).unwrap(), hex(mac));
    }
}

#[test]
fn a_key_has_the_length_of_its_algorithm_and_shows_a_mask() {
    assert!(MacKey::parse(MacAlgorithm::RetailX919, &DES_KEYS[..16]).is_none());
    assert!(MacKey::parse(MacAlgorithm::CmacAes, &AES_KEY[..30]).is_none());
    assert!(MacKey::parse(MacAlgorithm::CmacAes, "xyz").is_none());
    assert_eq!(format!("{:?}", key(MacAlgorithm::CmacAes, AES_KEY)), "MacKey(CmacAes, •••)");
}

#[test]
fn a_mac_covers_the_bytes_from_the_type_to_itself_with_its_bit_in_the_bitmap() {
    let mac = "algorithm = \"retail-x9.19\"\nfields = [64, 128]\ncovers = \"message\"\npadding = \"80-zeros\"";
    let dialect = mac_dialect(BCD, mac);
    let key = key(MacAlgorithm::RetailX919, DES_KEYS);
    let message = empty_message().with_text(11, "000042");
    let bytes = dialect.encode_with_mac(&message, &key).unwrap();
    let (covered, mac) = bytes.split_at(bytes.len() - 8);
    assert_eq!(covered, hex("0200 0020000000000001 000042"));
    assert_eq!(mac, key.compute(covered, Some(MacPadding::OneAndZeros)).unwrap());
    let decoded = dialect.decode_with_mac(&bytes, &key).unwrap();
    assert_eq!(decoded.text(11), Some("000042"));
    assert_eq!(dialect.encode(&decoded).unwrap(), bytes);
    for at in 0..bytes.len() {
        let mut wrong = bytes.clone();
        wrong[at] ^= 1;
        assert!(dialect.decode_with_mac(&wrong, &key).is_err(), "{at}");
    }
}

#[test]
fn the_mac_stands_in_the_last_bitmaps_last_field_shortened_to_its_length() {
    let dialect = mac_dialect(ASCII, "algorithm = \"cmac-aes\"\nfields = [64, 128]\ncovers = \"message\"");
    let key = key(MacAlgorithm::CmacAes, AES_KEY);
    let message = empty_message().with_text(11, "000042").with_text(70, "0301");
    let bytes = dialect.encode_with_mac(&message, &key).unwrap();
    let covered = b"02008020000000000000040000000000000100004203 01".iter().copied().filter(|byte| *byte != b' ');
    let covered: Vec<u8> = covered.collect();
    let mac = key.compute(&covered, None).unwrap();
    let decoded = dialect.decode_with_mac(&bytes, &key).unwrap();
    assert_eq!(decoded.field(128), Some(&IsoValue::Bytes(mac[..4].to_vec())));
    let other = MacKey::parse(MacAlgorithm::CmacAes, "000102030405060708090a0b0c0d0e0f").unwrap();
    assert_eq!(
        dialect.decode_with_mac(&bytes, &other).unwrap_err().to_string(),
        "MAC, byte 46: the MAC is wrong: check the key, and the bytes that the MAC covers"
    );
    let plain = dialect.encode(&message).unwrap();
    assert_eq!(dialect.decode_with_mac(&plain, &key).unwrap_err().fault, IsoFault::MacMissing);
}

#[test]
fn a_mac_may_cover_chosen_elements_with_their_prefixes() {
    let mac = "algorithm = \"retail-x9.19\"\nfields = [64]\ncovers = [0, 11, 2]\npadding = \"zeros\"";
    let dialect = mac_dialect(BCD, mac);
    let key = key(MacAlgorithm::RetailX919, DES_KEYS);
    let message = empty_message().with_text(2, "411111").with_text(7, "1201120000").with_text(11, "000042");
    let bytes = dialect.encode_with_mac(&message, &key).unwrap();
    let expected = key.compute(&hex("0200 000042 06 411111"), Some(MacPadding::Zeros)).unwrap();
    assert_eq!(bytes[bytes.len() - 8..], expected);
    let late = message.with_text(70, "0301");
    assert_eq!(dialect.encode_with_mac(&late, &key).unwrap_err().fault, IsoFault::MacMissing);
}

#[test]
fn a_dialect_without_mac_and_a_key_of_another_algorithm_are_refused() {
    let dialect = read_dialect(BCD, FIELDS);
    let key = key(MacAlgorithm::RetailX919, DES_KEYS);
    assert_eq!(dialect.encode_with_mac(&empty_message(), &key).unwrap_err().fault, IsoFault::MacKey);
    let dialect = mac_dialect(BCD, "algorithm = \"cmac-aes\"\nfields = [64]\ncovers = \"message\"");
    assert_eq!(dialect.encode_with_mac(&empty_message(), &key).unwrap_err().fault, IsoFault::MacKey);
}
