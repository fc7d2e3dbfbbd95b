package testreport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
)

// pytestSummary is the last line of pytest, in the frame of = or, with -q, without it.
var pytestSummary = pattern.New(
	`^(?:=+ )?(no tests ran|[0-9]+ [a-z][a-z ]*(?:, [0-9]+ [a-z][a-z ]*)*) in [0-9]+(?:\.[0-9]+)?(?:s| seconds)(?: \([0-9a-z:, ]+\))?(?: =*)?$`)

// isPytestSummary reports whether a line is the summary of a run.
func isPytestSummary(line string) bool {
	return strings.Contains(line, " in ") && len(line) <= pytestLineBytes && pytestSummary.MatchString(line)
}

// pytestLineBytes is more than any summary has.
const pytestLineBytes = 1024

// isPytestBeginning reports whether a line is the first one of a run that is not quiet.
func isPytestBeginning(line string) bool {
	return strings.HasPrefix(line, "===") && strings.Contains(line, " test session starts ")
}

// readPytest counts the tests of the summary. Errors count as failed, tests that are expected to fail
// as skipped, and those that pass unexpectedly as passed. An output of two runs has no counts: those of
// one say nothing of the other.
func readPytest(output []byte) (Counts, error) {
	summary, behind, begun := "", false, false
	var listed, since section
	for line := range lines(output) {
		switch {
		case isPytestSummary(line) && summary != "":
			return Counts{}, errors.New("the output has two summaries of pytest: one is needed")
		case isPytestBeginning(line) && begun:
			return Counts{}, errors.New("the output has two reports: pytest begins twice, and one is needed")
		case isPytestBeginning(line):
			begun, behind = true, summary != ""
		case isPytestSummary(line):
			summary, since = line, listed
		case summary != "" && strings.TrimSpace(line) != "":
			behind = true
		}
		listed.add(line)
	}
	switch {
	case summary == "":
		return Counts{}, errors.New("the report is truncated: pytest has no summary such as 3 passed in 0.12s")
	case behind:
		return Counts{}, errors.New("the report is truncated or has other text: the summary of pytest is not the last line")
	case since.stopped:
		return Counts{}, errors.New("the tests were stopped: pytest was interrupted before its summary")
	}
	c, errs, err := summaryCounts(pytestSummary.FindStringSubmatch(summary)[1])
	if err != nil {
		return Counts{}, err
	}
	if since.failed > c.Failed-errs || since.errors > errs {
		return Counts{}, fmt.Errorf("the report is inconsistent: pytest lists %d failed and %s, and its summary has %d and %d",
			since.failed, plural(since.errors, "error"), c.Failed-errs, errs)
	}
	return c, nil
}

// section is what a part of the output lists, from one line with a title to the next.
type section struct {
	short   bool // it is the short test summary
	failed  int
	errors  int
	stopped bool // a line such as !!! KeyboardInterrupt !!!
}

// add accounts for one line.
func (s *section) add(line string) {
	switch {
	case strings.HasPrefix(line, "=") && strings.HasSuffix(line, "="):
		*s = section{short: strings.Contains(line, " short test summary info ")}
	case strings.HasPrefix(line, "!!!") && strings.HasSuffix(line, "!!!"):
		title := strings.Trim(line, "! ")
		s.stopped = s.stopped || !strings.HasPrefix(title, "stopping after ") && !strings.HasPrefix(title, "Interrupted: ")
	case s.short && (strings.HasPrefix(line, "FAILED ") || strings.HasPrefix(line, "SUBFAIL")):
		s.failed++
	case s.short && strings.HasPrefix(line, "ERROR "):
		s.errors++
	}
}

// summaryCounts reads the parts of a summary, such as "1 failed, 3 passed". errs of the failed are
// errors.
func summaryCounts(text string) (c Counts, errs int, err error) {
	if text == "no tests ran" {
		return c, 0, nil
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ", ") {
		digits, category, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(digits)
		if err != nil || n > limits.TestReportTestsMax {
			return c, 0, fmt.Errorf("the report has more than %d tests", limits.TestReportTestsMax)
		}
		if seen[category] {
			return c, 0, fmt.Errorf("the report is inconsistent: the summary of pytest names %s twice", quoted(category))
		}
		seen[category] = true
		switch strings.TrimPrefix(category, "subtests ") {
		case "passed", "xpassed":
			c.Passed += n
		case "failed":
			c.Failed += n
		case "error", "errors":
			c.Failed += n
			errs += n
		case "skipped", "xfailed":
			c.Skipped += n
		case "deselected", "warning", "warnings", "rerun", "reruns":
		default:
			return c, 0, fmt.Errorf("the summary of pytest has %s, which is not known", quoted(category))
		}
	}
	return c, errs, nil
}
