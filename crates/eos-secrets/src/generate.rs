//! Makes secrets that survive being typed, put in a URL, a shell word or a configuration file.

use zeroize::Zeroizing;

use crate::secret::Secret;

/// Letters and digits without those that look alike (0 O, 1 l I). Letters come first.
const ALPHABET: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LETTERS: usize = 49;

/// A secret of `length` characters (5.8 bits each) from the operating system's randomness.
///
/// # Panics
/// When the operating system has no randomness: nothing secret can be made then.
pub fn generate(length: usize) -> Secret {
    generate_with(length, |buffer| getrandom::fill(buffer).expect("the operating system gives random bytes"))
}

/// The same from randomness of the caller's.
pub fn generate_with(length: usize, mut fill: impl FnMut(&mut [u8])) -> Secret {
    // With the full capacity at once no copy is left behind by growing.
    let mut value = String::with_capacity(length);
    let mut buffer = Zeroizing::new([0_u8; 64]);
    while value.len() < length {
        fill(&mut *buffer);
        for byte in buffer.iter() {
            // The first is a letter, so that nothing takes the value for a number.
            let choices = if value.is_empty() { LETTERS } else { ALPHABET.len() };
            let byte = usize::from(*byte);
            // Bytes beyond the largest multiple would make some characters likelier.
            if value.len() < length && byte < 256 - 256 % choices {
                value.push(char::from(ALPHABET[byte % choices]));
            }
        }
    }
    Secret::new(value)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn secrets_have_their_length_and_only_safe_characters() {
        assert!(ALPHABET[..LETTERS].iter().all(u8::is_ascii_alphabetic));
        assert!(ALPHABET[LETTERS..].iter().all(u8::is_ascii_digit));
        for length in [0, 1, 24, 200] {
            let secret = generate(length);
            assert_eq!(secret.expose().len(), length);
            assert!(secret.expose().bytes().all(|byte| ALPHABET.contains(&byte)));
            assert!(secret.expose().starts_with(|c: char| c.is_ascii_alphabetic()) || length == 0);
        }
        assert_ne!(generate(24).expose(), generate(24).expose());
    }

    #[test]
    fn every_character_is_as_likely_as_any_other() {
        // All bytes equally often: then every character must come out equally often.
        let mut next = 0_u8;
        let secret = generate_with(1 + 228 * 50, |buffer| {
            for byte in buffer {
                *byte = next;
                next = next.wrapping_add(1);
            }
        });
        let mut counts: HashMap<char, usize> = HashMap::new();
        secret.expose().chars().skip(1).for_each(|c| *counts.entry(c).or_default() += 1);
        assert_eq!(counts.len(), ALPHABET.len());
        assert!(counts.values().all(|count| (199..=201).contains(count)), "{counts:?}");
    }
}
