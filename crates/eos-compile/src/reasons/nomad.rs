//! Why a line of a Nomad job is there.

use eos_catalog::component::Task;
use serde_json::Value as Json;

use super::{Cause, Path};
use crate::passes::emit_nomad::Provision;
use crate::passes::nomad_task::tier;
use crate::work::{Unit, Work};

/// Field of a job → why it is as it is.
const JOB: &[(&str, &str)] = &[
    ("Constraints", "it runs on hosts that were declared, and nowhere else"),
    ("Datacenters", "any: the constraint says where it runs"),
    ("ID", "the environment and the unit: what Nomad knows the job by"),
    ("Meta", "whose job it is, and the versions of the secrets it reads: a new one restarts it"),
    ("Name", "the environment and the unit: what Nomad knows the job by"),
    ("TaskGroups", "a group for each task of the component"),
    ("Type", "a service stays up; what provisions a need is a batch job, which ends"),
    ("Update", "one at a time, and back to the version before where the new one does not get well"),
];

/// Field of a task → why it is as it is, where no key of the catalogue is behind it.
const TASK: &[(&str, &str)] = &[
    ("Config", "what the driver is told"),
    ("Driver", "docker runs a container; raw_exec runs a program of the host"),
    ("LogConfig", "logs that cannot fill the disk"),
    ("Resources", "what Nomad keeps free for it"),
];

const RESTART: &str = "a task that ends is started again, a few times and then after a pause";
const PACE: &str = "how soon a service is looked at again: sooner where people try things out";
const ACCOUNT: &str = "root gives the files to the account that the package brings, and becomes it";
const USUAL: &str = "no more than is usual in its tier";

/// One job, and whose tasks are in it.
pub struct Jobs<'w, 'a> {
    work: &'w Work<'a>,
    /// The unit the job belongs to.
    unit: &'w Unit<'a>,
    /// The unit whose component describes the tasks.
    owner: &'w Unit<'a>,
    /// The groups in their order: where the component has the task, and the task.
    groups: Vec<(Vec<String>, &'w Task)>,
    /// What the whole job is there for, where that is not the unit itself.
    need: Option<String>,
    document: Json,
}

impl<'w, 'a> Jobs<'w, 'a> {
    pub fn service(work: &'w Work<'a>, unit: &'w Unit<'a>, text: &str) -> Jobs<'w, 'a> {
        let at = |name: &String| vec!["tasks".to_owned(), name.clone()];
        let groups = unit.component.tasks.iter().map(|(name, task)| (at(name), task)).collect();
        Jobs { work, unit, owner: unit, groups, need: None, document: document(text) }
    }

    pub fn provision(
        work: &'w Work<'a>,
        unit: &'w Unit<'a>,
        provision: &Provision<'w, 'a>,
        text: &str,
    ) -> Jobs<'w, 'a> {
        let at = ["offers", provision.grant.offer, "provision"].map(str::to_owned).into();
        let need = Some(provision.grant.need.to_owned());
        let groups = vec![(at, provision.task)];
        Jobs { work, unit, owner: provision.owner, groups, need, document: document(text) }
    }

    pub fn causes(&self, path: &Path) -> Vec<Cause> {
        let steps: Vec<&str> = path.iter().map(|step| step.name.as_str()).collect();
        let mut causes = self.own(&steps);
        if let Some(need) = &self.need {
            causes.push(Cause::chosen(format!("needs:{need}")));
        }
        causes
    }

    fn own(&self, steps: &[&str]) -> Vec<Cause> {
        match steps {
            [] | ["Job"] => vec![Cause::Compiler("what Nomad is asked to run")],
            ["Job", "ID" | "Name"] if self.need.is_none() && self.unit.entry.job.is_some() => {
                vec![Cause::chosen("job")]
            }
            ["Job", "Namespace"] => vec![Cause::Estate("nomad:namespace".to_owned())],
            ["Job", "Update", "Canary" | "AutoPromote"] => vec![
                Cause::Compiler("where several run and share nothing, a new one proves itself beside them"),
                Cause::component(&["stateless"]),
                Cause::chosen("replicas"),
            ],
            ["Job", "Update", field] if self.says_of_update(field).is_some() => {
                self.says_of_update(field).into_iter().collect()
            }
            ["Job", "Update", "MinHealthyTime"] => vec![Cause::Compiler(PACE), Cause::Tier],
            ["Job", "TaskGroups", group, rest @ ..] => {
                match group.parse::<usize>().ok().and_then(|at| self.groups.get(at)) {
                    Some((at, task)) => self.group(&Described { at, task }, &steps[..3], rest),
                    None => Vec::new(),
                }
            }
            ["Job", field, ..] => compiler(JOB, field),
            _ => Vec::new(),
        }
    }

