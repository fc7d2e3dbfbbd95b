package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/ports/porttest/big"
)

// verifications compares verifying a session with the least work that is needed:
// decode the same lines with encoding/json, read and hash the same files.
func verifications(_ int, dir string) error {
	for _, store := range []struct {
		name        string
		events, per int64
	}{{"segments of 5,000 events", 200_000, 5_000}, {"segments of one append", 65_000, 0}} {
		at := filepath.Join(dir, strings.ReplaceAll(store.name, " ", "-"))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		s, err := big.Write(at, store.events, store.per)
		if err != nil {
			return err
		}
		if err := verification(fmt.Sprintf("verify: %d events in %s, %d objects", s.Head.Next, store.name, s.Objects),
			at, s); err != nil {
			return err
		}
	}
	return nil
}

// rounds of each measurement; the first warms up.
const verifyRounds = 6

func verification(title, dir string, s big.Store) error {
	files, err := filesIn(dir)
	if err != nil {
		return err
	}
	g, done, err := verifier(dir)
	if err != nil {
		return err
	}
	defer done()
	typed := &series{name: "decode lines and objects: envelope, map"}
	untyped := &series{name: "decode lines and objects: any"}
	full, digests := &series{name: "verify SESSION"}, &series{name: "verify --digests"}
	plain := &series{name: "read + SHA-256"}
	for range verifyRounds {
		for _, round := range []struct {
			s *series
			f func() error
		}{
			{typed, func() error { return decode(files, func() any { return &envelope{} }) }},
			{untyped, func() error { return decode(files, func() any { var v any; return &v }) }},
			{full, func() error { return sound(g.VerifySession(context.Background(), s.Session.String())) }},
			{plain, func() error { return hash(files) }},
			{digests, func() error {
				return sound(g.VerifyWith(context.Background(),
					verify.VerifyOptions{Digests: true}))
			}},
		} {
			if err := round.s.time(round.f); err != nil {
				return err
			}
		}
	}
	table(title, typed, typed, untyped, full, plain, digests)
	bar("verify / encoding/json into an envelope, p50", ratio(full, typed), 1.3)
	bar("verify --digests / read + SHA-256, p50", ratio(digests, plain), 1.25)
	return nil
}

// verifier is the engine over a store in this process.
func verifier(dir string) (*verify.Verifier, func(), error) {
	s, err := open(dir)
	if err != nil {
		return nil, nil, err
	}
	e := engine.New(s)
	return verify.New(e.Reader, s, verify.NewAuditor(e.Ledger(), s)), func() { _ = s.Close() }, nil
}

func sound(v verify.Verification, err error) error {
	if err == nil && (!v.OK || len(v.Sessions) != 1 || len(v.Sessions[0].Findings)+len(v.Findings) > 0) {
		return fmt.Errorf("a sound store was found fault with: %+v", v)
	}
	return err
}

// envelope is how a program that wants a log's events would declare them.
type envelope struct {
	Actor struct {
		Kind string `json:"kind"`
		Ref  string `json:"ref"`
	} `json:"actor"`
	Data       map[string]any `json:"data"`
	DedupeKey  string         `json:"dedupeKey"`
	EventID    string         `json:"eventId"`
	EventIndex int64          `json:"eventIndex"`
	Kind       string         `json:"kind"`
	Scope      struct {
		NodeID string `json:"nodeId"`
		RunID  string `json:"runId"`
	} `json:"scope"`
	SessionID   string `json:"sessionId"`
	TimestampMs int64  `json:"timestampMs"`
	V           int    `json:"v"`
}

func filesIn(dir string) (out []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") { // locks are no facts
			out = append(out, path)
		}
		return err
	})
	return out, err
}

// side has as many goroutines as verification has work through files.
func side(files []string, each func(path string, buffer []byte) error) error {
	var next atomic.Int64
	var done sync.WaitGroup
	errs := make(chan error, runtime.GOMAXPROCS(0))
	for range runtime.GOMAXPROCS(0) {
		done.Go(func() {
			buffer := make([]byte, 128<<10)
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				if err := each(files[i], buffer); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	done.Wait()
	close(errs)
	return <-errs
}

func hash(files []string) error {
	return side(files, func(path string, buffer []byte) error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		h := sha256.New()
		if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{f}, buffer); err != nil {
			return err
		}
		_ = h.Sum(nil)
		return nil
	})
}

// decode reads lines of events into what of makes, and every other JSON file into any.
func decode(files []string, of func() any) error {
	return side(files, func(path string, _ []byte) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		events := strings.HasSuffix(filepath.Dir(path), "events")
		for line := range bytes.Lines(data) {
			var to any = new(any)
			if events {
				to = of()
			}
			if err := json.Unmarshal(line, to); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	})
}
