//! The article before a kind's name.

/// `an etcd`, `a redis`.
pub fn with_article(noun: &str) -> String {
    format!("{} {noun}", article(noun))
}

pub fn article(noun: &str) -> &'static str {
    // Said like a consonant: a user.
    let like_you = noun.starts_with("us") || noun.starts_with("uni");
    if noun.starts_with(['a', 'e', 'i', 'o', 'u']) && !like_you { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_article_that_is_said() {
        let said = ["etcd", "open-webui", "umami", "redis", "user"].map(with_article);
        assert_eq!(said, ["an etcd", "an open-webui", "an umami", "a redis", "a user"]);
    }
}
