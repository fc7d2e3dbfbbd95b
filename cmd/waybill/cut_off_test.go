//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/lines"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// How many runs two machines perform, and how many steps each has.
const (
	cutOffRuns  = 4
	cutOffSteps = 4
)

// cutOff is two machines that perform the runs of one store. The first one, alpha, reaches it by way of a proxy, and is cut off while it
// performs the second step of a run, the chosen step: its command waits for a file, and so does that of the second machine, beta, for the
// same step. Each command adds a line to a file of its run and step.
type cutOff struct {
	*testing.T
	dir         string // of these files
	schema      string
	store       string // without the proxy
	network     *pgtest.Proxy
	alpha, beta *performingMachine
	chosen      string // the run of the chosen step
}

// performingMachine is a machine with a worker.
type performingMachine struct {
	sharing
	name   string
	named  bool // it is the name of its host
	clock  string
	worker *aWorker
}

// stepScript is the command of each step.
const stepScript = `cd DIR
echo "$MACHINE $WAYBILL_ATTEMPT_ID $$" >>ran.$WAYBILL_RUN_ID.$WAYBILL_STEP_ID
echo "performed by $MACHINE"
wait_for() { until [ -e $1 ]; do sleep 0.05; done; }
case $MACHINE.$WAYBILL_STEP_ID in
alpha.s1) if mkdir chosen 2>/dev/null; then
	trap 'touch stopped; exit 1' TERM
	echo $WAYBILL_RUN_ID >chosen/new; mv chosen/new chosen/run
	wait_for alpha.finish
	fi;;
beta.s1) if [ "$WAYBILL_RUN_ID" = "$(cat chosen/run)" ]; then touch again; wait_for beta.finish; fi;;
beta.s2) if [ "$WAYBILL_RUN_ID" = "$(cat chosen/run)" ]; then touch behind; wait_for beta.behind; fi;;
esac
`

// newCutOff makes the machines and the runs, and lets alpha begin the chosen step and beta perform all other runs.
func newCutOff(t *testing.T) *cutOff {
	t.Helper()
	c := &cutOff{T: t, dir: t.TempDir()}
	c.store, c.schema = sharedStore(t)
	var err error
	if c.network, err = pgtest.NewProxy(pgtest.Current()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.network.Close)
	through, err := c.network.Through(c.store)
	if err != nil {
		t.Fatal(err)
	}
	c.write("step.sh", strings.ReplaceAll(stepScript, "DIR", c.dir))
	c.alpha, c.beta = c.machine("alpha", through), c.machine("beta", c.store)
	for range cutOffRuns {
		c.beta.run(0, "start", "w.json")
	}
	c.alpha.work("--max", "1")
	c.wait("chosen/run")
	c.chosen = strings.TrimSpace(c.read("chosen/run"))
	c.beta.work("--max", "2")
	c.beta.worker.until("the other runs are complete", func(workedLine) bool { return len(c.complete(c.beta)) == cutOffRuns-1 })
	return c
}

