//! One command on one estate, in a process that may be told to die.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use camino::Utf8PathBuf;
use eos_engine::journal;
use eos_engine::observer::{Health, Observer, Progress};
use eos_engine::record::{Record, Step};
use eos_engine::*;
use eos_model::{Diagnostic, Diagnostics, EnvName, Name, UnitId, codes};
use eos_store::lease::{EmbeddedLeases, Leases as _};
use eos_store::{FolderRecords, Records, StoreError};
use eos_tofu::{Backend, ChildIdentity, Children, Installation, InstallationSettings, Places, Tofu};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// What the driver is told, as JSON in an environment variable.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    pub root: Utf8PathBuf,
    pub tofu: Utf8PathBuf,
    pub command: Command,
    pub commit: String,
    pub on_failure: OnFailure,
    pub only: Option<BTreeSet<Name>>,
    pub no_refresh: bool,
    pub destroy_data: BTreeSet<Name>,
    pub new_state: BTreeSet<Name>,
    pub looked_after: bool,
    pub kill: Option<Kill>,
    /// Units that are found unhealthy.
    pub unhealthy: BTreeSet<Name>,
    /// Somebody says stop while those are looked at.
    pub stopped_looking: bool,
    /// Nomad cannot be asked whether those work.
    pub unheard: bool,
    pub lease_wait: u64,
    /// The state is behind http, at this address; in local files when none.
    pub http: Option<String>,
    /// Another clone applies other units in the last moment.
    pub overtaken: bool,
    /// While a unit is recorded its lease is lost, and somebody else writes the record.
    pub lease_lost_at_record: bool,
    /// As typed.
    pub line: String,
    /// Where the answer goes, in the estate.
    pub answer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    Plan,
    Apply,
    /// Plan and write the plan to `plan.json`.
    PlanOut,
    /// Apply `plan.json`.
    ApplyFile,
    Destroy,
    Resume,
    Undo,
    PlanUndo,
    Drift,
    Revert,
}

/// When to kill whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill {
    pub when: When,
    pub eos: bool,
    pub tofu: bool,
    /// Instead of killing: interrupt the run as Ctrl-C does.
    pub interrupt: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum When {
    /// After this record of the journal is on the disk.
    Record(u32),
    /// When tofu says that it begins with this address of this unit.
    Start(String, String),
    /// When tofu says that a provisioner of it runs.
    Provision(String, String),
}

pub const VARIABLE: &str = "EOS_ENGINE_TEST_JOB";

/// Not a test: what the other tests start as a process.
#[test]
#[ignore = "started by other tests"]
fn drive() {
    let Ok(text) = std::env::var(VARIABLE) else { return };
    let job: Job = serde_json::from_str(&text).unwrap();
    let answer = match run(&job) {
        Ok(answer) => answer,
        Err(problems) => json!({"refused": problems}),
    };
    std::fs::write(job.root.join(&job.answer), answer.to_string()).unwrap();
}

struct Watcher<'j> {
    job: &'j Job,
    children: Children,
    tofus: Mutex<Vec<ChildIdentity>>,
    /// No tofu was at work when one was to be killed: the next one is.
    owed: AtomicBool,
    tofu_plans: Mutex<Vec<String>>,
}

impl Watcher<'_> {
    fn strike(&self, kill: &Kill) {
        if kill.interrupt {
            self.children.interrupt();
        }
        if kill.tofu {
            let tofus = self.tofus.lock().unwrap();
            let mut at_work = tofus.iter().filter(|child| child.still_running()).peekable();
            self.owed.store(at_work.peek().is_none(), Ordering::SeqCst);
            for child in at_work {
                let _ = kill_process(Pid::from_raw(child.pid).unwrap(), Signal::KILL);
            }
        }
        if kill.eos {
            kill_process(rustix::process::getpid(), Signal::KILL).unwrap();
            loop {
                std::thread::park();
            }
        }
    }
}

impl Observer for Watcher<'_> {
    fn on(&self, progress: &Progress<'_>) {
        if let Progress::Planning { unit } = progress {
            self.tofu_plans.lock().unwrap().push(unit.to_string());
        }
        if let Progress::Journaled { record: Record::Unit { step: Step::Child { child }, .. }, .. } = progress
        {
            self.tofus.lock().unwrap().push(*child);
            if self.owed.swap(false, Ordering::SeqCst) {
                let _ = kill_process(Pid::from_raw(child.pid).unwrap(), Signal::KILL);
            }
        }
        let Some(kill) = &self.job.kill else { return };
        let now = match (progress, &kill.when) {
            (Progress::Journaled { number, .. }, When::Record(wanted)) => number == wanted,
            (
                Progress::Tofu { unit, event: eos_tofu::Event::ApplyStart { address, .. } },
                When::Start(u, a),
            ) => unit.as_str() == u && address == a,
            (
                Progress::Tofu { unit, event: eos_tofu::Event::ProvisionProgress { address, .. } },
                When::Provision(u, a),
            ) => unit.as_str() == u && address == a,
            _ => false,
        };
        if now {
            self.strike(kill);
        }
    }
}

