package builtin

// ProbeTemplate is the template id recorded for every probe step
// (docs/design.md#capabilities).
const ProbeTemplate = "wr.templates.capability_probe"

// The capabilities that a run can observe (event capability_observed, docs/design.md#events).
const (
	Delegation  = "delegation"
	WebBrowsing = "web_browsing"
)

// ProbeDef defines a step that tests whether the performer has a capability, by requesting
// one use of it. The compiler adds the output contract
// wr.contracts.capability_observation to the step.
type ProbeDef struct {
	Capability string
	StepID     string // wr_probe_<capability>
	TemplateID string // ProbeTemplate
	Title      string
	Prompt     string
}

// probeCapability is the key function for find and sorted.
func probeCapability(p ProbeDef) string { return p.Capability }

// Probe returns the probe of a capability; false for an unknown capability.
func Probe(capability string) (ProbeDef, bool) { return find(probes, probeCapability, capability) }

// Capabilities lists all capabilities, sorted. Each has a probe.
func Capabilities() []string { return sorted(probes, probeCapability) }

// probes is the closed set of probes. Their prompts are part of workflow hashes.
var probes = []ProbeDef{
	probe(Delegation, "Find out whether you can delegate",
		`This workflow needs you to be able to hand work to a helper (a subagent). Find out now by doing it once.

1. Look for a tool of your environment that starts a helper. Starting another workflow run is not delegation.
2. Hand one helper this task: "Multiply 17 by 23 and answer with the number alone."
3. Wait for its answer. Working it out yourself is no answer.`,
		`It is a success only if a helper came back with 391.`),

	probe(WebBrowsing, "Find out whether you can reach the web",
		`This workflow needs you to be able to read pages on the web. Find out now by doing it once.

1. Look for a tool of your environment that fetches a page or searches the web.
2. Use it to fetch https://example.com, or whatever page your environment lets you read.
3. Note the title that the page shows. What you remember of a page is no answer.`,
		`It is a success only if the tool returned the content of a page in this step.`),
}

// probe builds a ProbeDef from the texts that differ: the request to try, and the sentence
// that defines success.
func probe(capability, title, try, success string) ProbeDef {
	observed := `{"kind":"wr.capability_observation","capability":"` + capability + `","attemptContext":"system_probe",`
	return ProbeDef{
		Capability: capability, StepID: "wr_probe_" + capability, TemplateID: ProbeTemplate, Title: title,
		Prompt: try + "\n\n" + success + ` Then send one artifact:

    ` + observed + `"result":"success","summary":"..."}

If it did not work, send this instead, with what fits best of tool_missing, tool_error, policy_blocked and unknown:

    ` + observed + `"result":"failure","failureCode":"tool_missing","summary":"..."}

Put what you tried and what came of it into the summary. A failure is a valid answer: the run then says what it lacks, instead of failing later for a reason that nobody sees. Do not report a success that you have not seen.`,
	}
}
