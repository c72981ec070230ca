//! The dependency lock file. It holds a hash of each provider; that of eos changes with every build of it, while its
//! version stays, so its entry is dropped before an init.

/// The text without the entries of providers that eos serves itself.
pub(crate) fn without_own_entries(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut dropping = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with("provider \"eos.local/") {
            dropping = true;
        }
        if !dropping {
            kept.push_str(line);
        } else if line.trim_end() == "}" {
            dropping = false;
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_entry_goes() {
        let head = "# This file is maintained automatically by \"tofu init\".\n\n";
        let aws = "provider \"registry.opentofu.org/hashicorp/aws\" {\n  version = \"6.48.0\"\n  hashes = [\n    \"h1:x\",\n  ]\n}\n";
        let own =
            "provider \"eos.local/eos/eos\" {\n  version = \"0.1.0\"\n  hashes = [\n    \"h1:y\",\n  ]\n}\n";
        assert_eq!(without_own_entries(&format!("{head}{own}{aws}")), format!("{head}{aws}"));
        assert_eq!(without_own_entries(&format!("{head}{aws}{own}")), format!("{head}{aws}"));
        assert_eq!(without_own_entries(&format!("{head}{aws}")), format!("{head}{aws}"));
        assert_eq!(without_own_entries(""), "");
    }
}
