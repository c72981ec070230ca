//! Whole numbers in their one spelling.

use std::str::FromStr;

/// A number without sign or leading zeros. Rust's own reading takes both: `06` would be something else than `6` wherever texts
/// are compared before they are read.
pub fn plain_number<T: FromStr>(text: &str) -> Option<T> {
    let digits = text.bytes().all(|digit| digit.is_ascii_digit());
    let leading = text.len() > 1 && text.starts_with('0');
    if digits && !leading { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        assert_eq!(["0", "6", "255"].map(plain_number::<u8>), [Some(0), Some(6), Some(255)]);
        for wrong in ["", "00", "06", "+6", "-6", " 6", "6 ", "256", "٦"] {
            assert_eq!(plain_number::<u8>(wrong), None, "{wrong}");
        }
    }
}
