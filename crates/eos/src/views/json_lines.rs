//! Which value stands on each line of a JSON text that eos wrote: one key, bracket or element a line.

/// For each line the path of keys to what is on it; elements of a list have the list's path.
pub fn paths(text: &str) -> Vec<Vec<String>> {
    let mut around: Vec<Option<String>> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        let closes = line.starts_with(['}', ']']);
        let key = if closes { around.pop().flatten() } else { key(line) };
        found.push(around.iter().flatten().chain(&key).cloned().collect());
        if line.ends_with(['{', '[']) {
            around.push(key);
        }
    }
    found
}

/// The key a line begins with; an element of a list has none.
fn key(line: &str) -> Option<String> {
    let mut stream = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let key = stream.next()?.ok()?;
    line[stream.byte_offset()..].starts_with(": ").then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_known_by_the_keys_around_it() {
        let document = serde_json::json!({"a": {"b: {": [1, {"c": "x: {"}], "d": {}}, "e": "["});
        let text = format!("{document:#}");
        let shown: Vec<String> = paths(&text).iter().map(|path| path.join("/")).collect();
        let wanted = "|a|a/b: {|a/b: {|a/b: {|a/b: {/c|a/b: {|a/b: {|a/d|a|e|";
        assert_eq!(shown.join("|"), wanted, "{text}");
    }
}
