package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// deviations are ways in which the scripted agent leaves the procedure, one at each step. Each ends its turn.
var deviations = []struct {
	name string
	act  func(a *scripted)
}{
	{"stops before it has begun", func(*scripted) {}},
	{"reports that all is done", func(a *scripted) { a.reports = append(a.reports, "Everything is done.") }},
	{"forgets the run when its history is compacted", func(a *scripted) { a.compact() }},
	{"hands in nothing", func(a *scripted) { a.submit("") }},
	{"hands in the notes of the step before", func(a *scripted) { a.submit(a.last) }},
	{"works on another run", func(a *scripted) { a.do("continue", "--run", a.other, "--notes", "Step x1: the other run.") }},
	{"begins the workflow again", func(a *scripted) { a.do("start", "steps.json", "--title", "Again") }},
	{"asks the user about what it can do itself", func(a *scripted) { a.reports = append(a.reports, "Shall I continue?") }},
	{"ends its turn again after a refusal", func(a *scripted) { a.stubborn = 1 }},
	{"ends its turn until it is let go", func(a *scripted) { a.stubborn = 2 }},
	{"changes to a folder of the repository", func(a *scripted) { a.dir = filepath.Join(a.g.dir, "sub") }},
	{"hands in a result that only the engine makes", func(a *scripted) {
		a.g.write(filepath.Join(a.g.dir, "made.json"), `{"kind":"wr.command_result","exitStatus":0}`)
		a.do("continue", "--run", a.run, "--notes", a.notes(), "--artifact", "made.json")
	}},
	{"reads the step again and again", func(a *scripted) { a.do("continue", "--run", a.run); a.do("continue", "--run", a.run) }},
}

