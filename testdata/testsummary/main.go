// Command testsummary reads what 'go test -json' prints and shows what a person needs of it:
// the output of tests that failed, and the seconds of each package, the slowest first. With
// -cases it shows as well how many cases of each enumeration were tried.
//
//	{ go test -json ./...; echo "exit $?"; } | go run ./testdata/testsummary [-cases]
//
// The line behind the JSON is the exit status of go test: without it, or with another one
// than 0, testsummary exits with 1, independent of the events.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// event is one line of 'go test -json'; see 'go doc test2json'.
type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

// test names one test, or a package for an empty name.
type test struct{ pkg, name string }

// enumeration is how many cases a test tried, and how many there are.
type enumeration struct {
	test
	tried, of int
}

type summary struct {
	output  map[test]*strings.Builder // of tests that have not passed
	order   []test                    // of output
	seconds map[string]float64
	cached  map[string]bool
	failed  []string // packages
	cases   []enumeration
	exit    string // of go test

	passedTests, failedTests, skippedTests int // subtests included
}

var casesLine = regexp.MustCompile(`cases: (\d+) of (\d+)`)

const module = "github.com/waybill/waybill/"

func main() {
	cases := flag.Bool("cases", false, "show how many cases each test tried")
	flag.Parse()
	s := summary{output: map[test]*strings.Builder{}, seconds: map[string]float64{}, cached: map[string]bool{}}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
	if *cases {
		s.printCases()
	}
	s.printSeconds()
	fmt.Printf("%d passed, %d failed, %d skipped\n", s.passedTests, s.failedTests, s.skippedTests)
	if s.exit != "exit 0" || len(s.failed) > 0 || len(s.seconds) == 0 {
		fmt.Printf("FAIL %s (go test: %q)\n", strings.Join(s.failed, " "), s.exit)
		os.Exit(1)
	}
}

func (s *summary) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			s.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *summary) line(line string) {
	var e event
	if strings.HasPrefix(line, "exit ") {
		s.exit = line
		return
	}
	if json.Unmarshal([]byte(line), &e) != nil {
		fmt.Println(line)
		return
	}
	at := test{strings.TrimPrefix(e.Package, module), e.Test}
	switch e.Action {
	case "output":
		if found := casesLine.FindStringSubmatch(e.Output); found != nil {
			tried, _ := strconv.Atoi(found[1])
			of, _ := strconv.Atoi(found[2])
			s.cases = append(s.cases, enumeration{at, tried, of})
		}
		if strings.Contains(e.Output, "(cached)") {
			s.cached[at.pkg] = true
		}
		if s.output[at] == nil {
			s.output[at] = &strings.Builder{}
			s.order = append(s.order, at)
		}
		s.output[at].WriteString(e.Output)
	case "build-output":
		fmt.Print(e.Output)
	case "pass", "skip":
		delete(s.output, at)
		if e.Test != "" && e.Action == "pass" {
			s.passedTests++
		} else if e.Test != "" {
			s.skippedTests++
		}
		if e.Test == "" && e.Action == "pass" {
			s.seconds[at.pkg] = e.Elapsed
			s.forget(at.pkg, false)
		}
	case "fail":
		if e.Test != "" {
			s.failedTests++
		} else {
			s.seconds[at.pkg] = e.Elapsed
			s.failed = append(s.failed, at.pkg)
			s.forget(at.pkg, true)
		}
	}
}

// forget drops the output of a package, and prints before what is left of it: that of the
// tests which failed or did not end.
func (s *summary) forget(pkg string, show bool) {
	s.order = slices.DeleteFunc(s.order, func(at test) bool {
		if at.pkg != pkg {
			return false
		}
		if text := s.output[at]; text != nil && show {
			fmt.Print(text)
		}
		delete(s.output, at)
		return true
	})
}

// printCases adds the cases of subtests up.
func (s *summary) printCases() {
	slices.SortStableFunc(s.cases, func(a, b enumeration) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.top(), b.top()))
	})
	var all enumeration
	for i := 0; i < len(s.cases); {
		sum := enumeration{test: test{s.cases[i].pkg, s.cases[i].top()}}
		for ; i < len(s.cases) && s.cases[i].pkg == sum.pkg && s.cases[i].top() == sum.name; i++ {
			sum.tried, sum.of = sum.tried+s.cases[i].tried, sum.of+s.cases[i].of
		}
		fmt.Printf("%9d of %9d cases  %s %s\n", sum.tried, sum.of, sum.pkg, sum.name)
		all.tried, all.of = all.tried+sum.tried, all.of+sum.of
	}
	fmt.Printf("%9d of %9d cases  in all\n", all.tried, all.of)
}

func (e enumeration) top() string {
	name, _, _ := strings.Cut(e.name, "/")
	return name
}

// printSeconds leaves out packages of less than half a second.
func (s *summary) printSeconds() {
	type row struct {
		pkg     string
		seconds float64
	}
	var rows []row
	var sum float64
	for pkg, seconds := range s.seconds {
		rows, sum = append(rows, row{pkg, seconds}), sum+seconds
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.pkg, b.pkg))
	})
	for _, r := range rows {
		if r.seconds >= 0.5 {
			fmt.Printf("%8.1f s  %s\n", r.seconds, r.pkg)
		}
	}
	fmt.Printf("%8.1f s  in %d packages, %d of them cached\n", sum, len(rows), len(s.cached))
}
