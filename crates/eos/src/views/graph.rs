//! Drawings of an estate: units in layers, those that come first at the left.

use std::collections::BTreeMap;

use super::layout::{self, HIGH, WIDE};

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
    let mut out =
        format!("digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];\n", quoted(&graph.title));
    for unit in &graph.boxes {
        let shape = if unit.holds_data { ", peripheries=2" } else { "" };
        out.push_str(&format!(
            "  {} [label={}{shape}];\n",
            quoted(&unit.name),
            quoted(&format!("{}\n{}", unit.name, unit.below))
        ));
    }
    for (need, unit) in edges(graph) {
        out.push_str(&format!("  {} -> {};\n", quoted(need), quoted(unit)));
    }
    out.push_str("}\n");
    out
}

pub fn mermaid(graph: &Graph) -> String {
    let id: BTreeMap<&str, usize> =
        graph.boxes.iter().enumerate().map(|(index, unit)| (unit.name.as_str(), index)).collect();
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
    graph
        .boxes
        .iter()
        .flat_map(|unit| unit.needs.iter().map(move |need| (need.as_str(), unit.name.as_str())))
        .collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A picture that needs nothing but a browser, readable on light and dark pages.
pub fn svg(graph: &Graph) -> String {
    const MARGIN: usize = layout::MARGIN;
    let layout = layout::arrange(graph);
    let (width, height) = (layout.width, layout.height);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"system-ui, sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fbfbfd\"/>\n\
         <defs><marker id=\"tip\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"#8a93a6\"/></marker></defs>\n\
         <text x=\"{MARGIN}\" y=\"30\" font-size=\"16\" font-weight=\"600\" fill=\"#1c2333\">{}</text>\n",
        escaped(&graph.title)
    );
    for points in &layout.edges {
        out.push_str(&format!("<path d=\"{}\" fill=\"none\" stroke=\"#8a93a6\" stroke-width=\"1.3\" marker-end=\"url(#tip)\"/>\n", curve(points)));
    }
    for unit in &graph.boxes {
        let Some((x, y)) = layout.boxes.get(unit.name.as_str()) else { continue };
        let (fill, stroke) = if unit.holds_data { ("#eef4ff", "#3566c8") } else { ("#ffffff", "#5a6478") };
        out.push_str(&format!("<rect x=\"{x}\" y=\"{y}\" width=\"{WIDE}\" height=\"{HIGH}\" rx=\"9\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.4\"/>\n"));
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"14\" font-weight=\"600\" fill=\"#1c2333\">{}</text>\n",
            x + 14,
            y + 23,
            escaped(&shortened(&unit.name, 22))
        ));
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#5a6478\">{}</text>\n",
            x + 14,
            y + 41,
            escaped(&shortened(&unit.below, 32))
        ));
    }
    out.push_str("</svg>\n");
    out
}

/// A line through its points: level at each of them, bent in between.
fn curve(points: &[(usize, usize)]) -> String {
    let mut out = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        match index.checked_sub(1).map(|before| points[before]) {
            None => out.push_str(&format!("M{x},{y}")),
            Some((before_x, before_y)) => {
                let middle = (before_x + x) / 2;
                out.push_str(&format!(" C{middle},{before_y} {middle},{y} {x},{y}"));
            }
        }
    }
    out
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        text.to_owned()
    } else {
        text.chars().take(most - 1).chain(['…']).collect()
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