    /// Where the component says how its job is updated.
    fn says_of_update(&self, field: &str) -> Option<Cause> {
        let update = &self.owner.component.update;
        let (key, is_said) = match field {
            "AutoRevert" => ("auto_revert", update.auto_revert.is_some()),
            "HealthyDeadline" => ("healthy_deadline", update.healthy_deadline.is_some()),
            "MinHealthyTime" => ("min_healthy_time", update.min_healthy_time.is_some()),
            "ProgressDeadline" if update.progress_deadline.is_none() => {
                ("healthy_deadline", update.healthy_deadline.is_some())
            }
            "ProgressDeadline" => ("progress_deadline", true),
            "Stagger" => ("stagger", update.stagger.is_some()),
            _ => return None,
        };
        is_said.then(|| Cause::component(&["update", key]))
    }

    fn group(&self, task: &Described<'_>, group: &[&str], rest: &[&str]) -> Vec<Cause> {
        match rest {
            [] | ["Name"] | ["Tasks"] | ["Tasks", _] | ["Tasks", _, "Name"] => vec![task.is_there()],
            ["Count"] => {
                vec![Cause::Compiler("one, unless --replicas asks for more"), Cause::chosen("replicas")]
            }
            ["Networks"] | ["Networks", _] | ["Networks", _, _] => vec![task.says(&["ports"])],
            ["Networks", _, _, _, field @ ..] => {
                let label = self.text(group, &[&rest[..4], &["Label"]].concat());
                match field {
                    ["To"] => vec![task.says(&["ports", &label, "to"])],
                    ["Value"] => vec![task.says(&["ports", &label, "setting"])],
                    _ => vec![task.says(&["ports", &label])],
                }
            }
            ["Services"] => vec![task.says(&["checks"])],
            ["Services", at, field @ ..] => {
                let label = self.text(group, &["Services", at, "PortLabel"]);
                self.service_field(task, &label, field)
            }
            ["RestartPolicy", ..] => vec![Cause::Compiler(RESTART)],
            ["Tasks", _, field @ ..] => self.task(task, field),
            _ => Vec::new(),
        }
    }

    fn service_field(&self, task: &Described<'_>, label: &str, field: &[&str]) -> Vec<Cause> {
        match field {
            ["Name"] => vec![Cause::Compiler("the job, the task and the port: what the service is found by")],
            ["Provider"] => {
                vec![Cause::Compiler("Consul's register where the unit has one to use, else Nomad's own")]
            }
            ["Checks", at, field @ ..] => {
                let Some((place, check)) = at.parse::<usize>().ok().and_then(|at| task.check(label, at))
                else {
                    return Vec::new();
                };
                let says = |key: &str| vec![task.says(&["checks", &place, key])];
                match field {
                    ["Path"] => says("path"),
                    ["Protocol" | "TLSSkipVerify"] => says("https"),
                    ["Command" | "Args" | "TaskName", ..] => says("command"),
                    ["Interval"] if check.interval.is_some() => says("interval"),
                    ["Interval"] => vec![Cause::Compiler(PACE), Cause::Tier],
                    ["Timeout"] if check.timeout.is_some() => says("timeout"),
                    ["Timeout"] => vec![Cause::Compiler("5 seconds where the catalogue says nothing")],
                    ["CheckRestart", ..] => {
                        vec![Cause::Compiler("a task that is up and does not answer is started again")]
                    }
                    _ => vec![task.says(&["checks", &place])],
                }
            }
            ["Checks"] => vec![task.says(&["checks"])],
            _ => vec![task.says(&["ports", label])],
        }
    }

    fn task(&self, task: &Described<'_>, field: &[&str]) -> Vec<Cause> {
        match field {
            ["Driver"] => {
                let mut causes = compiler(TASK, "Driver");
                causes.extend(self.need.is_none().then(|| Cause::chosen("runtime")));
                causes
            }
            ["Config", field @ ..] if !field.is_empty() => self.config(task, field),
            ["User"] => vec![task.says(&["user"])],
            ["Env"] => vec![task.says(&["env"])],
            ["Env", key, ..] => vec![task.says(&["env", key])],
            ["Templates"] => vec![task.says(&["files"])],
            ["Templates", at, field @ ..] => template(task, at, field),
            ["Resources", field @ ("CPU" | "MemoryMB")] => self.resources(task, field),
            ["Resources", "Devices", ..] => vec![task.says(&["devices"])],
            [field, ..] => compiler(TASK, field),
            [] => Vec::new(),
        }
    }

