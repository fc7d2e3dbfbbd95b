package promptref

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// Layer is a place that can name the template for a node, a closed set of the protocol
// (docs/design.md#prompts-of-nodes).
type Layer string

// The layers, in the order of their precedence.
const (
	FromRun            Layer = "run-configurable"
	FromNode           Layer = "node"
	FromAgent          Layer = "agent-intrinsic"
	FromAgentOverrides Layer = "agent-overrides"
	FromAgentLibrary   Layer = "agent-library-default"
	FromWorkflow       Layer = "workflow-defaults"
	FromHost           Layer = "host-defaults"
)

// Link is one layer of a chain.
type Link struct {
	Applied bool   `json:"applied"`
	Layer   Layer  `json:"layer"`
	Reason  string `json:"reason,omitzero"` // why it was not applied
	Source  string `json:"source,omitzero"` // the reference that the layer names
}

// Resolution is which template a node uses for one kind of prompt, and why: the payload of the run event
// agent.promptResolved.
type Resolution struct {
	AgentID  string      `json:"agentId,omitzero"` // of a known agent
	Chain    []Link      `json:"chain"`
	Kind     Kind        `json:"kind"`
	NodeID   string      `json:"nodeId"`
	Resolved canon.Value `json:"resolved"` // the reference as text, null where no layer names one
}

// Source is what a Chain is resolved of. References are in either form, null for none.
type Source struct {
	Kind Kind
	// NodeID names the node, Config is its configuration.
	NodeID string
	Config canon.Value
	// Agent is the manifest of the agent that Config names, null if no such agent is known.
	Agent canon.Value
	// Run, Workflow and Host are objects from kind to reference.
	Run, Workflow, Host canon.Value
}

// nodeKeys are the keys of a node's configuration with its references.
var nodeKeys = map[Kind]string{System: "systemPromptRef", User: "userPromptRef", FewShot: "fewShotPromptRefs",
	SchemaHint: "schemaHintPromptRef"}

// Resolve walks the layers in their order and returns the first reference. A layer that cannot apply is in the
// chain as well, so that it shows what was looked at. It is a pure function: the same source gives the same
// resolution.
func Resolve(s Source) Resolution {
	out := Resolution{Kind: s.Kind, NodeID: s.NodeID}
	add := func(layer Layer, source, why string) {
		link := Link{Layer: layer, Source: source}
		switch {
		case source == "":
			link.Reason = why
		case !out.Resolved.IsNull():
			link.Reason = "a layer before it applies"
		default:
			link.Applied, out.Resolved = true, canon.OfString(source)
		}
		out.Chain = append(out.Chain, link)
	}
	const none = "it names no template"
	if !s.Run.IsNull() {
		add(FromRun, textOf(s.Run, string(s.Kind)), none)
	}
	add(FromNode, textOf(s.Config, nodeKeys[s.Kind]), none)
	s.agent(&out, add)
	add(FromWorkflow, textOf(s.Workflow, string(s.Kind)), none)
	add(FromHost, textOf(s.Host, string(s.Kind)), none)
	return out
}

// agent walks the layers of the agent.
func (s Source) agent(out *Resolution, add func(Layer, string, string)) {
	bound, _ := s.Config.Get("agentId")
	agentID, _ := s.Agent.Get("agentId")
	switch {
	case bound.Text() == "":
		add(FromAgentOverrides, "", "the node has no agent")
		return
	case agentID.Text() != bound.Text():
		add(FromAgentOverrides, "", "the agent is not known")
		return
	}
	out.AgentID = agentID.Text()
	if s.Kind == System {
		add(FromAgent, s.intrinsic(), "it has no prompt of its own")
	}
	overrides, _ := s.Agent.Get("promptOverrides")
	add(FromAgentOverrides, textOf(overrides, string(s.Kind)), "it overrides no prompt of this kind")
	if library, _ := s.Agent.Get("promptLibraryRef"); library.Text() != "" {
		add(FromAgentLibrary, "", "libraries have no default templates")
	}
}

// intrinsic is the reference to the prompt in the manifest of the agent, "" for none.
func (s Source) intrinsic() string {
	inline, _ := s.Agent.Get("systemPrompt")
	file, _ := s.Agent.Get("systemPromptRef")
	if inline.Text() == "" && file.Text() == "" {
		return ""
	}
	return Intrinsic(s.Agent)
}

// Intrinsic is the reference to the prompt in the manifest of an agent: the protocol has no other
// name for it.
func Intrinsic(agent canon.Value) string {
	agentID, _ := agent.Get("agentId")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, "agent."+strings.ToLower(agentID.Text()))
	return Scheme + name[:min(len(name), idBytesMax)]
}

// idBytesMax is the longest id of a template.
const idBytesMax = 128

// textOf returns the reference at a key in its short form, "" for none. Of a list it is the first.
func textOf(v canon.Value, key string) string {
	ref, _ := v.Get(key)
	if ref.Kind() == canon.Array && ref.Len() > 0 {
		ref = ref.Item(0)
	}
	if r, err := RefOf(ref); err == nil && r.TemplateID != "" {
		return r.String()
	}
	return ""
}
