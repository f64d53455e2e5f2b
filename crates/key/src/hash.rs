//! Hashes over several parts, none of which can run into the next.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::secret::Secret;

/// SHA-256, or HMAC-SHA-256 with a secret, over each part behind its length (8 bytes, big-endian),
/// as 64 lower-case hexadecimal digits.
pub(crate) fn hash(secret: Option<&Secret>, parts: &[&[u8]]) -> String {
    // HMAC takes keys of any length, so the error is never met.
    let keyed = secret.and_then(|secret| Hmac::<Sha256>::new_from_slice(secret.bytes()).ok());
    match keyed {
        Some(mut mac) => {
            for part in parts {
                mac.update(&(part.len() as u64).to_be_bytes());
                mac.update(part);
            }
            hex(&mac.finalize().into_bytes())
        }
        None => {
            let mut sha = Sha256::new();
            for part in parts {
                sha.update((part.len() as u64).to_be_bytes());
                sha.update(part);
            }
            hex(&sha.finalize())
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Whether two texts are equal, in a time that tells nothing about where they differ.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len()
        && std::hint::black_box(a.bytes().zip(b.bytes()).fold(0, |so_far, (a, b)| so_far | (a ^ b))) == 0
}
