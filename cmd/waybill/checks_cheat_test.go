//go:build linux

package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// trick is a way to have a step done without the work. The sum is wrong in each of them, unless the trick corrects it.
type trick struct {
	name  string
	flow  string            // "": sumFlow
	files map[string]string // of the project, beside sumFiles
	start doc               // context of the run
	flags []string          // of start
	// begin starts the run, if a step after the first one, or an iteration, is what matters.
	begin func(c *checked) handed
	// do applies the trick. What it needs of the caller, it changes in c; what is sent, in s.
	do        func(c *checked, at handed, s *submission)
	untrusted bool           // at the beginning
	undo      func(*checked) // what putting the files back does not
	after     func(*checked) // looks at what is left of the trick
	same      bool           // the request of the trick is sent again, with its tokens
	// want is part of the message, and code that of the error, "" for an answer with a blocker of the check.
	want, code string
	honest     submission // with which the step is done afterwards
}

// edit returns a trick that writes a file.
func edit(name, text string) func(*checked, handed, *submission) {
	return func(c *checked, _ handed, _ *submission) { c.write(name, text) }
}

// changedFile is the clause about one changed file.
func changedFile(name string) string {
	return `did not count, since "` + name + `" is not as it was when the workflow was trusted (check_changed)`
}

// changedMeanwhile is the clause about one file that was changed while the check ran.
func changedMeanwhile(name string) string {
	return `did not count, since "` + name + `" was changed while it ran (check_changed)`
}

// pinTricks change what the check depends on.
var pinTricks = []trick{
	{name: "changed script", do: edit("tests.sh", "cat <<end\n"+passing(5)+"end\n"), want: changedFile("tests.sh")},
	{name: "changed test file", do: edit("suite/cases.txt", "TestZero 0 0 0\n"), want: changedFile("suite/cases.txt")},
	{name: "one more byte", do: edit("tests.sh", sumTests+"\n"), want: changedFile("tests.sh")},
	{name: "deleted file", do: func(c *checked, _ handed, _ *submission) { c.remove("suite/cases.txt") },
		want: changedFile("suite/cases.txt")},
	{name: "emptied file", do: edit("suite/cases.txt", ""), want: changedFile("suite/cases.txt")},
	{name: "link to the same content", do: func(c *checked, _ handed, _ *submission) {
		c.write("elsewhere", sumTests)
		c.link("elsewhere", "tests.sh")
	}, want: changedFile("tests.sh")},
	{name: "link to other content", do: func(c *checked, _ handed, _ *submission) {
		c.write("home:tests.sh", "exit 0\n")
		c.link(filepath.Join(c.home, "tests.sh"), "tests.sh")
	}, want: changedFile("tests.sh")},
	{name: "linked folder of a pin", do: func(c *checked, _ handed, _ *submission) {
		c.write("other/cases.txt", sumFiles["suite/cases.txt"])
		c.link("other", "suite")
	}, want: changedFile("suite/cases.txt")},
	{name: "folder in the place of a pin", do: func(c *checked, _ handed, _ *submission) {
		c.remove("tests.sh")
		c.write("tests.sh/tests.sh", sumTests)
	}, want: changedFile("tests.sh")},
	{name: "pipe in the place of a pin", do: func(c *checked, _ handed, _ *submission) {
		c.remove("suite/cases.txt")
		c.pipe("suite/cases.txt")
	}, want: changedFile("suite/cases.txt")},
	{name: "device in the place of a pin", do: func(c *checked, _ handed, _ *submission) { c.link("/dev/null", "tests.sh") },
		want: changedFile("tests.sh")},
	{name: "same size and time", do: func(c *checked, _ handed, _ *submission) {
		before := c.time("suite/cases.txt")
		c.write("suite/cases.txt", strings.Replace(sumFiles["suite/cases.txt"], "1 0 1", "1 0 0", 1))
		if err := os.Chtimes(filepath.Join(c.dir, "suite/cases.txt"), before, before); err != nil {
			c.t.Fatal(err)
		}
	}, want: changedFile("suite/cases.txt")},
	{name: "very large file", do: func(c *checked, _ handed, _ *submission) {
		if err := os.Truncate(filepath.Join(c.dir, "tests.sh"), 1<<40); err != nil {
			c.t.Fatal(err)
		}
	}, want: changedFile("tests.sh")},
	{name: "two changed files", do: func(c *checked, _ handed, _ *submission) {
		c.write("tests.sh", "exit 0\n")
		c.remove("suite/cases.txt")
	}, want: `since "suite/cases.txt" and 1 more are not as they were`},
	{name: "changed by the check itself", do: edit("sum.sh", "echo TestZero 0 0 0 >suite/cases.txt; echo >more.txt\n"+wrongSum),
		want: changedMeanwhile("suite/cases.txt")},
	{name: "all right, and changed by the check itself", do: edit("sum.sh", "echo '# done' >>tests.sh\n"+rightSum),
		want: changedMeanwhile("tests.sh")},
	{name: "swapped during the check and put back", do: edit("sum.sh", "mv suite/cases.txt kept; echo TestZero 0 0 0 >suite/cases.txt; echo >more.txt\n"+
		"trap 'mv kept suite/cases.txt' EXIT\n"+wrongSum), want: changedMeanwhile("suite/cases.txt")},
	{name: "overwritten during the check and put back, with its time", do: edit("sum.sh", "cp -p suite/cases.txt kept; echo TestZero 0 0 0 >suite/cases.txt\n"+
		"trap 'cat kept >suite/cases.txt; touch -r kept suite/cases.txt' EXIT\n"+rightSum), want: changedMeanwhile("suite/cases.txt")},
}