impl Health for Job {
    fn check(
        &self,
        unit: &eos_engine::Unit,
        _: &std::collections::BTreeMap<String, Json>,
    ) -> Result<eos_engine::observer::Seen, Diagnostic> {
        if self.unhealthy.contains(&unit.id.name) {
            return Err(if self.unheard {
                Diagnostic::error(codes::NOMAD, "Nomad does not answer")
            } else if self.stopped_looking {
                Diagnostic::error(codes::STOPPED, "stopped while looking").why("nothing was known yet")
            } else {
                Diagnostic::error(codes::HIVE, "it does not answer").why("nobody listens there")
            });
        }
        Ok(Default::default())
    }
}

/// A store in which somebody else is quicker, once the unit's lease is gone.
struct Contested<'j> {
    inner: FolderRecords,
    leases: &'j EmbeddedLeases,
    children: Children,
    lose: bool,
}

impl Records for Contested<'_> {
    fn all(&self) -> Result<Vec<eos_store::Record>, StoreError> {
        self.inner.all()
    }

    fn get(&self, key: &str) -> Result<Option<eos_store::Record>, StoreError> {
        let found = self.inner.get(key)?;
        // Read right before it is written; the run has said that it is at work by then.
        let begun =
            found.as_ref().is_some_and(|found| String::from_utf8_lossy(&found.value).contains("attempt"));
        if self.lose && begun && key == "applied/test/a" && !self.children.is_interrupted() {
            self.leases.break_lease("test/a", "laptop lost", "robin").unwrap();
            while !self.children.is_interrupted() {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            return Ok(found.map(|found| eos_store::Record { version: found.version + 1, ..found }));
        }
        Ok(found)
    }

    fn submit(&self, batch: eos_store::Batch) -> eos_store::Pending {
        self.inner.submit(batch)
    }
}

struct Around<'j> {
    job: &'j Job,
    places: &'j Places,
}

impl Surroundings for Around<'_> {
    fn backend(&self, unit: &UnitId) -> Result<Backend, Diagnostic> {
        let Some(base) = &self.job.http else {
            return Ok(Backend::Local { path: self.places.local_state("shop", unit) });
        };
        let address = format!("{base}/{}", unit.name);
        Ok(Backend::Http {
            lock_address: Some(address.clone()),
            unlock_address: Some(address.clone()),
            address,
            username: Some("kim".into()),
            password: Some(crate::http_server::PASSWORD.to_owned().into()),
        })
    }

    fn variables(&self, _: &Unit) -> Result<Vec<(String, String)>, Diagnostic> {
        Ok(Vec::new())
    }
}

/// The compiled units that lie in `build/`.
pub fn compiled(root: &camino::Utf8Path, env: &EnvName) -> Units {
    let mut files = Vec::new();
    let mut folders = vec![root.join("build")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir_utf8().unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path().to_owned()),
                false => {
                    let path = entry.path().strip_prefix(root).unwrap().to_string();
                    files.push((path, std::fs::read(entry.path()).unwrap()));
                }
            }
        }
    }
    Units::from_build(env, files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))).unwrap()
}

