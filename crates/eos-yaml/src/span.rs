//! Where the scalars of a document stand, to tell text from what is between.

use crate::node::Mark;

/// Where a scalar stands that may span lines.
pub(crate) struct ScalarSpan {
    pub start: Mark,
    pub end: Mark,
    pub plain: bool,
    /// Then it starts at the anchor, which may be lines above the text.
    pub anchored: bool,
}

impl ScalarSpan {
    pub fn holds(&self, mark: Mark) -> bool {
        self.start <= mark && mark < self.end
    }

    /// A tab that begins a further line of a quoted or block scalar is text or folded away.
    pub fn may_hold_tab(&self, tab: Mark) -> bool {
        !self.plain && !self.anchored && self.start.line < tab.line && tab < self.end
    }
}
