//! A sorted set of short byte strings. A copy costs nothing and shares what neither side changes since: a B-tree whose
//! nodes are as large as their content, since there are many of these.

use std::slice::Iter;
use std::sync::Arc;

/// What stands in the set.
pub type Posting = [u8; WIDTH];
pub const WIDTH: usize = 29;

/// Postings in a leaf.
const MOST: usize = 48;
/// Children of a branch: fewer, since a copy of one counts each child once more.
const MOST_CHILDREN: usize = 16;

#[derive(Clone)]
enum Node {
    Leaf(Arc<[Posting]>),
    Branch(Arc<[Child]>),
}

#[derive(Clone)]
struct Child {
    /// Whatever stands before it is in an earlier child, if there is one.
    first: Posting,
    node: Node,
}

#[derive(Clone)]
pub struct Postings(Node);

impl Default for Postings {
    fn default() -> Self {
        Self(Node::Leaf(Arc::default()))
    }
}

impl Postings {
    pub fn insert(&mut self, posting: Posting) {
        if let Some(behind) = self.0.insert(posting) {
            let before = std::mem::replace(&mut self.0, Node::Leaf(Arc::default()));
            let before = Child { first: [0; WIDTH], node: before };
            self.0 = Node::Branch(Arc::new([before, behind]));
        }
    }

    pub fn remove(&mut self, posting: &Posting) {
        self.0.remove(posting);
        while let Node::Branch(children) = &self.0 {
            match &**children {
                [] => *self = Self::default(),
                [only] => self.0 = only.node.clone(),
                _ => break,
            }
        }
    }

    /// Everything from `start` on, in order.
    pub fn from<'a>(&'a self, start: &[u8]) -> Cursor<'a> {
        let mut cursor = Cursor { branches: Vec::new(), leaf: [].iter() };
        cursor.descend(&self.0, start);
        cursor
    }
}

impl Node {
    /// Gives what was split off behind this node because it got too large.
    fn insert(&mut self, posting: Posting) -> Option<Child> {
        match self {
            Node::Leaf(own) => {
                let at = own.binary_search(&posting).err()?;
                let (behind, node) = with(own, at, posting, MOST);
                *own = node;
                behind.map(|behind| Child { first: behind[0], node: Node::Leaf(behind) })
            }
            Node::Branch(children) => {
                let at = child(children, &posting);
                let split = Arc::make_mut(children)[at].node.insert(posting)?;
                let (behind, node) = with(children, at + 1, split, MOST_CHILDREN);
                *children = node;
                behind.map(|behind| Child { first: behind[0].first, node: Node::Branch(behind) })
            }
        }
    }

    fn remove(&mut self, posting: &Posting) {
        match self {
            Node::Leaf(own) => {
                if let Ok(at) = own.binary_search(posting) {
                    *own = without(own, at);
                }
            }
            Node::Branch(children) => {
                let at = child(children, posting);
                let own = &mut Arc::make_mut(children)[at].node;
                own.remove(posting);
                if own.is_empty() {
                    *children = without(children, at);
                }
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Node::Leaf(own) => own.is_empty(),
            Node::Branch(children) => children.is_empty(),
        }
    }
}

/// Where among the children something stands or would stand.
fn child(children: &[Child], start: &[u8]) -> usize {
    children.partition_point(|child| child.first.as_slice() <= start).saturating_sub(1)
}

/// With one more, and what no longer fits behind it.
fn with<T: Clone>(own: &[T], at: usize, new: T, most: usize) -> (Option<Arc<[T]>>, Arc<[T]>) {
    let all = || own[..at].iter().chain([&new]).chain(&own[at..]).cloned();
    if own.len() < most {
        return (None, all().collect());
    }
    (Some(all().skip(most / 2).collect()), all().take(most / 2).collect())
}

fn without<T: Clone>(own: &[T], at: usize) -> Arc<[T]> {
    own[..at].iter().chain(&own[at + 1..]).cloned().collect()
}

pub struct Cursor<'a> {
    /// What follows at each level.
    branches: Vec<Iter<'a, Child>>,
    leaf: Iter<'a, Posting>,
}

impl<'a> Cursor<'a> {
    fn descend(&mut self, mut node: &'a Node, start: &[u8]) {
        loop {
            match node {
                Node::Leaf(own) => {
                    let at = own.partition_point(|posting| posting.as_slice() < start);
                    self.leaf = own[at..].iter();
                    return;
                }
                Node::Branch(children) => {
                    let mut following = children[child(children, start)..].iter();
                    let Some(first) = following.next() else { return };
                    self.branches.push(following);
                    node = &first.node;
                }
            }
        }
    }
}

impl<'a> Iterator for Cursor<'a> {
    type Item = &'a Posting;

    fn next(&mut self) -> Option<&'a Posting> {
        loop {
            if let Some(posting) = self.leaf.next() {
                return Some(posting);
            }
            match self.branches.last_mut()?.next() {
                Some(child) => self.descend(&child.node, &[]),
                None => drop(self.branches.pop()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn posting(number: u16) -> Posting {
        let mut posting = [7; WIDTH];
        posting[1..3].copy_from_slice(&number.to_be_bytes());
        posting
    }

    fn all(set: &Postings) -> Vec<Posting> {
        set.from(&[]).copied().collect()
    }

    proptest! {
        #[test]
        fn it_is_a_set_and_copies_stay_as_they_were(steps in prop::collection::vec((any::<bool>(), 0u16..600), 0..3000)) {
            let (mut set, mut expected) = (Postings::default(), BTreeSet::new());
            let mut copies = Vec::new();
            for (at, (insert, number)) in steps.into_iter().enumerate() {
                if insert {
                    set.insert(posting(number));
                    expected.insert(posting(number));
                } else {
                    set.remove(&posting(number));
                    expected.remove(&posting(number));
                }
                if at % 500 == 0 {
                    copies.push((set.clone(), expected.clone()));
                }
            }
            copies.push((set, expected));
            for (set, expected) in copies {
                prop_assert_eq!(all(&set), expected.iter().copied().collect::<Vec<_>>());
                let middle = posting(300);
                prop_assert!(set.from(&middle).eq(expected.range(middle..)));
            }
        }
    }

    #[test]
    fn what_is_taken_away_leaves_nothing() {
        let mut set = Postings::default();
        (0..5000).for_each(|number| set.insert(posting(number)));
        (0..5000).rev().for_each(|number| set.remove(&posting(number)));
        assert!(all(&set).is_empty() && matches!(set.0, Node::Leaf(_)));
    }
}
