//! Passwords of FTP users: Argon2id with 19 MiB of memory.

use argon2::{Algorithm, Argon2, Params, Version};
use subtle::ConstantTimeEq as _;

/// Length of a salt.
pub const SALT: usize = 16;
/// Length of a hash.
const HASH: usize = 32;

/// Hashes a password. Takes some hundredths of a second, so it has no place on a thread that serves requests. Returns
/// `None` if there is not enough memory.
pub fn hash_password(password: &[u8], salt: &[u8]) -> Option<[u8; HASH]> {
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::DEFAULT);
    let mut hash = [0; HASH];
    argon2.hash_password_into(password, salt, &mut hash).ok()?;
    Some(hash)
}

/// Returns true if a password has this hash. The time depends on neither.
pub fn is_password_of(password: &[u8], salt: &[u8], hash: &[u8]) -> bool {
    hash_password(password, salt).is_some_and(|found| found.ct_eq(hash).into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_belongs_to_its_password_and_its_salt() {
        let hash = hash_password(b"password", &[1; SALT]).unwrap();
        assert!(is_password_of(b"password", &[1; SALT], &hash));
        for (password, salt) in [(&b"passworD"[..], [1; SALT]), (b"password", [2; SALT]), (b"", [1; SALT])] {
            assert!(!is_password_of(password, &salt, &hash));
        }
        assert!(!is_password_of(b"password", &[1; SALT], b""));
    }
}
