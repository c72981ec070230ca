//! The store that several machines share: the NATS of eos.toml.
//!
//! Who may enter is said by the environment, as NATS' own command names it: eos.toml is in git, for everybody's eyes.

use eos_engine::Applied;
use eos_model::{Diagnostic, Diagnostics, Place, codes};
use eos_pillar::Estate;
use eos_pillar::estate_file::{ESTATE_FILE, NatsServer};
use eos_store::lease::NatsLeases;
use eos_store::{Nats, NatsAccess, NatsRecords, NatsSettings, StoreError};

use super::Store;

/// How much of an estate's id is part of a name: enough to tell it from all others that share a server.
const SHORT: usize = 12;

pub fn open(estate: &Estate, nats: &NatsServer) -> Result<Store, Diagnostics> {
    refuse_password(nats)?;
    let access =
        NatsAccess::from_environment(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let connection = Nats::connect(&nats.url, &access).map_err(unusable)?;
    let bucket = bucket(estate, &connection)?;
    // What is there already keeps the number of copies it was made with.
    let settings = NatsSettings { replicas: nats.replicas, ..NatsSettings::default() };
    let records = NatsRecords::open(&connection, &bucket, &settings).map_err(unusable)?;
    let leases =
        NatsLeases::open(&connection, &format!("{bucket}-leases"), nats.replicas).map_err(unusable)?;
    Ok((Box::new(records), Box::new(leases)))
}

const VARIABLES: &str = "NATS_USER and NATS_PASSWORD, NATS_TOKEN, or NATS_CREDS";

fn refuse_password(nats: &NatsServer) -> Result<(), Diagnostic> {
    if !nats.url.contains('@') {
        return Ok(());
    }
    Err(Diagnostic::error(codes::BAD_ESTATE_FILE, "the url of [nats] holds a password or a token")
        .at(Place::file(ESTATE_FILE))
        .why(format!("{ESTATE_FILE} is in git, so that whoever reads the estate could enter NATS"))
        .fix(format!("take it out, change it, since git keeps what was written, and give it by the environment: {VARIABLES}")))
}

fn unusable(error: StoreError) -> Diagnostic {
    let message = format!("the estate's store cannot be used: {error}");
    let refused = message.to_lowercase().contains("authorization");
    let problem = Diagnostic::error(codes::STORE, message)
        .why("who is at work and what was applied is kept there; without it nothing is begun");
    // As NATS says it of a server alone, and of a cluster with too few.
    let too_few = ["replicas", "peers"].iter().any(|word| problem.message.contains(word));
    if too_few {
        problem.fix(
            "lower replicas under [nats] in eos.toml, 1 for a server alone; or have url name a cluster of that many",
        )
    } else if refused {
        problem.fix(format!("say who you are in the environment: {VARIABLES}"))
    } else {
        problem.fix("see that the NATS of eos.toml runs and can be reached, then try again")
    }
}

/// Two estates may have one name and one NATS: the id tells them apart. Before estates had ids their records were kept
/// under the name alone; those of this estate stay there.
fn bucket(estate: &Estate, connection: &Nats) -> Result<String, Diagnostics> {
    let by_name = format!("eos-{}", estate.file.name);
    let Some(id) = &estate.lock.estate else { return Ok(by_name) };
    let by_id = format!("{by_name}-{}", id.chars().take(SHORT).collect::<String>());
    let exists = |bucket: &str| NatsRecords::exists(connection, bucket).map_err(unusable);
    if exists(&by_id)? || !exists(&by_name)? {
        return Ok(by_id);
    }
    let records = NatsRecords::open(connection, &by_name, &NatsSettings::default()).map_err(unusable)?;
    let applied = Applied::new(&records);
    let head = estate.commit_id().unwrap_or_default();
    let mut strange = None;
    for env in estate.file.environments.keys() {
        let Some(last) = applied.environment(env)? else { continue };
        if estate.git.descends(&head, &last.commit)? {
            return Ok(by_name);
        }
        strange = Some(last.commit);
    }
    let Some(commit) = strange else { return Ok(by_id) };
    let commit: String = commit.chars().take(10).collect();
    let message = format!(
        "an estate named {} was applied from {commit}, which is not part of what you have",
        estate.file.name
    );
    Err(Diagnostic::error(codes::STALE_CLONE, message)
        .why("it is this estate, and others went on with it; or another of the same name, which shares this NATS")
        .fix("if it is this one, pull first: eos sync; if it is another, give this one another name in eos.toml")
        .into())
}
