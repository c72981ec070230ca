//! Something changed outside of tofu: seen by a real provider, on a small stand-in for its API.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use eos_tofu::{Action, PlanOptions, Refresh};
use serde_json::{Value, json};

use crate::http_server::Request;
use crate::providers::hcloud;
use crate::support::{Estate, apply, plan, plan_and_apply, plan_with, with_each_tool};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f eos";

/// Keeps one SSH key, as the cloud's API does.
struct Cloud {
    address: SocketAddr,
    key: Arc<Mutex<Option<Value>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Cloud {
    fn start() -> Cloud {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (key, stop): (Arc<Mutex<Option<Value>>>, Arc<AtomicBool>) = Default::default();
        let (kept, ended) = (key.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let _ = Request::read(stream.unwrap()).and_then(|request| answer(request, &kept));
            }
        });
        Cloud { address, key, stop, thread: Some(thread) }
    }
}

impl Drop for Cloud {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        let _ = self.thread.take().unwrap().join();
    }
}

fn answer(request: Request, kept: &Mutex<Option<Value>>) -> std::io::Result<()> {
    let mut kept = kept.lock().unwrap();
    match request.method.as_str() {
        "POST" | "PUT" => {
            let given: Value = serde_json::from_slice(&request.body)?;
            let mut key = kept.take().unwrap_or_else(
                || json!({"id": 7, "fingerprint": "00:11", "labels": {}, "created": "2026-01-01T00:00:00Z"}),
            );
            for (name, value) in given.as_object().unwrap() {
                key[name] = value.clone();
            }
            *kept = Some(key);
        }
        "DELETE" => {
            *kept = None;
            return request.answer(204, b"");
        }
        _ => {}
    }
    match &*kept {
        Some(key) => request.answer(200, json!({"ssh_key": key}).to_string().as_bytes()),
        None => request.answer(404, br#"{"error":{"code":"not_found","message":"gone"}}"#),
    }
}

#[test]
fn what_changed_outside_is_told_apart_from_what_is_to_change() {
    with_each_tool("drift", |mut estate: Estate| {
        let Some(provider) = hcloud("drift") else { return };
        estate.settings.providers.push(provider);
        let cloud = Cloud::start();
        estate.variables.push(("HCLOUD_TOKEN".into(), "x".repeat(64)));
        estate.variables.push(("HCLOUD_ENDPOINT".into(), format!("http://{}", cloud.address)));
        let main = json!({
            "terraform": {"required_providers": {"hcloud": {"source": "hetznercloud/hcloud"}}},
            "resource": {"hcloud_ssh_key": {"k": {"name": "ours", "public_key": KEY}}},
        });
        let session = estate.unit("web", main);
        assert_eq!(plan_and_apply(&session).counts.add, 1);
        let only = || PlanOptions { refresh: Refresh::Only, ..Default::default() };
        assert!(!plan(&session).changes && !plan_with(&session, only()).changes);

        cloud.key.lock().unwrap().as_mut().unwrap()["name"] = "theirs".into();
        let blind = PlanOptions { refresh: Refresh::No, ..Default::default() };
        assert!(!plan_with(&session, blind).changes, "without a look nothing is seen");
        let seen = plan_with(&session, only());
        assert!(seen.changes);
        assert_eq!(seen.drift, [("hcloud_ssh_key.k".to_owned(), Action::Update)]);
        let planned = plan(&session);
        assert_eq!(planned.planned, [("hcloud_ssh_key.k".to_owned(), Action::Update)]);
        let shown = session.show_plan(&session.folder.plan_file()).unwrap();
        let drift = &shown.resource_drift[0];
        let name = drift.attributes.iter().find(|change| change.path.to_string() == "name").unwrap();
        assert_eq!((name.before.as_text(), name.after.as_text()), (Some("ours"), Some("theirs")));
        assert!(drift.provider.ends_with("/hetznercloud/hcloud"), "{}", drift.provider);
        apply(&session);
        assert_eq!(cloud.key.lock().unwrap().as_ref().unwrap()["name"], "ours");
        assert!(!plan(&session).changes);

        *cloud.key.lock().unwrap() = None;
        assert_eq!(plan_with(&session, only()).drift, [("hcloud_ssh_key.k".to_owned(), Action::Delete)]);
        assert_eq!(plan(&session).planned, [("hcloud_ssh_key.k".to_owned(), Action::Create)]);
    });
}
