package contract

// reviewVerdict is the result of a review with its findings.
func reviewVerdict() Pack {
	return Pack{
		ContractRef: "wr.contracts.review_verdict", ArtifactKind: "wr.review_verdict",
		Title: "What a review came to",
		Shape: object(
			must("verdict", oneOf("clean", "minor", "blocking")),
			must("confidence", oneOf("high", "medium", "low")),
			must("summary", text(1, 0)),
			must("findings", listOf(0, open(
				must("severity", oneOf("critical", "major", "minor", "nit")),
				must("summary", text(1, 0)),
				may("findingCategory", oneOf("correctness", "security", "architecture", "ux", "performance", "testing",
					"style")),
			)).as("Empty for a clean one; a finding may say more, such as its file and line")),
		),
		Example: example(`{"kind":"wr.review_verdict","verdict":"minor","confidence":"high","findings":[{"severity":"nit","summary":"The error names no file","findingCategory":"ux"}],"summary":"Sound; one message could say more"}`),
	}
}

// gateVerdict is the decision whether work passes a gate. version is optional, because the
// instructions of existing agents leave it out.
func gateVerdict() Pack {
	return Pack{
		ContractRef: "wr.contracts.gate_verdict", ArtifactKind: "wr.gate_verdict",
		Title: "Whether work passes a gate",
		Shape: object(
			may("version", version1()),
			must("verdict", oneOf("approved", "rejected", "uncertain")),
			must("confidence", oneOf("high", "medium", "low")),
			must("rationale", text(20, 0).as("What was looked at, and what it showed")),
			may("stepId", text(0, 0).as("The step that was judged")),
		),
		Example: example(`{"kind":"wr.gate_verdict","verdict":"rejected","confidence":"high","rationale":"The second criterion has no test behind it","stepId":"plan"}`),
	}
}

// coordinatorSignal is a report to the coordinator of several runs, while the run continues. The
// payload is for the coordinator alone, so it is open.
func coordinatorSignal() Pack {
	return Pack{
		ContractRef: "wr.contracts.coordinator_signal", ArtifactKind: "wr.coordinator_signal",
		Title: "A signal to the coordinator of several runs",
		Shape: object(
			must("signalKind", oneOf("progress", "finding", "data_needed", "approval_needed", "blocked").
				as("What is reported or asked for")),
			must("payload", open().as("What belongs to it; {} if there is nothing to add")),
			may("sessionId", text(0, 0).as("The session, for a coordinator that reads the signal elsewhere")),
		),
		Example: example(`{"kind":"wr.coordinator_signal","signalKind":"finding","payload":{"summary":"Two of the three importers drop the last row"}}`),
	}
}
