package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// Test is what a host with test seams has for the steps that nothing else performs (docs/design.md#test-seams): a step of
// type core.ai.callPrompt composes its prompts and "asks" a provider that returns what the test says.
type Test struct {
	Prompts promptref.Library
	// Agents are the manifests of the agents that a step can name.
	Agents []canon.Value
	// Mock is the object config of configurable.mockProvider, null for none.
	Mock canon.Value
	// Program returns what the provider answers to a step with config.structured, one answer for each try: objects of content,
	// stopReason and refusal. Without any it answers with an empty document.
	Program func(nodeID string) []canon.Value
}

// MockProvider is the id of the only provider.
const MockProvider = "stream-text"

// Codes of errors of these steps, which are those of the protocol.
const (
	codeNotProvided = "capability_not_provided"
	codeNoPrompt    = "prompt_ref_unresolved"
	codeNoVariable  = "prompt_variable_unresolved"
	codeLongPrompt  = "prompt_too_large"
	neverProvided   = "conformance.never-provided"
)

// testFunctions are the types that only a host with test seams performs.
var testFunctions = map[string]func(Step, *Result){
	hoststep.CallPrompt: callPrompt,
	hoststep.RequiresMissing: func(s Step, r *Result) {
		requires, _ := s.Config.Get("requires")
		r.fail(codeNotProvided, "The step needs "+cmp.Or(requires.Text(), neverProvided)+", which this host does not provide.")
	},
}

// fail ends a step with an error whose code clients see.
func (r *Result) fail(code, message string) {
	message = reason.Clip(redact.Text(message, redact.Counts{}), limits.SummaryBytesMax)
	r.Outcome, r.Error, r.Outputs = Failed, &Error{Code: code, Message: message}, canon.Value{}
}

// emit adds a run event.
func (r *Result) emit(t openwop.EventType, members ...canon.Member) {
	r.Events = append(r.Events, RunEvent{Type: string(t), Payload: canon.OfMembers(members...)})
}

// text is a member with a text.
func text(name, value string) canon.Member {
	return canon.Member{Name: name, Value: canon.OfString(value)}
}

// kinds are the kinds of prompts, in the order in which a prompt is composed of them.
var kinds = []promptref.Kind{promptref.System, promptref.FewShot, promptref.SchemaHint, promptref.User}

// callPrompt resolves and composes the prompts of a step, and records what the provider returns.
func callPrompt(s Step, r *Result) {
	source := promptref.Source{NodeID: s.StepInstanceKey, Config: s.Config, Agent: s.agent()}
	for _, kind := range kinds {
		source.Kind = kind
		chain := promptref.Resolve(source)
		if !slices.ContainsFunc(chain.Chain, func(l promptref.Link) bool { return l.Source != "" }) {
			continue // nothing names a template
		}
		v, err := canon.ValueOf(chain)
		if err != nil {
			continue
		}
		r.Events = append(r.Events, RunEvent{Type: string(openwop.PromptResolved), Payload: v})
		if !chain.Resolved.IsNull() && !s.compose(r, kind, chain.Resolved.Text()) {
			return
		}
	}
	if v, _ := s.Config.Get("structured"); v.True() {
		s.structured(r)
		return
	}
	s.complete(r)
}

// agent is the manifest of the agent that the step names, null for none.
func (s Step) agent() canon.Value {
	wanted, _ := s.Config.Get("agentId")
	for _, a := range s.Test.Agents {
		if agentID, _ := a.Get("agentId"); wanted.Text() != "" && agentID.Text() == wanted.Text() {
			return a
		}
	}
	return canon.Value{}
}

// template finds what a reference names: a template, or the prompt in the manifest of the agent.
func (s Step) template(ref string) (promptref.Template, bool) {
	agent := s.agent()
	inline, _ := agent.Get("systemPrompt")
	if inline.Text() != "" && ref == promptref.Intrinsic(agent) {
		return promptref.Template{Text: inline.Text()}, true
	}
	parsed, err := promptref.RefOf(canon.OfString(ref))
	if err != nil {
		return promptref.Template{}, false
	}
	t, refused := s.Test.Prompts.Find(parsed)
	return t, refused == nil
}

