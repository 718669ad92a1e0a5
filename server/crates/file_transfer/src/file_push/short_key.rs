//! ECDSA keys of OpenSSH whose private number is short.
//!
//! OpenSSH writes the number without leading zeros (RFC 4251, section 5, `mpint`). The library that reads the keys
//! expects at least 32 bytes, and so refuses one of 512 keys on the curve P-256.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

const BEGIN: &str = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
const END: &str = "\n-----END OPENSSH PRIVATE KEY-----\n";
/// Start of the format `openssh-key-v1`.
const MAGIC: &[u8] = b"openssh-key-v1\0";
/// Name of the keys on the curve P-256.
const P256: &[u8] = b"ecdsa-sha2-nistp256";
/// Number of bytes of a private number on that curve.
const NUMBER: usize = 32;
/// Size of the blocks of a key without a passphrase.
const BLOCK: usize = 8;

/// Writes the leading zeros of a private number. Returns `None` if the text is no such key, or its number is not short.
pub(super) fn pad_private_number(text: &str) -> Option<Zeroizing<String>> {
    let (_, body) = text.split_once(BEGIN.trim_end())?;
    let (body, _) = body.split_once(END.trim())?;
    let digits = Zeroizing::new(body.split_whitespace().collect::<String>());
    let key = Zeroizing::new(STANDARD.decode(digits.as_bytes()).ok()?);
    let mut rest = key.strip_prefix(MAGIC)?;
    // Cipher, derivation of its key, and the options of that: all three are empty or `none` without a passphrase.
    let (cipher, derivation, options) = (take_string(&mut rest)?, take_string(&mut rest)?, take_string(&mut rest)?);
    if cipher != b"none" || derivation != b"none" || !options.is_empty() || take_bytes(&mut rest, 4)? != [0, 0, 0, 1] {
        return None;
    }
    let public = take_string(&mut rest)?;
    let mut section = take_string(&mut rest)?;
    let checks = take_bytes(&mut section, 8)?;
    let (kind, curve, point) = (take_string(&mut section)?, take_string(&mut section)?, take_string(&mut section)?);
    let (number, comment) = (take_string(&mut section)?, take_string(&mut section)?);
    if kind != P256 || number.len() >= NUMBER {
        return None;
    }
    let mut padded_number = Zeroizing::new([0; NUMBER]);
    padded_number[NUMBER - number.len()..].copy_from_slice(number);
    let mut section = Zeroizing::new(checks.to_vec());
    for part in [kind, curve, point, &padded_number[..], comment] {
        put_string(&mut section, part);
    }
    let padding = section.len().next_multiple_of(BLOCK) - section.len();
    section.extend((1..).take(padding));
    let mut padded = Zeroizing::new(MAGIC.to_vec());
    for part in [cipher, derivation, options] {
        put_string(&mut padded, part);
    }
    padded.extend([0, 0, 0, 1]);
    put_string(&mut padded, public);
    put_string(&mut padded, &section);
    let digits = Zeroizing::new(STANDARD.encode(&*padded));
    Some(Zeroizing::new([BEGIN, digits.as_str(), END].concat()))
}

/// Takes so many bytes off the start.
fn take_bytes<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(taken)
}

/// Takes a string off the start: its length in four bytes, and its bytes.
fn take_string<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = take_bytes(rest, 4)?;
    take_bytes(rest, u32::from_be_bytes(length.try_into().ok()?) as usize)
}

/// Appends a string with its length. A part of a key is far below four gigabytes.
fn put_string(bytes: &mut Vec<u8>, string: &[u8]) {
    bytes.extend_from_slice(&u32::try_from(string.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend_from_slice(string);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use russh::keys::decode_secret_key;

    use super::*;

    /// A key that ssh-keygen made, with a number of 31 bytes. No server knows it.
    const SHORT: &str = "-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAaAAAABNlY2RzYS
1zaGEyLW5pc3RwMjU2AAAACG5pc3RwMjU2AAAAQQSv91foJBR5hbiPNZI/ese2D1z7mr0d
E2kag+yMyQzdOr3XwmwalPCTXHbIJ0goNrc/HZq43MCJGRi8QnV6BugtAAAAoBYc1+wWHN
fsAAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBK/3V+gkFHmFuI81
kj96x7YPXPuavR0TaRqD7IzJDN06vdfCbBqU8JNcdsgnSCg2tz8dmrjcwIkZGLxCdXoG6C
0AAAAfJdti1HNa7l1J7N5aiRnbRTnzIesq/PjQXkftTDXIZwAAAAVzaG9ydAECAwQ=
-----END OPENSSH PRIVATE KEY-----
";

    #[test]
    fn a_short_number_is_padded_and_the_key_stays_the_same() {
        assert!(decode_secret_key(SHORT, None).is_err(), "the library reads it now: delete this module");
        for text in [SHORT.to_owned(), SHORT.replace('\n', "\r\n"), format!("key of the shop\n{SHORT}")] {
            let key = decode_secret_key(&pad_private_number(&text).unwrap(), None).unwrap();
            let key = key.public_key().to_openssh().unwrap();
            assert_eq!(
                key,
                "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBK/3V+gkFHmFuI81kj96x7YPXPua\
                 vR0TaRqD7IzJDN06vdfCbBqU8JNcdsgnSCg2tz8dmrjcwIkZGLxCdXoG6C0= short"
            );
        }
    }

    #[test]
    fn every_cut_or_changed_key_is_left_alone_or_padded_without_a_panic() {
        let key = STANDARD.decode(SHORT.lines().filter(|line| !line.starts_with('-')).collect::<String>()).unwrap();
        let write = |key: &[u8]| [BEGIN, &STANDARD.encode(key), END].concat();
        for length in 0..key.len() - 4 {
            assert!(pad_private_number(&write(&key[..length])).is_none(), "{length}");
        }
        for position in 0..key.len() {
            for bit in 0..8 {
                let mut changed = key.clone();
                changed[position] ^= 1 << bit;
                let _ = pad_private_number(&write(&changed));
            }
        }
        for text in ["", BEGIN, END, "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"] {
            assert!(pad_private_number(text).is_none());
        }
    }
}
