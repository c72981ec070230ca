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
while [ "$1" != "--constraint" ] && [ "$1" != "--requirement" ]; do shift; done
cp "$2" "$directory/../lib/${1#--}"
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
fn wheel() -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let info = "thing-1.0.dist-info";
    for (path, text) in [
        ("thing.py", "def main():\n    print('thing 1.0')\n"),
        (&format!("{info}/METADATA"), "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"),
        (&format!("{info}/WHEEL"), "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        (&format!("{info}/entry_points.txt"), "[console_scripts]\nthing = thing:main\n"),
        (&format!("{info}/RECORD"), ""),
    ] {
        writer.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// With the real python3 and pip: nothing else decides what a pinned sum is worth.
#[test]
fn pip_refuses_a_file_with_another_sum_than_the_table_s() {
    let place = Place::new();
    let file = place.join("thing-1.0-py3-none-any.whl");
    fs_err::write(&file, wheel()).unwrap();
    let search_path = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .filter_map(|folder| camino::Utf8PathBuf::from_path_buf(folder).ok())
        .collect();
    let settings = eos_deps::Settings { search_path, ..place.settings() };
    let wrong = sum(b"other");
    let table = format!(
        "[thing]\nsummary = \"s\"\nversion = \"1.0\"\naccepts = \">=1\"\nexecutable = \"thing\"\n\
         search_path = false\n[[thing.sources]]\nkind = \"pypi\"\npackages = [\"thing @ file://{file}\"]\n\
         sha256.thing = [\"{wrong}\"]\n"
    );
    let tools = Tools::with_table(settings, Table::parse(&table).unwrap());
    let (codes, text) = codes(&tools.install("thing", &mut Silent).unwrap_err());
    assert_eq!(codes, [BAD_CHECKSUM], "{text}");
    assert!(text.contains(&wrong) && text.contains(&sum(&wheel())) && text.contains("thing"), "{text}");
    assert!(place.cached("thing").is_empty());
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
    let (own, rest) = asked.split_once('\n').unwrap();
    assert!(own.contains(" --no-deps --require-hashes --requirement ") && rest.ends_with(" salt==3008.3\n"));
    assert!(read("requirement").starts_with("salt==3008.3 --hash=sha256:4bfa995e"));
    assert!(read("constraint").contains("\nJinja2==3."));
    assert!(found.verified_by.as_ref().unwrap().starts_with("eos's own table, "));
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
