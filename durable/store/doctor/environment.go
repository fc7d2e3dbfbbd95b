package doctor

import (
	"fmt"
	"strings"
)

const (
	// clockStartMs is 1 January 2025: a clock before that was never set.
	clockStartMs = 1_735_689_600_000
	// clockSlackMs is the difference between the clocks of two machines that is not reported.
	clockSlackMs = 5 * 60 * 1000
	// clockDriftMs is the drift during the check from which the clock is considered to have jumped.
	clockDriftMs = 1000
)

// clock judges the system clock against the newest event and against a monotonic clock. Nothing is
// ordered by time, so a wrong clock is a warning only.
func clock(f Facts) Check {
	c, drift := f.Clock, max(f.Probes.WallDriftMs, -f.Probes.WallDriftMs)
	const fix = "Set the clock. Times in the log are informational; nothing is ordered by them."
	return first([]rule{
		{c.NowMs == 0, unknown},
		{c.NowMs < clockStartMs, warn(fix, "the clock shows a time before 2025")},
		{c.NewestMs > c.NowMs+clockSlackMs,
			warn(fix, "the newest event is %s ahead of the clock", span(c.NewestMs-c.NowMs))},
		{drift > clockDriftMs, warn(fix, "the clock jumped by %s during the check", span(drift))},
		{true, ok("it is later than all recorded events")},
	})
}

// span formats a duration with one unit.
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

// brokenShown bounds how many invalid files are named; the rest is counted.
const brokenShown = 3

// workflows reports where workflows are searched, and judges whether all files found are valid.
func workflows(f Facts) Check {
	w := f.Workflows
	// Each source with its count, also the empty ones: they show where a file may be put.
	var parts []string
	for _, p := range w.Sources {
		text := fmt.Sprintf("%d %s", p.Count, p.Name)
		if !p.Exists {
			text = p.Name + ": no directory"
		}
		parts = append(parts, text)
	}
	text := plural(w.Total, "workflow") + ": " + strings.Join(parts, ", ")
	n := len(w.Broken)
	named := strings.Join(w.Broken[:min(n, brokenShown)], ", ")
	if n > brokenShown {
		named += fmt.Sprintf(" and %d more", n-brokenShown)
	}
	return first([]rule{
		{w.Why != "", warn("See 'waybill workflows list'.", "workflows cannot be listed: %s", w.Why)},
		{len(w.Sources) == 0, unknown},
		{n > 0, warn("See what is wrong with 'waybill workflows validate FILE'.",
			"%s; %s cannot be used: %s", text, plural(n, "file"), named)},
		{true, ok("%s", text)},
	})
}

// git reports whether runs can record a branch. It never fails: the program git is not needed.
func git(f Facts) Check {
	g := f.Git
	text := "not inside a repository: runs record no branch"
	if g.Repository {
		text = "inside a repository: runs record its branch and commit"
	}
	if !g.Program {
		text += "; the program git is not installed, and not needed"
	}
	return first([]rule{{g.Checked, ok("%s", text)}})
}

// terminal reports whether commands can ask the user. It never fails.
func terminal(f Facts) Check {
	t := f.Terminal
	text := "connected to a terminal"
	if t.Out && t.Width > 0 {
		text += fmt.Sprintf(" of %d columns", t.Width)
	}
	if t.Out && !t.Colors {
		text += ", without colors"
	}
	return first([]rule{
		{!t.Checked, unknown},
		{!t.In, ok("not connected to a terminal: commands ask nothing, and actions are recorded as an agent's")},
		{true, ok("%s", text)},
	})
}
