package testreport

import (
	"fmt"
	"slices"
)

// tally is what the elements of a suite amount to: the results of its test cases, and the numbers
// that the attributes of a suite are compared with.
type tally struct {
	cases, passed, failed, skipped int

	failureCases, failureElements int // cases with an element failure, and these elements
	errorCases, errorElements     int
	skippedCases                  int // cases with an element skipped
	disabledCases                 int // cases that an attribute of the test case marks as not run
}

func (t *tally) add(u tally) {
	t.cases += u.cases
	t.passed += u.passed
	t.failed += u.failed
	t.skipped += u.skipped
	t.failureCases += u.failureCases
	t.failureElements += u.failureElements
	t.errorCases += u.errorCases
	t.errorElements += u.errorElements
	t.skippedCases += u.skippedCases
	t.disabledCases += u.disabledCases
}

// testCase is an open element testcase.
type testCase struct {
	failures, errs int
	skipped, todo  bool
	status         string // "failed" or "disabled" by its attributes, or ""
}

// tally is the result of a test case: a failure or an error counts more than skipped, except for
// one that is to do.
func (c *testCase) tally() tally {
	t := tally{cases: 1, failureElements: c.failures, errorElements: c.errs,
		failureCases: oneIf(c.failures > 0), errorCases: oneIf(c.errs > 0), skippedCases: oneIf(c.skipped)}
	switch {
	case c.todo && c.failures+c.errs > 0:
		t.skipped = 1
	case c.failures+c.errs > 0:
		t.failed = 1
	case c.status == "failed":
		t.failed, t.failureCases, t.failureElements = 1, 1, 1
	case c.skipped && !c.todo:
		t.skipped = 1
	case c.status == "disabled":
		t.skipped, t.disabledCases = 1, 1
	default:
		t.passed = 1
	}
	return t
}

// suite is an open element testsuite or testsuites, with the totals that its attributes state.
type suite struct {
	element, name string
	stated        map[string]int
	own           tally // of its test cases
	below         tally // of the suites in it
	children      tally // of the suites in it, each as if it was one test case
}

// all is the tally of every test case in the suite.
func (s *suite) all() tally {
	t := s.own
	t.add(s.below)
	return t
}

// addSuite adds a suite that ended.
func (s *suite) addSuite(child suite) {
	s.below.add(child.all())
	seen := child.shallow()
	s.children.add(tally{cases: 1, failureCases: oneIf(seen.failureCases > 0), failureElements: oneIf(seen.failureCases > 0),
		errorCases: oneIf(seen.errorCases > 0), errorElements: oneIf(seen.errorCases > 0), skippedCases: oneIf(seen.skippedCases > 0)})
}

// shallow is the tally of the elements directly in the suite.
func (s *suite) shallow() tally {
	t := s.own
	t.add(s.children)
	return t
}

// check compares the totals that the suite states with those of its elements: of all below it,
// of its own test cases, or of the elements directly in it (the test runner of Node.js). All totals
// have to be of one of these.
func (s *suite) check() error {
	all, own, shallow := s.all(), s.own, s.shallow()
	wrong := all.differs(s.stated)
	if wrong == "" || own.differs(s.stated) == "" || shallow.differs(s.stated) == "" {
		return nil
	}
	return fmt.Errorf("the report is inconsistent: %s %s states %s=%d, and its elements are %d",
		s.element, quoted(s.name), wrong, s.stated[wrong], all.totals(wrong)[0])
}

// statedNames are the attributes of a suite that are totals.
var statedNames = []string{"tests", "failures", "errors", "skipped", "disabled"}

// differs returns the first stated total that is not that of the tally, or "".
func (t *tally) differs(stated map[string]int) string {
	for _, name := range statedNames {
		if n, ok := stated[name]; ok && !slices.Contains(t.totals(name), n) {
			return name
		}
	}
	return ""
}

// totals are the values that an attribute may have, the first one for messages. Writers differ in
// whether a case with two failures counts once, and in whether what was disabled counts as skipped.
func (t *tally) totals(name string) []int {
	switch name {
	case "tests":
		return []int{t.cases}
	case "failures":
		return []int{t.failureCases, t.failureElements}
	case "errors":
		return []int{t.errorCases, t.errorElements}
	case "skipped":
		return []int{t.skippedCases, t.skipped}
	default: // many writers have disabled="0" beside elements skipped, some count these
		return []int{t.disabledCases, t.skippedCases, t.skippedCases + t.disabledCases, 0}
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