// stepsFlow has one step for each deviation. The notes of a step name it.
func stepsFlow() string {
	var steps []string
	for i := range deviations {
		steps = append(steps, fmt.Sprintf(`{"id":"x%d","title":"Step %d","prompt":"Do the work of step %d.","notesRequired":true,
			"validationCriteria":[{"type":"contains","value":"Step x%d:","message":"Name the step"}]}`, i, i, i, i))
	}
	return `{"id":"test.steps","name":"Steps","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
}

// scripted is an agent that works in turns in a client. It knows of its run and step what the last text has that it
// read, and nothing after a compaction.
type scripted struct {
	g         *guarded
	client    guard.Client
	guarded   bool
	dir       string
	run, step string // "" for unknown
	other     string
	last      string // the notes that it handed in last
	reports   []string
	stubborn  int
	done      map[string]bool // deviations
	refusals  int
	letGo     int // turns that the client let it end at an open step
	submitted int
}

var (
	runInText  = expression(`run_[a-z2-7]{26}`)
	stepInText = expression(`(?:step is|the step) (x[0-9]+)`)
)

// hear takes run and step from a text.
func (a *scripted) hear(text string) {
	if run := runInText().FindString(text); run != "" {
		a.run = run
	}
	if m := stepInText().FindStringSubmatch(text); m != nil {
		a.step = m[1]
	}
}

// do runs a command of the program, and returns its exit status and output.
func (a *scripted) do(args ...string) (int, string) {
	var out bytes.Buffer
	status := run(args, strings.NewReader(""), &out, &out, a.g.env())
	return status, out.String()
}

func (a *scripted) notes() string { return "Step " + a.step + ": done by " + a.client.Name }

// submit hands in the step, and reads the next one from the answer.
func (a *scripted) submit(notes string) {
	status, out := a.do("continue", "--run", a.run, "--notes", notes, "--json")
	if status != 0 {
		return
	}
	a.last, a.submitted = notes, a.submitted+1
	var answer struct {
		Data struct {
			Pending *struct{ StepID string }
		}
	}
	if json.Unmarshal([]byte(out), &answer) != nil || answer.Data.Pending == nil {
		a.run, a.step = "", ""
		return
	}
	a.step = answer.Data.Pending.StepID
}

// compact is what a client does when the history is too long: the agent forgets, and the hook runs where the client has
// an event for that.
func (a *scripted) compact() {
	a.run, a.step = "", ""
	if a.guarded && a.client.Name != "gemini" {
		a.hear(a.hook(guard.SessionStart))
	}
}

// hook runs the hook of a moment, with the recorded input of the client.
func (a *scripted) hook(m guard.Moment) string {
	i := slices.IndexFunc(a.client.Events, func(e guard.Event) bool { return e.Moment == m })
	e := a.client.Events[i]
	return a.g.call(0, string(e.Input(a.dir)), "guard", "hook", e.Name, "--client", a.client.Name)
}

// turn is one turn of the agent: it works until it deviates, and ends the turn where it knows of no step.
func (a *scripted) turn() {
	if a.stubborn > 0 {
		a.stubborn--
		return
	}
	for a.run != "" && a.step != "" {
		var n int
		_, _ = fmt.Sscanf(a.step, "x%d", &n)
		if d := deviations[n%len(deviations)]; !a.done[d.name] {
			a.done[d.name] = true
			d.act(a)
			return
		}
		before := a.submitted
		if a.submit(a.notes()); a.submitted == before {
			return // refused: it has no other idea
		}
	}
}

// work lets the agent work until the client lets it end a turn and no run is open, and compacts its history at every
// third turn. A user who gets an answer while a run is open asks for more.
func (a *scripted) work() {
	a.hear(a.started("start", "steps.json", "--title", "Mine"))
	for turn := 1; turn < 200; turn++ {
		// Gemini CLI runs no hook after a compaction: its agent learns of the step from a refusal alone, of which
		// there are two for a step.
		if turn%3 == 0 && a.client.Name != "gemini" {
			a.compact()
		}
		a.turn()
		if !a.guarded {
			return
		}
		answer := a.hook(guard.Stop)
		if answer == "" && !a.open() {
			return
		}
		if answer == "" {
			a.letGo++
			continue
		}
		var refusal struct{ Decision, Reason string }
		if err := json.Unmarshal([]byte(answer), &refusal); err != nil || refusal.Decision != a.client.Refusal {
			a.g.Fatalf("%v: %s", err, answer)
		}
		a.refusals++
		a.hear(refusal.Reason)
	}
	a.g.Error("200 turns")
}

// open reports that a run is not complete.
func (a *scripted) open() bool {
	for _, status := range a.g.statuses() {
		if status != "complete" {
			return true
		}
	}
	return false
}

// started runs a command that starts a run, and returns what the agent reads of the answer.
func (a *scripted) started(args ...string) string {
	_, out := a.do(append(args, "--json")...)
	var answer struct {
		Data struct {
			Session struct{ RunID string }
			Pending struct{ StepID string }
		}
	}
	_ = json.Unmarshal([]byte(out), &answer)
	return answer.Data.Session.RunID + ": its pending step is " + answer.Data.Pending.StepID
}

// TestScriptedAgent: an agent that deviates in thirteen ways, and whose history is compacted again and again, performs
// every step of its run where its client has the hooks, and each turn that it ended at an open step is on record.
// Without the hooks the same script does not complete the run.
func TestScriptedAgent(t *testing.T) {
	cases := sample.OneIn(t, 2)
	for _, guarded := range []bool{true, false} {
		for _, name := range guard.NameList() {
			if !cases.Try() {
				continue
			}
			t.Run(fmt.Sprintf("%s, guarded %t", name, guarded), func(t *testing.T) {
				g := newGuarded(t, map[string]string{"steps.json": stepsFlow(), "sub/keep": ""})
				c, _ := guard.ClientOf(name)
				a := &scripted{g: g, client: c, guarded: guarded, dir: g.dir, done: map[string]bool{}}
				a.hear(a.started("start", "steps.json", "--title", "Other"))
				a.other, a.run, a.step = a.run, "", ""
				a.work()
				statuses := g.statuses()
				if !guarded {
					if statuses["Mine"] == "complete" || a.submitted >= len(deviations) {
						t.Errorf("complete without the guard: %v", statuses)
					}
					return
				}
				for title, status := range statuses {
					if status != "complete" {
						t.Errorf("%s is %s", title, status)
					}
				}
				if len(a.done) != len(deviations) || a.refusals < len(deviations) || a.letGo == 0 {
					t.Errorf("%d deviations, %d refusals, let go %d times", len(a.done), a.refusals, a.letGo)
				}
				g.wantRefusalsOnRecord(a)
			})
		}
	}
}

// statuses are the statuses of all runs by title.
func (g *guarded) statuses() map[string]string {
	g.Helper()
	var list struct {
		Data struct {
			Runs []struct{ Title, Status string }
		}
	}
	if err := json.Unmarshal([]byte(g.call(0, "", "runs", "list", "--json")), &list); err != nil || len(list.Data.Runs) == 0 {
		g.Fatal(err)
	}
	out := map[string]string{}
	for _, r := range list.Data.Runs {
		out[r.Title] = r.Status
	}
	return out
}

// wantRefusalsOnRecord checks that the logs have each refusal that the agent got, the turns that were let go, and the
// attempts that were blocked.
func (g *guarded) wantRefusalsOnRecord(a *scripted) {
	g.Helper()
	var list struct {
		Data struct{ Runs []struct{ RunID string } }
	}
	_ = json.Unmarshal([]byte(g.call(0, "", "runs", "list", "--json")), &list)
	blocked, refusals, letGo := 0, 0, 0
	nodes := map[string]int64{} // the last count
	for _, r := range list.Data.Runs {
		blocked += strings.Count(g.call(0, "", "runs", "events", r.RunID, "--json"), `"kind":"blocked"`)
		for _, n := range g.guardNotes(r.RunID) {
			if n.Client != a.client.Name {
				g.Errorf("a record of %s", n.Client)
			}
			if n.Verdict == event.GuardLetGo {
				letGo++
				if nodes[n.node] != limits.GuardRefusalsMax || n.Refusals != limits.GuardRefusalsMax {
					g.Errorf("let go at %s after %d refusals, recorded as %d", n.node, nodes[n.node], n.Refusals)
				}
				continue
			}
			if refusals++; n.Refusals != nodes[n.node]+1 {
				g.Errorf("refusal %d at %s follows %d", n.Refusals, n.node, nodes[n.node])
			}
			nodes[n.node] = n.Refusals
		}
	}
	if refusals != a.refusals || letGo != a.letGo || len(nodes) < len(deviations) {
		g.Errorf("on record %d refusals at %d nodes and %d turns that were let go, %d and %d happened", refusals, len(nodes),
			letGo, a.refusals, a.letGo)
	}
	if blocked < 2 {
		g.Errorf("%d blocked attempts in the logs, want those with no notes and with notes of another step", blocked)
	}
}
