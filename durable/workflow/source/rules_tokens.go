package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/nearest"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Tokens of the form {{wr.…}} are reserved for the compiler and are never filled from a
// run's context. The only token so far is {{wr.bindings.<slotId>}}. tokens also matches
// unterminated ones, and malformedBinding those with spaces or other letters, so that the
// report can suggest the correct form.
var (
	tokens           = pattern.New(`\{\{\s*wr\.[^{}]*(?:\}\})?`)
	bindingToken     = pattern.New(`^\{\{wr\.bindings\.([a-z][a-z0-9_]*)\}\}$`)
	malformedBinding = pattern.New(`^\{\{\s*wr\.bindings\.\s*([A-Za-z0-9_-]+)\s*(?:\}\})?$`)
)

// BindingSlot returns the slot id that a token such as {{wr.bindings.review}} names, and ""
// for any other text.
func BindingSlot(token string) string {
	if m := bindingToken.FindStringSubmatch(token); m != nil {
		return m[1]
	}
	return ""
}

// bindingKeys are the members of a step in whose texts tokens are replaced. Tokens are
// also replaced in the args of a templateCall. For a promptRef they are replaced in the
// variable overrides only: the text of a prompt template has no extension points.
var bindingKeys = []string{"prompt", "promptBlocks", "promptRef", "guidance", "parallelDelegations", "synthesis"}

// ReplaceBindings replaces each binding token in text by fill(slot), or leaves it if that
// returns false; other tokens remain.
// Parse accepts tokens in a step's prompt, promptBlocks, promptRef, guidance, delegations
// and synthesis and in the args of a templateCall only.
func ReplaceBindings(text string, fill func(slot string) (string, bool)) string {
	return tokens.ReplaceAllStringFunc(text, func(token string) string {
		slot := BindingSlot(token)
		if value, ok := fill(slot); ok && slot != "" {
			return value
		}
		return token
	})
}

// tokenRules checks the tokens in all texts of a file.
type tokenRules struct {
	report problem.Report
	slots  map[string]bool // declared slot id → whether a token uses it
}

// checkTokens reports tokens that would remain unreplaced in a prompt, and warns of
// extension points that no token uses.
func checkTokens(root problem.SourceValue, report problem.Report) {
	r := tokenRules{report, map[string]bool{}}
	points := root.Member("extensionPoints").Items()
	for _, at := range points {
		if slot := at.Member("slotId").Value.Text(); slot != "" {
			r.slots[slot] = false
		}
	}
	// Outside steps, texts are documentation or are inserted without replacing tokens.
	for _, name := range root.Names() {
		if name == "steps" {
			r.steps(root.Member(name))
		} else {
			r.texts(root.Member(name), described)
		}
	}
	for _, at := range points {
		if slot := at.Member("slotId").Value.Text(); slot != "" && !r.slots[slot] {
			report.Warn(at, fmt.Sprintf("Write {{wr.bindings.%s}} into a prompt, or remove the extension point.", slot),
				"no step uses the extension point %q", slot)
		}
	}
}

// steps checks the texts of a list of steps, each with what happens to tokens in it.
func (r tokenRules) steps(list problem.SourceValue) {
	for _, at := range list.Items() {
		for _, name := range at.Names() {
			switch member := at.Member(name); {
			case slices.Contains(bindingKeys, name):
				r.texts(member, replaced)
			case name == "templateCall":
				r.texts(member.Member("templateId"), shown)
				r.texts(member.Member("args"), replaced)
			case name == "promptFragments":
				r.texts(member, shown)
			case name == "body" && member.Value.Kind() == canon.Array:
				r.steps(member)
			default:
				r.texts(member, described)
			}
		}
	}
}

// tokenUse is what happens to a token in a text.
type tokenUse int

const (
	replaced  tokenUse = iota // binding tokens are replaced
	shown                     // the text is used unchanged: any token is an error
	described                 // documentation, which may mention tokens: at most a warning
)

// texts checks all strings of a value.
func (r tokenRules) texts(at problem.SourceValue, use tokenUse) {
	switch at.Value.Kind() {
	case canon.String:
		tokens.ReplaceAllStringFunc(at.Value.Text(), func(token string) string {
			r.token(at, token, use)
			return token
		})
	case canon.Array:
		for _, item := range at.Items() {
			r.texts(item, use)
		}
	case canon.Object:
		for _, name := range at.Names() {
			r.texts(at.Member(name), use)
		}
	}
}

// token checks one token, and records its slot as used if the token is replaced.
func (r tokenRules) token(at problem.SourceValue, token string, use tokenUse) {
	slot := BindingSlot(token)
	_, known := r.slots[slot]
	switch {
	case use == described && !known:
		// Workflows about workflows mention tokens in their descriptions.
		r.report.Warn(at, suggestToken(token), "%q is not replaced here; it is shown unchanged", token)
	case slot == "":
		r.report.Error(at, suggestToken(token), "%q is not a token that is replaced when a workflow is compiled",
			token)
	case use != replaced:
		r.report.Error(at, "Move it into the step's prompt.",
			"%s is replaced in a step's %s and in the args of a templateCall only, not here", token,
			strings.Join(bindingKeys, ", "))
	case !known:
		fix := nearest.Suggest(slot, shape.Names(r.slots), "Did you mean {{wr.bindings.%s}}?",
			"Declare it under extensionPoints, or remove the token.")
		r.report.Error(at, fix, "%s names no extension point of this workflow", token)
	default:
		r.slots[slot] = true
	}
}

// suggestToken returns the correction for an unknown or malformed token.
func suggestToken(token string) string {
	if m := malformedBinding.FindStringSubmatch(token); m != nil {
		return "Write {{wr.bindings." + strings.ReplaceAll(strings.ToLower(m[1]), "-", "_") + "}}, without spaces."
	}
	name := strings.TrimSpace(strings.Trim(token, "{} "))
	if strings.HasPrefix(name, "wr.refs.") {
		return fmt.Sprintf(`Put it into promptBlocks as a part: {"kind": "ref", "refId": %q}.`, name)
	}
	return "Write {{wr.bindings.<slotId>}} for an extension point, or remove it."
}
