package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// received is the program of the tests below: it prints its arguments, the variables with the prefix
// VALUE and its folder as one line of JSON.
func received() {
	dir, _ := os.Getwd()
	values := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "VALUE") {
			values[name] = value
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"argv": os.Args[1:], "env": values, "cwd": filepath.Base(dir)})
}

// receivedBy is one line of received.
type receivedBy struct {
	Argv []string
	Env  map[string]string
	Cwd  string
}

// valued is a workflow whose command gets the item of a loop in argv, env and cwd.
const valued = `{"id":"test.values","name":"Values","description":"d","version":"1.0.0","steps":[
 {"id":"each","title":"Each","type":"loop","loop":{"type":"forEach","items":"values","itemVar":"value","maxIterations":100},
  "body":[{"id":"show","title":"Show","action":{"kind":"command","argv":["received","--","{{value}}","a{{value}}z"],
   "env":{"VALUE":"{{value}}","VALUE_TWO":"x {{value}} y"}}}]}]}`

// hostileValues are texts that a shell, a parser of options or a formatter would read as more than a
// text.
var hostileValues = []string{"a b", "  ", `'`, `"`, `'; touch pwned; '`, `$(touch pwned)`, "`touch pwned`", "a\nb", "a\r\nb\n", "$HOME",
	"-rf", "--", "--help", "-", "*", "a\\b", "\\", "{{value}}", "{{version}}", "%s%n", "\t", "ü😀", "\u202e", "\x1b[2J", "&& touch pwned",
	"| touch pwned", "> pwned", "#", "~", "!!", "a=b", `{"a":1}x`, strings.Repeat("x", 60_000), "\u0080\ufeff"}

// outputs returns the stdout of every recorded command, in the order of the log.
func (p program) outputs() (out []string) {
	p.t.Helper()
	for _, r := range p.records() {
		out = append(out, r.Stdout.Head+r.Stdout.Tail)
	}
	return out
}

// record is what the tests read of a stored result of a command.
type record struct {
	ArgvDigest, FilledDigest string
	ExitStatus               int
	Stdout, Stderr           struct {
		Head, Tail string
		Bytes      int64
	}
	Undeclared []string
}

