//! Tries the library by hand: `tools CACHE BUNDLE|- list|install|verify [NAME…]`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use camino::Utf8PathBuf;
use eos_deps::{Settings, Step, Tools};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cache, bundle, verb, names @ ..] = arguments.as_slice() else {
        return Err("usage: tools CACHE BUNDLE|- list|install|verify [NAME…]".into());
    };
    let path = std::env::var("PATH")?;
    let tools = Tools::new(Settings {
        cache: std::path::absolute(cache)?.try_into()?,
        bundle: (bundle != "-").then(|| Utf8PathBuf::from(bundle)),
        search_path: path.split(':').map(Utf8PathBuf::from).collect(),
        release_base: std::env::var("EOS_RELEASE_BASE").ok(),
        offline: false,
    })?;
    if verb == "list" {
        println!("{}", serde_json::to_string_pretty(&tools.list())?);
    }
    for name in names {
        let start = Instant::now();
        let result = match verb.as_str() {
            "install" => tools.install(name, &mut |step: Step<'_>| match step {
                Step::Bytes { done, total } if Some(done) != total => {}
                other => println!("{:6.1} s {other:?}", start.elapsed().as_secs_f32()),
            }),
            "verify" => tools.verify(name),
            other => return Err(format!("unknown verb {other}").into()),
        };
        println!("{:6.1} s {name}: {result:#?}", start.elapsed().as_secs_f32());
    }
    Ok(())
}
