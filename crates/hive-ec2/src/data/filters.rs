//! The filters of EC2's own actions, and those that look at what an item's answer says.

/// A line an action, then its filters but those on tags, from the text of botocore's model (`tests/python/filters.py` in the
/// crate hive writes it).
static EC2: &str = include_str!("ec2-filters.txt");
static SHOWN: &str = include_str!("shown-filters.txt");

/// The filters of EC2's action.
pub fn of(action: &str) -> impl Iterator<Item = &'static str> {
    words(EC2, action)
}

/// A filter on what is answered of an item.
pub struct ShownFilter {
    pub name: &'static str,
    /// `metadata-options.http-tokens` is `metadataOptions.httpTokens` if nothing else is said.
    pub place: String,
    /// Every answer says the same there.
    pub is_alike: bool,
}

/// The filters of an action on what it answers.
pub fn shown(action: &str) -> impl Iterator<Item = ShownFilter> {
    words(SHOWN, action).map(|word| {
        let (word, is_alike) = word.strip_suffix('!').map_or((word, false), |word| (word, true));
        let (name, place) = word.split_once('=').map_or((word, None), |(name, place)| (name, Some(place)));
        ShownFilter { name, place: place.map_or_else(|| self::place(name), str::to_owned), is_alike }
    })
}

fn words(table: &'static str, action: &str) -> impl Iterator<Item = &'static str> {
    let line = table.lines().find_map(|line| line.strip_prefix(action)?.strip_prefix(' '));
    line.unwrap_or_default().split_ascii_whitespace()
}

/// `http-tokens` as answers write it: `httpTokens`.
fn place(filter: &str) -> String {
    let mut place = String::with_capacity(filter.len());
    let mut upper = false;
    for letter in filter.chars() {
        match letter {
            '-' => upper = true,
            letter if upper => {
                place.extend(letter.to_uppercase());
                upper = false;
            }
            letter => place.push(letter),
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_one_of_ec2s_filters() {
        for line in SHOWN.lines().filter(|line| !line.starts_with('#')) {
            let action = line.split(' ').next().unwrap_or_default();
            for ShownFilter { name, .. } in shown(action) {
                assert!(of(action).any(|known| known == name), "{action} {name}");
            }
            for (name, path) in words(SHOWN, action).filter_map(|word| word.split_once('=')) {
                assert_ne!(path, place(name), "{action} {name}: the place goes without saying");
            }
        }
    }
}
