package main

import (
	"bytes"
	"encoding/json"
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

func build(dir, out, pkg string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, pkg)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd.Run()
}

// continues times `waybill continue` step after step, with a bare append between.
func continues(n int, dir, bin string, start *series) error {
	w, err := linear(n + 2)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "bench.json")
	if err := writeSource(file, n+2); err != nil {
		return err
	}
	_ = w
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
	tokens, err := call(bin, "start", file, "--store", store, "--json")
	if err != nil {
		return err
	}
	c, b := &series{name: "one waybill continue process"}, &series{name: "bare append: 3 events + a new snapshot"}
	for range n {
		err := c.time(func() (err error) {
			tokens, err = call(bin, "continue", "--state", tokens.State, "--ack", tokens.Ack, "--store", store, "--json")
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
	return os.WriteFile(file, []byte(`{"id":"bench.linear","name":"Linear","description":"d","version":"1.0.0","steps":[`+strings.Join(steps, ",")+`]}`), 0o644)
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
			steps = append(steps, fmt.Sprintf(`{"id":"step-%d","title":"Step %d","action":{"kind":"command","argv":["true"]}}`, i, i))
		}
		file := filepath.Join(dir, fmt.Sprintf("run-%d.json", n))
		src := `{"id":"bench.commands","name":"Commands","description":"d","version":"1.0.0","steps":[` + strings.Join(steps, ",") + `]}`
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
