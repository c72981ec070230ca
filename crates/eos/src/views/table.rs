//! Plain tables that fit a width: columns as wide as their widest cell, the widest ones shortened. In a pipe nothing is cut
//! or broken, however long it is: something reads it, and takes a line for a row.

use super::style::Style;

/// How the first cell of a row is painted.
pub type Paint = fn(Style, &str) -> String;

/// No column becomes narrower for the sake of others.
const NARROWEST: usize = 8;

/// The width of a table that is not shown on a terminal.
pub const IN_A_PIPE: usize = usize::MAX;

pub struct Table {
    head: Vec<String>,
    rows: Vec<(Vec<String>, Option<Paint>)>,
}

impl Table {
    pub fn new(head: &[&str]) -> Table {
        Table { head: head.iter().map(|cell| (*cell).to_owned()).collect(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push((cells, None));
    }

    /// A row whose first cell has a colour.
    pub fn painted(&mut self, cells: Vec<String>, paint: Paint) {
        self.rows.push((cells, Some(paint)));
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table within `width` columns; the widest columns give way.
    pub fn render(&self, width: usize, color: bool) -> String {
        let style = Style(color);
        let mut widths: Vec<usize> = self.head.iter().map(|cell| cell.chars().count()).collect();
        for (row, _) in &self.rows {
            for (slot, cell) in widths.iter_mut().zip(row) {
                *slot = (*slot).max(cell.chars().count());
            }
        }
        let total: usize = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        for _ in width..total {
            if let Some(widest) = widths.iter_mut().max().filter(|widest| **widest > NARROWEST) {
                *widest -= 1;
            }
        }
        let line = |cells: &[String], paint: &dyn Fn(usize, &str) -> String| {
            let mut out = String::new();
            for (index, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                let last = index + 1 == cells.len();
                let cell = shorten(cell, *width);
                let padding = if last { 0 } else { width - cell.chars().count() + 2 };
                out.push_str(&paint(index, &cell));
                out.extend(std::iter::repeat_n(' ', padding));
            }
            out.trim_end().to_owned() + "\n"
        };
        let mut out = line(&self.head, &|_, cell| style.dim(cell));
        for (row, paint) in &self.rows {
            let painted = |index: usize, cell: &str| match paint {
                Some(paint) if index == 0 => paint(style, cell),
                _ => cell.to_owned(),
            };
            out.push_str(&line(row, &painted));
        }
        out
    }
}

/// The text within so many columns.
pub fn shorten(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_pipe_a_row_is_a_line() {
        let mut table = Table::new(&["NAME", "NEEDS"]);
        let needs = ["authentik"; 20].join(" ");
        table.row(vec!["nextcloud".into(), needs.clone()]);
        assert_eq!(table.render(IN_A_PIPE, false), format!("NAME       NEEDS\nnextcloud  {needs}\n"));
    }

    #[test]
    fn a_table_fits_its_width() {
        let mut table = Table::new(&["NAME", "WHAT"]);
        table.row(vec!["grafana".into(), "x".repeat(200)]);
        let text = table.render(40, false);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
        assert!(text.contains('…'));
        // One column alone could not give way enough.
        let mut table = Table::new(&["HOST", "NODE", "KIND"]);
        table.row(vec!["h".repeat(40), "n".repeat(30), "grafana".into()]);
        let text = table.render(60, false);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(
            text.contains("hhhhhhhh…") && text.contains("nnnnnnnn…") && text.contains("grafana"),
            "{text}"
        );
    }
}
