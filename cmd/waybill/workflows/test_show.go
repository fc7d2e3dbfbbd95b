package workflows

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"os"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/fault"
)

// showTests prints each case, what does not hold in it, and the totals.
func showTests(p *page.Page, doc document.TestReport) {
	passed, failed, problems := 0, 0, 0
	for _, file := range doc.Files {
		for _, wrong := range file.Problems {
			where := page.OneLine(file.File)
			if wrong.Line > 0 {
				where = fmt.Sprintf("%s:%d:%d", where, wrong.Line, wrong.Column)
			}
			p.Line("%s at %s", p.Bad("error"), where)
			p.Text("  ", wrong.Message)
			if wrong.Fix != "" {
				p.Text("  → ", wrong.Fix)
			}
		}
		for _, c := range file.Cases {
			if c.OK {
				p.Text(p.Good("✓")+" ", c.Name)
				continue
			}
			p.Text(p.Bad("✗")+" ", c.Name)
			for _, f := range c.Failures {
				showFailure(p, file.File, f)
			}
		}
		passed, failed, problems = passed+file.Passed, failed+file.Failed, problems+len(file.Problems)
	}
	if doc.Coverage != nil {
		p.Blank()
		showCoverage(p, *doc.Coverage)
	}
	p.Blank()
	name := page.OneLine(doc.WorkflowID)
	switch {
	case problems > 0:
		p.Line("%s %s: %s in the tests; they were not performed.", p.Bad("✗"), name, page.Plural(problems, "error"))
	case failed > 0:
		p.Line("%s %s: %s, %d failed.", p.Bad("✗"), name, page.Plural(passed+failed, "case"), failed)
	default:
		p.Line("%s %s: %s, all hold.", p.Good("✓"), name, page.Plural(passed, "case"))
	}
}

// showFailure prints what does not hold, with both values.
func showFailure(p *page.Page, file string, f trial.Failure) {
	at := ""
	if f.Line > 0 {
		at = p.Dim(fmt.Sprintf("  (%s:%d)", page.OneLine(file), f.Line))
	}
	p.Line("    %s%s", f.What, at)
	p.Text("      ", f.Message)
	if f.Expected+f.Got != "" {
		p.Text("      expected  ", cmp.Or(f.Expected, "nothing"))
		p.Text("      got       ", cmp.Or(f.Got, "nothing"))
	}
}

// showCoverage prints how much was reached, and what was not.
func showCoverage(p *page.Page, c trial.CoverageReport) {
	p.Line("Coverage: %d of %s, %d of %s, %d of %s.", c.Steps.Reached, page.Plural(c.Steps.Of, "step"), c.Branches.Reached,
		branchCount(c.Branches.Of), c.Blockers.Reached, page.Plural(c.Blockers.Of, "blocker"))
	for _, id := range c.MissedSteps {
		p.Text("  not shown    ", id)
	}
	for _, b := range c.MissedBranches {
		p.Text("  not taken    ", b.Text())
	}
	for _, o := range c.MissedBlockers {
		p.Text("  not refused  ", o.Text())
	}
}

// branchCount is a number of branches in words.
func branchCount(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return fmt.Sprintf("%d branches", n)
}

// The elements of JUnit XML that readers agree on.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitMessage `xml:"failure,omitempty"`
		Error   *junitMessage `xml:"error,omitempty"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junitOf returns the results as JUnit XML: a suite for each file, and a problem of a file as a test with an error.
func junitOf(doc document.TestReport) ([]byte, error) {
	out := junitSuites{}
	for _, file := range doc.Files {
		s := junitSuite{Name: file.File, Failures: file.Failed, Errors: len(file.Problems)}
		for _, wrong := range file.Problems {
			s.Cases = append(s.Cases, junitCase{Name: fmt.Sprintf("%s:%d:%d", file.File, wrong.Line, wrong.Column), Class: doc.WorkflowID,
				File: file.File, Line: wrong.Line, Error: &junitMessage{wrong.Message, wrong.Fix}})
		}
		for _, c := range file.Cases {
			row := junitCase{Name: c.Name, Class: doc.WorkflowID, File: file.File, Line: c.Line}
			if !c.OK {
				row.Failure = &junitMessage{c.Failures[0].Message, failuresText(c.Failures)}
			}
			s.Cases = append(s.Cases, row)
		}
		s.Tests = len(s.Cases)
		out.Tests, out.Failures, out.Errors = out.Tests+s.Tests, out.Failures+s.Failures, out.Errors+s.Errors
		out.Suites = append(out.Suites, s)
	}
	text, err := xml.MarshalIndent(out, "", "  ")
	return append([]byte(xml.Header), append(text, '\n')...), err
}

// failuresText is what does not hold in a case, as text.
func failuresText(all []trial.Failure) string {
	var out strings.Builder
	for _, f := range all {
		fmt.Fprintf(&out, "%s: %s\n", f.What, f.Message)
		if f.Expected+f.Got != "" {
			fmt.Fprintf(&out, "  expected  %s\n  got       %s\n", f.Expected, f.Got)
		}
	}
	return out.String()
}

// writeJUnit writes the results to a file, which is replaced.
func writeJUnit(name string, doc document.TestReport) error {
	text, err := junitOf(doc)
	if err != nil {
		return err
	}
	return writeFile(name, text, true)
}

// writeFile writes a file. An existing regular file is replaced with force only; the error is VALIDATION_ERROR.
func writeFile(name string, text []byte, force bool) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fault.New(fault.ValidationError, "%s is not a regular file and is not replaced", name).Suggest("Name another file.")
	case err != nil || !force:
		err = writeNew(name, text)
		if fault.Is(err, fault.ValidationError) && !force {
			err = fault.Of(err).Suggest("Name another file with -o, or replace it with --force.")
		}
		return err
	}
	if err := os.WriteFile(name, text, 0o666); err != nil {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be written: %v", name, cli.PlainCause(err)).
			Suggest("Give the path of a writable file.")
	}
	return nil
}
