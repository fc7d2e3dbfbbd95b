package testreport

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/limits"
)

// junitReport is what was read of a document.
type junitReport struct {
	names  []string // of the open elements
	suites []suite  // the open ones
	open   *testCase
	root   bool // the root element was read
	counts Counts
}

// readJUnit counts the test cases of a document. The totals that its suites state must be those of
// their elements.
func readJUnit(output []byte) (Counts, error) {
	if err := checkXML(output); err != nil {
		return Counts{}, err
	}
	r := junitReport{}
	decoder := xml.NewDecoder(bytes.NewReader(output))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && len(r.names) == 0 {
			break
		}
		if err != nil {
			return Counts{}, fmt.Errorf("the report is truncated or no XML: %s", quoted(err.Error()))
		}
		if err := r.add(token); err != nil {
			return Counts{}, err
		}
	}
	if !r.root {
		return Counts{}, errors.New("the report is truncated: the document has no testsuite")
	}
	return r.counts, nil
}

// add accounts for one token.
func (r *junitReport) add(token xml.Token) error {
	switch t := token.(type) {
	case xml.StartElement:
		if r.root && len(r.names) == 0 {
			return fmt.Errorf("the report has a second document behind the first one: element %s", quoted(t.Name.Local))
		}
		r.root = true
		err := r.start(t)
		r.names = append(r.names, t.Name.Local)
		return err
	case xml.EndElement:
		r.names = r.names[:len(r.names)-1]
		return r.end(t.Name.Local)
	case xml.CharData:
		if len(r.names) == 0 && len(bytes.TrimSpace(t)) > 0 {
			return errors.New("the output has other text before or behind the document of the report")
		}
	}
	return nil
}

// parent is the name of the element around the current one, or "".
func (r *junitReport) parent() string {
	if len(r.names) == 0 {
		return ""
	}
	return r.names[len(r.names)-1]
}

// start accounts for the start of an element. Elements of other names are ignored.
func (r *junitReport) start(t xml.StartElement) error {
	name, parent := t.Name.Local, r.parent()
	inSuite := parent == "testsuite" || parent == "testsuites"
	switch name {
	case "testsuites", "testsuite":
		if parent != "" && !inSuite {
			return misplaced(name, parent)
		}
		stated, err := statedIn(t)
		if err != nil {
			return err
		}
		r.suites = append(r.suites, suite{element: name, name: attribute(t, "name"), stated: stated})
	case "testcase":
		if !inSuite {
			return misplaced(name, parent)
		}
		r.open = &testCase{status: statusOf(t)}
	case "failure", "error", "skipped":
		switch {
		case parent == "testcase":
			r.open.failures += oneIf(name == "failure")
			r.open.errs += oneIf(name == "error")
			r.open.skipped = r.open.skipped || name == "skipped"
			r.open.todo = r.open.todo || name == "skipped" && attribute(t, "type") == "todo"
		case parent == "testsuite":
			// A suite fails as a whole when its setup does. Its skipped element counts no test.
			own := &r.suites[len(r.suites)-1].own
			own.failed += oneIf(name != "skipped")
			own.failureElements += oneIf(name == "failure")
			own.errorElements += oneIf(name == "error")
		default:
			return misplaced(name, parent)
		}
	default:
		if parent == "" {
			return fmt.Errorf("the document is no JUnit XML: its root is %s, want testsuites or testsuite", quoted(name))
		}
	}
	return nil
}

// end accounts for the end of an element.
func (r *junitReport) end(name string) error {
	switch name {
	case "testcase":
		r.suites[len(r.suites)-1].own.add(r.open.tally())
		r.open = nil
	case "testsuite", "testsuites":
		s := r.suites[len(r.suites)-1]
		r.suites = r.suites[:len(r.suites)-1]
		if err := s.check(); err != nil {
			return err
		}
		if len(r.suites) > 0 {
			r.suites[len(r.suites)-1].addSuite(s)
			return nil
		}
		all := s.all()
		r.counts = Counts{Passed: all.passed, Failed: all.failed, Skipped: all.skipped}
	}
	return nil
}

// statedIn reads the totals of a suite.
func statedIn(t xml.StartElement) (map[string]int, error) {
	stated := map[string]int{}
	for _, a := range t.Attr {
		if a.Name.Space != "" || !slices.Contains(statedNames, a.Name.Local) {
			continue
		}
		if _, twice := stated[a.Name.Local]; twice {
			return nil, fmt.Errorf("the report is inconsistent: %s has the attribute %s twice", t.Name.Local, a.Name.Local)
		}
		n, err := strconv.Atoi(strings.TrimSpace(a.Value))
		if err != nil || n < 0 || n > limits.TestReportTestsMax {
			return nil, fmt.Errorf("the report is inconsistent: %s has %s=%s, want a number up to %d",
				t.Name.Local, a.Name.Local, quoted(a.Value), limits.TestReportTestsMax)
		}
		stated[a.Name.Local] = n
	}
	return stated, nil
}

// statusOf is what the attributes of a test case state: GoogleTest and CTest mark a disabled test
// only there.
func statusOf(t xml.StartElement) string {
	for _, a := range []string{attribute(t, "status"), attribute(t, "result")} {
		switch strings.ToLower(a) {
		case "fail", "failed", "failure", "error":
			return "failed"
		case "notrun", "disabled", "skipped", "suppressed", "ignored":
			return "disabled"
		}
	}
	return ""
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Space == "" && a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func misplaced(name, parent string) error {
	return fmt.Errorf("the report is inconsistent: it has an element %s in %s", name, quoted(parent))
}
