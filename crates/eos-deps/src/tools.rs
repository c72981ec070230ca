//! The tools of this machine: listed, found, installed, verified.

use camino::Utf8PathBuf;
use eos_model::Diagnostics;

use crate::build;
use crate::cache::{Cache, Lock, Origin, utf8};
use crate::failure::Failure;
use crate::found::{Found, Source, ToolStatus};
use crate::probe;
use crate::progress::{Progress, Step};
use crate::record::Refusal;
use crate::report;
use crate::source::{bundle, go_module, pypi, release};
use crate::table::{Recipe, Table, TableError, Tool};
use crate::version::Version;

/// Where to look and where to put things; the caller knows the environment.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The user's cache of eos, such as `~/.cache/eos`; an absolute path.
    pub cache: Utf8PathBuf,
    /// A directory of ready-made tools.
    pub bundle: Option<Utf8PathBuf>,
    /// The directories of PATH, for tools and for `go` and `python3`.
    pub search_path: Vec<Utf8PathBuf>,
    /// Stands in for the host of every official release: a mirror.
    pub release_base: Option<String>,
    /// Use nothing that needs a network.
    pub offline: bool,
}

/// Finds and installs tools.
#[derive(Debug, Clone)]
pub struct Tools {
    settings: Settings,
    table: Table,
    cache: Cache,
}

impl Tools {
    /// With the table this version of eos is pinned to.
    pub fn new(settings: Settings) -> Result<Tools, TableError> {
        Ok(Tools::with_table(settings, Table::pinned()?))
    }

    pub fn with_table(settings: Settings, table: Table) -> Tools {
        Tools { cache: Cache::new(&settings.cache), settings, table }
    }

    /// Every tool, sorted by name. Runs those on the search path to ask for their version.
    pub fn list(&self) -> Vec<ToolStatus> {
        let status = |tool: &Tool| {
            let (found, problems) = self.look(tool);
            ToolStatus {
                name: tool.name.clone(),
                summary: tool.summary.clone(),
                pinned: tool.version.clone(),
                range: tool.accepts.clone(),
                found,
                problems,
            }
        };
        self.table.tools.values().map(status).collect()
    }

    /// The tool, if it is here already. An error only for a name that is no tool.
    pub fn find(&self, name: &str) -> Result<Option<Found>, Diagnostics> {
        Ok(self.look(self.tool(name)?).0)
    }

