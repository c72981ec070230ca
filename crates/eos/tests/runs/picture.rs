//! The README's picture of a plan: what the forty units' test sees, drawn. `UPDATE_GOLDEN=1` draws it anew.

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/images/plan.svg");
const LINE: usize = 18;
/// A letter's width at font-size 14.
const LETTER: f64 = 8.4;

/// By what a line begins with.
const COLORS: &[(&str, &str)] = &[
    ("- destroy", "#ff5f5f"),
    ("- leave", "#ffd75f"),
    ("± replace", "#ff87d7"),
    ("~ change", "#ffd75f"),
    ("+ create", "#5fd787"),
];

/// Holds the picture to a plan's text.
pub fn shows(plan: &str) {
    let drawn = draw(plan);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(FILE, &drawn).unwrap();
    }
    let there = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(there == drawn, "docs/images/plan.svg is not the plan any more; UPDATE_GOLDEN=1 draws it");
}

fn draw(plan: &str) -> String {
    let height = plan.lines().count() * LINE + 30;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"880\" height=\"{height}\" font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#11151c\"/>\n"
    );
    for (number, line) in plan.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = 30 + number * LINE;
        let action = COLORS.iter().find(|(action, _)| line.starts_with(action));
        let (head, rest) = line.split_at(action.map_or(0, |(action, _)| action.len()));
        let usual = if line.starts_with("ACTION") { "#7d8797" } else { "#d7dde8" };
        for (text, from, color) in
            [(head, 0, action.map_or(usual, |(_, color)| color)), (rest, head.chars().count(), usual)]
        {
            if text.is_empty() {
                continue;
            }
            let (x, length) = (20.0 + from as f64 * LETTER, text.chars().count() as f64 * LETTER);
            svg.push_str(&format!(
                "<text x=\"{x:.1}\" y=\"{y}\" fill=\"{color}\" xml:space=\"preserve\" textLength=\"{length:.1}\">{text}</text>\n"
            ));
        }
    }
    svg + "</svg>\n"
}
