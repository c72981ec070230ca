//! Why a line of `manifest.json` is there, and the files that are whole of one piece.

use super::{Cause, Path};

/// Field → why it is there. What is chosen in the pillar is in the provenance as well.
const FIELDS: &[(&str, &str)] = &[
    ("catalog", "the digest of the kind it was compiled from, which eos.lock pins"),
    ("compiler", "the number of the compiler's emitters, which eos.lock pins"),
    ("digest", "of the unit's files: a run applies exactly these, and notices others"),
    ("features", "those that are on, by a flag or by themselves"),
    ("format", "the format of this file"),
    ("host", "where the unit is placed"),
    ("inputs", "what arrives from other units once they are applied"),
    ("kind", "what the unit is one of"),
    ("needs", "the units that are applied before it"),
    ("unit", "environment and name: what a run knows the unit by"),
    ("volumes", "where its data lies, which runs guard"),
];

pub fn causes(path: &Path) -> Vec<Cause> {
    let path: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
    match path.as_slice() {
        [] => vec![Cause::Compiler("what the unit is, for the runs")],
        ["thresholds", ..] => vec![Cause::component(&path)],
        [field, ..] => {
            let known = FIELDS.iter().find(|(known, _)| known == field);
            let chosen = (*field == "features").then(|| Cause::chosen(*field));
            known.map(|(_, why)| Cause::Compiler(why)).into_iter().chain(chosen).collect()
        }
    }
}

pub fn whole_file(file: &str) -> Vec<Cause> {
    vec![Cause::Compiler(match file {
        "provenance.json" => "where each line of the other files comes from; eos why reads it",
        _ => "a run writes into it what the units before this one gave",
    })]
}

#[cfg(test)]
mod tests {
    use super::FIELDS;

    #[test]
    fn fields_are_sorted() {
        assert!(FIELDS.is_sorted());
    }
}
