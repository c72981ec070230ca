//! A value that must not be seen: wiped on drop, and whatever prints it prints dots.
//!
//! There is deliberately no `Serialize`, no `Clone` and no `Deref`: taking the value is the visible `expose`.

use std::fmt;

use zeroize::Zeroizing;

pub struct Secret(Zeroizing<String>);

impl Secret {
    pub fn new(value: String) -> Secret {
        Secret(Zeroizing::new(value))
    }

    /// The value itself. Every call is a place to review.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn printing_shows_dots() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(
            format!("{secret} {secret:?} {:#?} {secret:>9}", Some(&secret)),
            "••• ••• Some(\n    •••,\n) •••"
        );
        assert_eq!(secret.expose(), "hunter2");
    }
}
