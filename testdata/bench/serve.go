package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// What the measurement of the server does.
const (
	servedRuns    = 1000
	servedSteps   = 20 // of the longer runs of which a step is timed
	serverMiBMax  = 96
	serverStepMax = 2.5
)

// serverProcess is a 'waybill serve' with one store and one key.
type serverProcess struct {
	bin, dir, store, key string

	cmd    *exec.Cmd
	url    string
	errors bytes.Buffer
}

// serving measures a server: runs that are created and streamed to their ends by as many subscribers at once, what the
// server has afterwards, and a step over HTTP beside the same step in process.
func serving(n int, dir string) error {
	s := &serverProcess{bin: filepath.Join(dir, "waybill"), dir: dir, store: filepath.Join(dir, "store")}
	flows := filepath.Join(dir, ".waybill", "workflows")
	if err := os.MkdirAll(flows, 0o755); err != nil {
		return err
	}
	if err := build(filepath.Join("..", ".."), s.bin, "./cmd/waybill"); err != nil {
		return err
	}
	for _, steps := range []int{1, servedSteps} {
		if err := os.WriteFile(filepath.Join(flows, servedID(steps)+".json"), servedSource(steps), 0o644); err != nil {
			return err
		}
	}
	if err := s.addKey(); err != nil {
		return err
	}
	if err := s.load(); err != nil {
		return err
	}
	return s.step(n)
}

// servedID is the id of the workflow with that many steps.
func servedID(steps int) string { return fmt.Sprintf("bench.served-%d", steps) }

// servedSource is a workflow with n steps that the server performs itself.
func servedSource(n int) []byte {
	var steps []string
	for i := range n {
		steps = append(steps,
			fmt.Sprintf(`{"id":"step-%d","title":"Step %d","action":{"kind":"host","typeId":"core.noop"}}`, i, i))
	}
	return []byte(`{"id":"` + servedID(n) + `","name":"Served","description":"d","version":"1.0.0","steps":[` +
		strings.Join(steps, ",") + `]}`)
}

// addKey adds a key, as a person does at a terminal: program script of util-linux is one.
func (s *serverProcess) addKey() error {
	cmd := exec.Command("script", "-qec", "'"+s.bin+"' serve keys add bench --store '"+s.store+
		"' --scope runs:create,runs:read,runs:cancel", "/dev/null")
	cmd.Dir = s.dir
	answer, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	screen, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	var out []byte
	for part := make([]byte, 4096); err == nil; {
		var n int
		n, err = screen.Read(part)
		if out = append(out, part[:n]...); bytes.Contains(out, []byte("[y/N]")) && answer != nil {
			_, _ = answer.Write([]byte("y\n"))
			answer = nil
		}
	}
	err = cmd.Wait()
	if s.key = regexp.MustCompile(`wbk_\w{52}`).FindString(string(out)); s.key == "" {
		return fmt.Errorf("no key is added: %w: %s", err, out)
	}
	return nil
}

// start starts the server.
func (s *serverProcess) start() error {
	s.errors.Reset()
	s.cmd = exec.Command(s.bin, "serve", "--fixtures", "--store", s.store)
	s.cmd.Dir, s.cmd.Stderr = s.dir, &s.errors
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		return err
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var doc struct{ Data struct{ URL string } }
	err = json.Unmarshal([]byte(line), &doc)
	s.url = doc.Data.URL
	return err
}

// quit ends the server with SIGQUIT, for which it prints its goroutines, and counts those that the runtime did
// not start.
func (s *serverProcess) quit() (int, error) {
	if err := s.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return 0, err
	}
	_ = s.cmd.Wait()
	text := s.errors.Bytes()
	n := bytes.Count(text, []byte("\ncreated by ")) - bytes.Count(text, []byte("\ncreated by runtime."))
	if n == 0 {
		return 0, errors.New("the server printed no goroutines")
	}
	return n, nil
}

// descriptors counts the open files of the server.
func (s *serverProcess) descriptors() int {
	all, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	return len(all)
}

