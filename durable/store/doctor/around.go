package doctor

import (
	"fmt"
	"strings"
)

const (
	// clockStartMs is 1 January 2025: an earlier clock was never set.
	clockStartMs = 1_735_689_600_000
	// clockSlackMs is how far two clocks of one person may differ.
	clockSlackMs = 5 * 60 * 1000
	// clockDriftMs is what a clock that is being set moves by while we look.
	clockDriftMs = 1000
)

func clock(f Facts) (Check, bool) {
	c := f.Clock
	const fix = "Set the clock; times in the log are for people, and nothing is ordered by them."
	switch {
	case c.NowMs == 0:
		return Check{}, false
	case c.NowMs < clockStartMs:
		return warn(CheckClock, fix, "the clock says a time before 2025"), true
	case c.NewestMs > c.NowMs+clockSlackMs:
		return warn(CheckClock, fix, "the newest event is %s ahead of the clock", span(c.NewestMs-c.NowMs)), true
	case f.Ground.WallDriftMs > clockDriftMs || f.Ground.WallDriftMs < -clockDriftMs:
		return warn(CheckClock, fix, "the clock jumped by %s while it was looked at",
			span(max(f.Ground.WallDriftMs, -f.Ground.WallDriftMs))), true
	}
	return ok(CheckClock, "it is later than everything that was recorded"), true
}

// span is a length of time as people say it.
func span(ms int64) string {
	switch minutes := ms / 60_000; {
	case minutes == 0:
		return plural(int(ms/1000), "second")
	case minutes < 120:
		return plural(int(minutes), "minute")
	case minutes < 48*60:
		return plural(int(minutes/60), "hour")
	default:
		return plural(int(minutes/60/24), "day")
	}
}

// brokenShown bounds how many files are named; the rest is counted.
const brokenShown = 3

func workflows(f Facts) (Check, bool) {
	w := f.Workflows
	if w.Why != "" {
		return warn(CheckWorkflows, "See 'waybill workflows list'.", "workflows cannot be looked for: %s", w.Why), true
	}
	if len(w.Places) == 0 {
		return Check{}, false
	}
	var parts []string
	for _, p := range w.Places {
		text := fmt.Sprintf("%d %s", p.Count, p.Name)
		if !p.There {
			text = p.Name + ": no folder"
		}
		parts = append(parts, text)
	}
	text := plural(w.Total, "workflow") + ": " + strings.Join(parts, ", ")
	if n := len(w.Broken); n > 0 {
		named := strings.Join(w.Broken[:min(n, brokenShown)], ", ")
		if n > brokenShown {
			named += fmt.Sprintf(" and %d more", n-brokenShown)
		}
		return warn(CheckWorkflows, "See what is wrong with 'waybill workflows validate FILE'.",
			"%s; %s cannot be used: %s", text, plural(n, "file"), named), true
	}
	return ok(CheckWorkflows, "%s", text), true
}

func git(f Facts) (Check, bool) {
	g := f.Git
	if !g.Looked {
		return Check{}, false
	}
	text := "this is no repository: runs are not tied to a branch"
	if g.Repository {
		text = "inside a repository: runs note its branch and commit"
	}
	if !g.Program {
		text += "; the program git is not there, and not needed"
	}
	return ok(CheckGit, "%s", text), true
}

func terminal(f Facts) (Check, bool) {
	t := f.Terminal
	switch {
	case !t.Looked:
		return Check{}, false
	case !t.In:
		return ok(CheckTerminal,
			"nobody is at a terminal: nothing is ever asked, and what is done is recorded as an agent's"), true
	}
	text := "a person is at a terminal"
	if t.Out && t.Width > 0 {
		text += fmt.Sprintf(" of %d columns", t.Width)
	}
	if t.Out && !t.Colors {
		text += ", without colors"
	}
	return ok(CheckTerminal, "%s", text), true
}
