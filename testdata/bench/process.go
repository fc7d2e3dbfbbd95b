package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// processes compares whole processes: start-up with an empty cobra program, one
// continue with a bare append.
func processes(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	n = min(n, 150)
	bin, empty := filepath.Join(dir, "waybill"), filepath.Join(dir, "emptycobra")
	if err := build(filepath.Join("..", ".."), bin, "./cmd/waybill"); err != nil {
		return err
	}
	if err := build(".", empty, "./emptycobra"); err != nil {
		return err
	}
	a, b := &series{name: "waybill version"}, &series{name: "an empty cobra program"}
	for range n {
		if err := a.time(exec.Command(bin, "version").Run); err != nil {
			return err
		}
		if err := b.time(exec.Command(empty, "version").Run); err != nil {
			return err
		}
	}
	table("start-up", b, a, b)
	bar("version / empty cobra, p50", ratio(a, b), 2)
	return continues(n, dir, bin, a)
}

func build(dir, out, pkg string) error { return buildTagged(dir, out, pkg) }

// built is the directory of programs that are not built again.
var built = flag.String("built", "", "a directory with the programs of the part, which are not built then")

// buildTagged is build with further tags.
func buildTagged(dir, out, pkg string, tags ...string) error {
	if *built != "" {
		return os.Symlink(filepath.Join(*built, filepath.Base(out)), out)
	}
	further := ""
	for _, tag := range tags {
		further += "," + tag
	}
	cmd := exec.Command("go", "build", "-trimpath", "-tags", "nethttpomithttp2"+further, "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.Run()
}

// continues times `waybill continue` step after step, with a bare append between.
// A new run begins every few steps: how the cost grows with history is another
// measurement.
func continues(n int, dir, bin string, start *series) error {
	const each = 10
	file := filepath.Join(dir, "bench.json")
	if err := writeSource(file, 4*each); err != nil {
		return err
	}
	s, err := open(filepath.Join(dir, "bare"))
	if err != nil {
		return err
	}
	defer s.Close()
	bare, err := newAppender(s)
	if err != nil {
		return err
	}
	store := filepath.Join(dir, "store")
	c, b := &series{name: "one waybill continue process"}, &series{name: "bare append: 3 events + a new snapshot"}
	var tokens pair
	for i := range n {
		if i%each == 0 {
			if tokens, err = call(bin, "start", file, "--store", store, "--json"); err != nil {
				return err
			}
		}
		err := c.time(func() (err error) {
			tokens, err = call(bin, "continue", "--state", tokens.State, "--ack", tokens.Ack, "--store", store,
				"--json")
			return err
		})
		if err != nil {
			return err
		}
		if err := b.time(bare.append); err != nil {
			return err
		}
	}
	table("continue", b, c, b)
	bar("continue / (6 x bare append + start)", float64(c.p50())/float64(6*b.p50()+start.p50()), 1)
	return late(bin, dir)
}

// late is the same call deep in a history.
func late(bin, dir string) error {
	const deep = 400
	file, store := filepath.Join(dir, "deep.json"), filepath.Join(dir, "deep")
	if err := writeSource(file, deep); err != nil {
		return err
	}
	tokens, err := call(bin, "start", file, "--store", store, "--json")
	if err != nil {
		return err
	}
	early, last := &series{name: "steps 5 to 25"}, &series{name: "steps 375 to 395"}
	for i := range deep - 5 {
		into := &series{}
		switch {
		case i >= 5 && i < 25:
			into = early
		case i >= deep-25:
			into = last
		}
		if err := into.time(func() (err error) {
			tokens, err = call(bin, "continue", "--state", tokens.State, "--ack", tokens.Ack, "--store", store,
				"--json")
			return err
		}); err != nil {
			return err
		}
	}
	table("continue processes in one long run", early, last, early)
	bar("late / early, p50", ratio(last, early), 1.2)
	return nil
}

type pair struct {
	State string `json:"stateToken"`
	Ack   string `json:"ackToken"`
}

func call(bin string, args ...string) (pair, error) {
	var doc struct {
		Data pair `json:"data"`
	}
	cmd := exec.Command(bin, args...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return pair{}, fmt.Errorf("%w: %s%s", err, errOut.String(), out.String())
	}
	return doc.Data, json.Unmarshal(out.Bytes(), &doc)
}

func writeSource(file string, n int) error {
	var steps []string
	for i := range n {
		steps = append(steps, fmt.Sprintf(`{"id":"step-%d","title":"Step %d","prompt":"Do it."}`, i, i))
	}
	return os.WriteFile(file, []byte(
		`{"id":"bench.linear","name":"Linear","description":"d","version":"1.0.0","steps":[`+strings.Join(steps, ",")+
			`]}`), 0o644)
}

// runCommand times `waybill run` over 1,000 command steps of true.
func runCommand(_ int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	bin := filepath.Join(dir, "waybill")
	if err := build(filepath.Join("..", ".."), bin, "./cmd/waybill"); err != nil {
		return err
	}
	fmt.Printf("\nwaybill run, command steps of true\n")
	var rates []float64
	for _, n := range []int{100, 1000} {
		var steps []string
		for i := range n {
			steps = append(steps,
				fmt.Sprintf(`{"id":"step-%d","title":"Step %d","action":{"kind":"command","argv":["true"]}}`, i, i))
		}
		file := filepath.Join(dir, fmt.Sprintf("run-%d.json", n))
		src := `{"id":"bench.commands","name":"Commands","description":"d","version":"1.0.0","steps":[` +
			strings.Join(steps, ",") + `]}`
		if err := os.WriteFile(file, []byte(src), 0o644); err != nil {
			return err
		}
		cmd := exec.Command(bin, "run", file, "--trust", "--quiet", "--store", filepath.Join(dir, "store"))
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		rates = append(rates, float64(n)/time.Since(start).Seconds())
		fmt.Printf("  %5d steps: %.0f steps/s\n", n, rates[len(rates)-1])
	}
	bar("166 x 2 / steps per second at 1,000 steps", 332/rates[1], 1)
	return nil
}
