//! Nomad's diff of a job, and the lines a person reads.

use serde::Deserialize;

use crate::job::or_default;

/// How a thing differs; `None` is Nomad's word for "it does not".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum DiffKind {
    #[default]
    None,
    Added,
    Deleted,
    Edited,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct JobDiff {
    #[serde(rename = "Type")]
    pub kind: DiffKind,
    #[serde(rename = "ID")]
    pub id: String,
    #[serde(deserialize_with = "or_default")]
    pub fields: Vec<FieldDiff>,
    #[serde(deserialize_with = "or_default")]
    pub objects: Vec<ObjectDiff>,
    #[serde(deserialize_with = "or_default")]
    pub task_groups: Vec<ObjectDiff>,
}

/// An object, a task group or a task: they differ alike.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct ObjectDiff {
    #[serde(rename = "Type")]
    pub kind: DiffKind,
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub fields: Vec<FieldDiff>,
    #[serde(deserialize_with = "or_default")]
    pub objects: Vec<ObjectDiff>,
    #[serde(deserialize_with = "or_default")]
    pub tasks: Vec<ObjectDiff>,
    #[serde(deserialize_with = "or_default")]
    pub annotations: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FieldDiff {
    #[serde(rename = "Type")]
    pub kind: DiffKind,
    pub name: String,
    pub old: String,
    pub new: String,
    #[serde(deserialize_with = "or_default")]
    pub annotations: Vec<String>,
}

impl JobDiff {
    pub fn is_empty(&self) -> bool {
        self.kind == DiffKind::None
    }

    /// Every field that differs, wherever it is.
    pub fn changed(&self) -> Vec<&FieldDiff> {
        let mut found = Vec::new();
        changed(&self.fields, &[&self.objects, &self.task_groups], &mut found);
        found
    }

    /// What differs, indented, a line each. `show` says how a value is shown (cut, or blanked out) by its field's name.
    pub fn lines(&self, show: &dyn Fn(&str, &str) -> String) -> Vec<String> {
        let mut lines = Vec::new();
        fields(&self.fields, 0, show, &mut lines);
        objects("", &self.objects, 0, show, &mut lines);
        objects("group ", &self.task_groups, 0, show, &mut lines);
        lines
    }
}

/// The fields that differ, wherever they are.
fn changed<'d>(fields: &'d [FieldDiff], objects: &[&'d [ObjectDiff]], found: &mut Vec<&'d FieldDiff>) {
    found.extend(fields.iter().filter(|field| field.kind != DiffKind::None));
    for object in objects.iter().copied().flatten().filter(|object| object.kind != DiffKind::None) {
        changed(&object.fields, &[&object.objects, &object.tasks], found);
    }
}

fn sign(kind: DiffKind) -> char {
    match kind {
        DiffKind::None => ' ',
        DiffKind::Added => '+',
        DiffKind::Deleted => '-',
        DiffKind::Edited => '~',
    }
}

fn note(annotations: &[String]) -> String {
    if annotations.is_empty() { String::new() } else { format!(" ({})", annotations.join(", ")) }
}

fn fields(all: &[FieldDiff], depth: usize, show: &dyn Fn(&str, &str) -> String, lines: &mut Vec<String>) {
    for field in all.iter().filter(|field| field.kind != DiffKind::None) {
        let value = match field.kind {
            DiffKind::Added => show(&field.name, &field.new),
            DiffKind::Deleted => show(&field.name, &field.old),
            _ => format!("{} -> {}", show(&field.name, &field.old), show(&field.name, &field.new)),
        };
        let (indent, note) = ("  ".repeat(depth), note(&field.annotations));
        lines.push(format!("{indent}{} {}: {value}{note}", sign(field.kind), field.name));
    }
}

fn objects(
    what: &str,
    all: &[ObjectDiff],
    depth: usize,
    show: &dyn Fn(&str, &str) -> String,
    lines: &mut Vec<String>,
) {
    for object in all.iter().filter(|object| object.kind != DiffKind::None) {
        let (indent, note) = ("  ".repeat(depth), note(&object.annotations));
        lines.push(format!("{indent}{} {what}{}{note}", sign(object.kind), object.name));
        fields(&object.fields, depth + 1, show, lines);
        objects("", &object.objects, depth + 1, show, lines);
        objects("task ", &object.tasks, depth + 1, show, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_becomes_a_line() {
        let diff: JobDiff = serde_json::from_value(serde_json::json!({
            "Type": "Edited", "ID": "redis", "Fields": [{"Type": "None", "Name": "Priority", "Old": "50", "New": "50"}],
            "Objects": null,
            "TaskGroups": [{
                "Type": "Edited", "Name": "server",
                "Fields": [{"Type": "Edited", "Name": "Count", "Old": "1", "New": "3", "Annotations": ["forces create"]}],
                "Tasks": [{
                    "Type": "Edited", "Name": "main", "Annotations": ["forces create/destroy update"],
                    "Fields": [{"Type": "Added", "Name": "Env[PASSWORD]", "Old": "", "New": "hunter2"}],
                    "Objects": [{"Type": "None", "Name": "Resources"}]
                }]
            }]
        }))
        .unwrap();
        let show = |name: &str, value: &str| {
            if name.contains("PASSWORD") { "•••".to_owned() } else { value.to_owned() }
        };
        assert_eq!(
            diff.lines(&show),
            [
                "~ group server",
                "  ~ Count: 1 -> 3 (forces create)",
                "  ~ task main (forces create/destroy update)",
                "    + Env[PASSWORD]: •••",
            ]
        );
        let names: Vec<&str> = diff.changed().iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["Count", "Env[PASSWORD]"]);
        assert!(!diff.is_empty() && JobDiff::default().is_empty());
    }
}
