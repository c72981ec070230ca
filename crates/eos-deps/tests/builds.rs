//! Go modules and PyPI, with small stand-ins for `go` and `python3` that record what they were asked.
#![allow(clippy::unwrap_used)] // a failed fixture fails its test

mod support;

use eos_deps::{Silent, Source, Table, Tools};
use eos_model::codes::{BAD_CHECKSUM, NO_SOURCE, NO_SPACE};
use support::*;

/// A `go` that downloads an empty module, says it has Nomad's checksum, and "builds" a script.
const GO: &str = r#"
echo "$@" >> "$0.log"
case "$1 $2" in
"mod download")
    mkdir -p "$GOMODCACHE/module" "$GOCACHE"
    echo "module m" > "$GOMODCACHE/module/go.mod"
    chmod 0444 "$GOMODCACHE/module/go.mod"
    echo "{\"Dir\": \"$GOMODCACHE/module\", \"Sum\": \"h1:KGQK0Ao9L7xtO/ZagS7tXD8MvFTr5R6y7SiOGhEXzWU=\"}" ;;
"mod edit")
    echo "$3" >> go.mod ;;
"build -trimpath")
    test -f go.mod || exit 9
    while [ "$1" != "-o" ]; do shift; done
    printf '#!/bin/sh\necho Nomad v1.10.5\n' > "$2"
    chmod 0755 "$2" ;;
esac"#;

/// A `python3` whose venv has a pip that writes salt-call.
const PYTHON: &str = r#"
echo "$@" >> "$0.log"
test "$1 $2" = "-m venv" || exit 9
mkdir -p "$3/bin" "$3/lib"
cat > "$3/bin/python" <<'PIP'
#!/bin/sh
directory=$(dirname "$0")
echo "$@" >> "$directory/../lib/pip.log"
while [ "$1" != "--requirement" ]; do shift; done
cp "$2" "$directory/../lib"
printf '#!/bin/sh\necho "salt-call 3008.3 (Argon)"\n' > "$directory/salt-call"
chmod 0755 "$directory/salt-call"
PIP
chmod 0755 "$3/bin/python""#;

#[test]
fn a_go_module_is_edited_built_and_its_caches_deleted() {
    let place = Place::new();
    let go = place.program("go", GO);
    let found = place.tools().install("nomad", &mut Silent).unwrap();
    assert_runs(&found, Source::GoModule, "Nomad v1.10.5");
    assert!(found.verified_by.unwrap().contains("github.com/hashicorp/nomad@v1.10.5"));
    assert_eq!(place.cached("nomad"), ["1.10.5"]);
    let log = fs_err::read_to_string(format!("{go}.log")).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[0], "mod download -json github.com/hashicorp/nomad@v1.10.5");
    assert!(lines[1].starts_with("mod edit -replace=github.com/hashicorp/nomad/api="), "{log}");
    assert!(lines[2].ends_with("/bin/nomad -mod=mod .") && lines[2].contains("-ldflags -s -w -o "), "{log}");
}

#[test]
fn a_module_with_another_checksum_than_the_table_s_is_not_built() {
    let place = Place::new();
    let go = place.program("go", &GO.replace("h1:KGQK", "h1:XXXX"));
    let error = place.tools().install("nomad", &mut Silent).unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [BAD_CHECKSUM], "{text}");
    assert!(text.contains("h1:XXXX0Ao9") && text.contains("h1:KGQK0Ao9"), "{text}");
    assert_eq!(fs_err::read_to_string(format!("{go}.log")).unwrap().lines().count(), 1);
    assert!(place.cached("nomad").is_empty());
}

