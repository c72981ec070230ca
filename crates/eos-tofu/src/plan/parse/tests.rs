use super::*;

#[test]
fn a_newer_major_format_is_refused_and_newer_fields_are_not() {
    let error = parse(br#"{"format_version":"2.0"}"#).unwrap_err();
    assert!(error.to_string().contains("format is 2.0"), "{error}");
    let plan = parse(br#"{"format_version":"1.99","from_the_future":{"a":1}}"#).unwrap();
    assert!(plan.complete && !plan.applyable && !plan.errored);
}

#[test]
fn an_error_quotes_nothing_of_the_plan() {
    for text in
        [r#"{"format_version":"1.0","errored":"S3"}"#, r#"{"format_version":"1.0","checks":"S3"}"#, "S3"]
    {
        let error = parse(text.as_bytes()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("S3"), "{error:?}");
    }
}

#[test]
fn what_the_plan_makes_sensitive_is_hidden_in_the_prior_state_too() {
    let text = r#"{"format_version":"1.2",
        "resource_changes":[{"address":"t.a","mode":"managed","type":"t","name":"a","provider_name":"p",
          "change":{"actions":["delete","create"],"before":{"x":"S3","y":1},"after":{"x":"S3","y":2},"after_unknown":{"id":true},
          "before_sensitive":{},"after_sensitive":{"x":true},"replace_paths":[["y"],["z",0]]},
          "action_reason":"replace_because_cannot_update"}],
        "prior_state":{"values":{"root_module":{"child_modules":[{"resources":[{"address":"t.a","mode":"managed",
          "type":"t","name":"a","values":{"x":"S3","y":1},"sensitive_values":{},"tainted":true}]}]}}}}"#;
    let plan = parse(text.as_bytes()).unwrap();
    assert!(!format!("{plan:?} {}", serde_json::to_string(&plan).unwrap()).contains("S3"));
    let change = &plan.resource_changes[0];
    assert_eq!(change.action, Action::DeleteThenCreate);
    assert!(change.action.is_replace() && change.action.destroys());
    let attributes: Vec<String> =
        change.attributes.iter().map(|a| format!("{} {}", a.path, a.forces_replacement)).collect();
    assert_eq!(attributes, ["id false", "y true"]);
    assert_eq!(change.replace_paths[1].to_string(), "z[0]");
    assert!(plan.prior_resources[0].tainted);
    assert_eq!(plan.prior_resources[0].values.get("x"), Some(&Shown::Sensitive));
    assert!(plan.applyable);
}

#[test]
fn masks_that_are_missing_hide_all() {
    let text = r#"{"format_version":"1.2",
        "resource_changes":[{"address":"t.a","change":{"actions":["create"],"before":null,"after":{"x":"S3"}}}],
        "output_changes":{"o":{"actions":["create"],"after":"S3"}},
        "prior_state":{"values":{"root_module":{"resources":[{"address":"t.b","values":{"x":"S3"}}]}}}}"#;
    let plan = parse(text.as_bytes()).unwrap();
    assert!(!format!("{plan:?}").contains("S3"), "{plan:?}");
    assert!(plan.output_changes["o"].sensitive);
}

#[test]
fn an_action_of_the_future_counts_as_the_worst() {
    let action = Action::from_list(&["shred".to_owned()]);
    assert!(action.destroys());
    assert_eq!(Action::from_list(&["create".into(), "delete".into()]), Action::CreateThenDelete);
    assert!(Action::from_list(&["forget".into()]).forgets());
}

#[test]
fn a_sensitive_variable_is_hidden_where_no_mask_covers_it() {
    let text = r#"{"format_version":"1.2","variables":{"p":{"value":"hunter2hunter2"},"q":{"value":"open-text"}},
        "configuration":{"root_module":{"variables":{"p":{"sensitive":true},"q":{}}}},
        "resource_drift":[{"address":"t.a","change":{"actions":["update"],"before":{"x":"u:hunter2hunter2@h"},
          "after":{"x":"open-text"},"after_unknown":{},"before_sensitive":{},"after_sensitive":{}}}]}"#;
    let plan = parse(text.as_bytes()).unwrap();
    let shown = format!("{plan:?}");
    assert!(!shown.contains("hunter2") && shown.contains("open-text"), "{shown}");
}