// peak is the largest resident memory that the server had, in MiB.
func (s *serverProcess) peak() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	size, _, _ := strings.Cut(rest, "kB")
	kib, err := strconv.ParseFloat(strings.TrimSpace(size), 64)
	return kib / 1024, err
}

func (s *serverProcess) client() *clienttest.Client {
	return &clienttest.Client{URL: func() string { return s.url }, Key: func() string { return s.key }}
}

// load has as many clients as runs at once. Each creates a run and follows it to its end; then each follows a run that
// lasts until all streams are open.
func (s *serverProcess) load() error {
	if err := s.start(); err != nil {
		return err
	}
	if _, err := s.client().Discover(context.Background()); err != nil {
		return err
	}
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(time.Second) // the server ends the connection
	idle := s.descriptors()
	before, err := s.quit()
	if err == nil {
		err = s.start()
	}
	if err != nil {
		return err
	}
	fmt.Printf("\nserve (%d runs, each with a subscriber)\n", servedRuns)
	began := time.Now()
	if err := s.all("conformance-noop"); err != nil {
		return err
	}
	first, err := s.peak()
	if err != nil {
		return err
	}
	fmt.Printf("  a run of one step: all are created and followed to their ends in %s, %.1f MiB resident at most\n",
		time.Since(began).Round(time.Millisecond), first)
	if err := s.all("conformance-delay"); err != nil {
		return err
	}
	peak, err := s.peak()
	if err != nil {
		return err
	}
	http.DefaultClient.CloseIdleConnections()
	deadline := time.Now().Add(20 * time.Second)
	for s.descriptors() > idle && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Second)
	left := s.descriptors() - idle
	after, err := s.quit()
	if err != nil {
		return err
	}
	bar("MiB resident at most, after runs that last while all streams are open", peak, serverMiBMax)
	bar("descriptors more than before", float64(left), 0)
	bar("goroutines more than before", float64(after-before), 0)
	return nil
}

// all creates and follows all runs of a workflow at once.
func (s *serverProcess) all(workflow string) error {
	var group errgroup.Group
	for i := range servedRuns {
		group.Go(func() error {
			return s.follow(context.Background(), workflow+"-"+strconv.Itoa(i), workflow, "run.completed")
		})
	}
	return group.Wait()
}

// follow creates a run and follows it to its end.
func (s *serverProcess) follow(ctx context.Context, key, workflow, end string) error {
	c := s.client()
	body := clienttest.Object{"workflowId": workflow}
	if workflow == "conformance-delay" {
		body["inputs"] = clienttest.Object{"delayMs": 30_000}
	}
	run, _, err := c.Create(ctx, key, body)
	if err != nil {
		return err
	}
	last := ""
	_, err = c.Stream(ctx, run, clienttest.StreamOptions{Mode: "debug"}, func(m clienttest.Message) error {
		last = m.Event
		return nil
	})
	if err == nil && last != end {
		err = fmt.Errorf("the last event is %s", last)
	}
	return err
}

// step compares runs that are created and followed over HTTP with the same runs in this process.
func (s *serverProcess) step(n int) error {
	if err := s.start(); err != nil {
		return err
	}
	defer func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() }()
	for _, steps := range []int{1, servedSteps} {
		file := fmt.Sprintf("served-%d", steps)
		local, err := newLocalRuns(filepath.Join(s.dir, file), servedSource(steps))
		if err != nil {
			return err
		}
		a := &series{name: fmt.Sprintf("over HTTP: a run of %d", steps)}
		b := &series{name: "in process: the same run"}
		for i := range max(20, min(n, 200)/steps) {
			err := a.time(func() error {
				return s.follow(context.Background(), file+"-"+strconv.Itoa(i), servedID(steps), "run.completed")
			})
			if err == nil {
				err = b.time(local.run)
			}
			if err != nil {
				return err
			}
		}
		table("steps over HTTP", b, a, b)
		fmt.Printf("  a step: %s and %s\n", round(a.p50()/time.Duration(steps)), round(b.p50()/time.Duration(steps)))
		bar("a step over HTTP / the same step in process, p50", ratio(a, b), serverStepMax)
		local.close()
	}
	return nil
}
