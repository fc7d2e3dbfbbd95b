package testreport

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// event is one line of go test -json. Lines about a build have an ImportPath and no Package.
type event struct {
	Action      string
	FailedBuild string
	ImportPath  string
	Output      string
	Package     string
	Test        string
}

// goActions are the actions by which a line is recognised. A later version of Go may write others:
// they are ignored, and a test that only such an action ends has no end.
var goActions = map[string]bool{"start": true, "run": true, "pause": true, "cont": true, "pass": true,
	"bench": true, "fail": true, "output": true, "skip": true, "attr": true, "artifacts": true,
	"build-output": true, "build-fail": true}

// eventOf decodes one line.
func eventOf(line string) (e event, ok bool) {
	if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
		return event{}, false
	}
	return e, true
}

// isEvent reports whether a line is an event of a known action.
func isEvent(line string) bool {
	if !strings.Contains(line, `"Action"`) {
		return false
	}
	e, ok := eventOf(line)
	return ok && goActions[e.Action]
}

// goPackage is a package whose end has not been read.
type goPackage struct {
	open   map[string]bool // tests without an end
	failed int             // tests that failed
}

// goReport is what was read of the events.
type goReport struct {
	counts   Counts
	packages map[string]*goPackage // without an end
	ended    map[string]bool
	builds   map[string]bool // failed builds; true once a package is reported as failed because of one
	build    bool            // the last event is of a build: one of its package follows
}

// readGo counts the tests of a stream of events. Each test and each subtest that ends counts, each
// time it runs. Benchmarks do not, unless they fail. A package that fails without a failed test
// counts as one failure: its build, its TestMain or an exit. Tests without an end in a package that
// failed (a timeout, a crash) failed.
func readGo(output []byte) (Counts, error) {
	r := goReport{packages: map[string]*goPackage{}, ended: map[string]bool{}, builds: map[string]bool{}}
	number := 0
	for line := range lines(output) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		e, ok := eventOf(line)
		if !ok {
			return Counts{}, fmt.Errorf("line %d of the output is no event of go test -json, or was truncated", number)
		}
		if err := r.add(e); err != nil {
			return Counts{}, err
		}
		if err := r.counts.bounded(); err != nil {
			return Counts{}, err
		}
	}
	return r.counts, r.complete()
}

// complete is an error if something that began has no end.
func (r *goReport) complete() error {
	if r.build {
		return errors.New("the report is truncated: no package is reported behind the output of a build")
	}
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		return fmt.Errorf("the report is truncated: package %s has no end", quoted(name))
	}
	for _, name := range slices.Sorted(maps.Keys(r.builds)) {
		if !r.builds[name] {
			return fmt.Errorf("the report is truncated: the build of %s failed, and no package is reported as failed",
				quoted(name))
		}
	}
	return nil
}

// add accounts for one event.
func (r *goReport) add(e event) error {
	r.build = strings.HasPrefix(e.Action, "build-")
	switch {
	case e.Action == "build-fail":
		if _, known := r.builds[e.ImportPath]; !known {
			r.builds[e.ImportPath] = false
		}
		return nil
	case e.Action == "build-output" || !goActions[e.Action]:
		return nil
	case e.Action == "start":
		if r.packages[e.Package] != nil {
			return fmt.Errorf("the report is truncated or has two runs in one: package %s starts again before its end",
				quoted(e.Package))
		}
		delete(r.ended, e.Package)
	case r.ended[e.Package]:
		return fmt.Errorf("the report is inconsistent: package %s has an event %s after its end",
			quoted(e.Package), quoted(e.Action))
	}
	p := r.packages[e.Package]
	if p == nil {
		p = &goPackage{open: map[string]bool{}}
		r.packages[e.Package] = p
	}
	if e.Test != "" {
		return r.test(p, e)
	}
	return r.whole(p, e)
}

// test accounts for an event of one test.
func (r *goReport) test(p *goPackage, e event) error {
	switch e.Action {
	case "run":
		if p.open[e.Test] {
			return fmt.Errorf("the report is inconsistent: test %s of package %s starts again before its end",
				quoted(e.Test), quoted(e.Package))
		}
		p.open[e.Test] = true
		return nil
	case "pass", "skip", "fail", "bench":
	default:
		return nil
	}
	if !p.open[e.Test] && !isBenchmark(e.Test) {
		return fmt.Errorf("the report is inconsistent: test %s of package %s has an end and no start",
			quoted(e.Test), quoted(e.Package))
	}
	delete(p.open, e.Test)
	switch {
	case e.Action == "fail":
		p.failed++
		r.counts.Failed++
	case isBenchmark(e.Test):
	case e.Action == "pass":
		r.counts.Passed++
	case e.Action == "skip":
		r.counts.Skipped++
	}
	return nil
}

// whole accounts for an event of a package.
func (r *goReport) whole(p *goPackage, e event) error {
	switch e.Action {
	case "output":
		if strings.HasPrefix(e.Output, "ok  \t"+e.Package+"\t(cached)") {
			r.counts.Cached++
		}
		return nil
	case "pass", "skip", "fail":
	default:
		return nil
	}
	delete(r.packages, e.Package)
	r.ended[e.Package] = true
	open := 0
	for test := range p.open {
		if !isBenchmark(test) || e.Action == "fail" {
			open++
		}
	}
	switch {
	case e.Action != "fail" && open > 0:
		return fmt.Errorf("the report is truncated or inconsistent: package %s ends with %s, with %s of it unfinished",
			quoted(e.Package), quoted(e.Action), plural(open, "test"))
	case e.Action == "fail" && open+p.failed == 0:
		r.counts.Failed++
	case e.Action == "fail":
		r.counts.Failed += open
	}
	if e.FailedBuild != "" {
		r.builds[e.FailedBuild] = true
	}
	return nil
}

// isBenchmark reports whether a name is that of a benchmark or of a part of one. Go writes no end
// for those that pass.
func isBenchmark(test string) bool { return strings.HasPrefix(test, "Benchmark") }
