package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/reason"
)

// checks are the forms of a then line, by its first word.
var checks = map[string]func(p *player, s statement) error{
	"pending": (*player).thenPending, "complete": (*player).thenComplete, "blocked": (*player).thenBlocked,
	"refused": (*player).thenRefused,
	"status":  (*player).thenStatus, "run": (*player).thenRun, "progress": (*player).thenProgress, "gaps": (*player).thenGaps,
	"events": (*player).thenEvents,
	"event":  (*player).thenEvent, "trace": (*player).thenTrace, "warnings": (*player).thenWarnings,
	"intent":  (*player).thenIntent,
	"context": (*player).thenContext, "preferences": (*player).thenPreferences,
	"capabilities": (*player).thenCapabilities,
	"cause":        (*player).thenCause, "prompt": (*player).thenPrompt, "recap": (*player).thenRecap,
	"answer":  (*player).thenAnswer,
	"outputs": (*player).thenOutputs, "completed": (*player).thenCompleted, "asks": (*player).thenAsks,
	"same": (*player).thenSame, "phases": (*player).thenPhases, "settings": (*player).thenSettings,
}

func (p *player) then(s statement) error {
	word, rest, _ := strings.Cut(s.text, " ")
	check, ok := checks[word]
	if !ok {
		return fmt.Errorf("no such expectation")
	}
	if p.err != nil && word != "refused" && word != "events" && word != "run" && word != "phases" {
		return fmt.Errorf("the call failed: %v", p.err)
	}
	if p.after == nil && word != "refused" {
		return fmt.Errorf("no run was started")
	}
	s.text = rest
	return check(p, s)
}

func want(got, want string) error {
	if got != want {
		return fmt.Errorf("got %s", quoted(got))
	}
	return nil
}

func quoted(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

// list compares lines in order. A line of the scenario may end in " | TEXT", which the details must
// hold.
func list(s statement, got, details []string) error {
	lines := items(s)
	if len(lines) == 1 && lines[0].text == "none" {
		lines = nil
	}
	show := strings.Join(got, "\n  ")
	if len(lines) != len(got) {
		return fmt.Errorf("got %d lines:\n  %s", len(got), quoted(show))
	}
	for i, line := range lines {
		head, more, _ := strings.Cut(line.text, " | ")
		if strings.TrimSpace(head) != got[i] {
			return fmt.Errorf("line %d: got\n  %s", line.line, show)
		}
		if details != nil && !strings.Contains(details[i], spell(more)) {
			return fmt.Errorf("line %d: %s does not hold %q", line.line, details[i], more)
		}
	}
	return nil
}

func (p *player) thenPending(s statement) error {
	if p.last.Pending == nil {
		return fmt.Errorf("no step is pending")
	}
	return want(p.last.Pending.StepInstanceKey, s.text)
}

func (p *player) thenComplete(statement) error {
	if !p.last.IsComplete || p.last.Pending != nil {
		return fmt.Errorf("%s is pending", p.last.Pending.StepInstanceKey)
	}
	return nil
}

func (p *player) thenBlocked(s statement) error {
	var got, details []string
	p.reported = len(p.last.Blockers) > 0
	for _, b := range p.last.Blockers {
		got = append(got, string(b.Code)+" "+pointer(&b.Pointer))
		details = append(details, b.Message+" "+b.SuggestedFix)
	}
	if err := list(s, got, details); err != nil {
		return err
	}
	return want(p.last.Kind(), "blocked")
}

// pointer is kind:value.
func pointer(at *reason.Pointer) string {
	if at == nil {
		return "-"
	}
	return string(at.Kind) + ":" + at.Key + at.ContractRef + at.Capability + at.StepID
}

func (p *player) thenRefused(s statement) error {
	p.reported = true
	if p.err == nil {
		return fmt.Errorf("the call was not refused")
	}
	code, text, _ := strings.Cut(s.text, " | ")
	f := fault.Of(p.err)
	details, err := json.Marshal(f.Details)
	if err != nil {
		return err
	}
	if all := f.Message + " " + f.Suggestion.String() + " " + string(details); !strings.Contains(all, text) {
		return fmt.Errorf("%s does not hold %q", all, text)
	}
	return want(string(f.Code), strings.TrimSpace(code))
}

func (p *player) thenStatus(s statement) error { return want(string(p.last.Status), s.text) }

// thenRun is about the entry of the run in the list: its status, or its counts.
func (p *player) thenRun(s statement) error {
	r, err := p.listed()
	if err != nil {
		return err
	}
	return want(fmt.Sprintf("%s tips=%d openCriticalGaps=%d health=%s partial=%t", r.Status, len(r.Tips),
		r.OpenCriticalGaps, r.Health, r.Partial), p.filled(s.text))
}

// thenProgress compares the progress of the run, with its total where there is one.
func (p *player) thenProgress(s statement) error {
	r, err := p.listed()
	if err != nil {
		return err
	}
	got := strconv.FormatInt(r.Progress.Completed, 10)
	if r.Progress.Total > 0 {
		got += " of " + strconv.FormatInt(r.Progress.Total, 10)
	}
	return want(got, s.text)
}

// listed is the run of the last answer in the list of runs.
func (p *player) listed() (views.RunSummary, error) {
	all, err := p.process().Runs(p.ctx)
	if err != nil {
		return views.RunSummary{}, err
	}
	for _, r := range all.Runs {
		if r.RunID == p.last.Session.RunID {
			return r, nil
		}
	}
	return views.RunSummary{}, fmt.Errorf("the run is not listed")
}

// filled completes "blocked" by the usual values of the rest.
func (p *player) filled(text string) string {
	parts := strings.Fields(text)
	for i, usual := range []string{"tips=1", "openCriticalGaps=0", "health=healthy", "partial=false"} {
		key, _, _ := strings.Cut(usual, "=")
		if len(parts) <= i+1 || !strings.HasPrefix(parts[i+1], key) {
			parts = slices.Insert(parts, i+1, usual)
		}
	}
	return strings.Join(parts, " ")
}
