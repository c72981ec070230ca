//! A gateway by itself, for tests and benchmarks; people use `eos hive up`.
//!
//! `hive --data DIR [--port N] [--plain-http] [--strict] [--relaxed] [--region R] [--node NAME] [--store URL]`,
//! or `hive --coverage`.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::exit)]

use std::net::SocketAddr;

/// The same as eos has, so that what is measured is what people use.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    hive::keep_memory_small();
    let mut arguments = std::env::args().skip(1);
    let mut config = hive::Config::new("hive-data".into());
    config.log = hive::stderr_log();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| usage(&argument));
        match argument.as_str() {
            "--data" => config.data = value().into(),
            "--port" => {
                let port = value().parse().unwrap_or_else(|_| usage("--port"));
                config.listen = SocketAddr::from(([127, 0, 0, 1], port));
            }
            "--region" => {
                config.region = hive::parse_region(&value()).unwrap_or_else(|_| usage("--region"));
            }
            "--node" => config.node = hive::parse_node(&value()).unwrap_or_else(|_| usage("--node")),
            "--plain-http" => config.plain_http = true,
            "--strict" => config.strict = true,
            "--relaxed" => config.durability = hive::Durability::Relaxed,
            "--store" => config.store = value().parse().unwrap_or_else(|_| usage("--store")),
            "--limit" => config.limits.set(&value()).unwrap_or_else(|_| usage("--limit")),
            "--coverage" => return print!("{}", hive::coverage::markdown()),
            other => usage(other),
        }
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let served = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        runtime.block_on(async {
            let gateway = hive::start(config).await.map_err(|error| error.to_string())?;
            // One line, for whoever started this and waits for it.
            println!("{} ({})", gateway.endpoint(), hive::RecordsNode::NOTICE);
            let interrupted = async { drop(tokio::signal::ctrl_c().await) };
            gateway.run(interrupted).await.map_err(|error| error.to_string())
        })
    });
    if let Err(error) = served {
        eprintln!("hive: {error}");
        std::process::exit(1);
    }
}

fn usage(argument: &str) -> ! {
    eprintln!(
        "hive: what is {argument}? --data DIR --port N --plain-http --strict --relaxed --region R --node NAME --store URL --limit NAME=N --coverage"
    );
    std::process::exit(3);
}
