//! What a state says about its resources, without any of their values.

use serde::{Deserialize, Serialize};

use crate::{Mode, Session, TofuError};

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct State {
    /// Grows by one with each write.
    pub serial: u64,
    /// The same for all states of one history.
    pub lineage: String,
    pub tool_version: String,
    pub resources: Vec<StateResource>,
    pub outputs: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateResource {
    /// Without instance keys: `module.web.eos_nomad_job.job`.
    pub address: String,
    pub mode: Mode,
    pub kind: String,
    pub name: String,
    /// `eos.local/eos/eos`.
    pub provider: String,
    pub instances: Vec<StateInstance>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StateInstance {
    /// With its key: `eos_nomad_job.job["a"]`.
    pub address: String,
    /// Replaced by the next apply unless untainted.
    pub tainted: bool,
    /// Set for an old object that waits to be destroyed.
    pub deposed: Option<String>,
    /// The provider's id for the object, when it has one and it is not sensitive.
    pub id: Option<String>,
}

impl State {
    pub fn instances(&self) -> impl Iterator<Item = &StateInstance> {
        self.resources.iter().flat_map(|resource| &resource.instances)
    }

    pub fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }
}

impl Session {
    /// The state's resources; empty when there is no state yet. Takes no lock.
    pub fn state(&self) -> Result<State, TofuError> {
        let stdout = self.capture(&["state", "pull", "-no-color"].map(String::from))?;
        parse(&stdout)
    }

    /// Addresses of all current objects, as `tofu state list` prints them.
    pub fn state_list(&self) -> Result<Vec<String>, TofuError> {
        let state = self.state()?;
        let current = state.instances().filter(|instance| instance.deposed.is_none());
        Ok(current.map(|instance| instance.address.clone()).collect())
    }
}

#[derive(Deserialize)]
struct RawState {
    version: u64,
    #[serde(default)]
    serial: u64,
    #[serde(default)]
    lineage: String,
    #[serde(default)]
    terraform_version: String,
    #[serde(default)]
    resources: Vec<RawResource>,
    #[serde(default)]
    outputs: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct RawResource {
    module: Option<String>,
    #[serde(default)]
    mode: Mode,
    #[serde(rename = "type")]
    kind: String,
    name: String,
    #[serde(default)]
    provider: String,
    #[serde(default)]
    instances: Vec<RawInstance>,
}

#[derive(Deserialize)]
struct RawInstance {
    index_key: Option<serde_json::Value>,
    status: Option<String>,
    deposed: Option<String>,
    #[serde(default)]
    attributes: Attributes,
    #[serde(default)]
    sensitive_attributes: Vec<serde_json::Value>,
}

/// The only attribute that is read at all.
#[derive(Default, Deserialize)]
struct Attributes {
    #[serde(default)]
    id: serde_json::Value,
}

fn parse(bytes: &[u8]) -> Result<State, TofuError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(State::default());
    }
    let unreadable = |reason: String| TofuError::Unreadable { what: "the state".into(), reason };
    // Serde's own message could quote the text.
    let raw: RawState =
        serde_json::from_slice(bytes).map_err(|error| unreadable(format!("{:?} error", error.classify())))?;
    if raw.version != 4 {
        return Err(unreadable(format!("its format is version {}, and 4 is known", raw.version)));
    }
    Ok(State {
        serial: raw.serial,
        lineage: raw.lineage,
        tool_version: raw.terraform_version,
        resources: raw.resources.into_iter().map(StateResource::from).collect(),
        outputs: raw.outputs.into_keys().collect(),
    })
}

impl From<RawResource> for StateResource {
    fn from(raw: RawResource) -> StateResource {
        let mut address = raw.module.map(|module| format!("{module}.")).unwrap_or_default();
        if raw.mode == Mode::Data {
            address.push_str("data.");
        }
        address.push_str(&format!("{}.{}", raw.kind, raw.name));
        let instances = raw.instances.into_iter().map(|instance| instance.typed(&address)).collect();
        // `module.web.provider["eos.local/eos/eos"].alias`
        let provider = raw.provider.split('"').nth(1).unwrap_or(&raw.provider).to_owned();
        StateResource { address, mode: raw.mode, kind: raw.kind, name: raw.name, provider, instances }
    }
}

impl RawInstance {
    fn typed(self, resource: &str) -> StateInstance {
        let key = self.index_key.map(|key| format!("[{key}]")).unwrap_or_default();
        let hidden = self.sensitive_attributes.iter().any(|path| path.to_string().contains("\"id\""));
        StateInstance {
            address: format!("{resource}{key}"),
            tainted: self.status.as_deref() == Some("tainted"),
            deposed: self.deposed.filter(|deposed| !deposed.is_empty()),
            id: self.attributes.id.as_str().filter(|_| !hidden).map(String::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_keys_taints_and_old_objects_are_read_and_no_value_is() {
        let text = r#"{"version":4,"terraform_version":"1.12.6","serial":7,"lineage":"l","outputs":{"o":{"value":"S3"}},
            "resources":[{"module":"module.a[\"x\"]","mode":"managed","type":"t","name":"n",
            "provider":"module.a.provider[\"eos.local/eos/eos\"].west","instances":[
              {"index_key":"k\"q","status":"tainted","attributes":{"id":"i1","p":"S3"},"sensitive_attributes":[]},
              {"index_key":0,"attributes":{"id":"S3"},"sensitive_attributes":[[{"type":"get_attr","value":"id"}]]},
              {"deposed":"abcd","attributes":{"id":5}}]},
            {"mode":"data","type":"d","name":"n","provider":"provider[\"r/h/d\"]","instances":[]}]}"#;
        let state = parse(text.as_bytes()).unwrap();
        let list: Vec<_> =
            state.instances().map(|i| (i.address.as_str(), i.tainted, i.id.as_deref())).collect();
        let base = r#"module.a["x"].t.n"#;
        let expected = [
            (&*format!(r#"{base}["k\"q"]"#), true, Some("i1")),
            (&*format!("{base}[0]"), false, None),
            (base, false, None),
        ];
        assert_eq!(list, expected);
        assert_eq!(state.resources[0].provider, "eos.local/eos/eos");
        assert_eq!(state.resources[1].address, "data.d.n");
        assert_eq!((state.serial, state.outputs.as_slice()), (7, &["o".to_owned()][..]));
        assert!(!format!("{state:?}").contains("S3"));
    }

    #[test]
    fn no_state_is_empty_and_a_newer_format_is_refused() {
        assert_eq!(parse(b"\n").unwrap(), State::default());
        assert!(parse(br#"{"version":5}"#).unwrap_err().to_string().contains("version 5"));
    }
}
