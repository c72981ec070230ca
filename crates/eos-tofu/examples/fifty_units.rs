//! Measures this crate against the same calls of tofu without it: `fifty_units TOFU [COUNT [KEY-FILE]]`.
//!
//! Each side works on its own copy of COUNT units of `terraform_data`, two at a time: create them, then plan with nothing
//! to do. With KEY-FILE (32 bytes) state and plans are encrypted on both sides.
#![allow(clippy::print_stdout)]

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use eos_model::UnitId;
use eos_tofu::{
    Backend, ChildEnvironment, Children, Encryption, Installation, InstallationSettings, Places, PlanOptions,
    Session, Tofu, UnitFiles, WorkFolder,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const MAIN: &str = r#"{"terraform":{"backend":{"local":{}}},"resource":{"terraform_data":{"a":{"input":"x"},
  "b":{"input":"${terraform_data.a.output}"}}},"output":{"o":{"value":"${terraform_data.b.output}"}}}"#;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let tofu = Tofu::detect(Utf8Path::new(&arguments.next().ok_or("which tofu?")?))?;
    let count = arguments.next().map_or(Ok(50), |text| text.parse())?;
    let encryption = match arguments.next() {
        Some(key) => {
            let driver = Utf8PathBuf::try_from(std::env::current_exe()?)?.with_file_name("driver");
            Some(Encryption::by_command(driver, ["state-key".to_owned(), key]))
        }
        None => None,
    };
    let folder = tempfile::tempdir()?;
    let root = Utf8PathBuf::try_from(folder.path().canonicalize()?)?;
    let ours =
        Side { tofu: tofu.clone(), places: Places::new(root.join("ours")), encryption: encryption.clone() };
    let bare = Side { tofu, places: Places::new(root.join("bare")), encryption };
    for round in 1..=3 {
        if round == 1 {
            report(
                "create",
                each(count, |unit| ours.create(unit))?,
                each(count, |unit| bare.bare_create(unit))?,
            );
        }
        report("no-op ", each(count, |unit| ours.no_op(unit))?, each(count, |unit| bare.bare_no_op(unit))?);
    }
    Ok(())
}

fn report(what: &str, ours: Duration, bare: Duration) {
    let ratio = ours.as_secs_f64() / bare.as_secs_f64();
    println!("{what} ours {:.2} s, bare {:.2} s, ratio {ratio:.2}", ours.as_secs_f64(), bare.as_secs_f64());
}

/// Two at a time, as xargs -P2 would.
fn each(count: usize, work: impl Fn(UnitId) -> Result<(), Failure> + Sync) -> Result<Duration, Failure> {
    let (next, start) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        let worker = || -> Result<(), Failure> {
            loop {
                let number = next.fetch_add(1, Ordering::SeqCst);
                if number >= count {
                    return Ok(());
                }
                work(UnitId { env: "production".parse()?, name: format!("unit{number}").parse()? })?;
            }
        };
        let workers = [scope.spawn(worker), scope.spawn(worker)];
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked")?)
    })?;
    Ok(start.elapsed())
}

struct Side {
    tofu: Tofu,
    places: Places,
    encryption: Option<Encryption>,
}

impl Side {
    fn session(&self, unit: &UnitId) -> Result<(Session, Installation, Backend), Failure> {
        let files = UnitFiles::from([("main.tf.json".into(), MAIN.as_bytes().to_vec())]);
        let folder = WorkFolder::fill(&self.places, unit, &files)?;
        let settings = InstallationSettings { search_path: "/usr/bin:/bin".into(), ..Default::default() };
        let installation = Installation::write(&self.places, &settings)?;
        let backend = Backend::Local { path: self.places.local_state("shop", unit) };
        let environment = ChildEnvironment::new(
            self.tofu.flavor(),
            &folder,
            &installation,
            &backend,
            self.encryption.as_ref(),
        );
        let session = Session { tofu: self.tofu.clone(), folder, environment, children: Children::new() };
        Ok((session, installation, backend))
    }

    fn create(&self, unit: UnitId) -> Result<(), Failure> {
        let (session, installation, backend) = self.session(&unit)?;
        session.init(&installation, &backend)?;
        let out = session.folder.plan_file();
        session.plan(&PlanOptions { out: out.clone(), ..Default::default() }, &mut |_| ())?;
        session.show_plan(&out)?;
        session.apply(&out, &mut |_| ())?;
        Ok(())
    }

    fn no_op(&self, unit: UnitId) -> Result<(), Failure> {
        let (session, installation, backend) = self.session(&unit)?;
        session.init(&installation, &backend)?;
        let out = session.folder.plan_file();
        match session.plan(&PlanOptions { out, ..Default::default() }, &mut |_| ())?.changes {
            true => Err("there must be nothing to do".into()),
            false => Ok(()),
        }
    }

    fn bare_create(&self, unit: UnitId) -> Result<(), Failure> {
        let (session, _, _) = self.session(&unit)?;
        let path = format!("-backend-config=path={}", self.places.local_state("shop", &unit));
        let plan = session.folder.plan_file();
        bare(&session, &["init", "-input=false", "-reconfigure", &path], 0)?;
        bare(&session, &["plan", "-input=false", "-detailed-exitcode", &format!("-out={plan}")], 2)?;
        bare(&session, &["show", "-json", plan.as_str()], 0)?;
        bare(&session, &["apply", "-input=false", plan.as_str()], 0)
    }

    fn bare_no_op(&self, unit: UnitId) -> Result<(), Failure> {
        let (session, _, _) = self.session(&unit)?;
        let plan = format!("-out={}", session.folder.plan_file());
        bare(&session, &["plan", "-input=false", "-detailed-exitcode", &plan], 0)
    }
}

fn bare(session: &Session, arguments: &[&str], expected: i32) -> Result<(), Failure> {
    let status = Command::new(session.tofu.binary())
        .args(arguments)
        .current_dir(session.folder.dir())
        .env_clear()
        .envs(session.environment.iter())
        // As a person's shell would have it.
        .env_remove("GOGC")
        .env_remove("GOMEMLIMIT")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    match status.code() == Some(expected) {
        true => Ok(()),
        false => Err(format!("{arguments:?} ended with {status}").into()),
    }
}