    /// What shall apply a new estate: tofu, but where terraform is here and tofu only behind a network, terraform.
    pub fn executor(&self) -> Result<&'static str, Diagnostics> {
        let tofu = self.tool("tofu")?;
        let at_hand = self.look(tofu).0.is_some() || bundle::has(tofu, self.settings.bundle.as_deref());
        Ok(if !at_hand && self.stand_in("tofu").is_some() { "terraform" } else { "tofu" })
    }

    /// What is here and can take a tool's place, once an estate says so: terraform that of tofu.
    pub fn stand_in(&self, name: &str) -> Option<Found> {
        if name == "tofu" { self.find("terraform").ok().flatten() } else { None }
    }

    /// The executable of a tool that is here. A cached one is checked by its record, size and time; see [`Tools::verify`].
    pub fn path(&self, name: &str) -> Result<Utf8PathBuf, Diagnostics> {
        let tool = self.tool(name)?;
        match self.look(tool) {
            (Some(found), _) => Ok(found.path),
            (None, problems) => Err(report::not_installed(tool, &problems)),
        }
    }

    /// Reads the cached copy again, byte for byte. A tool of the search path only tells its version again: nothing
    /// vouches for it, and its `verified_by` is empty.
    pub fn verify(&self, name: &str) -> Result<Found, Diagnostics> {
        let tool = self.tool(name)?;
        // The one that is used: what is on the PATH comes before the cache.
        let (on_path, problems) = self.look_on_search_path(tool);
        if let Some(found) = on_path {
            return Ok(found);
        }
        match self.cache.verify(tool) {
            Some(Ok(found)) => Ok(found),
            Some(Err(refusal)) => Err(report::refused(tool, &refusal)),
            None => Err(report::not_installed(tool, &problems)),
        }
    }

    /// Each tool with the version that this eos was checked with; nothing is run.
    pub fn pinned(&self) -> impl Iterator<Item = (&str, &Version)> {
        self.table.tools.iter().map(|(name, tool)| (name.as_str(), &tool.version))
    }

    /// The tool, installed into the cache if it is not here.
    pub fn install(&self, name: &str, progress: &mut dyn Progress) -> Result<Found, Diagnostics> {
        let tool = self.tool(name)?;
        let (found, problems) = self.look_on_search_path(tool);
        let found = match found.or_else(|| self.cache.find(tool).0) {
            Some(found) => found,
            None => self.install_locked(tool, &problems, progress)?,
        };
        progress.step(Step::Done { found: &found });
        Ok(found)
    }

    fn tool(&self, name: &str) -> Result<&Tool, Diagnostics> {
        self.table.tools.get(name).ok_or_else(|| report::unknown(name, &self.table))
    }

    fn look(&self, tool: &Tool) -> (Option<Found>, Vec<String>) {
        let (found, mut problems) = self.look_on_search_path(tool);
        if found.is_some() {
            return (found, problems);
        }
        let (found, refusals) = self.cache.find(tool);
        problems.extend(refusals.iter().map(ToString::to_string));
        (found, problems)
    }

    fn look_on_search_path(&self, tool: &Tool) -> (Option<Found>, Vec<String>) {
        let mut problems = Vec::new();
        let Some(read) = tool.read.as_ref().filter(|_| tool.search_path) else {
            return (None, problems);
        };
        for path in build::candidates(&tool.executable(&tool.version), &self.settings.search_path) {
            match probe::version(&path, read) {
                Ok(version) if tool.accepts.contains(&version) => {
                    let name = tool.name.clone();
                    let found = Found { name, version, source: Source::SearchPath, path, verified_by: None };
                    return (Some(found), problems);
                }
                Ok(version) => problems.push(format!("{path} is {version}, not {}", tool.accepts)),
                Err(problem) => problems.push(problem),
            }
        }
        (None, problems)
    }

    fn install_locked(
        &self,
        tool: &Tool,
        problems: &[String],
        progress: &mut dyn Progress,
    ) -> Result<Found, Diagnostics> {
        let lock = self.cache.lock(tool, progress).map_err(|error| report::cannot_write(tool, &error))?;
        // Whoever held the lock may have installed it.
        let (found, refusals) = self.cache.find(tool);
        if let Some(found) = found {
            return Ok(found);
        }
        if let Some(newer) = refusals.iter().find(|refusal| matches!(refusal, Refusal::Newer(_))) {
            return Err(report::refused(tool, newer));
        }
        self.cache.sweep(tool, &lock).map_err(|error| report::cannot_write(tool, &error))?;

        let mut failures = Vec::new();
        let bundle = (!tool.is_venv()).then_some(None);
        for recipe in bundle.into_iter().chain(tool.sources.iter().map(Some)) {
            let source = source_of(recipe);
            progress.step(Step::Started { tool: &tool.name, version: tool.version.as_str(), source });
            match self.install_from(tool, recipe, &lock, progress) {
                Ok(found) => return Ok(found),
                // The next source might work, but this must not go unseen.
                Err(failure @ Failure::Checksum { .. }) => {
                    return Err(report::checksum(tool, source, &failure));
                }
                Err(failure) => {
                    progress.step(Step::Failed { source, reason: &failure.to_string() });
                    failures.push((source, failure));
                }
            }
        }
        let stand_in = self.stand_in(&tool.name).is_some();
        Err(report::no_source(tool, problems, &failures, self.settings.offline, stand_in))
    }

    /// One source; `None` is the bundle.
    fn install_from(
        &self,
        tool: &Tool,
        recipe: Option<&Recipe>,
        lock: &Lock,
        progress: &mut dyn Progress,
    ) -> Result<Found, Failure> {
        if self.settings.offline && recipe.is_some() {
            return Err(Failure::Offline);
        }
        let staged = self.cache.stage(tool, lock)?;
        let directory = utf8(staged.path())?;
        let target = directory.join("bin").join(tool.executable(&tool.version));
        fs_err::create_dir(directory.join("bin"))?;
        let search_path = &self.settings.search_path;
        let verified_by = match recipe {
            None => bundle::fetch(tool, self.settings.bundle.as_deref(), &target, progress)?,
            Some(Recipe::Release(release)) => {
                let base = self.settings.release_base.as_deref();
                release::fetch(tool, release, base, &target, progress)?
            }
            Some(Recipe::Go(recipe)) => {
                let work = self.cache.stage(tool, lock)?;
                let work = utf8(work.path())?;
                go_module::fetch(tool, recipe, search_path, (&work, &target), lock, progress)?
            }
            Some(Recipe::Pypi(recipe)) => {
                let venv = self.cache.clear(tool, lock)?;
                let installed = pypi::build(tool, recipe, search_path, (&directory, &venv), lock, progress)
                    .and_then(|verified_by| {
                        require_pin(tool, &venv.join("bin").join(tool.executable(&tool.version)))?;
                        Ok(self.cache.commit_venv(
                            tool,
                            Origin { source: Source::Pypi, verified_by },
                            lock,
                        )?)
                    });
                if installed.is_err() {
                    self.cache.clear(tool, lock)?;
                }
                return installed;
            }
        };
        require_pin(tool, &target)?;
        Ok(self.cache.commit(tool, staged, Origin { source: source_of(recipe), verified_by }, lock)?)
    }
}

fn source_of(recipe: Option<&Recipe>) -> Source {
    match recipe {
        None => Source::Bundle,
        Some(Recipe::Release(_)) => Source::Release,
        Some(Recipe::Go(_)) => Source::GoModule,
        Some(Recipe::Pypi(_)) => Source::Pypi,
    }
}

/// What arrived runs and is the pinned version; a provider cannot be asked.
fn require_pin(tool: &Tool, executable: &camino::Utf8Path) -> Result<(), Failure> {
    let Some(read) = &tool.read else {
        return Ok(());
    };
    match probe::version(executable, read) {
        Ok(version) if version == tool.version => Ok(()),
        Ok(version) => Err(Failure::Broken(format!("it says it is {version}, not {}", tool.version))),
        Err(problem) => Err(Failure::Broken(problem)),
    }
}
