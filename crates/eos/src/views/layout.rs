//! Where boxes and lines go: columns by the longest way from a unit that needs nothing, a free lane for every line that
//! passes a column, rows sorted so that neighbours in the graph are neighbours in the picture.

use std::collections::BTreeMap;

use super::graph::Graph;

pub const WIDE: usize = 200;
pub const HIGH: usize = 54;
pub const MARGIN: usize = 40;
const GAP_X: usize = 80;
const GAP_Y: usize = 20;
const HEAD: usize = 56;
/// The height of a lane.
const LANE: usize = 6;

pub struct Layout<'g> {
    pub width: usize,
    pub height: usize,
    /// The upper left corner of each box.
    pub boxes: BTreeMap<&'g str, (usize, usize)>,
    /// The points each line goes through.
    pub edges: Vec<Vec<(usize, usize)>>,
}

/// A place in a column: a box, or the lane of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot<'g> {
    Box(&'g str),
    Lane(usize),
}

pub fn arrange(graph: &Graph) -> Layout<'_> {
    let mut depth: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in &graph.boxes {
        let own = unit
            .needs
            .iter()
            .filter_map(|need| depth.get(need.as_str()))
            .max()
            .map_or(0, |deepest| deepest + 1);
        depth.insert(&unit.name, own);
    }
    let lines: Vec<(&str, &str)> = graph
        .boxes
        .iter()
        .flat_map(|unit| unit.needs.iter().map(|need| (need.as_str(), unit.name.as_str())))
        .collect();
    let mut columns: Vec<Vec<Slot<'_>>> =
        vec![Vec::new(); depth.values().max().map_or(1, |deepest| deepest + 1)];
    for unit in &graph.boxes {
        columns[depth[unit.name.as_str()]].push(Slot::Box(&unit.name));
    }
    for (index, (from, to)) in lines.iter().enumerate() {
        for column in &mut columns[depth[from] + 1..depth[to]] {
            column.push(Slot::Lane(index));
        }
    }
    sort_rows(&mut columns, &lines);
    place(&columns, &lines, &depth)
}

/// Moves each slot towards the middle of what it is joined with, from left and from right in turn.
fn sort_rows(columns: &mut [Vec<Slot<'_>>], lines: &[(&str, &str)]) {
    let touches = |slot: Slot<'_>, line: usize| match slot {
        Slot::Box(name) => lines[line].0 == name || lines[line].1 == name,
        Slot::Lane(lane) => lane == line,
    };
    for round in 0..6 {
        let order: Vec<usize> = if round % 2 == 0 {
            (1..columns.len()).collect()
        } else {
            (0..columns.len().saturating_sub(1)).rev().collect()
        };
        for column in order {
            let beside = columns[if round % 2 == 0 { column - 1 } else { column + 1 }].clone();
            let middle = |slot: Slot<'_>| {
                let joined = (0..lines.len()).filter(|line| touches(slot, *line));
                let rows: Vec<usize> =
                    joined.filter_map(|line| beside.iter().position(|other| touches(*other, line))).collect();
                if rows.is_empty() { None } else { Some(rows.iter().sum::<usize>() * 1000 / rows.len()) }
            };
            let mut keyed: Vec<(usize, usize, Slot<'_>)> = columns[column]
                .iter()
                .enumerate()
                .map(|(row, slot)| (middle(*slot).unwrap_or(row * 1000), row, *slot))
                .collect();
            keyed.sort_by_key(|(middle, row, _)| (*middle, *row));
            columns[column] = keyed.into_iter().map(|(_, _, slot)| slot).collect();
        }
    }
}

fn place<'g>(
    columns: &[Vec<Slot<'g>>],
    lines: &[(&'g str, &'g str)],
    depth: &BTreeMap<&str, usize>,
) -> Layout<'g> {
    let high = |slot: &Slot<'_>| if matches!(slot, Slot::Box(_)) { HIGH } else { LANE };
    let tall = |column: &Vec<Slot<'_>>| {
        column.iter().map(high).sum::<usize>() + GAP_Y * column.len().saturating_sub(1)
    };
    let tallest = columns.iter().map(tall).max().unwrap_or(0);
    let mut boxes = BTreeMap::new();
    let mut lanes: BTreeMap<(usize, usize), (usize, usize)> = BTreeMap::new();
    for (index, column) in columns.iter().enumerate() {
        let x = MARGIN + index * (WIDE + GAP_X);
        let mut y = HEAD + (tallest - tall(column)) / 2;
        for slot in column {
            match slot {
                Slot::Box(name) => {
                    boxes.insert(*name, (x, y));
                }
                Slot::Lane(line) => {
                    lanes.insert((*line, index), (x, y + LANE / 2));
                }
            }
            y += high(slot) + GAP_Y;
        }
    }
    let mut edges = Vec::new();
    for (line, (from, to)) in lines.iter().enumerate() {
        let (Some((from_x, from_y)), Some((to_x, to_y))) = (boxes.get(from), boxes.get(to)) else { continue };
        let mut points = vec![(from_x + WIDE, from_y + HIGH / 2)];
        for column in depth[from] + 1..depth[to] {
            if let Some((x, y)) = lanes.get(&(line, column)) {
                points.extend([(*x, *y), (x + WIDE, *y)]);
            }
        }
        points.push((*to_x, to_y + HIGH / 2));
        edges.push(points);
    }
    let width = 2 * MARGIN + columns.len() * WIDE + columns.len().saturating_sub(1) * GAP_X;
    Layout { width, height: HEAD + tallest + MARGIN, boxes, edges }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Box, Graph};
    use super::*;

    #[test]
    fn boxes_do_not_overlap_and_lines_go_from_left_to_right() {
        let unit = |name: &str, needs: &[&str]| Box {
            name: name.into(),
            below: String::new(),
            holds_data: false,
            needs: needs.iter().map(|need| (*need).into()).collect(),
        };
        let graph = Graph {
            title: String::new(),
            boxes: vec![unit("a", &[]), unit("b", &[]), unit("c", &["a"]), unit("d", &["a", "b", "c"])],
        };
        let layout = arrange(&graph);
        let corners: Vec<_> = layout.boxes.values().collect();
        for (index, (x, y)) in corners.iter().enumerate() {
            for (other_x, other_y) in corners.iter().skip(index + 1) {
                assert!(x.abs_diff(*other_x) >= WIDE || y.abs_diff(*other_y) >= HIGH);
            }
        }
        assert_eq!(layout.edges.len(), 4);
        assert!(layout.edges.iter().all(|points| points.windows(2).all(|pair| pair[0].0 <= pair[1].0)));
    }
}
