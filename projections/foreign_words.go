package projections

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
)

// foreignWords tells an event of a kind that is not ours, or whose data is not what
// the kind promises: in words where we know what another program means by it.
func foreignWords(kind string, data canon.Value) (text string, working bool) {
	d := reading{data}
	switch kind {
	case "validation_performed":
		return d.validation(), false
	case "assessment_recorded":
		return d.assessment(), false
	case "assessment_consequence_applied":
		return fmt.Sprintf("Assessment %s has %s at %s, so a follow-up is wanted: %s", d.quoted("assessmentId"),
			d.in("trigger").quoted("dimensionId"),
			d.in("trigger").quoted("level"), d.in("effect").text("guidance")), false
	case "run_completed":
		return "The run came to its end" + d.took() + d.commits("agentCommitShas"), false
	case "delivery_recorded":
		return "The result was delivered" + d.commits("shas") + d.link(), false
	case "review_draft_submitted":
		return "The draft of the review was submitted" + d.link(), false
	case "usage_recorded":
		return "Usage" + d.by() + ": " + d.tokens(), true
	case "token_checkpoint":
		return fmt.Sprintf("Usage so far, at the %s: %s", plain(d.text("phase")), d.tokens()), true
	case "git_start_recorded":
		return "Noted the working tree at the start: " + d.tree(), true
	case "git_metrics_recorded":
		return d.metrics(), true
	}
	return unknownWords(kind), false
}

// reading is data of a shape that nobody promised: what is not there, or is something
// else, reads as nothing.
type reading struct{ canon.Value }

func (d reading) in(name string) reading {
	v, _ := d.Get(name)
	return reading{v}
}

func (d reading) text(name string) string { return oneLine(d.in(name).Text()) }

func (d reading) quoted(name string) string { return quote(d.in(name).Text()) }

// number is a count, and whether there is one.
func (d reading) number(name string) (int64, bool) {
	v := d.in(name)
	return int64(v.Float()), v.Kind() == canon.Number
}

func (d reading) list(name string) []reading {
	v := d.in(name)
	if v.Kind() != canon.Array {
		return nil
	}
	out := make([]reading, v.Len())
	for i := range out {
		out[i] = reading{v.Item(i)}
	}
	return out
}

// counted is "3 files"; "" where nobody counted.
func (d reading) counted(name, thing string) string {
	n, ok := d.number(name)
	switch {
	case !ok:
		return ""
	case n == 1:
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// joined leaves out what is not known.
func joined(parts ...string) string {
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return "nothing that this version knows"
	}
	return strings.Join(parts, ", ")
}

func (d reading) validation() string {
	result := d.in("result")
	what := "What was handed in was checked"
	if ref := d.text("contractRef"); ref != "" && ref != "none" {
		what += " against " + ref
	}
	switch issues := result.list("issues"); {
	case result.in("valid").True():
		return what + ": valid"
	case len(issues) == 0:
		return what + ": not valid"
	default:
		text := what + ": " + oneLine(issues[0].Text())
		if more := len(issues) - 1; more > 0 {
			text += fmt.Sprintf(" (and %d more)", more)
		}
		return text
	}
}

func (d reading) assessment() string {
	var levels []string
	for _, dimension := range d.list("dimensions") {
		levels = append(levels, dimension.text("dimensionId")+" "+dimension.text("level"))
	}
	text := fmt.Sprintf("Assessment %s: %s", d.quoted("assessmentId"), joined(levels...))
	if s := d.text("summary"); s != "" {
		text += ". " + s
	}
	return text
}

func (d reading) took() string {
	ms, ok := d.number("durationMs")
	if !ok {
		return ""
	}
	return fmt.Sprintf(" after %.1f s", float64(ms)/1000)
}

func (d reading) commits(name string) string {
	switch n := len(d.list(name)); n {
	case 0:
		return ""
	case 1:
		return ", with 1 commit"
	default:
		return fmt.Sprintf(", with %d commits", n)
	}
}

func (d reading) link() string {
	if url := d.text("prUrl"); url != "" {
		return ": " + url
	}
	return ""
}

func (d reading) by() string {
	switch client, model := d.text("client"), d.text("model"); {
	case client == "":
		return ""
	case model == "":
		return " of " + client
	default:
		return fmt.Sprintf(" of %s (%s)", client, model)
	}
}

func (d reading) tokens() string {
	return joined(d.counted("inputTokens", "token")+d.direction("inputTokens", " in"),
		d.counted("outputTokens", "token")+d.direction("outputTokens", " out"), d.counted("turns", "turn"))
}

func (d reading) direction(name, word string) string {
	if _, ok := d.number(name); !ok {
		return ""
	}
	return word
}

func (d reading) tree() string {
	return joined(d.counted("stagedFiles", "staged file"), d.counted("unstagedFiles", "unstaged file"))
}

func (d reading) metrics() string {
	text := "Noted what changed in the repository: " +
		joined(d.counted("filesChanged", "file"), d.counted("linesAdded", "line")+d.direction("linesAdded", " added"),
			d.counted("linesRemoved", "line")+d.direction("linesRemoved", " removed"),
			strings.TrimPrefix(d.commits("commitShas"), ", with "))
	if d.in("truncated").True() {
		text += " (not all of it)"
	}
	return text
}
