package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/waybill/waybill/cmd/waybill/cli/stores"
	"github.com/waybill/waybill/ports/porttest/pgtest"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/testdata/attack"
)

// binary is the program under test. A test of an attack can thus be run against a version that did
// not withstand it yet; -run must choose tests that start the program as a process.
var binary = flag.String("binary", "", "test this build of the program instead of the one with the tests")

// installed runs the tests after testscript.Main has put the program on the path.
type installed struct{ *testing.M }

// Run puts the program of -binary in the place of the tests' own. What the tests start has ownIdentity. Calls in this
// process leave garbage of many commands behind: it is collected less often than in a program.
func (i installed) Run() int {
	debug.SetGCPercent(400)
	time.Local = time.UTC // golden files of views have times
	for _, v := range ownIdentity {
		name, value, _ := strings.Cut(v, "=")
		_ = os.Setenv(name, value) // fails for invalid names only
	}
	serveValidation()
	var err error
	if fixtures, err = os.MkdirTemp("", "waybill-fixtures-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer func() { _ = os.RemoveAll(fixtures) }()
	defer pgtest.End()
	pgtest.Settings = []string{"fsync=on", "full_page_writes=on"} // doctor looks at them
	if flag.Parse(); *binary != "" {
		own, err := exec.LookPath("waybill")
		if err == nil {
			err = os.Remove(own)
		}
		var program []byte
		if err == nil {
			program, err = os.ReadFile(*binary)
		}
		if err == nil {
			err = os.WriteFile(own, program, 0o700)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "-binary:", err)
			return 2
		}
	}
	return i.M.Run()
}

func TestMain(m *testing.M) {
	testscript.Main(installed{m}, map[string]func(){
		"waybill": func() {
			if os.Getenv(peakFile) == "" {
				debug.SetGCPercent(400) // almost all of these processes end before a collection is of use
			}
			useLeaseClock()
			status := runValid(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
			writePeak()
			os.Exit(status)
		},
		"person":   person,
		"forge":    func() { os.Exit(forge(os.Args[1], os.Args[2])) },
		"received": received,
	})
}

// peakFile is the environment variable with the file to which a process of the program under test writes its largest
// memory, in KiB. What the kernel states about a process that ended has the memory of the process that started it as
// its lower bound, and the process of the tests is large.
const peakFile = "WAYBILL_TEST_PEAK"

// writePeak writes the largest memory of this process to the file that peakFile names, if there is one.
func writePeak() {
	name := os.Getenv(peakFile)
	if name == "" {
		return
	}
	n, err := peakOf("self")
	if err == nil {
		err = os.WriteFile(name, strconv.AppendInt(nil, n, 10), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// peakOf is the largest memory of a process so far, in KiB.
func peakOf(process string) (int64, error) {
	status, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	text, _, _ := strings.Cut(rest, " kB")
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}

// ownIdentity is an environment in which git has a name of the tests, and none of the machine's.
var ownIdentity = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
	"GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Sam"}

// forge writes the bundle of an attack to a file. It is a process of its own: the tests' process stays small.
func forge(name, file string) int {
	for _, c := range attack.Cases() {
		if c.Name != name {
			continue
		}
		out, err := os.Create(file)
		if err == nil {
			err = errors.Join(c.Write(out), out.Close())
		}
		if err == nil {
			return 0
		}
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

// TestScript runs the scripts of testdata/script, one file per behavior. Each has its own home,
// working directory and time zone.
func TestScript(t *testing.T) { testscript.Run(t, scripts(func(*testscript.Env) error { return nil })) }

// scripts are the scripts, with a further preparation of each.
func scripts(prepare func(*testscript.Env) error) testscript.Params {
	return testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("USERPROFILE", env.WorkDir)
			env.Setenv("WAYBILL_HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("TZ", "UTC")
			for _, v := range ownIdentity {
				name, value, _ := strings.Cut(v, "=")
				env.Setenv(name, value)
			}
			env.Setenv("UID", strconv.Itoa(os.Getuid()))
			foreign, err := filepath.Abs("../../testdata/foreign/store")
			if err != nil {
				return err
			}
			env.Setenv("FOREIGN", foreign)
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			return prepare(env)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "tmpfs": // where a system keeps temporary files in memory
				v, err := osfs.NewDir(cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir())).Volume()
				return err == nil && v.Type == "0x1021994", nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "json": jsonIs, "get": getJSON, "files": files, "race": race, "repeat": repeat,
			"grow": grow, "many": many, "follow": follow, "control": control, "alike": alike,
		},
	}
}

// exits N command…: the command must end with exit status N, which for a signal is 128 and its number, as in a shell.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			got = 128 + int(status.Signal())
		}
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// lookup returns the value at a dotted path of the JSON document on stdout, which must be the
// only output.
func lookup(ts *testscript.TestScript, path string) any {
	text := ts.ReadFile("stdout")
	var doc any
	d := json.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&doc); err != nil {
		ts.Fatalf("stdout is not JSON: %v", err)
	}
	if d.More() || strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("stdout is not one document on one line:\n%s", text)
	}
	for part := range strings.SplitSeq(path, ".") {
		switch at := doc.(type) {
		case map[string]any:
			v, ok := at[part]
			if !ok {
				ts.Fatalf("no member %s in %s", part, path)
			}
			doc = v
		case []any:
			if part == "len" {
				doc = float64(len(at))
				continue
			}
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(at) {
				ts.Fatalf("no item %s in %s (%d items)", part, path, len(at))
			}
			doc = at[i]
		default:
			ts.Fatalf("%s leads into the scalar %v", path, doc)
		}
	}
	return doc
}

