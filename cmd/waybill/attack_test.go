//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/testdata/attack"
)

// What a call may use over an idle process, for any bundle and any file.
const (
	attackCPU = 40       // times what this machine needs to decode 4 MiB of JSON
	attackRSS = 64 << 10 // KiB
)

// decoding is what this process needs to decode 4 MiB of JSON now, in seconds of processor time. Beside other load a
// processor does less in a second; a bound that is a multiple of this moves with it.
func decoding(t *testing.T) float64 {
	t.Helper()
	runtime.LockOSThread() // of this thread: other tests run meanwhile
	defer runtime.UnlockOSThread()
	text := []byte(`{"x":[0` + strings.Repeat(`,"1234567"`, 4<<20/10) + "]}")
	var before, after syscall.Rusage
	var v any
	err := errors.Join(syscall.Getrusage(syscall.RUSAGE_THREAD, &before), json.Unmarshal(text, &v),
		syscall.Getrusage(syscall.RUSAGE_THREAD, &after))
	if err != nil {
		t.Fatal(err)
	}
	return seconds(after.Utime) + seconds(after.Stime) - seconds(before.Utime) - seconds(before.Stime)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// cost is what a process used.
type cost struct {
	cpu float64 // seconds of user and system time
	rss int64   // KiB
}

// measured is the command, which will write its largest memory to a file.
func (p program) measured(args ...string) *exec.Cmd {
	cmd := p.command(args...)
	cmd.Env = append(os.Environ(), peakFile+"="+filepath.Join(p.t.TempDir(), "peak"))
	return cmd
}

// costOf returns what a measured process that ended used. A build given by -binary writes no file; the kernel's
// number is used for it.
func costOf(cmd *exec.Cmd) cost {
	use := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	c := cost{cpu: seconds(use.Utime) + seconds(use.Stime), rss: use.Maxrss}
	if *binary == "" {
		_, name, _ := strings.Cut(cmd.Env[len(cmd.Env)-1], "=")
		text, _ := os.ReadFile(name)
		var err error
		if c.rss, err = strconv.ParseInt(string(text), 10, 64); err != nil {
			c.rss = math.MaxInt64 // above every bound
		}
	}
	return c
}

// within reports a cost over the idle process that is above the bounds; cpu is in units of decoding.
func (c cost) within(t *testing.T, what string, idle int64, cpu float64) {
	t.Helper()
	const quick = 0.2 // seconds, which is within each bound: no machine decodes 4 MiB in 5 ms
	if c.cpu > quick && c.cpu > cpu*decoding(t) || c.rss > idle+attackRSS {
		t.Errorf("%s: %.2f s of CPU and %d KiB, the idle process has %d KiB", what, c.cpu, c.rss, idle)
	}
}

// idleRSS is the memory of a server that was asked for nothing, in KiB.
func (p program) idleRSS() int64 {
	p.t.Helper()
	c := agentOf(p.t, p.measured("mcp"))
	n, err := peakOf(strconv.Itoa(c.cmd.Process.Pid))
	if err != nil {
		p.t.Skip(err)
	}
	c.ends()
	return n
}

// bundle writes a bundle to a file and returns its name.
func (p program) bundle(c attack.Case) string {
	p.t.Helper()
	name := filepath.Join(p.dir, "attack.bundle.json")
	if text, err := exec.Command("forge", c.Name, name).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v: %s", c.Name, err, text)
	}
	return name
}

// spend runs a command and returns its answer and what it used.
func (p program) spend(args ...string) (data []byte, c cost, exit int) {
	p.t.Helper()
	cmd := p.measured(append(args, "--json")...)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		p.t.Fatal(err)
	}
	return out.Bytes(), costOf(cmd), cmd.ProcessState.ExitCode()
}

