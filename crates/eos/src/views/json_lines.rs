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

/// The line, from one, on which the value at a JSON pointer begins.
pub fn line_of(text: &str, pointer: &str) -> Option<u64> {
    // The pointer of what is around, and the number of its next element when it is a list.
    let mut around: Vec<(String, Option<usize>)> = Vec::new();
    for (number, line) in (1u64..).zip(text.lines().map(str::trim)) {
        if line.starts_with(['}', ']']) {
            around.pop();
            continue;
        }
        let here = match around.last_mut() {
            None => String::new(),
            Some((outer, Some(next))) => {
                *next += 1;
                format!("{outer}/{}", *next - 1)
            }
            Some((outer, None)) => {
                format!("{outer}/{}", key(line)?.replace('~', "~0").replace('/', "~1"))
            }
        };
        if here == pointer {
            return Some(number);
        }
        if line.ends_with(['{', '[']) {
            around.push((here, line.ends_with('[').then_some(0)));
        }
    }
    None
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

    #[test]
    fn a_value_is_found_by_its_pointer() {
        let document = serde_json::json!({"a": {"b/c": [1, {"d": "{"}, 3], "e": {}}, "f": []});
        let text = format!("{document:#}");
        let line = |pointer| line_of(&text, pointer).and_then(|n| text.lines().nth(n as usize - 1));
        assert_eq!(line("/a/b~1c/0"), Some("      1,"));
        assert_eq!(line("/a/b~1c/1/d"), Some("        \"d\": \"{\""));
        assert_eq!(line("/a/b~1c/2"), Some("      3"));
        assert_eq!(line("/a/e"), Some("    \"e\": {}"));
        assert_eq!(line("/f/0"), None);
    }
}