fn run(job: &Job) -> Result<Json, Diagnostics> {
    let env: EnvName = "test".parse().unwrap();
    let places = Places::new(job.root.clone());
    let layout = Layout::new(job.root.clone());
    let settings =
        InstallationSettings { search_path: "/usr/bin:/bin".into(), ..InstallationSettings::default() };
    let tools = Tools {
        tofu: Tofu::detect(&job.tofu).unwrap(),
        places: places.clone(),
        installation: Installation::write(&places, &settings).unwrap(),
        encryption: crate::estate::encryption(&job.root),
        children: Children::new(),
    };
    let leases = EmbeddedLeases::new(layout.state().join("leases").as_std_path());
    let records = Contested {
        inner: FolderRecords::open(layout.state().join("records").as_std_path()).unwrap(),
        leases: &leases,
        children: tools.children.clone(),
        lose: job.lease_lost_at_record,
    };
    let watcher = Watcher {
        job,
        children: tools.children.clone(),
        tofus: Mutex::default(),
        owed: AtomicBool::default(),
        tofu_plans: Mutex::default(),
    };
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let actor = Actor { user: "kim".into(), machine, command: job.line.clone() };
    let clock =
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs() as i64;
    let engine = Engine {
        layout: &layout,
        tools: &tools,
        surroundings: &Around { job, places: &places },
        records: &records,
        leases: &leases,
        health: job,
        observer: &watcher,
        clock: &clock,
        parallel: 2,
        terms: LeaseTerms { wait: std::time::Duration::from_secs(job.lease_wait), ..LeaseTerms::default() },
        actor: &actor,
    };
    let units = compiled(&job.root, &env);
    let request = PlanRequest {
        units: &units,
        commit: &job.commit,
        only: job.only.as_ref(),
        look: if job.no_refresh {
            eos_engine::plan::Look::Nothing
        } else {
            eos_engine::plan::Look::Everything
        },
        adopt: &Default::default(),
        destroy_data: &job.destroy_data,
        new_state: &job.new_state,
    };
    let judged = std::sync::atomic::AtomicUsize::new(0);
    let judge = |last: Option<&AppliedEnvironment>| {
        guard::refuse_stale(&env, last, &job.commit, |_| Ok(eos_model::Ancestry::Behind))?;
        // The first time is before the journal, the second one before the record.
        if job.overtaken && judged.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 1 {
            let theirs = AppliedEnvironment { commit: "theirs".into(), run: RunId::new(1, 1), at: 1 };
            Applied::new(&records).begin(&env, &theirs, &[], &|_| Ok(()))?;
        }
        Ok(())
    };
    let options = RunOptions {
        commit: &job.commit,
        on_failure: job.on_failure,
        before_undo: None,
        judge: job.overtaken.then_some(&judge),
        looked_after: job.looked_after,
    };
    let latest = || -> Result<RunId, Diagnostics> {
        let (runs, problems) = runs::all(&layout, 100)?;
        problems.into_result()?;
        Ok(runs.into_iter().next().unwrap().run.begun.run)
    };
    let nothing = Units { env: env.clone(), units: Default::default() };
    let plan_file = job.root.join("plan.json");
    let shown = |plan: &RunPlan| {
        json!({
            "empty": plan.is_empty(),
            "order": plan.order,
            "changes": plan.changes(),
            "units": plan.units,
            "asked_tofu": *watcher.tofu_plans.lock().unwrap(),
        })
    };
    let done = |report: Report| json!({"report": report});
    Ok(match job.command {
        Command::Plan => shown(&engine.plan(&request)?),
        Command::PlanOut => {
            let plan = engine.plan(&request)?;
            eos_engine::plan_file::write(&plan_file, &plan, &Default::default(), &[7; 32])?;
            shown(&plan)
        }
        Command::Apply => done(engine.apply(&engine.plan(&request)?, &units, &options)?),
        Command::ApplyFile => {
            let (plan, _) = eos_engine::plan_file::read(&plan_file, &[7; 32])?;
            plan.refuse_outdated(&job.commit, &units)?;
            done(engine.apply(&plan, &units, &options)?)
        }
        Command::Destroy => {
            let request = DestroyRequest {
                env: &env,
                commit: &job.commit,
                only: job.only.as_ref(),
                destroy_data: &job.destroy_data,
                new_state: &job.new_state,
            };
            done(engine.apply(&engine.plan_destroy(&request)?, &nothing, &options)?)
        }
        Command::Resume => {
            let options = ResumeOptions {
                looked_after: job.looked_after,
                follows: Some(&|_, _| true),
                ..ResumeOptions::default()
            };
            let open = runs::unfinished(&layout, &env)?.map(|known| known.run.begun.run);
            done(engine.resume(&open.map_or_else(latest, Ok)?, &options)?)
        }
        Command::PlanUndo => json!(engine.plan_undo(&latest()?)?),
        Command::Undo => {
            let options = UndoOptions {
                commit: &|_| Ok(job.commit.clone()),
                follows: &|_, _| true,
                looked_after: job.looked_after,
            };
            done(engine.undo(&latest()?, &options)?)
        }
        Command::Drift => {
            let request = DriftRequest {
                env: &env,
                commit: &job.commit,
                only: job.only.as_ref(),
                preview: &|_| String::new(),
                everything: false,
            };
            json!(engine.drift(&request)?)
        }
        Command::Revert => {
            let request = DriftRequest {
                env: &env,
                commit: &job.commit,
                only: job.only.as_ref(),
                preview: &|_| String::new(),
                everything: false,
            };
            let drift = engine.drift(&request)?;
            done(engine.apply(&drift.revert, &drift.units_as_applied, &options)?)
        }
    })
}

/// How many records the journals of an estate have, the latest run's last.
pub fn records_of(root: &camino::Utf8Path) -> Vec<Vec<Record>> {
    let layout = Layout::new(root.to_owned());
    let (runs, problems) = runs::all(&layout, 100).unwrap();
    assert!(problems.is_empty(), "{problems}");
    let mut all = Vec::new();
    for known in runs.iter().rev() {
        let run = &known.run.begun.run;
        let path = [layout.journal(run), layout.finished_journal(run)]
            .into_iter()
            .find(|path| path.exists())
            .unwrap();
        all.push(journal::read(&path).unwrap());
    }
    all
}
