package builtin

// FeatureDef is a set of rules that a workflow enables for all its steps. The compiler
// appends the lists to the prompt blocks of each step that has prompt blocks, in the order
// of the feature ids. It does not change raw prompts; for steps that have one, it adds
// Summary once to the workflow's metaGuidance.
type FeatureDef struct {
	ID      string // wr.features.*
	Summary string // one sentence, an instruction that is complete by itself
	// The lines added to the parts of prompt blocks; each list may be empty.
	Constraints []string
	Procedure   []string
	Verify      []string
}

// featureID is the key function for find and sorted.
func featureID(f FeatureDef) string { return f.ID }

// Feature returns the feature with an id; false for an unknown id. Its lists are shared and
// must not be modified.
func Feature(id string) (FeatureDef, bool) { return find(features, featureID, id) }

// Features lists the ids of all features, sorted.
func Features() []string { return sorted(features, featureID) }

// features is the closed set of features. Their texts are part of workflow hashes.
var features = []FeatureDef{
	{
		ID: "wr.features.capabilities",
		Summary: "Rely on delegation or web access only after it has worked in this run, and say so where you did " +
			"without.",
		Constraints: []string{
			"Use delegation or web access only if a step of this run showed that it works; that you expect to have " +
				"it is not enough.",
			"Where a capability is missing, do the work yourself and say in the notes what it could not cover.",
		},
	},
	{
		ID:      "wr.features.durable_recap_guidance",
		Summary: "End every step with notes from which someone who saw nothing else could go on.",
		Procedure: []string{
			"Before you leave the step, write notes on this step alone: what was found, what was decided and why, " +
				"what is still open, and where the results are.",
		},
		Verify: []string{"Someone who has only the notes could take over here without asking what happened."},
	},
	{
		ID: "wr.features.memory_context",
		Summary: "Read the context and the recap of the run before you look anything up again, and trust what you " +
			"see now over what was written down.",
		Procedure: []string{
			"Start from the context and the recap of this run; do not find out again what is recorded there.",
			"Set context keys for facts that later steps need, short and with their source; leave reasoning to the " +
				"notes.",
		},
		Constraints: []string{"If the record and what you see now contradict each other, go by what you see now, and " +
			"correct the record."},
	},
	{
		ID: "wr.features.mode_guidance",
		Summary: "Ask a person in guided mode; otherwise choose the cautious default, write down the assumption, and " +
			"never wait in silence.",
		Constraints: []string{
			"In guided mode, stop and ask where the step leaves a choice to a person.",
			"Where the run does not stop for people, take the choice that is easiest to undo, and write it into the " +
				"notes as an assumption.",
			"No mode permits what the step forbids, and none makes an irreversible action harmless: announce it " +
				"before you take it.",
		},
	},
	{
		ID: "wr.features.output_contracts",
		Summary: "Where a step asks for an artifact, send exactly one of its kind, filled in from the work and not " +
			"from the example.",
		Constraints: []string{
			"An artifact that a step asks for is sent as an artifact; text in the notes that looks like one does not " +
				"count.",
			"Fill in every member from what the work showed; never copy an example's values, and never add members " +
				"that the contract does not know.",
		},
		Verify: []string{"The artifact says the same as the notes, and each required member is there."},
	},
	{
		ID: "wr.features.subagent_guidance",
		Summary: "Hand parts of a step to helpers through your own delegation tool, all in one go where they are " +
			"independent, and never by starting another run.",
		Constraints: []string{
			"Delegate with the tool that your environment has for helpers; do not start another workflow run for it, " +
				"and do not hand over the tokens of this one.",
			"The step stays yours: helpers report to you, and you alone send its result.",
		},
		Procedure: []string{
			"Start independent helpers together, in one message; give each its question, what it must know, what it " +
				"must not touch, and the form of the answer.",
			"Check what comes back before you use it. If you cannot delegate, do the parts yourself one after the " +
				"other and say so in the notes.",
		},
	},
}
