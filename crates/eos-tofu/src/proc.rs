//! What Linux tells about a process in `/proc/<pid>/stat`.

/// The parts of a process's stat line that identify it and its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub state: char,
    pub group: i32,
    /// Clock ticks between boot and the start of the process; kept over exec.
    pub start_time: u64,
}

impl ProcessStat {
    /// None when there is no such process.
    pub fn of(pid: i32) -> Option<ProcessStat> {
        let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        ProcessStat::parse(&line)
    }

    /// The program's name stands in parentheses and may hold anything, parentheses too: fields count from the last one.
    fn parse(line: &str) -> Option<ProcessStat> {
        let (_, fields) = line.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let group = fields.nth(1)?.parse().ok()?;
        let start_time = fields.nth(16)?.parse().ok()?;
        Some(ProcessStat { state, group, start_time })
    }

    /// A zombie has ended; only its parent has not looked yet.
    pub fn runs(&self) -> bool {
        !matches!(self.state, 'Z' | 'X' | 'x')
    }
}

/// Running processes of a group, other than its leader.
pub(crate) fn members_of_group(leader: i32) -> Vec<(i32, ProcessStat)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter(|pid| *pid != leader)
        .filter_map(|pid| Some((pid, ProcessStat::of(pid)?)))
        .filter(|(_, stat)| stat.group == leader && stat.runs())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let line = "42 (a) b (c)) S 1 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 10 11\n";
        assert_eq!(
            ProcessStat::parse(line),
            Some(ProcessStat { state: 'S', group: 77, start_time: 987_654 })
        );
    }

    #[test]
    fn this_very_process_is_found() {
        let own = ProcessStat::of(std::process::id() as i32).unwrap();
        assert!(own.runs() && own.start_time > 0);
        assert_eq!(ProcessStat::of(-1), None);
    }
}