/// A wheel of one command, as small as pip accepts one.
fn wheel(name: &str) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let info = format!("{name}-1.0.dist-info");
    for (path, text) in [
        (format!("{name}.py"), format!("def main():\n    print('{name} 1.0')\n")),
        (format!("{info}/METADATA"), format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")),
        (
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n".to_owned(),
        ),
        (format!("{info}/entry_points.txt"), format!("[console_scripts]\n{name} = {name}:main\n")),
        (format!("{info}/RECORD"), String::new()),
    ] {
        writer.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The real python3, whose pip knows no index but a folder.
fn python_of(place: &Place, wheels: &camino::Utf8Path) {
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("python3"))
        .find(|path| path.exists())
        .unwrap();
    place.program(
        "python3",
        &format!(
            r#"{real} "$@" || exit
mv "$3/bin/python" "$3/bin/real"
printf '#!/bin/sh\nPIP_NO_INDEX=1 PIP_FIND_LINKS={wheels} exec "%s/bin/real" "$@"\n' "$3" > "$3/bin/python"
chmod 0755 "$3/bin/python""#,
            real = real.display()
        ),
    );
}

/// With the real python3 and pip: nothing else decides what a locked sum is worth.
#[test]
fn pip_refuses_a_file_with_another_sum_than_the_lock_file_s() {
    let place = Place::new();
    for name in ["thing", "needed"] {
        fs_err::write(place.join(&format!("{name}-1.0-py3-none-any.whl")), wheel(name)).unwrap();
    }
    python_of(&place, &place.join(""));
    let table = "[thing]\nsummary = \"s\"\nversion = \"1.0\"\naccepts = \">=1\"\nexecutable = \"thing\"\n\
         search_path = false\nread = { arguments = [], text = \"thing {version}\" }\n\
         [[thing.sources]]\nkind = \"pypi\"\npackages = [\"thing=={version}\"]\n";
    let tools = |needed: &str| {
        let thing = sum(&wheel("thing"));
        let lock = format!(
            "needed==1.0 \\\n    --hash=sha256:{needed}\nnot-here==1.0 ; sys_platform == 'win32' \\\n    \
             --hash=sha256:{thing}\nthing==1.0 \\\n    --hash=sha256:{thing}\n"
        );
        Tools::with_table(place.settings(), Table::parse_with_locks(table, &[("thing", &lock)]).unwrap())
    };
    let (right, wrong) = (sum(&wheel("needed")), sum(b"other"));
    let (codes, text) = codes(&tools(&wrong).install("thing", &mut Silent).unwrap_err());
    assert_eq!(codes, [BAD_CHECKSUM], "{text}");
    assert!(text.contains(&wrong) && text.contains(&right) && text.contains("needed==1.0"), "{text}");
    assert!(text.contains("eos's own lock file"), "{text}");
    assert!(place.cached("thing").is_empty());

    let found = tools(&right).install("thing", &mut Silent).unwrap();
    assert_runs(&found, Source::Pypi, "thing 1.0");
    assert_eq!(found.verified_by.unwrap(), "eos's own lock file (thing==1.0)");
}

#[test]
fn a_failed_build_shows_the_end_of_its_log() {
    let place = Place::new();
    place.program("go", "echo 'no such module' >&2; exit 1");
    let error = place.tools().install("nomad", &mut Silent).unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [NO_SOURCE]);
    assert!(
        text.contains("go mod download github.com/hashicorp/nomad@v1.10.5")
            && text.contains("no such module")
    );
    assert!(place.cached("nomad").is_empty());
}

#[test]
fn what_builds_is_to_be_installed_only_where_it_is_what_is_missing() {
    let place = Place::new();
    let told = |offline: bool| {
        let settings = eos_deps::Settings { offline, ..place.settings() };
        codes(&Tools::new(settings).unwrap().install("salt", &mut Silent).unwrap_err()).1
    };
    assert!(told(false).contains("install python3"), "{}", told(false));
    assert!(!told(true).contains("install python3"), "{}", told(true));
}

#[test]
fn too_little_room_for_a_build_is_told_before_it_starts() {
    let place = Place::new();
    let go = place.program("go", GO);
    let table = "[nomad]\nsummary = \"s\"\nversion = \"1.10.5\"\naccepts = \"=1.10.5\"\nexecutable = \"nomad\"\n\
        search_path = false\n[[nomad.sources]]\nkind = \"go\"\nmodule = \"m\"\nmodule_version = \"v1\"\n\
        package = \".\"\nfree_gb = 1000000000\n";
    let tools = Tools::with_table(place.settings(), Table::parse(table).unwrap());
    let error = tools.install("nomad", &mut Silent).unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [NO_SPACE, NO_SOURCE], "{text}");
    assert!(text.contains("1000000000.0 GB needed"), "{text}");
    assert!(!camino::Utf8PathBuf::from(format!("{go}.log")).exists());
}