// machine returns a machine that trusts the workflow.
func (c *cutOff) machine(name, store string) *performingMachine {
	m := &performingMachine{sharing: newMachine(c.T, store), name: name, clock: filepath.Join(c.dir, name+".fast")}
	out, err := exec.Command("unshare", "--uts", "--net", "sh", "-c", "hostname "+name+" && hostname").Output()
	m.named = err == nil && strings.TrimSpace(string(out)) == name
	var steps []string
	for i := range cutOffSteps {
		steps = append(steps, fmt.Sprintf(`{"id":"s%d","title":"Step","action":{"kind":"command","argv":["sh","%s/step.sh"]}}`, i, c.dir))
	}
	flow := `{"id":"test.cut","name":"Cut","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
	if err := os.WriteFile(filepath.Join(m.dir, "w.json"), []byte(flow), 0o600); err != nil {
		c.Fatal(err)
	}
	if out, err := withPerson(m.command("trust", "w.json"), "y"); err != nil {
		c.Fatalf("trust: %v\n%s", err, out)
	}
	return m
}

// work starts the worker of the machine: in a host with its name and without a network, where this process may make one.
func (m *performingMachine) work(flags ...string) {
	m.t.Helper()
	cmd := m.command(append([]string{"work", "--jsonl"}, flags...)...)
	cmd.Env = append(cmd.Env, "MACHINE="+m.name, leaseClockFile+"="+m.clock)
	if m.named {
		host, err := exec.LookPath("unshare")
		if err != nil {
			m.t.Fatal(err)
		}
		cmd.Args = append([]string{"unshare", "--uts", "--net", "sh", "-c", `hostname "$0" && exec "$@"`, m.name, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = host
	}
	m.worker = program{m.t, m.dir, m.store}.started(cmd)
}

// ends ends the worker, and checks that a signal is no failure.
func (m *performingMachine) ends() {
	m.t.Helper()
	if got := m.worker.signalled(syscall.SIGTERM); got != 0 {
		errs, _ := os.ReadFile(m.worker.errs)
		m.t.Errorf("%s: exit status %d: %s", m.name, got, errs)
	}
}

// reported waits until the worker reports that it left the chosen run, and returns the line.
func (c *cutOff) reported(m *performingMachine) (out workedLine) {
	c.Helper()
	m.worker.until("it leaves the run", func(l workedLine) bool {
		if l.Event == "run" && l.RunID == c.chosen {
			out = l
		}
		return out.RunID != ""
	})
	return out
}

// complete returns the runs that the worker of a machine has completed.
func (c *cutOff) complete(m *performingMachine) (out []string) {
	for _, l := range m.worker.lines() {
		if l.Outcome == "complete" {
			out = append(out, l.RunID)
		}
	}
	return out
}

// write writes a file, which commands may wait for.
func (c *cutOff) write(name, text string) {
	c.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// read returns a file; "" if there is none.
func (c *cutOff) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(c.dir, name))
	return string(b)
}

// wait waits until a file exists.
func (c *cutOff) wait(name string) {
	c.Helper()
	program{c.T, c.dir, ""}.waitFor(name)
}

// has reports that a file exists.
func (c *cutOff) has(name string) bool {
	_, err := os.Stat(filepath.Join(c.dir, name))
	return err == nil
}

// holder returns the host of the present lease of the chosen run, "" for none. A machine without a name of its own is "beta" from token 2 on.
func (c *cutOff) holder() string {
	c.Helper()
	all := sql(c.T, "select case when token > 1 then 'beta' else 'alpha' end || '|' || host from "+c.schema+"leases "+
		"where held and until > clock_timestamp() and session = (select session from "+c.schema+"brief_runs where run = '"+c.chosen+"')")
	if len(all) != 1 {
		return strings.Join(all, ",")
	}
	by, host, _ := strings.Cut(all[0], "|")
	if c.alpha.named && host != by {
		c.Errorf("the lease of %s is that of the host %s", by, host)
	}
	return by
}

// leaseEnds lets the minute of a lease pass on the clock of the database.
func (c *cutOff) leaseEnds() {
	c.Helper()
	if got := c.holder(); got != "alpha" || c.has("again") {
		c.Fatalf("before the end of the lease it is that of %q, and the step is performed again: %v", got, c.has("again"))
	}
	sql(c.T, "update "+c.schema+"leases set until = clock_timestamp() where held and token = 1")
	c.wait("again")
	if got := c.holder(); got != "beta" {
		c.Errorf("after the end of the lease it is that of %q", got)
	}
}

// alphaPID is the process of alpha's command for the chosen step.
func (c *cutOff) alphaPID() int {
	line := strings.Fields(c.read("ran." + c.chosen + ".s1"))
	pid, err := strconv.Atoi(line[2])
	if err != nil || line[0] != "alpha" {
		c.Fatalf("the command is %q", line)
	}
	return pid
}

// TestMachineIsCutOff: of two machines that perform the runs of a store one is cut off while a command runs. The other one performs that
// step once more, and no other; of the two results the second one counts.
func TestMachineIsCutOff(t *testing.T) {
	t.Parallel()
	pgtest.Shared(t)
	if *binary != "" {
		t.Skip("the clock of leases is that of the program with the tests")
	}
	some := sample.OneIn(t, 5)
	for _, one := range []struct {
		name string
		play func(*cutOff, func(*pgtest.Proxy))
		cut  func(*pgtest.Proxy)
	}{
		{"silence, the command runs", (*cutOff).commandRuns, (*pgtest.Proxy).Stall},
		{"cut, the command runs", (*cutOff).commandRuns, (*pgtest.Proxy).Cut},
		{"silence, the result is late", (*cutOff).lateResult, (*pgtest.Proxy).Stall},
		{"cut, the result is lost", (*cutOff).lostResult, (*pgtest.Proxy).Cut},
		{"silence, the result is too late", (*cutOff).tooLateResult, (*pgtest.Proxy).Stall},
	} {
		if !some.Try() {
			continue
		}
		t.Run(one.name, func(t *testing.T) {
			c := newCutOff(t)
			one.play(c, one.cut)
			c.ended()
		})
	}
}

// commandRuns: the command still runs when the lease is about to end. Alpha stops it before beta may begin.
func (c *cutOff) commandRuns(cut func(*pgtest.Proxy)) {
	cut(c.network)
	pid := c.alphaPID()
	c.write("alpha.fast", "")
	c.wait("stopped")
	for end := time.Now().Add(time.Minute); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			c.Fatal("the command of the machine that is cut off is not stopped")
		}
	}
	if err := os.Remove(c.alpha.clock); err != nil {
		c.Fatal(err)
	}
	c.leaseEnds()
	c.network.Restore()
	c.refused(c.reported(c.alpha), 1, "RUN_BUSY", "the lease of this performer was lost")
	c.betaFinishes()
}

// betaFinishes lets beta end the step and the one behind it.
func (c *cutOff) betaFinishes() {
	c.write("beta.finish", "")
	c.write("beta.behind", "")
}

// lateResult: the command ends in time, and its result arrives while beta performs the step.
func (c *cutOff) lateResult(cut func(*pgtest.Proxy)) {
	cut(c.network)
	c.write("alpha.finish", "")
	c.leaseEnds()
	c.network.Restore()
	holder := "has it now"
	if c.alpha.named {
		holder = "on beta has it now"
	}
	c.refused(c.reported(c.alpha), 1, "RUN_BUSY", holder)
	c.betaFinishes()
}

// lostResult: the command ends in time, and its result reaches no store.
func (c *cutOff) lostResult(cut func(*pgtest.Proxy)) {
	cut(c.network)
	c.write("alpha.finish", "")
	c.refused(c.reported(c.alpha), 1, "STORE_UNREACHABLE", "cannot be reached")
	c.leaseEnds()
	c.network.Restore()
	c.betaFinishes()
}

// tooLateResult: the result arrives when beta has recorded the step, and performs the next one. Alpha does not perform that as well.
func (c *cutOff) tooLateResult(cut func(*pgtest.Proxy)) {
	cut(c.network)
	c.write("alpha.finish", "")
	c.leaseEnds()
	c.write("beta.finish", "")
	c.wait("behind")
	c.network.Restore()
	c.refused(c.reported(c.alpha), 2, "RUN_BUSY", "the lease of this performer was lost") // the step is acknowledged from the log
	c.write("beta.behind", "")
}

// refused checks what alpha reports about the chosen run, and how many of its steps are acknowledged to it: it performed one before. Its
// late release ends no lease.
func (c *cutOff) refused(l workedLine, performed int, code, message string) {
	c.Helper()
	if l.Error == nil || l.Error.Code != code || !strings.Contains(l.Error.Message, message) || l.Outcome == "complete" || l.Performed != performed {
		c.Errorf("alpha reports %+v (%+v); want %s: %s", l, l.Error, code, message)
	}
	if got := c.holder(); c.has("again") && got != "beta" {
		c.Errorf("the lease is that of %q", got)
	}
}

// ended waits for the end of all runs. Then alpha is connected again: it alone performs another run. It checks the log of each run.
func (c *cutOff) ended() {
	c.Helper()
	c.beta.worker.until("all runs are complete", func(workedLine) bool { return len(c.complete(c.beta)) == cutOffRuns })
	c.beta.ends()
	c.beta.run(0, "start", "w.json")
	c.alpha.worker.until("it performs a run again", func(workedLine) bool { return len(c.complete(c.alpha)) == 1 })
	c.alpha.ends()
	e, store := c.engine()
	sessions, err := e.Sessions(context.Background())
	if err != nil || len(sessions) != cutOffRuns+1 {
		c.Fatalf("%d sessions, %v", len(sessions), err)
	}
	for _, s := range sessions {
		fold, _, err := e.ReadWindowed(context.Background(), s)
		if err != nil || len(fold.Order) != 1 {
			c.Fatalf("%s: %v, %v", s, fold.Order, err)
		}
		run := fold.Order[0].String()
		events, v, err := lines.Events(context.Background(), e.Reader, run)
		if err != nil || v.Health != manifest.Healthy || len(v.Findings) > 0 {
			c.Fatalf("%s: %+v, %v", run, v, err)
		}
		c.checkRun(run, events, store)
	}
	if out := c.beta.run(0, "verify"); !strings.Contains(out, "no findings") {
		c.Errorf("verify: %s", out)
	}
}

// engine opens the store in this process.
func (c *cutOff) engine() (*engine.Engine, *pgstore.Store) {
	a, err := pgstore.Parse(c.store)
	if err != nil {
		c.Fatal(err)
	}
	s := pgstore.Open(a, pgstore.Options{LockWait: 10 * time.Second})
	c.Cleanup(func() { _ = s.Close() })
	return engine.New(s), s
}

// checkRun checks that each step of a run has one result, and was accepted once; that each command ran once, that of the chosen step once
// on each machine, in one attempt; and that the result is that of the machine that performed the step last.
func (c *cutOff) checkRun(run string, events []event.Event, store *pgstore.Store) {
	c.Helper()
	accepted, results := 0, []string{}
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case event.AdvanceRecorded:
			if d.Outcome.Kind != event.Advanced {
				c.Errorf("%s: %+v", run, d.Outcome)
			}
			accepted++
		case event.NodeOutputAppended:
			if d.Payload.ArtifactKind != command.Kind {
				continue
			}
			b, err := store.Object(context.Background(), manifest.Artifact, d.Payload.SHA256)
			var r command.Result
			if err == nil {
				err = json.Unmarshal(b, &r)
			}
			if err != nil {
				c.Fatal(err)
			}
			results = append(results, strings.TrimSpace(strings.TrimPrefix(r.Stdout.Head, "performed by ")))
		}
	}
	if accepted != cutOffSteps || len(results) != cutOffSteps {
		c.Fatalf("%s: %d steps are accepted, and there are %d results", run, accepted, len(results))
	}
	for i, by := range results {
		var machines, attempts []string
		for line := range strings.Lines(c.read(fmt.Sprintf("ran.%s.s%d", run, i))) {
			parts := strings.Fields(line)
			machines, attempts = append(machines, parts[0]), append(attempts, parts[1])
		}
		want := []string{by}
		if run == c.chosen {
			want = [][]string{{"alpha"}, {"alpha", "beta"}, {"beta"}, {"beta"}}[i]
		}
		if !slices.Equal(machines, want) || by != want[len(want)-1] || len(slices.Compact(attempts)) != 1 {
			c.Errorf("%s, step %d: commands ran on %v in the attempts %v, and the result is that of %s", run, i, machines, attempts, by)
		}
	}
}
