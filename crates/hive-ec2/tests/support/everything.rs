//! The requests of `everything.txt`, for whoever sends them.

use std::collections::BTreeMap;

/// What was made, by the names that the requests have for it.
#[derive(Default)]
pub struct Everything(BTreeMap<&'static str, String>);

pub struct Step {
    name: &'static str,
    element: &'static str,
    request: &'static str,
}

pub fn steps() -> impl Iterator<Item = Step> {
    let lines = include_str!("everything.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| match line.splitn(3, ' ').collect::<Vec<_>>()[..] {
        [name, element, request] => Step { name, element, request },
        _ => panic!("{line}"),
    })
}

/// Whether an answer's code says that something is not made yet: it is asked again.
pub fn is_too_early(code: &str) -> bool {
    matches!(code, "IncorrectState" | "IncorrectInstanceState")
}

impl Everything {
    /// The request of a step.
    pub fn request(&self, step: &Step) -> String {
        let mut pieces = step.request.split('$');
        let mut request = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let end = piece.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(piece.len());
            request += self.get(&piece[..end]);
            request += &piece[end..];
        }
        request
    }

    /// Takes in what a step was answered.
    pub fn learn(&mut self, step: &Step, answer: &str) {
        if step.name != "-" {
            let value = answer
                .split_once(&format!("<{}>", step.element))
                .and_then(|(_, rest)| rest.split('<').next());
            let value = value.unwrap_or_else(|| panic!("{}: {answer}", step.request));
            self.0.insert(step.name, value.split('/').next().unwrap_or(value).to_owned());
        }
    }

    pub fn get(&self, name: &str) -> &str {
        self.0.get(name).unwrap_or_else(|| panic!("nothing is called {name}"))
    }
}
