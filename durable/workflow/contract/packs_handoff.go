package contract

import "github.com/waybill/waybill/durable/canon"

// Handoffs transfer the results of one phase of work to the next. Their bounds are those in
// the instructions of existing agents, so they cannot be lowered.

// lines returns a list of at most most texts, each short enough for one line.
func lines(most int) Shape { return listOf(most, text(1, 200)) }

// discoveryHandoff is sent after a direction was selected, for the phase that shapes it.
func discoveryHandoff() Pack {
	return Pack{
		ContractRef: "wr.contracts.discovery_handoff", ArtifactKind: "wr.discovery_handoff",
		Title: "From finding a direction to shaping it",
		Shape: object(
			must("version", version1()),
			must("selectedDirection", text(1, 0).as("The direction that was chosen, in a sentence")),
			must("designDocPath", text(0, 0).as("Where the design document is; empty if there is none")),
			must("confidenceBand", oneOf("high", "medium", "low")),
			may("selectionTier", oneOf("strong_recommendation", "provisional_recommendation", "insufficient_signal").
				as("How far the selection carries")),
			must("keyInvariants", lines(12).as("What must stay true")),
			may("rejectedDirections", listOf(5, open(must("direction", text(1, 200)), must("reason", text(1, 300))))),
			may("implementationConstraints", lines(8)),
			may("keyCodebaseLocations", listOf(10, open(must("path", text(1, 300)), must("relevance", text(1, 150))))),
		),
		Example: example(`{"kind":"wr.discovery_handoff","version":1,"selectedDirection":"Cache rendered pages at the edge","designDocPath":"docs/edge-cache.md","confidenceBand":"medium","keyInvariants":["A signed-in reader never sees another's page"]}`),
	}
}

// shapingHandoff is sent after a change was shaped, for the phase that builds it.
func shapingHandoff() Pack {
	return Pack{
		ContractRef: "wr.contracts.shaping_handoff", ArtifactKind: "wr.shaping_handoff",
		Title: "From shaping a change to building it",
		Shape: object(
			must("version", version1()),
			must("pitchPath", text(1, 0).as("Where the pitch is")),
			must("selectedShape", text(1, 200).as("The solution that was chosen, in a sentence")),
			must("appetite", text(1, 100).as("How much time it is worth")),
			must("keyConstraints", lines(8)),
			must("rabbitHoles", lines(6)),
			must("outOfScope", lines(6)),
			must("validationChecklist", lines(10).as("What a reviewer can verify")),
		),
		Example: example(`{"kind":"wr.shaping_handoff","version":1,"pitchPath":"docs/pitch.md","selectedShape":"A saved search that runs nightly","appetite":"one week","keyConstraints":["No new service"],"rabbitHoles":["Ranking of results"],"outOfScope":["Sharing a search"],"validationChecklist":["A search without hits sends no mail"]}`),
	}
}

// codingHandoff is sent after a change was built, for the phase that reviews it.
func codingHandoff() Pack {
	return Pack{
		ContractRef: "wr.contracts.coding_handoff", ArtifactKind: "wr.coding_handoff",
		Title: "From building a change to reviewing it",
		Shape: object(
			must("version", version1()),
			may("branchName", text(1, 0)),
			must("keyDecisions", lines(8).as("What was decided, and why")),
			must("knownLimitations", lines(6).as("What is left undone on purpose")),
			must("testsAdded", lines(10)),
			must("filesChanged", listOf(20, text(1, 300))),
			may("correctedAssumptions", listOf(6, open(must("assumed", text(1, 200)), must("actual", text(1, 200)))).
				as("What turned out otherwise")),
		),
		Example: example(`{"kind":"wr.coding_handoff","version":1,"branchName":"saved-search","keyDecisions":["Runs in the existing job queue: one place to retry"],"knownLimitations":["No paging of results"],"testsAdded":["search/saved_test.go"],"filesChanged":["search/saved.go"]}`),
	}
}

// differentiationHandoff is sent after a product was compared with others, for the phase
// that shapes it. It has a schemaVersion besides version, as existing agents send it.
func differentiationHandoff() Pack {
	when := Shape{Type: Text, Format: Date}
	claim := open(
		must("power", oneOf("Counter-Positioning", "Switching Costs", "Network Economies", "Scale Economies",
			"Cornered Resource", "Process Power", "Branding", "None_Imitable")),
		must("cannibalization", text(0, 0)))
	team := open(
		must("teamSize", whole(1)),
		must("technicalCapabilities", Shape{Type: Array, MinItems: 1, Items: &Shape{Type: Text}}),
		may("exclusions", listOf(0, text(0, 0))))
	return Pack{
		ContractRef: "wr.contracts.differentiation_handoff", ArtifactKind: "wr.differentiation_handoff",
		Title: "From finding what sets a product apart to shaping it",
		Shape: object(
			must("version", version1()),
			must("schemaVersion", Shape{Type: Text, Const: canon.OfString("1.0.0")}),
			must("generatedAt", when),
			must("evidenceFreshness", open(must("oldestCapturedAt", when), must("newestCapturedAt", when))),
			must("validationChecklist", lines(10)),
			must("shapingHandoff", open(
				must("rawIdea", text(1, 0)),
				must("problem", text(1, 0)),
				must("baseline", text(1, 0)),
				must("appetiteHint", oneOf("small_batch", "big_batch")),
				must("noGosHints", listOf(0, text(0, 0))),
				must("constraints", team),
				must("evidenceTopK", listOf(10, Shape{Type: Text, Format: UUID})),
				must("defensibilityClaim", claim))),
		),
		Example: example(`{"kind":"wr.differentiation_handoff","version":1,"schemaVersion":"1.0.0","generatedAt":"2026-01-31T09:30:00Z",
			"evidenceFreshness":{"oldestCapturedAt":"2026-01-02T00:00:00Z","newestCapturedAt":"2026-01-30T00:00:00Z"},
			"validationChecklist":["Works offline"],
			"shapingHandoff":{"rawIdea":"Receipts by photo","problem":"Receipts get lost","baseline":"A shoebox","appetiteHint":"small_batch",
				"noGosHints":[],"constraints":{"teamSize":2,"technicalCapabilities":["Go"]},
				"evidenceTopK":[],"defensibilityClaim":{"power":"Process Power","cannibalization":"none"}}}`),
	}
}
