//! One interrupt, and the state kept.

use eos_tofu::{ChildIdentity, Children, Event, Session, TofuError};

use crate::support::{Estate, is_slow_started, plan, slow, wait_for_line, with_each_tool};

#[test]
fn one_interrupt_ends_an_apply_and_keeps_the_state() {
    with_each_tool("interrupt", |estate: Estate| {
        let pid_file = estate.path("pid");
        let session = estate.unit("web", slow(&pid_file));
        plan(&session);
        let mut announced = None;
        let applying = session
            .start_apply(&session.folder.plan_file(), &mut |identity| {
                announced = Some(identity);
                Ok(())
            })
            .unwrap();
        assert_eq!(announced, Some(applying.identity()));
        assert!(applying.identity().still_running());
        let identity = applying.identity();
        let mut events = Vec::new();
        let error = applying
            .wait(&mut |event| {
                if is_slow_started(&event) {
                    wait_for_line(&pid_file);
                    // As a person does who is in a hurry, and a lost lease at the same time.
                    for _ in 0..3 {
                        session.children.interrupt();
                    }
                }
                events.push(event);
            })
            .unwrap_err();
        assert!(matches!(error, TofuError::Interrupted { .. }), "{error:?}");
        assert!(!identity.still_running());
        let text = format!("{events:?}");
        assert!(text.contains("Interrupt received") && !text.contains("Two interrupts"), "{text}");

        let refused = session.state().unwrap_err();
        assert!(matches!(refused, TofuError::Interrupted { .. }), "nothing new starts after an interrupt");
        let session = Session { children: Children::new(), ..session };
        let state = session.state().unwrap();
        let kept: Vec<_> = state.instances().map(|i| (i.address.as_str(), i.tainted)).collect();
        assert_eq!(kept, [("terraform_data.first", false), ("terraform_data.slow", true)]);
        // Its lock is gone too: the next plan gets it.
        assert!(plan(&session).changes);
        let past = session.past_apply(identity).unwrap().unwrap();
        assert!(past.applied.is_none() && !past.errors.is_empty());
        let done = |event: &Event| matches!(event, Event::ApplyComplete { address, .. } if address == "terraform_data.first");
        assert!(past.events.iter().any(done));
        assert_eq!(session.past_apply(ChildIdentity { pid: 1, start_time: 1, boot: None }).unwrap(), None);
    });
}
