//! `journal FOLDER COUNT`: appends to a journal and bare writes with fdatasync, in turns on the same disk. Prints how many
//! of each a second takes; `bench/runs.py` shows the ratio.
#![allow(clippy::print_stdout)]

use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;
use eos_engine::journal::Journal;
use serde_json::json;

/// As long as the turn of one of them is.
const TURN: u32 = 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let folder = Utf8PathBuf::from(words.next().ok_or("a folder must be given")?);
    let count: u32 = words.next().ok_or("a number must be given")?.parse()?;
    let record = json!({"unit": {"unit": "grafana", "at": 1_790_000_000, "step": {"step": "applying"}}});
    let mut journal = Journal::create(&folder.join("journal"))?;
    let bare = std::fs::File::create(folder.join("bare"))?;
    // What a record is on the disk, where there is room for it already.
    let bytes = vec![b'x'; record.to_string().len() + 16];
    let size = bytes.len() as u64;
    bare.write_all_at(&vec![0; bytes.len() * count as usize], 0)?;
    bare.sync_all()?;
    let (mut ours, mut theirs) = (Duration::ZERO, Duration::ZERO);
    let mut done = 0;
    while done < count {
        let turn = TURN.min(count - done);
        let started = Instant::now();
        for _ in 0..turn {
            journal.append(&record)?;
        }
        ours += started.elapsed();
        let started = Instant::now();
        for number in done..done + turn {
            bare.write_all_at(&bytes, u64::from(number) * size)?;
            bare.sync_data()?;
        }
        theirs += started.elapsed();
        done += turn;
    }
    let rate = |time: Duration| f64::from(count) / time.as_secs_f64();
    println!("{:.0} {:.0}", rate(ours), rate(theirs));
    Ok(())
}