// reportTricks make the output say what is not so. The code under test prints it.
var reportTricks = []trick{
	{name: "no tests", do: edit("sum.sh", prints0(rest(passing(0)))), want: "reports 0 passed tests, at least 5 needed"},
	{name: "all tests skipped", do: edit("sum.sh", prints0(rest(strings.ReplaceAll(passing(5), `pass","Package":"sum","Test"`,
		`skip","Package":"sum","Test"`)))), want: "reports 0 passed tests, at least 5 needed; 5 skipped"},
	{name: "a test removed", do: func(c *checked, _ handed, _ *submission) {
		c.write("sum.sh", rightSum)
		c.write("more.txt", "TestBoth 1 2 3\n")
	}, want: "reports 4 passed tests, at least 5 needed"},
	{name: "a report in a file", do: edit("sum.sh", "cat >report.json <<end\n"+passing(5)+"end\nexit 0\n"),
		want: "proved nothing: the report is truncated: package … has no end"},
	{name: "a report in stderr", do: edit("sum.sh", "cat >&2 <<end\n"+passing(5)+"end\nexec >/dev/null; exit 0\n"),
		want: "proved nothing: the report is truncated: package … has no end"},
	{name: "counts without tests", flow: strings.Replace(sumFlow, "[sh, tests.sh]", "[sh, sum.sh]", 1),
		do:   edit("sum.sh", prints0(`<testsuite name="sum" tests="5" failures="0" errors="0" skipped="0"></testsuite>`)),
		want: "proved nothing: the report is inconsistent: testsuite … states tests=5, and its elements are 0"},
	{name: "a plan without tests", flow: strings.Replace(sumFlow, "[sh, tests.sh]", "[sh, sum.sh]", 1),
		do: edit("sum.sh", prints0("TAP version 13\n1..5")), want: "the plan of TAP names 5 tests, and 0 are reported"},
	{name: "a truncated report", do: edit("sum.sh", prints0(strings.TrimSuffix(rest(passing(6)), `{"Action":"pass","Package":"sum"}`+"\n"))),
		want: "proved nothing: the report is truncated: package … has no end"},
	{name: "a line that is cut", do: edit("sum.sh", "printf '%s' '"+strings.TrimSuffix(rest(passing(6)), "\"}\n")+"'; exit 0\n"),
		want: "of the output is no event of go test -json, or was truncated"},
	{name: "two reports", do: edit("sum.sh", prints0(rest(passing(6))+"TAP version 13\n1..1\nok 1")),
		want: "proved nothing: the output has test reports in two formats, go test -json and TAP"},
	{name: "prose", flow: strings.Replace(sumFlow, "[sh, tests.sh]", "[sh, sum.sh]", 1),
		do: edit("sum.sh", prints0("5 tests passed\nAll tests passed.\nok")), want: "proved nothing: the output is in no format"},
	{name: "output without -json", flow: strings.Replace(sumFlow, "[sh, tests.sh]", "[sh, sum.sh]", 1),
		do: edit("sum.sh", prints0("ok  \tsum\t0.1s")), want: "proved nothing: the output is that of go test without -json"},
	{name: "no output", flow: strings.Replace(sumFlow, "[sh, tests.sh]", "[sh, sum.sh]", 1),
		do: edit("sum.sh", "exit 0\n"), want: "proved nothing: the output is empty"},
	{name: "exit 0 in the middle", do: edit("sum.sh", "add() { exit 0; }; exit 0\n"), want: "proved nothing: the report is truncated: package … has no end"},
	{name: "exit 0 at the end", do: edit("sum.sh", "trap 'exit 0' EXIT\n"+wrongSum), want: "reports 4 failed tests, at most 0 allowed"},
	{name: "passed, with another status", do: edit("sum.sh", rightSum+"trap 'exit 3' EXIT\n"), want: "exited with status 3, want 0"},
	{name: "failed tests hidden by a passed package", do: edit("sum.sh", prints0(strings.TrimSuffix(rest(passing(5)), `{"Action":"pass","Package":"sum"}`+"\n")+
		`{"Action":"run","Package":"sum","Test":"TestLast"}`+"\n"+`{"Action":"fail","Package":"sum","Test":"TestLast"}`+"\n"+`{"Action":"pass","Package":"sum"}`)), want: "reports 1 failed test, at most 0 allowed"},
}

