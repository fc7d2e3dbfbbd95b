package contract

// loopControl decides after an iteration whether a loop continues
// (docs/design.md#loops). An artifact without loopId applies to the loop whose step required
// it.
func loopControl() Pack {
	percent, none := 100.0, 0.0
	id := text(1, 64)
	id.Pattern = `^[a-z0-9_-]+$`
	return Pack{
		ContractRef: LoopControlRef, ArtifactKind: LoopControlKind,
		Title: "Whether a loop goes on",
		Shape: object(
			must("decision", oneOf("continue", "stop").as("Whether there is another iteration")),
			may("loopId", id.as("The loop that is meant, where that could be in doubt")),
			may("summary", text(0, 1024).as("Why, for whoever reads the run later")),
			may("metadata", open(
				may("reason", text(0, 1024)),
				may("issuesFound", whole(0)),
				may("iterationIndex", whole(0)),
				may("confidence", Shape{Type: Number, Min: &none, Max: &percent}),
			).as("Anything else about the decision")),
		),
		Example: example(`{"kind":"wr.loop_control","decision":"stop","summary":"Two rounds in a row found nothing new"}`),
	}
}

// capabilityObservation reports whether a capability is available, tested or only claimed
// (docs/design.md#capabilities). Its strength as evidence depends on the step that it comes
// from, not on its content.
func capabilityObservation() Pack {
	shape := object(
		must("capability", oneOf("delegation", "web_browsing")),
		may("result", oneOf("success", "failure").as("What came of trying it")),
		may("failureCode", oneOf("tool_missing", "tool_error", "policy_blocked", "unknown").as("What a failure was")),
		may("claim", oneOf("available", "unavailable").as("What is said without having tried it")),
		may("claimedBy", oneOf("agent", "user")),
		may("attemptContext", oneOf("workflow_step", "system_probe")),
		may("summary", text(0, 1024).as("What was tried, and what happened")),
	)
	// A test result and a claim in one artifact would be evidence of two strengths.
	shape.ExactlyOne = []string{"claim", "result"}
	return Pack{
		ContractRef: CapabilityRef, ArtifactKind: CapabilityKind,
		Title:   "Whether a capability is there",
		Shape:   shape,
		Example: example(`{"kind":"wr.capability_observation","capability":"web_browsing","result":"failure","failureCode":"tool_missing"}`),
	}
}

// assessment is the general form of assessment artifacts. The workflow declares the
// dimensions and levels, which Assessment.Check checks.
func assessment() Pack {
	level := answered(text(1, 0))
	return Pack{
		ContractRef: assessmentRef, ArtifactKind: AssessmentKind,
		Title: "An assessment by dimensions",
		Shape: assessmentShape(
			text(1, 64).as("Which assessment of the workflow is answered"),
			Shape{Type: Map, MinItems: 1, Items: &level, Description: "A level for each dimension"}),
		Example: example(`{"kind":"wr.assessment","assessmentId":"readiness","dimensions":{"confidence":"low","coverage":{"level":"high","rationale":"Every branch has a test"}}}`),
	}
}
