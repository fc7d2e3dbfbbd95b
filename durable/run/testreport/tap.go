package testreport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

var (
	tapVersion   = pattern.New(`^TAP version ([0-9]{1,9})\s*$`)
	tapPlan      = pattern.New(`^([0-9]{1,9})\.\.([0-9]{1,9})\s*(?:#.*)?$`)
	tapPoint     = pattern.New(`^(not )?ok\b(?:\s+([0-9]{1,9})(?:\s|$))?(.*)$`)
	tapDirective = pattern.New(`(?i)(?:^|\s)#\s*(skip|todo(?:\s|$))`)
	tapBailOut   = pattern.New(`(?i)^(?:    )*Bail out!`)
)

// beginsTAP reports whether a line is one that only TAP has: its version or a plan.
func beginsTAP(line string) bool {
	switch {
	case strings.HasPrefix(line, "TAP version "):
		return tapVersion.MatchString(line)
	case line != "" && line[0] >= '0' && line[0] <= '9':
		return tapPlan.MatchString(line)
	}
	return false
}

// point is one test point.
type point struct {
	number    int // 0 if it has none
	ok        bool
	directive string // "skip", "todo" or ""
}

// pointOf reads a line as a test point.
func pointOf(line string) (p point, ok bool) {
	if !strings.HasPrefix(line, "ok") && !strings.HasPrefix(line, "not ok") {
		return point{}, false
	}
	m := tapPoint.FindStringSubmatch(line)
	if m == nil {
		return point{}, false
	}
	p.ok = m[1] == ""
	if m[2] != "" {
		p.number, _ = strconv.Atoi(m[2]) // at most 9 digits
		if p.number == 0 {
			p.number = -1
		}
	}
	if d := tapDirective.FindStringSubmatch(m[3]); d != nil {
		p.directive = strings.ToLower(d[1][:4])
	}
	return p, true
}

// tapReport is what was read of a stream.
type tapReport struct {
	counts  Counts
	points  int
	planned int // -1 before the plan
	late    bool
	block   string // the line that ends the block of YAML around the next line; "" outside of one
}

// errBailOut is the error for tests that gave up.
var errBailOut = errors.New("the tests were stopped: TAP has a \"Bail out!\" line")

// readTAP counts the test points of a stream: those of subtests, which are indented, do not count
// beside the point of their parent. Lines that are not TAP are ignored, as its specification
// demands. A point with SKIP is skipped, unless it is not ok: then it failed. A point with TODO that
// is not ok counts as skipped.
func readTAP(output []byte) (Counts, error) {
	if output[len(output)-1] != '\n' {
		return Counts{}, errors.New("the report is truncated: the last line of TAP has no line feed")
	}
	r := tapReport{planned: -1}
	for line := range lines(output) {
		if err := r.add(line); err != nil {
			return Counts{}, err
		}
	}
	switch {
	case r.block != "":
		return Counts{}, errors.New("the report is truncated: a block of YAML has no end")
	case r.planned < 0:
		return Counts{}, fmt.Errorf("the report is truncated: TAP has %s and no plan such as 1..%d",
			plural(r.points, "test point"), r.points)
	case r.points < r.planned:
		return Counts{}, fmt.Errorf("the report is truncated: the plan of TAP names %s, and %d %s reported",
			plural(r.planned, "test"), r.points, isAre(r.points))
	case r.points > r.planned:
		return Counts{}, fmt.Errorf("the report is inconsistent: the plan of TAP names %s, and %d %s reported",
			plural(r.planned, "test"), r.points, isAre(r.points))
	}
	return r.counts, nil
}

// add accounts for one line.
func (r *tapReport) add(line string) error {
	if r.block != "" {
		if _, isPoint := pointOf(line); isPoint || beginsTAP(line) {
			return errors.New("the report is inconsistent: a block of YAML has a test point that is not indented, or a plan")
		}
		if tapBailOut.MatchString(line) && !strings.HasPrefix(line, " ") {
			return errBailOut
		}
		if strings.TrimRight(line, " \t") == r.block {
			r.block = ""
		}
		return nil
	}
	if tapBailOut.MatchString(line) {
		return errBailOut
	}
	if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
		text := strings.TrimLeft(line, " \t")
		if strings.TrimRight(text, " \t") == "---" && r.points > 0 {
			r.block = line[:len(line)-len(text)] + "..."
		}
		return nil
	}
	if m := tapVersion.FindStringSubmatch(line); m != nil {
		if version, _ := strconv.Atoi(m[1]); version != 13 && version != 14 {
			return fmt.Errorf("version %d of TAP is not read: 13 or 14 is needed, or no version line for 12", version)
		}
		if r.points > 0 || r.planned >= 0 {
			return errors.New("the report is inconsistent: TAP has a version line behind test points or a plan")
		}
		return nil
	}
	if m := tapPlan.FindStringSubmatch(line); m != nil {
		return r.plan(m[1], m[2])
	}
	if p, ok := pointOf(line); ok {
		return r.point(p)
	}
	return nil
}

// plan accounts for a plan, which is in front of all points or behind them.
func (r *tapReport) plan(first, last string) error {
	from, _ := strconv.Atoi(first) // at most 9 digits
	to, _ := strconv.Atoi(last)
	switch {
	case r.planned >= 0:
		return errors.New("the report is inconsistent: TAP has two plans")
	case from != 1:
		return fmt.Errorf("the report is inconsistent: the plan of TAP begins with %d, want 1", from)
	case to > limits.TestReportTestsMax:
		return fmt.Errorf("the report has more than %d tests", limits.TestReportTestsMax)
	}
	r.planned, r.late = to, r.points > 0
	return nil
}

// point accounts for a test point.
func (r *tapReport) point(p point) error {
	if r.points++; r.points > limits.TestReportTestsMax {
		return fmt.Errorf("the report has more than %d tests", limits.TestReportTestsMax)
	}
	switch {
	case r.late:
		return errors.New("the report is inconsistent: TAP has test points on both sides of its plan")
	case p.number != 0 && p.number != r.points:
		return fmt.Errorf("the report is inconsistent: test point %d of TAP has the number %d", r.points, max(p.number, 0))
	}
	switch {
	case p.ok && p.directive != "skip":
		r.counts.Passed++
	case p.ok || p.directive == "todo":
		r.counts.Skipped++
	default:
		r.counts.Failed++
	}
	return nil
}