// TestForgedBundles: bundles whose digests are valid and whose content no exporter wrote are
// refused by import and by bundle verify, within bounds of time and memory.
func TestForgedBundles(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	p := programWithWorkflows(t)
	idle := p.idleRSS()
	n, cases := 0, sample.OneIn(t, 8)
	for _, c := range attack.Cases() {
		if c.Accepted {
			continue
		}
		if n++; !cases.Try() {
			continue
		}
		p.store = filepath.Join(t.TempDir(), "store")
		name := p.bundle(c)
		data, used, exit := p.spend("import", name)
		var answer struct {
			Error struct{ Code string }
		}
		if err := json.Unmarshal(data, &answer); err != nil {
			t.Fatalf("%s: %v: %s", c.Name, err, data)
		}
		used.within(t, c.Name+": import", idle, attackCPU)
		if exit == 0 { // of a foreign form: it can be read, as far as it is known
			data, used, exit := p.spend("continue", "--run", "@last")
			if exit != 5 && exit != 6 {
				t.Errorf("%s: continue exits with %d: %.300s", c.Name, exit, data)
			}
			used.within(t, c.Name+": continue", idle, attackCPU)
			continue
		}
		code := answer.Error.Code
		if exit == 0 || code != "BUNDLE_INVALID_FORMAT" && code != "BUNDLE_INTEGRITY_FAILED" {
			t.Errorf("%s: import exits with %d: %.300s", c.Name, exit, data)
		}
		if strings.HasPrefix(c.Name, "snapshot: a ") && code != "BUNDLE_INTEGRITY_FAILED" {
			t.Errorf("%s: %s", c.Name, code)
		}
		_, used, exit = p.spend("bundle", "verify", name)
		if exit != 5 && exit != 1 && exit != 2 {
			t.Errorf("%s: bundle verify exits with %d", c.Name, exit)
		}
		used.within(t, c.Name+": bundle verify", idle, attackCPU)
	}
	if n < 60 {
		t.Errorf("only %d bundles", n)
	}
}

// TestGigabyteBundle: a bundle of 455 kB whose prompt would have ten gigabytes is imported,
// resumed, continued and listed within bounds of time and memory.
func TestGigabyteBundle(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t)
	idle := p.idleRSS()
	name := p.bundle(attack.Gigabytes())
	if info, err := os.Stat(name); err != nil || info.Size() > 470_000 {
		t.Fatalf("the bundle has %d bytes, %v", info.Size(), err)
	}
	data, used, exit := p.spend("import", name)
	if exit != 0 {
		t.Fatalf("import exits with %d: %.300s", exit, data)
	}
	used.within(t, "import", idle, attackCPU)
	for _, args := range [][]string{{"resume"}, {"continue", "--run", "@last"}, {"runs", "list"}, {"runs", "show", "@last"},
		{"bundle", "show", name}, {"runs", "timeline", "@last"}} {
		data, used, exit := p.spend(args...)
		if exit != 0 || len(data) > 1<<20 {
			t.Errorf("%v exits with %d and %d bytes", args, exit, len(data))
		}
		used.within(t, strings.Join(args, " "), idle, attackCPU)
		if args[0] == "continue" && !bytes.Contains(data, []byte("TEXT_TRUNCATED")) {
			t.Errorf("no warning in %d bytes", len(data))
		}
	}
	c := agentOf(t, p.measured("mcp"))
	for range 3 {
		if answer := c.tool("resume_session", map[string]any{}); len(answer.raw) > 1<<20 {
			t.Errorf("resume_session answers with %d bytes", len(answer.raw))
		}
	}
	c.ends()
	costOf(c.cmd).within(t, "resume_session", idle, attackCPU)
}

// TestLongHistories: bundles of more nodes and runs than a person makes are imported and resumed
// within bounds of time and memory, and the answers do not grow with them.
func TestLongHistories(t *testing.T) {
	t.Parallel()
	for _, c := range []attack.Case{attack.Lineage(), attack.Runs()} {
		p := programWithWorkflows(t)
		idle := p.idleRSS()
		name := p.bundle(c)
		for _, args := range [][]string{{"import", name}, {"resume"}} {
			data, used, exit := p.spend(args...)
			if exit != 0 || len(data) > 1<<20 {
				t.Errorf("%s: %v exits with %d and %d bytes: %.300s", c.Name, args, exit, len(data), data)
			}
			used.within(t, c.Name+": "+args[0], idle, attackCPU)
		}
		a := agentOf(t, p.measured("mcp"))
		if answer := a.tool("resume_session", map[string]any{}); len(answer.raw) > 1<<20 {
			t.Errorf("%s: resume_session answers with %d bytes", c.Name, len(answer.raw))
		}
		a.ends()
		costOf(a.cmd).within(t, c.Name+": resume_session", idle, attackCPU)
	}
}

