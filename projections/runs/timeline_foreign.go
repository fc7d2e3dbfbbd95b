package runs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// describeForeign describes an event of an unknown kind, or with data of an unknown form. Kinds
// that another program is known to write get a sentence of their own. working is TimelineEntry.Working.
func describeForeign(kind string, data canon.Value) (text string, working bool) {
	d := foreignData{data}
	switch kind {
	case "validation_performed":
		return d.validation(), false
	case "assessment_recorded":
		return d.assessment(), false
	case "assessment_consequence_applied":
		return fmt.Sprintf("Assessment %s has %s at %s, so a follow-up is required: %s", d.quoted("assessmentId"),
			d.member("trigger").quoted("dimensionId"),
			d.member("trigger").quoted("level"), d.member("effect").text("guidance")), false
	case "run_completed":
		return "The run ended" + d.duration() + d.commits("agentCommitShas"), false
	case "delivery_recorded":
		return "The result was delivered" + d.commits("shas") + d.link(), false
	case "review_draft_submitted":
		return "The draft of the review was submitted" + d.link(), false
	case "usage_recorded":
		return "Usage" + d.client() + ": " + d.tokens(), true
	case "token_checkpoint":
		return fmt.Sprintf("Usage so far, at the %s: %s", plain(d.text("phase")), d.tokens()), true
	case "git_start_recorded":
		return "Working tree at the start: " + d.workingTree(), true
	case "git_metrics_recorded":
		return d.metrics(), true
	}
	return describeUnknown(kind), false
}

// foreignData reads data of unchecked form: absent members and members of another type read as
// empty.
type foreignData struct{ canon.Value }

// member returns a member of an object, Null if there is none.
func (d foreignData) member(name string) foreignData {
	v, _ := d.Get(name)
	return foreignData{v}
}

// text returns the first line of a string member.
func (d foreignData) text(name string) string { return oneLine(d.member(name).Text()) }

// quoted returns a string member in quotation marks.
func (d foreignData) quoted(name string) string { return quote(d.member(name).Text()) }

// number returns a numeric member as an integer, false if the member is absent or not a number.
func (d foreignData) number(name string) (int64, bool) {
	v := d.member(name)
	return int64(v.Float()), v.Kind() == canon.Number
}

// list returns the items of an array member.
func (d foreignData) list(name string) (out []foreignData) {
	for _, item := range (problem.SourceValue{Value: d.member(name).Value}).Items() {
		out = append(out, foreignData{item.Value})
	}
	return out
}

// countOf returns a numeric member with its unit and what follows it, such as "3 lines added"; "" if
// the member is absent.
func (d foreignData) countOf(name, thing, suffix string) string {
	n, ok := d.number(name)
	if !ok {
		return ""
	}
	return counted(n, thing) + suffix
}

// counted returns a number with its unit, such as "3 files".
func counted(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// joinKnown joins the parts that are not empty.
func joinKnown(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return "no known values"
	}
	return strings.Join(parts, ", ")
}

// validation describes the result of a check of submitted outputs, with the first issue.
func (d foreignData) validation() string {
	result := d.member("result")
	what := "Submitted outputs were checked"
	if ref := d.text("contractRef"); ref != "" && ref != "none" {
		what += " against " + ref
	}
	switch issues := result.list("issues"); {
	case result.member("valid").True():
		return what + ": valid"
	case len(issues) == 0:
		return what + ": not valid"
	default:
		return what + ": " + oneLine(issues[0].Text()) + andMore(len(issues)-1)
	}
}

// assessment describes the levels of an assessment.
func (d foreignData) assessment() string {
	var levels []string
	for _, dimension := range d.list("dimensions") {
		levels = append(levels, dimension.text("dimensionId")+" "+dimension.text("level"))
	}
	return fmt.Sprintf("Assessment %s: %s", d.quoted("assessmentId"), joinKnown(levels...)) +
		prefixed(". ", d.text("summary"))
}

// prefixed returns a text behind a prefix, "" for an empty text.
func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// duration returns how long a run took, in seconds.
func (d foreignData) duration() string {
	ms, ok := d.number("durationMs")
	if !ok {
		return ""
	}
	return fmt.Sprintf(" after %.1f s", float64(ms)/1000)
}

// commits returns the number of commits in an array member.
func (d foreignData) commits(name string) string {
	if n := len(d.list(name)); n > 0 {
		return ", with " + counted(int64(n), "commit")
	}
	return ""
}

// link returns the address of a pull request.
func (d foreignData) link() string { return prefixed(": ", d.text("prUrl")) }

// client returns the program and the model that a usage record names.
func (d foreignData) client() string {
	switch clientName, model := d.text("client"), d.text("model"); {
	case clientName == "":
		return ""
	case model == "":
		return " of " + clientName
	default:
		return fmt.Sprintf(" of %s (%s)", clientName, model)
	}
}

// tokens describes token counts and turns.
func (d foreignData) tokens() string {
	return joinKnown(d.countOf("inputTokens", "token", " in"), d.countOf("outputTokens", "token", " out"),
		d.countOf("turns", "turn", ""))
}

// workingTree describes the numbers of changed files.
func (d foreignData) workingTree() string {
	return joinKnown(d.countOf("stagedFiles", "staged file", ""), d.countOf("unstagedFiles", "unstaged file", ""))
}

// metrics describes the size of a change in a git repository.
func (d foreignData) metrics() string {
	text := "Changes in the repository: " +
		joinKnown(d.countOf("filesChanged", "file", ""), d.countOf("linesAdded", "line", " added"),
			d.countOf("linesRemoved", "line", " removed"), strings.TrimPrefix(d.commits("commitShas"), ", with "))
	if d.member("truncated").True() {
		text += " (truncated)"
	}
	return text
}