#[test]
fn a_venv_is_built_in_place_and_verified_as_a_whole() {
    let place = Place::new();
    place.program("python3", PYTHON);
    let tools = place.tools();
    let found = tools.install("salt", &mut Silent).unwrap();
    assert_runs(&found, Source::Pypi, "salt-call 3008.3");
    let venv = place.join("cache/tools/salt/3008.3");
    let read = |name: &str| fs_err::read_to_string(venv.join("lib").join(name)).unwrap();
    let asked = read("pip.log");
    assert!(asked.lines().all(|line| line.contains(" --no-deps --require-hashes ")), "{asked}");
    assert!(asked.contains(" --only-binary=:all: ") && asked.ends_with("/sources.txt\n"), "{asked}");
    // What builds comes first and is locked too.
    assert!(read("wheels.txt").contains("\nsetuptools==") && !read("wheels.txt").contains("\nsalt=="));
    assert!(
        read("sources.txt")
            .contains("sha256:4bfa995ecde1491916bc9fd0abebf38d39eaca24c1e99e29c5046b97b8754f30")
    );
    assert!(found.verified_by.as_ref().unwrap().starts_with("eos's own lock file"));
    assert_eq!(place.cached("salt"), ["3008.3"]);
    assert_eq!(tools.verify("salt").unwrap(), found);

    fs_err::write(venv.join("lib/pip.log"), "changed").unwrap();
    assert_eq!(codes(&tools.verify("salt").unwrap_err()).0, [BAD_CHECKSUM]);
}

#[test]
fn a_venv_that_was_moved_or_not_finished_is_built_anew() {
    let place = Place::new();
    let python = place.program("python3", PYTHON);
    let venv = place.join("cache/tools/salt/3008.3");
    // Killed while pip ran: the program is there and even tells its version.
    fs_err::create_dir_all(venv.join("bin")).unwrap();
    write_script(&venv.join("bin/salt-call"), "echo 'salt-call 3008.3 (Argon)'; echo half");
    assert_eq!(place.tools().find("salt").unwrap(), None);
    let found = place.tools().install("salt", &mut Silent).unwrap();
    assert!(!fs_err::read_to_string(&found.path).unwrap().contains("half"));

    // A venv holds its own path; elsewhere it would run the old one.
    fs_err::rename(place.join("cache"), place.join("moved")).unwrap();
    let settings = eos_deps::Settings { cache: place.join("moved"), ..place.settings() };
    let tools = Tools::new(settings).unwrap();
    assert_eq!(tools.find("salt").unwrap(), None);
    tools.install("salt", &mut Silent).unwrap();
    assert_eq!(fs_err::read_to_string(format!("{python}.log")).unwrap().lines().count(), 2);
}

#[test]
fn a_pip_that_fails_leaves_nothing() {
    let place = Place::new();
    place.program("python3", "mkdir -p \"$3/bin\"; printf '#!/bin/sh\\necho no wheel >&2\\nexit 1\\n' > \"$3/bin/python\"; chmod 0755 \"$3/bin/python\"");
    let error = place.tools().install("salt", &mut Silent).unwrap_err();
    let (codes, text) = codes(&error);
    assert_eq!(codes, [NO_SOURCE]);
    assert!(text.contains("pip install salt==3008.3") && text.contains("no wheel"), "{text}");
    assert!(place.cached("salt").is_empty());
}

#[test]
fn a_build_that_outlives_its_eos_keeps_the_lock() {
    let place = Place::new();
    // The build leaves a process behind that has what was its stdin, as an orphaned pip would.
    let marker = place.join("orphan-ended");
    let fifo = place.join("fifo");
    place.program(
        "python3",
        &format!("mkfifo {fifo}; exec 3<&0; (read line < {fifo}; touch {marker}) & exit 1"),
    );
    place.tools().install("salt", &mut Silent).unwrap_err();
    let waited = std::cell::Cell::new(false);
    place.program("python3", PYTHON);
    place
        .tools()
        .install("salt", &mut |step: eos_deps::Step<'_>| {
            if let eos_deps::Step::Waiting { .. } = step {
                waited.set(true);
                assert!(!marker.exists());
                // Lets the orphan end.
                fs_err::write(&fifo, "go\n").unwrap();
            }
        })
        .unwrap();
    if !waited.get() {
        fs_err::write(&fifo, "go\n").unwrap();
        panic!("the lock was free while the build still ran");
    }
    assert!(marker.exists());
}