// compose fills a template and emits prompt.composed. It is false for a prompt that cannot be composed, which ends the
// step.
func (s Step) compose(r *Result, kind promptref.Kind, ref string) bool {
	t, found := s.template(ref)
	if !found {
		r.fail(codeNoPrompt, "No prompt template is named "+ref)
		return false
	}
	hashes, bindings := []canon.Member{}, []canon.Member{}
	lost, size := "", 0
	composed := placeholder.Replace(t.Text, func(p placeholder.Part) string {
		value, ok := s.variable(t, p.Path)
		if !ok {
			lost = p.Path
		}
		if size += len(value); size > limits.ComposedPromptBytesMax {
			return ""
		}
		if !slices.ContainsFunc(bindings, func(m canon.Member) bool { return m.Name == p.Path }) {
			bindings = append(bindings, text(p.Path, value))
			hashes = append(hashes, text(p.Path, canon.Sum([]byte(value)).String()))
		}
		return value
	})
	composed = redact.Text(composed, redact.Counts{})
	switch {
	case lost != "":
		r.fail(codeNoVariable, fmt.Sprintf("The prompt template %s requires the variable %s, which has no value", ref, lost))
		return false
	case size > limits.ComposedPromptBytesMax || len(composed) > limits.ComposedPromptBytesMax:
		r.fail(codeLongPrompt, fmt.Sprintf("The prompt of %s has more than %d bytes", ref, limits.ComposedPromptBytesMax))
		return false
	}
	members := []canon.Member{text("nodeId", s.StepInstanceKey), {Name: "refs", Value: canon.OfList(canon.OfString(ref))},
		text("hash", canon.Sum([]byte(composed)).String()), text("composed", composed),
		{Name: "variableHashes", Value: canon.OfMembers(hashes...)}, {Name: "variableBindings", Value: canon.OfMembers(bindings...)}}
	switch kind {
	case promptref.System:
		members = append(members, text("kind", "system-only"), text("systemPrompt", composed))
	case promptref.SchemaHint:
		members = append(members, text("kind", "system-only"))
	case promptref.User:
		members = append(members, text("kind", "user-only"), text("userPrompt", composed))
	default:
		members = append(members, text("kind", "user-only"))
	}
	r.emit(openwop.PromptComposed, members...)
	return true
}

// variable is the value of a placeholder as it is observed: from the context, else the default, else empty. ok is false for
// one that is required and has none.
func (s Step) variable(t promptref.Template, path string) (value string, ok bool) {
	v, declared := t.Variable(path)
	if v.Source == promptref.SecretSource {
		return "[REDACTED:" + path + "]", true
	}
	found, has := placeholder.Lookup(s.Context, path)
	switch {
	case has:
		members := redact.Value(canon.OfMembers(canon.Member{Name: path, Value: found}), redact.Counts{})
		return placeholder.Text(members.Item(0)), true
	case declared && v.Required:
		return "", false
	case v.Default.IsNull():
		return "", true
	}
	return placeholder.Text(v.Default), true
}

// complete records what the provider returns: the parts of a text, and what it counts.
func (s Step) complete(r *Result) {
	parts := []canon.Value{canon.OfString("This "), canon.OfString("is "), canon.OfString("a "), canon.OfString("test.")}
	tokens, _ := s.Test.Mock.Get("tokens")
	if tokens.Kind() == canon.Array {
		parts = nil
		for i := range min(tokens.Len(), limits.MockTokensMax) {
			parts = append(parts, canon.OfString(reason.Clip(redact.Text(tokens.Item(i).Text(), redact.Counts{}), limits.MockTokenBytesMax)))
		}
	}
	usage, _ := s.Test.Mock.Get("usage")
	counted := func(name string, fallback int64) canon.Member {
		if v, _ := usage.Get(name); v.Kind() == canon.Number && v.Float() >= 0 && v.Float() <= limits.MockCountMax {
			fallback = int64(v.Float())
		}
		return canon.Member{Name: name, Value: canon.OfInt(fallback)}
	}
	in, out := counted("promptTokens", 0), counted("completionTokens", int64(len(parts)))
	finish, _ := s.Test.Mock.Get("finishReason")
	word := finish.Text()
	if !slices.Contains([]string{"stop", "length", "tool_calls", "content_filter"}, word) {
		word = "stop"
	}
	total := counted("totalTokens", int64(in.Value.Float()+out.Value.Float()))
	r.emit(openwop.ProviderUsage, text("nodeId", s.StepInstanceKey), text("provider", "mock"), text("model", MockProvider),
		canon.Member{Name: "inputTokens", Value: in.Value}, canon.Member{Name: "outputTokens", Value: out.Value},
		canon.Member{Name: "totalTokens", Value: total.Value})
	r.emit(openwop.CompletionReturned, text("nodeId", s.StepInstanceKey), canon.Member{Name: "chunks", Value: canon.OfList(parts...)},
		canon.Member{Name: "meta", Value: canon.OfMembers(text("finishReason", word), text("model", MockProvider),
			canon.Member{Name: "usage", Value: canon.OfMembers(in, out, total)})})
	var whole strings.Builder
	for _, p := range parts {
		whole.WriteString(p.Text())
	}
	r.Outputs = canon.OfMembers(text("completion", whole.String()))
}
