//! Every diagnostic code with its page. One row here and one file in `docs/errors/` make a code.

use std::fmt;

use serde::{Serialize, Serializer};

/// A stable code such as `E0404`, one of [`PAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(&'static str);

/// A code and the page `eos explain` shows.
pub struct CodePage {
    pub code: Code,
    /// Markdown; its first line is `# E0404: title`.
    pub text: &'static str,
}

impl Code {
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl CodePage {
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.split_once(": ").map_or(first, |(_, title)| title)
    }
}

macro_rules! codes {
    ($($name:ident = $code:ident),* $(,)?) => {
        $(pub const $name: Code = Code(stringify!($code));)*

        /// All pages, sorted by code.
        pub const PAGES: &[CodePage] = &[$(CodePage {
            code: $name,
            text: include_str!(concat!("../../../docs/errors/", stringify!($code), ".md")),
        }),*];
    };
}

codes! {
    NO_ESTATE = E0101,
    ESTATE_EXISTS = E0102,
    DIRTY_TREE = E0103,
    NEWER_FORMAT = E0104,
    GIT = E0105,
    CANNOT_WRITE = E0106,
    USAGE = E0107,
    NO_TERMINAL = E0108,
    HEAD_MOVED = E0109,
    CANNOT_READ = E0110,
    BAD_ESTATE_FILE = E0111,
    CATALOG_CHANGED = E0112,
    DETACHED = E0113,
    NO_REMOTE = E0114,
    DIVERGED = E0115,
    YAML_SYNTAX = E0201,
    YAML_TAB = E0202,
    DUPLICATE_KEY = E0203,
    FILE_TOO_LARGE = E0204,
    NOT_UTF8 = E0205,
    LEAVES_ESTATE = E0206,
    JINJA = E0207,
    YAML_UNSUPPORTED = E0208,
    NOT_OURS = E0209,
    TOP_FILE = E0210,
    WRONG_SHAPE = E0211,
    UNKNOWN_KIND = E0301,
    UNKNOWN_SETTING = E0302,
    BAD_VALUE = E0303,
    MISSING_SETTING = E0304,
    BAD_COMPONENT = E0305,
    UNKNOWN_FEATURE = E0306,
    NO_RUNTIME = E0307,
    NO_VERSION = E0308,
    BAD_REFERENCE = E0309,
    UNKNOWN_OPERATION = E0310,
    IN_PLACE = E0311,
    NOTHING_OFFERS = E0401,
    TWO_OFFERS = E0402,
    CYCLE = E0403,
    PORT_TAKEN = E0404,
    UNDECLARED_HOST = E0405,
    FOREIGN_HOST = E0406,
    NOT_STATELESS = E0407,
    NAME_TAKEN = E0408,
    UNKNOWN_NAME = E0409,
    STILL_NEEDED = E0410,
    BAD_NAME = E0411,
    UNKNOWN_ENVIRONMENT = E0412,
    NO_HOST = E0413,
    FIXED_CHOICE = E0414,
    LOOPBACK = E0415,
    WANTED_TWICE = E0416,
    SAME_ADDRESS = E0417,
    LITTLE_MEMORY = E0418,
    NO_IDENTITY = E0501,
    CANNOT_DECRYPT = E0502,
    UNKNOWN_SECRET = E0503,
    SECRET_IN_ARGV = E0504,
    BAD_RECIPIENT = E0505,
    SECRET_IN_CLEAR = E0506,
    IDENTITY_IN_ESTATE = E0507,
    UNKNOWN_TOOL = E0601,
    NO_SOURCE = E0602,
    BAD_CHECKSUM = E0603,
    NO_SPACE = E0604,
    TOOL_BROKEN = E0605,
    HIVE = E0701,
    NOMAD = E0801,
    JOB_FAILED = E0802,
    JOB_NOT_OURS = E0803,
    JOB_CHANGED = E0804,
    BAD_JOB = E0805,
    PROVIDER = E0806,
    SALT = E0807,
    STATE_FAILED = E0808,
    NOT_THIS_MACHINE = E0809,
    BAD_STATES = E0810,
    CLOSED_FOLDER = E0811,
    BAD_UNIT = E0901,
    RUN_UNFINISHED = E0902,
    NO_SUCH_RUN = E0903,
    JOURNAL = E0904,
    STALE_CLONE = E0905,
    STATE_ELSEWHERE = E0906,
    PLAN_STALE = E0907,
    NEED_UNAPPLIED = E0908,
    NOT_AGREED = E0909,
    DATA_AT_RISK = E0910,
    TOFU = E0911,
    APPLY_FAILED = E0912,
    UNHEALTHY = E0913,
    STUCK = E0914,
    LEASE_HELD = E0915,
    LEASE_LOST = E0916,
    STATE_LOCKED = E0917,
    BACKEND_DOWN = E0918,
    ARCHIVE = E0919,
    STORE = E0920,
    NO_OUTPUT = E0921,
    STOPPED = E0922,
    NOT_ONE_SETTING = E0923,
    NOT_REACHED = E0924,
}

/// The page of a code as a user types it, in any case.
pub fn find(code: &str) -> Option<&'static CodePage> {
    PAGES.iter().find(|page| page.code.as_str().eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_unique_and_their_pages_name_them() {
        assert!(PAGES.windows(2).all(|pair| pair[0].code < pair[1].code));
        for page in PAGES {
            assert!(page.text.starts_with(&format!("# {}: ", page.code)), "docs/errors/{}.md", page.code);
            assert!(page.text.lines().count() >= 5, "docs/errors/{}.md says too little", page.code);
        }
    }

    #[test]
    fn every_page_has_its_row() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().file_name().into_string().unwrap();
            assert!(find(file.trim_end_matches(".md")).is_some(), "{file} has no row in codes.rs");
        }
    }
}
