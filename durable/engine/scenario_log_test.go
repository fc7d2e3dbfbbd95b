package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/projections/runs"
)

// What a then line states about the log: about the node of the answer, and about the events that
// the last call appended.

func (p *player) node() *runs.Node { return p.after.Node(p.last.NodeID) }

// thenGaps lists what is open at the answer's node, or with "on the path" from the root to it.
func (p *player) thenGaps(s statement) error {
	rest, path := strings.CutPrefix(s.text, "on the path")
	gaps := p.node().OpenGaps
	if path {
		s.text = strings.TrimSpace(rest)
		gaps = nil
		for _, n := range p.after.Path(p.last.NodeID) {
			gaps = append(gaps, p.after.Node(n).OpenGaps...)
		}
	}
	var got, details []string
	for _, g := range gaps {
		got = append(got, fmt.Sprintf("%s %s %s", g.Severity, g.Reason, pointer(g.Pointer)))
		details = append(details, g.Summary)
	}
	return list(s, got, details)
}

func (p *player) thenEvents(s statement) error {
	var expect, got []string
	for _, line := range items(s) {
		for _, kind := range strings.Fields(line.text) {
			name, times, many := strings.Cut(kind, "*")
			n := 1
			if many {
				n, _ = strconv.Atoi(times)
			}
			if kind != "none" {
				expect = append(expect, slices.Repeat([]string{name}, n)...)
			}
		}
	}
	for _, e := range p.all[p.before:] {
		got = append(got, e.Data.Kind())
	}
	return want(strings.Join(got, " "), strings.Join(expect, " "))
}

// thenEvent: one of the appended events is of a kind, and its line holds a text.
func (p *player) thenEvent(s statement) error {
	kind, text, _ := strings.Cut(s.text, " ")
	var seen []string
	for _, e := range p.all[p.before:] {
		if e.Data.Kind() != kind {
			continue
		}
		line, err := event.Domain.AppendLine(nil, e)
		if err != nil {
			return err
		}
		if strings.Contains(string(line), text) {
			return nil
		}
		seen = append(seen, string(line))
	}
	return fmt.Errorf("got %s", quoted(strings.Join(seen, "\n")))
}

func (p *player) thenTrace(s statement) error {
	var got, details []string
	for _, e := range p.all[p.before:] {
		t, ok := e.Data.(event.DecisionTraceAppended)
		if !ok {
			continue
		}
		for _, entry := range t.Entries {
			line := string(entry.Kind)
			for _, r := range entry.Refs {
				line += " " + strings.TrimSuffix(r.Kind, "_id") + ":" + r.StepID + r.LoopID + r.ConditionID
				if r.Value != nil {
					line += strconv.FormatInt(*r.Value, 10)
				}
			}
			got, details = append(got, line), append(details, entry.Summary)
		}
	}
	return list(s, got, details)
}

func (p *player) thenWarnings(s statement) error {
	var got, details []string
	for _, w := range p.last.Warnings {
		got, details = append(got, string(w.Code)), append(details, w.Message)
	}
	return list(s, got, details)
}

func (p *player) thenIntent(s statement) error { return want(string(p.last.NextIntent), s.text) }

func (p *player) thenContext(s statement) error {
	v, err := canon.Parse([]byte(s.text))
	if err != nil {
		return err
	}
	return want(string(p.node().Context.JCS()), string(v.JCS()))
}

func (p *player) thenPreferences(s statement) error {
	at := p.node().Preferences
	if at != p.last.Preferences {
		return fmt.Errorf("the answer has %v, the log %v", p.last.Preferences, at)
	}
	return want(string(at.Autonomy)+" "+string(at.RiskPolicy), s.text)
}

func (p *player) thenCapabilities(s statement) error {
	var got []string
	for _, name := range slices.Sorted(maps.Keys(p.node().Capabilities)) {
		got = append(got, name+"="+p.node().Capabilities[name])
	}
	return want(quoted(strings.Join(got, " ")), strings.Replace(s.text, "none", "nothing", 1))
}

// thenCause: the causes of the appended edges; the event that each names exists, and is of this
// call.
func (p *player) thenCause(s statement) error {
	var got []string
	for _, e := range p.all[p.before:] {
		edge, ok := e.Data.(event.EdgeCreated)
		if !ok {
			continue
		}
		at := slices.IndexFunc(p.all[p.before:], func(c event.Event) bool { return c.ID == edge.Cause.EventID })
		if at < 0 {
			return fmt.Errorf("the cause is no event of this call")
		}
		got = append(got, string(edge.Cause.Kind)+" by "+p.all[p.before+at].Data.Kind())
	}
	return want(strings.Join(got, " "), s.text)
}

func has(where, text string) error {
	what, text, _ := strings.Cut(text, " ")
	text = strings.ReplaceAll(text, `\n`, "\n")
	switch found := strings.Contains(where, text); {
	case what == "has" && !found:
		return fmt.Errorf("got %s", quoted(where))
	case what == "lacks" && found:
		return fmt.Errorf("it exists: %s", where)
	case what != "has" && what != "lacks" || text == "":
		return fmt.Errorf("want has TEXT or lacks TEXT")
	}
	return nil
}

func (p *player) thenPrompt(s statement) error {
	if p.last.Pending == nil {
		return fmt.Errorf("no step is pending")
	}
	return has(p.last.Pending.Prompt, s.text)
}

func (p *player) thenRecap(s statement) error { return has(p.last.Recap, s.text) }

func (p *player) thenAnswer(s statement) error { return has(text(p.tb, p.last), s.text) }

// thenOutputs lists the current outputs of the answer's node, or with "at NAME" of that of an
// earlier answer.
func (p *player) thenOutputs(s statement) error {
	n := p.node()
	if rest, ok := strings.CutPrefix(s.text, "at "); ok {
		name, rest, _ := strings.Cut(rest, " ")
		if n = p.after.Node(p.names[name].NodeID); n == nil {
			return fmt.Errorf("no answer of this run is called %q", name)
		}
		s.text = rest
	}
	var got, details []string
	for _, o := range n.Outputs {
		if o.Channel == event.Recap {
			got, details = append(got, "notes"), append(details, o.Payload.NotesMarkdown)
			continue
		}
		data, err := p.process().Store.Object(p.ctx, manifest.Artifact, o.Payload.SHA256)
		if err != nil {
			return err
		}
		kind := o.Payload.ArtifactKind
		if kind == "" {
			kind = o.Payload.ContentType
		}
		got, details = append(got, kind), append(details, string(data))
	}
	return list(s, got, details)
}

// thenCompleted lists the keys that the node's snapshot holds as done.
func (p *player) thenCompleted(s statement) error {
	data, err := p.process().Store.Object(p.ctx, manifest.Snapshot, p.node().SnapshotRef)
	if err != nil {
		return err
	}
	state, err := snapshot.Decode(data)
	if err != nil {
		return err
	}
	return want(quoted(strings.Join(state.CompletedKeys(), " ")), strings.Replace(s.text, "none", "nothing", 1))
}

func (p *player) thenAsks(s statement) error {
	return want(quoted(strings.Join(p.last.MissingInputs(), " ")), strings.Replace(s.text, "none", "nothing", 1))
}

// thenSame: this answer equals the one with a name, word for word.
func (p *player) thenSame(s statement) error {
	a, ok := p.names[strings.TrimPrefix(s.text, "as ")]
	if !ok {
		return fmt.Errorf("no answer has that name")
	}
	return want(text(p.tb, p.last), text(p.tb, a))
}
