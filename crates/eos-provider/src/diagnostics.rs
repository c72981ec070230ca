//! Findings on their way to tofu: what happened becomes the summary, why and what to do the detail.

use eos_model::{Diagnostic, Diagnostics, Severity};

use crate::protocol;

pub fn to_wire(diagnostic: &Diagnostic) -> protocol::Diagnostic {
    let severity = match diagnostic.severity {
        Severity::Error => protocol::diagnostic::Severity::Error,
        Severity::Warning => protocol::diagnostic::Severity::Warning,
    };
    let place = diagnostic.place.as_ref().map(|place| format!("in {}", place.file));
    let fix = diagnostic.fix.as_ref().map(|fix| format!("try: {fix}"));
    let detail: Vec<String> = [diagnostic.why.clone(), place, fix].into_iter().flatten().collect();
    protocol::Diagnostic {
        severity: severity.into(),
        summary: format!("{}: {}", diagnostic.code, diagnostic.message),
        detail: detail.join("\n"),
        attribute: None,
    }
}

pub fn all_to_wire(diagnostics: &Diagnostics) -> Vec<protocol::Diagnostic> {
    diagnostics.0.iter().map(to_wire).collect()
}

#[cfg(test)]
mod tests {
    use eos_model::codes;

    use super::*;

    #[test]
    fn a_finding_keeps_code_reason_and_remedy() {
        let wire = to_wire(&Diagnostic::error(codes::NOMAD, "it is down").why("refused").fix("start it"));
        assert_eq!((wire.severity, wire.summary.as_str()), (1, "E0801: it is down"));
        assert_eq!(wire.detail, "refused\ntry: start it");
    }
}
