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

// {{wr.…}} is the compiler's; no context key of a run may fill it. The one token
// that there is names an extension point.
var (
	tokens       = pattern.New(`\{\{\s*wr\.[^{}]*(?:\}\})?`)
	bindingToken = pattern.New(`^\{\{wr\.bindings\.([a-z][a-z0-9_]*)\}\}$`)
	loosely      = pattern.New(`^\{\{\s*wr\.bindings\.\s*([A-Za-z0-9_-]+)\s*(?:\}\})?$`)
)

// BindingSlot is the slot that a token such as {{wr.bindings.review}} names, "" for
// every other text.
func BindingSlot(token string) string {
	if m := bindingToken.FindStringSubmatch(token); m != nil {
		return m[1]
	}
	return ""
}

// bindingKeys are the members of a step in whose texts tokens are accepted, beside
// the args of a templateCall: what is asked for, and of whom. Of a promptRef those are
// the values of variables; the template's own text has no extension points.
var bindingKeys = []string{"prompt", "promptBlocks", "promptRef", "guidance", "parallelDelegations", "synthesis"}

// ReplaceBindings puts what fill gives for each slot in the place of its token.
// Parse accepts tokens in a step's prompt, promptBlocks, guidance, delegations and
// synthesis and in the args of a templateCall, and nowhere else.
func ReplaceBindings(text string, fill func(slot string) string) string {
	return tokens.ReplaceAllStringFunc(text, func(token string) string {
		if slot := BindingSlot(token); slot != "" {
			return fill(slot)
		}
		return token
	})
}

// tokenRules goes over all texts of a file.
type tokenRules struct {
	report problem.Report
	slots  map[string]bool
}

// checkTokens finds tokens that would reach a reader as they stand, and extension
// points that nothing names.
func checkTokens(root problem.Place, report problem.Report) {
	r := tokenRules{report, map[string]bool{}}
	points := root.Member("extensionPoints").Items()
	for _, at := range points {
		if slot := at.Member("slotId").Value.Text(); slot != "" {
			r.slots[slot] = false
		}
	}
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

// steps tells the texts in which tokens are replaced from all others.
func (r tokenRules) steps(list problem.Place) {
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

// tokenPlace is what becomes of a token in a text.
type tokenPlace int

const (
	replaced  tokenPlace = iota // a binding may stand there
	shown                       // it would reach a reader in the place of what it names
	described                   // the text may speak of tokens: it stays as it is
)

// texts visits all texts of a value.
func (r tokenRules) texts(at problem.Place, place tokenPlace) {
	switch at.Value.Kind() {
	case canon.String:
		tokens.ReplaceAllStringFunc(at.Value.Text(), func(token string) string {
			r.token(at, token, place)
			return token
		})
	case canon.Array:
		for _, item := range at.Items() {
			r.texts(item, place)
		}
	case canon.Object:
		for _, name := range at.Names() {
			r.texts(at.Member(name), place)
		}
	}
}

// token judges one of them.
func (r tokenRules) token(at problem.Place, token string, place tokenPlace) {
	slot := BindingSlot(token)
	_, known := r.slots[slot]
	switch {
	case place == described && !known:
		// Workflows about workflows explain tokens in what they say of themselves.
		r.report.Warn(at, otherToken(token), "%q is not replaced here; it is shown as it stands", token)
	case slot == "":
		r.report.Error(at, otherToken(token), "%q is none of the tokens that are replaced when a workflow is compiled",
			token)
	case place != replaced:
		r.report.Error(at, "Move it into the step's prompt.",
			"%s is replaced in a step's %s and in the args of a templateCall only, not here", token,
			strings.Join(bindingKeys, ", "))
	case !known:
		fix := "Declare it under extensionPoints, or remove the token."
		if near := nearest.Of(slot, shape.Names(r.slots)); near != "" {
			fix = "Did you mean {{wr.bindings." + near + "}}?"
		}
		r.report.Error(at, fix, "%s names no extension point of this workflow", token)
	default:
		r.slots[slot] = true
	}
}

// otherToken is what to write in place of a token that means nothing.
func otherToken(token string) string {
	if m := loosely.FindStringSubmatch(token); m != nil {
		return "Write {{wr.bindings." + strings.ReplaceAll(strings.ToLower(m[1]), "-", "_") + "}}, without blanks."
	}
	name := strings.TrimSpace(strings.Trim(token, "{} "))
	if strings.HasPrefix(name, "wr.refs.") {
		return fmt.Sprintf(`Put it into promptBlocks as a part: {"kind": "ref", "refId": %q}.`, name)
	}
	return "Write {{wr.bindings.<slotId>}} for an extension point, or remove it."
}
