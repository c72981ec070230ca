//! What an answer says, piece by piece.

/// An element of an answer: its text, or what is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    pub name: String,
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    /// The elements of an answer. Answers have no attributes and no comments inside.
    pub fn all(xml: &str) -> Vec<Element> {
        let mut open = vec![Element { name: String::new(), text: String::new(), children: Vec::new() }];
        for piece in xml.split('<').skip(1) {
            let (tag, text) = piece.split_once('>').unwrap_or((piece, ""));
            if let Some(name) = tag.strip_suffix('/') {
                let empty = Element { name: name.to_owned(), text: String::new(), children: Vec::new() };
                open.last_mut().expect("the outermost stays").children.push(empty);
            } else if tag.starts_with('/') {
                let done = open.pop().expect("every end has a beginning");
                open.last_mut().expect("the outermost stays").children.push(done);
            } else {
                open.push(Element { name: tag.to_owned(), text: text.to_owned(), children: Vec::new() });
            }
        }
        open.remove(0).children
    }

    /// Every text in it and the names that lead there; items of lists have none.
    pub fn texts(&self) -> Vec<(Vec<&str>, &str)> {
        let mut found = Vec::new();
        self.collect(&mut Vec::new(), &mut found);
        found
    }

    fn collect<'a>(&'a self, path: &mut Vec<&'a str>, found: &mut Vec<(Vec<&'a str>, &'a str)>) {
        if self.children.is_empty() && !self.text.is_empty() {
            found.push((path.clone(), &self.text));
        }
        for child in &self.children {
            let is_item = child.name == "item";
            if !is_item {
                path.push(&child.name);
            }
            child.collect(path, found);
            if !is_item {
                path.pop();
            }
        }
    }
}
