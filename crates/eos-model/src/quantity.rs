//! Sizes and durations with their units. A bare number is refused: `100` of what?

use std::fmt;
use std::str::FromStr;

const SIZE_UNITS: [(&str, u64); 5] =
    [("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("T", 1 << 40), ("P", 1 << 50)];
const TIME_UNITS: [(&str, u64); 5] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("w", 604_800)];

/// An amount of storage in bytes, written `100G` (powers of 1024, as LVM reads them).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A span of time in seconds, written `15d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(pub u64);

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadQuantity {
    NoUnit { number: String, units: &'static str },
    UnknownUnit { unit: String, units: &'static str },
    NotANumber { given: String },
    TooLarge { given: String },
}

impl fmt::Display for BadQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadQuantity::NoUnit { number, units } => write!(f, "{number:?} has no unit; use one of {units}"),
            BadQuantity::UnknownUnit { unit, units } => {
                write!(f, "unknown unit {unit:?}; use one of {units}")
            }
            BadQuantity::NotANumber { given } => write!(f, "{given:?} does not start with a whole number"),
            BadQuantity::TooLarge { given } => write!(f, "{given:?} is too large"),
        }
    }
}

impl std::error::Error for BadQuantity {}

fn parse(text: &str, table: &[(&str, u64)], units: &'static str) -> Result<u64, BadQuantity> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(BadQuantity::NotANumber { given: text.to_owned() });
    }
    if unit.is_empty() {
        return Err(BadQuantity::NoUnit { number: number.to_owned(), units });
    }
    let factor = table
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| BadQuantity::UnknownUnit { unit: unit.to_owned(), units })?
        .1;
    let too_large = || BadQuantity::TooLarge { given: text.to_owned() };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(factor)).ok_or_else(too_large)
}

fn show(f: &mut fmt::Formatter<'_>, amount: u64, table: &[(&str, u64)]) -> fmt::Result {
    let (unit, factor) =
        table.iter().rev().find(|(_, factor)| amount.is_multiple_of(*factor)).unwrap_or(&table[0]);
    f.pad(&format!("{}{unit}", amount / factor))
}

impl Size {
    /// A size as every program reads it: `20GiB` and `20 g` are `20G`. What is none stays as it is.
    pub fn spelled(text: &str) -> String {
        if text.parse::<Size>().is_ok() { shortened(text) } else { text.to_owned() }
    }
}

/// `20G`, `20GB` and `20GiB` are the same, in whichever letters and with a space before them.
fn shortened(text: &str) -> String {
    let plain = text.replace(' ', "").to_uppercase();
    let short = plain.strip_suffix("IB").or_else(|| plain.strip_suffix('B'));
    short.or_else(|| plain.strip_suffix('I')).unwrap_or(&plain).to_owned()
}

impl FromStr for Size {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Size, BadQuantity> {
        parse(&shortened(text), &SIZE_UNITS, "K, M, G, T, P").map(Size)
    }
}

impl FromStr for Duration {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Duration, BadQuantity> {
        parse(text, &TIME_UNITS, "s, m, h, d, w").map(Duration)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, &SIZE_UNITS)
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.0, &TIME_UNITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_need_a_unit_and_print_as_people_write_them() {
        assert_eq!("100G".parse::<Size>().unwrap().to_string(), "100G");
        assert_eq!("1024M".parse::<Size>().unwrap().to_string(), "1G");
        for same in ["20GiB", "20GB", "20g", "20gb", "20Gi", "20 G"] {
            assert_eq!(same.parse::<Size>().unwrap(), Size(20 << 30), "{same}");
            assert_eq!(Size::spelled(same), "20G");
        }
        for wrong in ["100GBB", "1.5G", "20Gx", "20BB"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
            assert_eq!(Size::spelled(wrong), wrong);
        }
        assert!(matches!("100".parse::<Size>(), Err(BadQuantity::NoUnit { .. })));
        assert!(matches!("10X".parse::<Size>(), Err(BadQuantity::UnknownUnit { .. })));
        assert!(matches!("-1G".parse::<Size>(), Err(BadQuantity::NotANumber { .. })));
        assert!(matches!("99999999999999999999G".parse::<Size>(), Err(BadQuantity::TooLarge { .. })));
    }

    #[test]
    fn durations_likewise() {
        assert_eq!("15d".parse::<Duration>().unwrap(), Duration(15 * 86_400));
        assert_eq!("744h".parse::<Duration>().unwrap().to_string(), "31d");
        assert!("5".parse::<Duration>().is_err());
    }
}
