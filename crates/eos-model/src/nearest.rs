//! "Did you mean": the candidate nearest to what was typed.

/// The nearest of `candidates` when it is near enough to be a typo.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(typed, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(typed.len()) / 3).max(1))
        .min()
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typos_find_their_word_and_strangers_do_not() {
        let kinds = ["grafana", "gitea", "postgres"];
        assert_eq!(nearest("grafna", kinds), Some("grafana"));
        assert_eq!(nearest("postgresql", kinds), Some("postgres"));
        assert_eq!(nearest("kubernetes", kinds), None);
    }
}