// rest is a report without its first line, which the tests have printed when the code under test begins.
func rest(report string) string { return report[strings.Index(report, "\n")+1:] }

// prints0 is a script that prints a text and ends with status 0.
func prints0(text string) string {
	return "cat <<'end'\n" + strings.TrimSuffix(text, "\n") + "\nend\nexit 0\n"
}

// TestChecksAreNotCheated tries each trick by the command line or by the server, as the seed selects: the step is refused
// with the reason, it is still pending, and after the trick was undone an honest attempt is taken.
func TestChecksAreNotCheated(t *testing.T) {
	t.Parallel()
	all := append(append(append([]trick{}, pinTricks...), reportTricks...), moreTricks()...)
	if len(all) < 28 {
		t.Errorf("%d tricks", len(all))
	}
	names := slices.Sorted(maps.Keys(doors))
	cases := sample.OneIn(t, 2*len(names))
	for _, k := range all {
		var by []string
		for _, name := range names {
			if cases.Try() {
				by = append(by, name)
			}
		}
		if len(by) == 0 {
			continue // a shorter run leaves some out
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			k.try(t, by)
		})
	}
}

// try tries a trick by some of the doors.
func (k trick) try(t *testing.T, by []string) {
	if k.flow == "" {
		k.flow = sumFlow
	}
	for _, name := range by {
		t.Run(name, func(t *testing.T) {
			door := doors[name]
			c := untrusted(t, k.flow, k.files)
			if !k.untrusted {
				c.trustIt()
			}
			if k.begin == nil {
				k.begin = func(c *checked) handed { return c.start(k.start, k.flags...) }
			}
			at := k.begin(c)
			if at.Data.Pending == nil {
				t.Fatal(at.raw)
			}
			var s submission
			if k.do != nil {
				k.do(c, at, &s)
			}
			now := at
			if !k.same {
				now = c.pending(at)
			}
			began := time.Now()
			c.isRefused(k, at, door(c, now, s))
			if d := time.Since(began); d > 30*time.Second {
				t.Errorf("it took %s", d)
			}
			if k.after != nil {
				k.after(c)
			}
			c.undo(k)
			if got := door(c, c.pending(at), k.honest); got.Kind != "step" && !got.Data.IsComplete || len(got.Data.Blockers) > 0 {
				t.Errorf("an honest attempt: %s", got.raw)
			}
			c.verified()
		})
	}
}

// undo undoes a trick and does the work.
func (c *checked) undo(k trick) {
	c.t.Helper()
	c.in, c.env = c.dir, c.personEnv()
	c.restore()
	c.write("sum.sh", rightSum)
	if strings.Contains(k.flow, "[sh, sum.sh]") {
		c.write("sum.sh", prints0(passing(5)))
	}
	if c.putBack != nil {
		c.putBack()
	}
	if k.undo != nil {
		k.undo(c)
	}
}

// isRefused checks the answer to a trick, and that the step is still pending.
func (c *checked) isRefused(k trick, at, got handed) {
	c.t.Helper()
	if k.code != "" {
		if got.Kind != "error" || got.Error.Code != k.code || !strings.Contains(got.Error.Message, k.want) {
			c.t.Errorf("want %s with %q, got %s", k.code, k.want, got.raw)
		}
	} else if got.Kind != "blocked" || len(got.Data.Blockers) != 1 {
		c.t.Errorf("want one blocker with %q, got %s", k.want, got.raw)
	} else {
		b, check := got.Data.Blockers[0], "tests"
		if b.Code != "INVALID_REQUIRED_OUTPUT" || b.Pointer.Kind != "workflow_step" || b.Pointer.StepID != at.Data.Pending.StepID ||
			b.Check == nil || b.Check.ID != check || !strings.Contains(b.Message, `Check "`+check+`" of step `) ||
			!strings.Contains(b.Message, k.want) {
			c.t.Errorf("want a blocker of %q with %q, got %s", check, k.want, got.raw)
		} else if n := b.Check.Tests; k.want == wrong && (n == nil || n.Failed != 4 || n.Passed != 1) {
			c.t.Errorf("other tests ran: %s", got.raw)
		}
	}
	if status, state := c.state(at); status == "complete" || state != "pending" {
		c.t.Errorf("after the refusal the run is %s and the step %s", status, state)
	}
}

// time is the time of the last change of a file.
func (c *checked) time(name string) time.Time {
	c.t.Helper()
	fi, err := os.Stat(filepath.Join(c.dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	return fi.ModTime()
}