    fn config(&self, task: &Described<'_>, field: &[&str]) -> Vec<Cause> {
        let on_host = self.owner.runtime() == Some("host");
        let becomes = self.owner.package_account().is_some() && task.task.user.is_none();
        match field {
            ["image"] => {
                let image = match task.task.image {
                    Some(_) => task.says(&["image"]),
                    None => Cause::component(&["runtimes", "container", "image"]),
                };
                vec![image]
                    .into_iter()
                    .chain(task.task.version.as_ref().map(|_| task.says(&["version"])))
                    .collect()
            }
            ["command"] if becomes => vec![Cause::Compiler(ACCOUNT)],
            ["command"] => self.program(task),
            ["entrypoint", ..] => vec![task.says(&["command"])],
            ["args", at] if on_host && becomes => match at.parse::<usize>().unwrap_or_default() {
                0 | 1 => vec![Cause::Compiler(ACCOUNT)],
                2 => vec![Cause::component(&["runtimes", "host", "user"])],
                3 => self.program(task),
                at => vec![task.says(&["args", &(at - 4).to_string()])],
            },
            ["args", at @ ..] => vec![task.says(&[&["args"], at].concat())],
            ["ports", ..] => vec![task.says(&["ports"])],
            ["volumes", at] => {
                let volume = at.parse::<usize>().ok().and_then(|at| task.task.mounts.get_index(at));
                volume.map(|(volume, _)| task.says(&["mounts", volume])).into_iter().collect()
            }
            ["volumes"] => vec![task.says(&["mounts"])],
            ["cap_add", ..] => vec![task.says(&["capabilities"])],
            _ => Vec::new(),
        }
    }

    /// The program of a task on the host itself.
    fn program(&self, task: &Described<'_>) -> Vec<Cause> {
        if task.task.command.is_some() {
            return vec![task.says(&["command"])];
        }
        match self.owner.entry.binary {
            Some(_) if self.need.is_none() => vec![Cause::chosen("binary")],
            _ => vec![Cause::component(&["runtimes", "host", "command"])],
        }
    }

    /// What was asked for, else the size of the tier.
    fn resources(&self, task: &Described<'_>, field: &str) -> Vec<Cause> {
        let entry = self.unit.entry;
        let asked = if field == "CPU" { ("cpu", entry.cpu) } else { ("memory", entry.memory) };
        if let (key, Some(_)) = asked
            && self.need.is_none()
        {
            return vec![Cause::chosen(key)];
        }
        let tier = tier(self.work, self.unit);
        let table = &task.task.resources;
        let mut causes = vec![Cause::Tier];
        if table.contains_key(tier) {
            causes.push(task.says(&["resources", tier]));
        } else {
            causes.push(Cause::Compiler(USUAL));
            causes.extend(table.contains_key("production").then(|| task.says(&["resources", "production"])));
        }
        causes
    }

    /// A text of the job itself.
    fn text(&self, group: &[&str], rest: &[&str]) -> String {
        let pointer = [group, rest].concat().join("/");
        self.document.pointer(&format!("/{pointer}")).and_then(Json::as_str).unwrap_or_default().to_owned()
    }
}

/// A task, and where its component has it.
struct Described<'t> {
    at: &'t [String],
    task: &'t Task,
}

impl Described<'_> {
    fn says(&self, below: &[&str]) -> Cause {
        Cause::Component(self.at.iter().cloned().chain(below.iter().map(|step| (*step).to_owned())).collect())
    }

    fn is_there(&self) -> Cause {
        Cause::Key(self.at.to_vec())
    }

    /// A check of a port, counted among those of the port; and its number among all.
    fn check(&self, label: &str, at: usize) -> Option<(String, &eos_catalog::component::Check)> {
        let mut of_port = self.task.checks.iter().enumerate().filter(|(_, check)| check.port == label);
        of_port.nth(at).map(|(place, check)| (place.to_string(), check))
    }
}

fn template(task: &Described<'_>, at: &str, field: &[&str]) -> Vec<Cause> {
    let file = at.parse::<usize>().ok().and_then(|at| task.task.files.get_index(at));
    match (file, field) {
        (_, ["LeftDelim" | "RightDelim"]) => {
            vec![Cause::Compiler("marks that the content itself does not use")]
        }
        (_, ["ChangeMode"]) => vec![Cause::Compiler("a program reads its files when it starts")],
        (Some((name, file)), ["Perms"]) if file.mode.is_some() => vec![task.says(&["files", name, "mode"])],
        (_, ["Perms"]) => {
            vec![Cause::Compiler("who runs the task reads it; a secret nobody else, where that can be")]
        }
        (Some((name, _)), ["EmbeddedTmpl"]) => vec![task.says(&["files", name, "content"])],
        (Some((name, _)), _) => vec![task.says(&["files", name])],
        (None, ["EmbeddedTmpl"]) => vec![task.says(&["env"])],
        (None, _) => vec![Cause::Compiler("variables that hold a secret, which Nomad fills in on the host")],
    }
}

fn compiler(table: &'static [(&str, &str)], field: &str) -> Vec<Cause> {
    let found = table.iter().find(|(known, _)| *known == field);
    found.map(|(_, why)| Cause::Compiler(why)).into_iter().collect()
}

fn document(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(JOB.is_sorted() && TASK.is_sorted());
    }
}
