package capabilities

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/config"
)

// Options are what a host serves besides the families that the configuration determines.
type Options struct {
	// Fixtures are the ids of the conformance workflows, empty without them.
	Fixtures []string
	// ReplayModes are the modes of forks, "branch" and "replay"; empty: runs are not forked over HTTP.
	ReplayModes []string
	// DebugBundle: debug bundles are served.
	DebugBundle bool
	// Prompts: the installed prompt templates are served.
	Prompts bool
	// Testing is what a host with test seams reports; nil without them.
	Testing *Testing
}

// Testing describes the test seams of a host.
type Testing struct {
	MockProviders []string `json:"mockProviders"`
	TestKeyPrefix string   `json:"testKeyPrefix,omitzero"`
	// ForceEngineVersionRange are the versions that a test key may request.
	ForceEngineVersionRange *VersionRange `json:"forceEngineVersionRange,omitzero"`
}

// VersionRange is a range of versions, both included.
type VersionRange struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Families are the members of a served document that a client looks for at the root or below "capabilities".
type Families struct {
	Feedback    Feedback    `json:"feedback"`
	Host        Host        `json:"host"`
	Agents      *Agents     `json:"agents,omitzero"`
	Replay      Replay      `json:"replay"`
	DebugBundle DebugBundle `json:"debugBundle"`
	Prompts     *Prompts    `json:"prompts,omitzero"`
	Runs        Runs        `json:"runs"`
	// ProviderUsage and Envelopes describe what a host with test seams records.
	ProviderUsage *ProviderUsage `json:"providerUsage,omitzero"`
	Envelopes     *Envelopes     `json:"envelopes,omitzero"`
	Testing       *Testing       `json:"testing,omitzero"`
	Fixtures      []string       `json:"fixtures,omitzero"`
}

// Runs describes what clients can do with runs.
type Runs struct {
	PauseResume PauseResume `json:"pauseResume"`
}

// PauseResume lists the policies of pauses.
type PauseResume struct {
	Supported     bool                  `json:"supported"`
	DrainPolicies []openwop.DrainPolicy `json:"drainPolicies"`
}

// Replay lists the modes of forks, "branch" and "replay".
type Replay struct {
	Supported bool     `json:"supported"`
	Modes     []string `json:"modes"`
}

// DebugBundle states whether debug bundles are served.
type DebugBundle struct {
	Supported bool `json:"supported"`
}

// ProviderUsage states whether the use of models is recorded.
type ProviderUsage struct {
	Supported     bool `json:"supported"`
	CostEstimates bool `json:"costEstimates"`
}

// Envelopes describes what is recorded about the envelopes that models answer with.
type Envelopes struct {
	Reliability Reliability `json:"reliability"`
}

// Reliability lists the types of run events about envelopes.
type Reliability struct {
	Supported bool                `json:"supported"`
	Events    []openwop.EventType `json:"events"`
}

// Prompts describes the prompt templates: Supported, that steps are performed which name them, and
// EndpointsSupported, that they are served.
type Prompts struct {
	AgentBindings      bool   `json:"agentBindings"`
	Supported          bool   `json:"supported"`
	EndpointsSupported bool   `json:"endpointsSupported"`
	Observability      string `json:"observability"`
}

// Discovery returns the document that a host serves: that of DocumentOf, with what the host serves besides. Each
// family is at the root and, for clients of earlier versions, below "capabilities". Transports are those
// that are served: rest.
func Discovery(c config.Config, version string, o Options) (canon.Value, error) {
	d := DocumentOf(c, version)
	f := Families{Feedback: d.Feedback, Host: d.Host, Agents: d.Agents,
		Replay:      Replay{len(o.ReplayModes) > 0, append([]string{}, o.ReplayModes...)},
		DebugBundle: DebugBundle{o.DebugBundle}, Testing: o.Testing, Fixtures: o.Fixtures,
		Runs: Runs{PauseResume{true, []openwop.DrainPolicy{openwop.Immediate, openwop.DrainCurrentNode}}}}
	if o.Prompts {
		f.Prompts = &Prompts{EndpointsSupported: true, Observability: "hashed"}
	}
	if o.Testing != nil {
		f.ProviderUsage, f.Envelopes = &ProviderUsage{Supported: true}, &Envelopes{Reliability{true, openwop.EnvelopeReliability()}}
		if f.Prompts != nil { // the steps of tests show their prompts: no person wrote them
			*f.Prompts = Prompts{true, true, true, "full"}
		}
	}
	out, err := canon.ValueOf(d)
	if err != nil {
		return out, err
	}
	served, err := canon.ValueOf(f)
	if err != nil {
		return out, err
	}
	for i := range served.Len() {
		out = out.With(served.Key(i), served.Item(i))
	}
	return out.With("capabilities", served).With("supportedTransports", canon.OfList(canon.OfString("rest"))), nil
}