// records returns the stored results of commands, in the order of the log.
func (p program) records() (out []record) {
	p.t.Helper()
	var log struct {
		Events []struct {
			Kind string
			Data struct {
				Payload struct{ ArtifactKind, SHA256 string }
			}
		}
	}
	p.json(&log, "runs", "events", "@last")
	for _, e := range log.Events {
		if e.Kind != "node_output_appended" || e.Data.Payload.ArtifactKind != "wr.command_result" {
			continue
		}
		name := "sha256_" + strings.TrimPrefix(e.Data.Payload.SHA256, "sha256:")
		data, err := os.ReadFile(filepath.Join(p.store, "artifacts", name))
		var r record
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			p.t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestEachValueIsOneArgument: in argv, inside of an element, and in the environment; through real
// processes, and in a loop.
func TestEachValueIsOneArgument(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("values.json", valued)
	p.writeFile("context.json", string(asJSON(t, map[string]any{"values": hostileValues})))
	p.runPiped(0, "run", "values.json", "--trust", "--context", "context.json", "--quiet")
	all := p.outputs()
	if len(all) != len(hostileValues) {
		t.Fatalf("%d results for %d values", len(all), len(hostileValues))
	}
	for i, v := range hostileValues {
		if len(v) > 10_000 {
			continue // longer than what is stored of stdout; see the next test
		}
		var got receivedBy
		if err := json.Unmarshal([]byte(all[i]), &got); err != nil {
			t.Errorf("%q: %v in %q", v, err, all[i])
			continue
		}
		want := receivedBy{[]string{"--", v, "a" + v + "z"}, map[string]string{"VALUE": v, "VALUE_TWO": "x " + v + " y"},
			filepath.Base(p.dir)}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", v, got, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, "*pwned*")); len(left) > 0 {
		t.Errorf("a value was executed: %v", left)
	}
}

// TestLongValues: the longest value arrives as one argument, a longer one is refused and nothing runs.
func TestLongValues(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("long.json", `{"id":"test.long","name":"Long","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A",
		"action":{"kind":"command","argv":["sh","-c","echo ran >>ran; echo $#; printf %s \"$1\" | wc -c","sh","{{value}}"]}}]}`)
	for n, status := range map[int]int{65_536: 0, 65_537: 3, 100_000: 3} {
		p.writeFile("context.json", string(asJSON(t, map[string]any{"value": strings.Repeat("v", n)})))
		out := p.runPiped(status, "run", "long.json", "--trust", "--context", "context.json", "--quiet")
		if status == 3 && (!strings.Contains(out, "{{value}} in argv/4") || strings.Contains(out, "vvvv")) {
			t.Errorf("%d bytes: %s", n, out)
		}
		if status == 0 && strings.Join(strings.Fields(p.outputs()[0]), " ") != fmt.Sprint("1 ", n) {
			t.Errorf("%d bytes: %q", n, p.outputs())
		}
	}
	if p.ran() != "ran" {
		t.Errorf("ran %q", p.ran())
	}
}

// TestValuesThatAreRefused: nothing runs and nothing is recorded; the message names the key.
func TestValuesThatAreRefused(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(p.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a b", "$(touch pwned)", "-n"} {
		if err := os.Mkdir(filepath.Join(p.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.writeFile("option.json", `{"id":"test.option","name":"N","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","action":{"kind":"command","argv":["received","{{value}}"]}}]}`)
	p.writeFile("folder.json", `{"id":"test.folder","name":"N","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","action":{"kind":"command","argv":["received"],"cwd":"{{value}}"}}]}`)
	for _, c := range []struct {
		file, value string
		status      int
		message     string
	}{
		{"option.json", "a\xffb", 2, "UTF-8"}, {"option.json", `"a -b"`, 0, ""}, {"option.json", `"-b"`, 3, "option"}, {"option.json", `"--help"`, 3, "option"},
		{"option.json", "-5", 3, "option"}, {"option.json", `"a\u0000b"`, 3, "NUL"}, {"option.json", "null", 3, "not set"},
		{"option.json", `""`, 0, ""}, {"option.json", `[1,"x y"]`, 0, ""},
		{"folder.json", `"a b"`, 0, ""}, {"folder.json", `"$(touch pwned)"`, 0, ""}, {"folder.json", `"-n"`, 0, ""},
		{"folder.json", `"link"`, 3, "project's folder"}, {"folder.json", `".."`, 3, "project's folder"},
		{"folder.json", asText(t, outside), 3, "absolute"},
		{"folder.json", `""`, 3, "empty"}, {"folder.json", `"gone"`, 1, "no folder"},
	} {
		out := p.runPiped(c.status, "run", c.file, "--trust", "--set", "value="+c.value)
		if !strings.Contains(out, c.message) || c.status == 3 && (!strings.Contains(out, "{{value}}") || !strings.Contains(out, "--set value=VALUE")) {
			t.Errorf("%s %s: %s", c.file, c.value, out)
		}
		if _, err := os.Stat(p.store); c.status == 2 && err == nil {
			t.Errorf("%s %s: a store was made", c.file, c.value)
		}
		if c.status == 3 && len(p.records()) > 0 {
			t.Errorf("%s %s: a result is recorded", c.file, c.value)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(p.dir, "*", "pwned")); len(left) > 0 {
		t.Errorf("a value was executed: %v", left)
	}
}

func asText(t *testing.T, s string) string { return string(asJSON(t, s)) }

// TestNoTokenReachesACommand: neither by its environment nor by its files.
func TestNoTokenReachesACommand(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("env.json", `{"id":"test.env","name":"N","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A","action":{"kind":"command","argv":["sh","-c","env; cat \"$WAYBILL_CONTEXT\"; cat /proc/self/cmdline"]}}]}`)
	p.runPiped(0, "run", "env.json", "--trust", "--set", "k=v")
	out := p.outputs()[0]
	for _, prefix := range []string{"st.v1.", "ack.v1.", "chk.v1."} {
		if strings.Contains(out, prefix) {
			t.Errorf("%s in %s", prefix, out)
		}
	}
	for _, want := range []string{"WAYBILL_ATTEMPT_ID=attempt_", "WAYBILL_CONTEXT=/", "WAYBILL_OUTPUT=/", `{"context":{"k":"v"},"loop":{}}`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// TestKilledPerformerLeavesNoFolder: the next performer removes the private folder, and the step runs
// again under the same attempt.
func TestKilledPerformerLeavesNoFolder(t *testing.T) {
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	p.writeFile("kill.json", `{"id":"test.killed","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A",
		"action":{"kind":"command","argv":["sh","-c","echo $WAYBILL_ATTEMPT_ID >>ran; echo 1 >\"$WAYBILL_OUTPUT\"; [ -e go ] || sleep 60; cat \"$WAYBILL_OUTPUT\""]}}]}`)
	cmd := p.command("run", "kill.json", "--trust", "--quiet")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); p.ran() == "" && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond) // the guard has read the process group by now
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	folder := filepath.Join(runtime, "waybill", p.ran())
	if fi, err := os.Stat(folder); err != nil || fi.Mode().Perm() != 0o700 {
		t.Fatalf("%v %v", fi, err)
	}
	p.writeFile("go", "")
	p.runPiped(0, "run", "kill.json", "--run", "@last", "--trust", "--quiet")
	ran := strings.Fields(p.ran())
	if len(ran) != 2 || ran[0] != ran[1] {
		t.Errorf("attempts %q", ran)
	}
	if left, err := os.ReadDir(filepath.Join(runtime, "waybill")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if out := p.outputs(); len(out) != 1 || out[0] != "1\n" {
		t.Errorf("recorded %q", out)
	}
}

// TestOutputOverBudget: head and tail of each stream are kept, and the record says how long it was.
func TestOutputOverBudget(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("seq"); err != nil {
		t.Skip(err)
	}
	p := program{t, t.TempDir(), filepath.Join(t.TempDir(), "store")}
	p.writeFile("much.json", `{"id":"test.much","name":"N","description":"d","version":"1.0.0","steps":[{"id":"a","title":"A",
		"action":{"kind":"command","argv":["sh","-c","seq 100000; head -c 200000 /dev/zero >&2"]}}]}`)
	p.runPiped(0, "run", "much.json", "--trust", "--quiet")
	r := p.records()[0]
	if r.Stdout.Bytes != 588_895 || !strings.HasPrefix(r.Stdout.Head, "1\n2\n") || !strings.HasSuffix(r.Stdout.Tail, "\n100000\n") ||
		len(r.Stdout.Head) != 32<<10 || len(r.Stdout.Tail) != 32<<10 {
		t.Errorf("stdout: %d bytes, head %d, tail %d", r.Stdout.Bytes, len(r.Stdout.Head), len(r.Stdout.Tail))
	}
	if r.Stderr.Bytes != 200_000 || len(r.Stderr.Head)+len(r.Stderr.Tail) != 64<<10 {
		t.Errorf("stderr: %d bytes, head %d, tail %d", r.Stderr.Bytes, len(r.Stderr.Head), len(r.Stderr.Tail))
	}
}