// TestManyUnknownKeys: a file of 4 MiB validates within bounds, however its parts are wrong, and
// the list of problems does not grow with it.
func TestManyUnknownKeys(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t)
	idle, cases := p.idleRSS(), sample.OneIn(t, 3)
	for name, c := range map[string]struct {
		before, each, after string
		n                   int
		want                string
	}{
		"flat.yaml":   {"", "k%x: \n", "", 380_000, "379900 more keys"},
		"values.yaml": {"", "k%x: 1\n", "", 380_000, "379900 more keys"},
		"flat.json":   {`{"x":0`, `,"%x":0`, "}", 380_000, "379901 more keys"},
		"nested.yaml": {"steps:\n  - id: a\n", "    k%x: 1\n", "", 280_000, "more keys"},
		"flow.yaml":   {"{x: 0", ",k%x: 0", "}", 330_000, "values"},
		"types.yaml":  {"steps:\n", "- %x\n", "", 400_000, "values"},
		"types.json":  {`{"steps":[0`, `,"%x"`, "]}", 400_000, "values"},
		"bound.yaml":  {"", "k%x: 1\n", "", 49_000, "48900 more keys"},
		"bound.json":  {`{"x":0`, `,"%x":0`, "}", 98_000, "97901 more keys"},
		"first.json":  {`{"x":[0`, `,%d`, "]}", 500_000, "values"}, // no key is read
		"long.yaml":   {"", strings.Repeat("k", 100) + "%x: 1\n", "", 37_000, "36900 more keys"},
		"same.json":   {`{"x":0`, `,"a":%d`, "}", 300_000, "duplicate key"},
	} {
		if !cases.Try() {
			continue
		}
		file := filepath.Join(p.dir, name)
		writeMany(t, file, c.before, c.each, c.after, c.n)
		data, used, exit := p.spend("workflows", "validate", file)
		var answer struct {
			Data struct{ Problems []struct{ Message string } }
		}
		if err := json.Unmarshal(data, &answer); err != nil || exit != 2 {
			t.Fatalf("%s: exit %d, %v: %.300s", name, exit, err, data)
		}
		if n := len(answer.Data.Problems); n > 502 || n == 0 || !bytes.Contains(data, []byte(c.want)) {
			t.Errorf("%s: %d problems without %q: %.300s", name, n, c.want, data)
		}
		used.within(t, name, idle, attackCPU) // measured 1 to 13
		_ = os.Remove(file)
	}
}

// writeMany writes a file of repeated lines, without holding it.
func writeMany(t *testing.T, name, before, each, after string, n int) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	_, _ = w.WriteString(before)
	for i := range n {
		fmt.Fprintf(w, each, i)
	}
	_, _ = w.WriteString(after)
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestSpecialFiles: a pipe, a device or a directory is refused wherever a path is taken, with its
// name and kind, and no command waits for it.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	p := programWithWorkflows(t, "test.talk")
	pipe := filepath.Join(p.dir, "pipe.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	if l, err := net.Listen("unix", socket); err != nil {
		t.Skip(err)
	} else {
		defer l.Close()
	}
	p.runPiped(0, "start", "test.talk")
	cases := sample.OneIn(t, 3)
	for file, kind := range map[string]string{pipe: "a pipe", "/dev/null": "a device", t.TempDir(): "a directory",
		socket: "a socket"} {
		for _, args := range [][]string{
			{"start", file}, {"workflows", "validate", file}, {"workflows", "test", file}, {"import", file}, {"bundle", "show", file},
			{"bundle", "verify", file}, {"start", "test.talk", "--context", file}, {"proposals", "create", file},
			{"continue", "--run", "@last", "--artifact", file, "--notes", "n"},
			{"continue", "--run", "@last", "--notes-file", file}, {"export", "@last", "-o", file, "--force"},
		} {
			if !cases.Try() {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			cmd := exec.CommandContext(ctx, "waybill", append(args, "--store", p.store, "--json")...)
			cmd.Dir = p.dir
			out, err := cmd.Output()
			if ctx.Err() != nil {
				t.Errorf("%v blocks", args)
			}
			cancel()
			if args[0] == "export" {
				kind = "not a regular file" // a file to write, not to read
			}
			if err == nil || !bytes.Contains(out, []byte(kind)) || !bytes.Contains(out, []byte(filepath.Base(file))) {
				t.Errorf("%v: %v: %s", args, err, out)
			}
		}
	}
}
