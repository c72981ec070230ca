//! From single messages to states that existed.
//!
//! The stream keeps only the last message of a key, so a reader may find a group with holes where a later group
//! wrote the same key. What it has then is a state that never was, until it has read everything that the stream held
//! when it noticed. So messages are held back: to the end of their group, and after a hole to the stream's end as
//! it was.

use super::entry::{Entry, Group};

#[derive(Default)]
pub struct Groups {
    held: Vec<Entry>,
    /// The group being read, and how many of its messages were seen.
    open: Option<(Group, u32)>,
    /// The last message read ended a group.
    at_end: bool,
    hole: bool,
    /// Nothing is given out before this number.
    until: u64,
    last: u64,
}

impl Groups {
    pub fn push(&mut self, entry: Entry) {
        self.last = entry.sequence;
        let open = self.open.take();
        match entry.group.clone().filter(|_| entry.content.is_some()) {
            // A mark, or a key deleted by hand: a group of its own.
            None => {
                self.hole |= open.is_some();
                self.at_end = true;
            }
            Some(group) => {
                let same = |open: &Group| open.writer == group.writer && open.number == group.number;
                let seen = match open {
                    Some((open, seen)) if same(&open) => seen + 1,
                    Some(_) => {
                        self.hole = true;
                        1
                    }
                    None => 1,
                };
                self.at_end = group.place >= group.count;
                self.hole |= self.at_end && seen < group.count;
                if !self.at_end {
                    self.open = Some((group, seen));
                }
            }
        }
        if entry.content.is_some() {
            self.held.push(entry);
        }
    }

    /// Something was missing: say where the stream ends now ([`Groups::hold`]).
    pub fn has_hole(&self) -> bool {
        self.hole
    }

    /// Gives nothing out before `sequence`, where the stream ended after the last message was read.
    pub fn hold(&mut self, sequence: u64) {
        self.hole = false;
        self.until = self.until.max(sequence);
    }

    /// Everything held, when it makes a state that existed; with the number of that state.
    pub fn ready(&mut self) -> Option<(u64, Vec<Entry>)> {
        let ready = self.at_end && !self.hole && self.last >= self.until;
        ready.then(|| (self.last, std::mem::take(&mut self.held)))
    }

    /// Everything held, for a caller that knows there is nothing more to come.
    pub fn take(&mut self) -> Vec<Entry> {
        let held = std::mem::take(&mut self.held);
        *self = Groups { last: self.last, ..Groups::default() };
        held
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::Content;
    use super::*;

    fn entry(sequence: u64, number: u64, place: u32, count: u32) -> Entry {
        let group = Group { writer: "w".into(), number, place, count };
        let content = Content { key: format!("k{sequence}"), version: 1, value: None };
        Entry { sequence, group: Some(group), content: Some(content) }
    }

    fn numbers(ready: Option<(u64, Vec<Entry>)>) -> Option<(u64, Vec<u64>)> {
        ready.map(|(at, entries)| (at, entries.iter().map(|entry| entry.sequence).collect()))
    }

    #[test]
    fn a_group_comes_whole() {
        let mut groups = Groups::default();
        groups.push(entry(1, 1, 1, 2));
        assert_eq!(groups.ready(), None);
        groups.push(entry(2, 1, 2, 2));
        assert_eq!(numbers(groups.ready()), Some((2, vec![1, 2])));
        groups.push(entry(3, 2, 1, 1));
        assert_eq!(numbers(groups.ready()), Some((3, vec![3])));
    }

    #[test]
    fn a_hole_holds_everything_back_to_the_end_as_it_was() {
        let mut groups = Groups::default();
        // Number 1 was written again as number 4.
        groups.push(entry(2, 1, 2, 2));
        assert!(groups.has_hole());
        assert_eq!(groups.ready(), None);
        groups.hold(4);
        groups.push(entry(3, 2, 1, 1));
        assert_eq!(groups.ready(), None);
        groups.push(entry(4, 3, 1, 1));
        assert_eq!(numbers(groups.ready()), Some((4, vec![2, 3, 4])));
    }

    #[test]
    fn an_end_that_was_overwritten_is_a_hole_too() {
        let mut groups = Groups::default();
        groups.push(entry(1, 1, 1, 2));
        groups.push(Entry { sequence: 3, group: None, content: None });
        assert!(groups.has_hole());
        groups.hold(4);
        groups.push(entry(4, 2, 1, 1));
        assert_eq!(numbers(groups.ready()), Some((4, vec![1, 4])));
    }
}
