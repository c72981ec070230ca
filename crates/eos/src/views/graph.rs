//! Drawings of an estate: units in layers, those that come first at the left.

use std::collections::BTreeMap;

pub struct Graph {
    pub title: String,
    /// In the order of applying: what a unit needs stands before it.
    pub boxes: Vec<Box>,
}

pub struct Box {
    pub name: String,
    pub below: String,
    pub holds_data: bool,
    pub needs: Vec<String>,
}

pub fn dot(graph: &Graph) -> String {
    let mut out = format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];\n", quoted(&graph.title));
    for unit in &graph.boxes {
        let shape = if unit.holds_data { ", peripheries=2" } else { "" };
        out.push_str(&format!("  {} [label={}{shape}];\n", quoted(&unit.name), quoted(&format!("{}\n{}", unit.name, unit.below))));
    }
    for (need, unit) in edges(graph) {
        out.push_str(&format!("  {} -> {};\n", quoted(need), quoted(unit)));
    }
    out.push_str("}\n");
    out
}

pub fn mermaid(graph: &Graph) -> String {
    let id: BTreeMap<&str, usize> = graph.boxes.iter().enumerate().map(|(index, unit)| (unit.name.as_str(), index)).collect();
    let mut out = String::from("graph LR\n");
    for (index, unit) in graph.boxes.iter().enumerate() {
        let (open, close) = if unit.holds_data { ("[(", ")]") } else { ("[", "]") };
        out.push_str(&format!("  u{index}{open}\"{}<br/>{}\"{close}\n", unit.name, unit.below));
    }
    for (need, unit) in edges(graph) {
        out.push_str(&format!("  u{} --> u{}\n", id[need], id[unit]));
    }
    out
}

fn edges(graph: &Graph) -> Vec<(&str, &str)> {
    graph.boxes.iter().flat_map(|unit| unit.needs.iter().map(move |need| (need.as_str(), unit.name.as_str()))).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

const WIDE: usize = 190;
const HIGH: usize = 54;
const GAP_X: usize = 90;
const GAP_Y: usize = 22;
const MARGIN: usize = 40;
const HEAD: usize = 50;

/// A picture that needs nothing but a browser, readable on light and dark pages.
pub fn svg(graph: &Graph) -> String {
    let layers = layers(graph);
    let place: BTreeMap<&str, (usize, usize)> = layers
        .iter()
        .enumerate()
        .flat_map(|(column, units)| units.iter().enumerate().map(move |(row, unit)| (*unit, (MARGIN + column * (WIDE + GAP_X), HEAD + row * (HIGH + GAP_Y)))))
        .collect();
    let columns = layers.len().max(1);
    let rows = layers.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let width = 2 * MARGIN + columns * WIDE + (columns - 1) * GAP_X;
    let height = HEAD + MARGIN + rows * HIGH + (rows - 1) * GAP_Y;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fbfbfd\"/>\n\
         <defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#8a93a6\"/></marker></defs>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"16\" font-weight=\"600\" fill=\"#1c2333\">{}</text>\n",
        escaped(&graph.title)
    );
    for (need, unit) in edges(graph) {
        let (Some((x1, y1)), Some((x2, y2))) = (place.get(need), place.get(unit)) else { continue };
        let (x1, y1, x2, y2) = (x1 + WIDE, y1 + HIGH / 2, *x2, y2 + HIGH / 2);
        let bend = GAP_X / 2;
        out.push_str(&format!("<path d=\"M{x1},{y1} C{},{y1} {},{y2} {x2},{y2}\" fill=\"none\" stroke=\"#8a93a6\" stroke-width=\"1.3\" marker-end=\"url(#tip)\"/>\n", x1 + bend, x2.saturating_sub(bend)));
    }
    for unit in &graph.boxes {
        let Some((x, y)) = place.get(unit.name.as_str()) else { continue };
        let (fill, stroke) = if unit.holds_data { ("#eef4ff", "#3566c8") } else { ("#ffffff", "#5a6478") };
        out.push_str(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"9\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.4\"/>\n"));
        out.push_str(&format!("<text x=\"{}\" y=\"{}\" font-size=\"14\" font-weight=\"600\" fill=\"#1c2333\">{}</text>\n", x + 14, y + 23, escaped(&shortened(&unit.name, 22))));
        out.push_str(&format!("<text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#5a6478\">{}</text>\n", x + 14, y + 41, escaped(&shortened(&unit.below, 30))));
    }
    out.push_str("</svg>\n");
    out
}

/// Columns by the longest way from a unit that needs nothing; rows near what they need.
fn layers(graph: &Graph) -> Vec<Vec<&str>> {
    let mut depth: BTreeMap<&str, usize> = BTreeMap::new();
    for unit in &graph.boxes {
        let own = unit.needs.iter().filter_map(|need| depth.get(need.as_str())).max().map_or(0, |deepest| deepest + 1);
        depth.insert(&unit.name, own);
    }
    let mut layers: Vec<Vec<&str>> = vec![Vec::new(); depth.values().max().map_or(0, |deepest| deepest + 1)];
    let mut row: BTreeMap<&str, usize> = BTreeMap::new();
    for column in 0..layers.len() {
        let mut units: Vec<(usize, &str)> = Vec::new();
        for unit in graph.boxes.iter().filter(|unit| depth[unit.name.as_str()] == column) {
            let rows: Vec<usize> = unit.needs.iter().filter_map(|need| row.get(need.as_str()).copied()).collect();
            let middle = if rows.is_empty() { usize::MAX } else { rows.iter().sum::<usize>() * 100 / rows.len() };
            units.push((middle, &unit.name));
        }
        units.sort();
        for (index, (_, unit)) in units.into_iter().enumerate() {
            row.insert(unit, index);
            layers[column].push(unit);
        }
    }
    layers
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most - 1).chain(['…']).collect() }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