// json PATH VALUE: compares the value at a path of the JSON document on stdout. VALUE is JSON
// if it parses as JSON, else a string.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	got := lookup(ts, args[0])
	var want any
	if json.Unmarshal([]byte(args[1]), &want) != nil {
		want = args[1]
	}
	if text, ok := got.(string); ok && len(text) == 8 && text == args[1] {
		want = text // a key id of eight hexadecimal digits that happen to be a JSON number
	}
	if reflect.DeepEqual(got, want) == neg {
		ts.Fatalf("%s is %v, want %v (negated: %v)", args[0], got, want, neg)
	}
}

// get VAR PATH: stores the value at a path of the document on stdout in a variable.
func getJSON(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], fmt.Sprint(lookup(ts, args[1])))
}

// files DIR OUT [all]: writes the digest of every file below DIR to OUT. Lock files, which name
// their last holder, are included only with "all".
//
// Over a database the rows of its store, without those of caches and leases, are what the directory home has.
func files(ts *testscript.TestScript, _ bool, args []string) {
	var b strings.Builder
	if url := ts.Getenv("WAYBILL_STORE"); args[0] == "home" && stores.IsURL(url) {
		sum, err := databaseSum(url)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(sum), 0o600))
		return
	}
	root := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".lock") && len(args) < 3 {
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(data), filepath.ToSlash(rel))
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o600))
}

// race N command…: runs N processes concurrently. Each must exit with 0 or 4, at least one with
// 0, and all that exit with 0 must print the same.
func race(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	type result struct {
		out    string
		status int
	}
	results := make(chan result)
	for range n {
		go func() {
			cmd := exec.Command(path, args[2:]...)
			cmd.Dir, cmd.Env = ts.MkAbs("."), []string{}
			for _, name := range []string{"HOME", "WAYBILL_HOME", "XDG_CONFIG_HOME", "PATH", "TMPDIR", "WAYBILL_STORE"} {
				cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
			}
			out, _ := cmd.Output()
			results <- result{string(out), cmd.ProcessState.ExitCode()}
		}()
	}
	answers := map[string]int{}
	for range n {
		switch r := <-results; r.status {
		case 0:
			answers[r.out]++
		case 4:
		default:
			ts.Fatalf("exit status %d:\n%s", r.status, r.out)
		}
	}
	if len(answers) != 1 {
		ts.Fatalf("%d different answers: %v", len(answers), answers)
	}
}

// repeat N command…: runs the command N times in sequence; all must print the same bytes.
func repeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	first := ""
	for i := range n {
		ts.Check(ts.Exec(args[1], args[2:]...))
		out := ts.ReadFile("stdout")
		if i > 0 && out != first {
			ts.Fatalf("time %d differs:\n%s\nfirst:\n%s", i+1, out, first)
		}
		first = out
	}
}

// many N command…: runs a command N times.
func many(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for range n {
		ts.Check(ts.Exec(args[1], args[2:]...))
	}
}

// follow [OLD NEW]…: runs the last command that the command before printed on a line of its own, with each word OLD
// replaced by NEW.
func follow(ts *testscript.TestScript, _ bool, args []string) {
	var words []string
	for line := range strings.Lines(ts.ReadFile("stdout") + ts.ReadFile("stderr")) {
		switch before, command, found := strings.Cut(line, "waybill "); strings.TrimSpace(before) {
		case "", "Next:", "Show it with:":
			if found {
				words = strings.Fields(command)
			}
		}
	}
	if words == nil {
		ts.Fatalf("no command was printed")
	}
	for i := range words {
		words[i] = strings.Trim(words[i], "'")
		for at := 0; at+1 < len(args); at += 2 {
			if words[i] == args[at] {
				words[i] = args[at+1]
			}
		}
	}
	ts.Logf("follow: waybill %q", words)
	ts.Check(ts.Exec("waybill", words...))
}

// grow FILE N TEXT: writes TEXT N times to FILE. \xff is replaced by that byte.
func grow(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.ReplaceAll(args[2], `\xff`, "\xff")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(text, n)), 0o600))
}

// control FILE KIND VERSION DATA: writes a control file with a correct digest.
func control(ts *testscript.TestScript, _ bool, args []string) {
	v, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	data, err := canon.Parse([]byte(args[3]))
	ts.Check(err)
	b, err := controlfile.Encode(controlfile.Document{Kind: args[1], V: v, Data: data})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b, 0o600))
}

// alike FILE WORD OTHER WORD: two texts must be equal except for one word of each.
func alike(ts *testscript.TestScript, neg bool, args []string) {
	a := strings.ReplaceAll(ts.ReadFile(args[0]), args[1], "WORD")
	b := strings.ReplaceAll(ts.ReadFile(args[2]), args[3], "WORD")
	if (a == b) == neg {
		ts.Fatalf("%s and %s (negated: %v):\n%s\n%s", args[0], args[2], neg, a, b)
	}
}
