//! `eos graph`: what needs what, as SVG, DOT or Mermaid.

use clap::{Arg, ArgMatches, Command};
use eos_compile::intent;
use eos_model::Diagnostics;
use serde_json::json;

use super::Call;
use crate::loaded::Loaded;
use crate::outcome::Outcome;
use crate::views::graph::{self, Box, Graph};

pub fn command(command: Command, _: &Call<'_>) -> Result<Command, Diagnostics> {
    Ok(command
        .arg(Arg::new("format").long("format").value_parser(["svg", "dot", "mermaid"]).default_value("dot").help("How to draw"))
        .after_help("Examples:\n  eos graph --format svg > estate.svg\n  eos graph --format dot | dot -Tpng > estate.png"))
}

pub fn run(call: &Call<'_>, matches: &ArgMatches) -> Result<Outcome, Diagnostics> {
    let loaded = Loaded::open(call.context)?;
    let env = loaded.env(matches.get_one::<String>("env").map(String::as_str))?;
    let environment = loaded.environment(&env)?;
    let compiled = loaded.compile(&loaded.tree, &env)?;
    let boxes = compiled
        .order
        .iter()
        .map(|name| {
            let entry = &environment.components[name];
            let component = intent::with_features(&loaded.catalog, entry).ok();
            let holds_data = !entry.volumes.is_empty();
            let ports = component.map(|component| super::show::ports(entry, &component)).unwrap_or_default();
            let mut below = vec![entry.kind.clone()];
            below.extend(entry.host.clone());
            below.extend(ports.iter().map(|(_, port)| format!(":{port}")));
            Box {
                name: name.to_string(),
                below: below.join(" · "),
                holds_data,
                needs: compiled.needs[name].iter().map(|need| need.to_string()).collect(),
            }
        })
        .collect();
    let graph = Graph { title: format!("{} · {env}", loaded.estate.file.name), boxes };
    let format = matches.get_one::<String>("format").map_or("dot", String::as_str);
    let text = match format {
        "svg" => graph::svg(&graph),
        "mermaid" => graph::mermaid(&graph),
        _ => graph::dot(&graph),
    };
    let units: Vec<_> = graph
        .boxes
        .iter()
        .map(|unit| json!({"name": unit.name, "needs": unit.needs, "holds_data": unit.holds_data}))
        .collect();
    Ok(Outcome::new(
        text.clone(),
        json!({"environment": env, "format": format, "drawing": text, "units": units}),
    ))
}
