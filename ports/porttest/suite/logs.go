package suite

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

func absent(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewStory(1)
	if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || !got.IsZero() {
		t.Errorf("StoreID = %q, %v; want the zero id", got, err)
	}
	if list, err := s.Sessions(ctx); err != nil || len(list) != 0 {
		t.Errorf("Sessions = %v, %v; want none", list, err)
	}
	seen, v := Read(t, s, r.Log, manifest.Head{})
	if !v.Unborn() || len(seen.Segments) != 0 {
		t.Errorf("a log that is not there reads as %+v", v)
	}
	if err := s.Confirm(ctx, r.Log, manifest.Head{}); err != nil {
		t.Errorf("confirming the empty log: %v", err)
	}
	if _, err := s.Keys(ctx, ports.ReadOnly); !fault.Is(err, fault.KeyringInvalid) {
		t.Errorf("Keys = %v; want KEYRING_INVALID", err)
	}
	if got, _ := s.StoreID(ctx, ports.ReadOnly); !got.IsZero() {
		t.Errorf("reading made the store %q", got)
	}
}

// commit appends a start and n advances and returns the heads.
func commit(t testing.TB, s Store, r *Story, n int) []manifest.Head {
	t.Helper()
	head, err := Gate(s, r.Start())
	must(t, err)
	heads := []manifest.Head{head}
	for range n {
		head, err = Gate(s, r.Advance(head.Next))
		must(t, err)
		heads = append(heads, head)
	}
	return heads
}

func appended(t *testing.T, open func(time.Duration) Store) {
	s, r := open(0), NewStory(1)
	heads := commit(t, s, r, 3)
	other := open(0)
	seen, v := Read(t, other, r.Log, manifest.Head{})
	if v.Health != manifest.Healthy || len(v.Findings) != 0 || v.Head != heads[3] || v.Head.Next != 12 {
		t.Fatalf("verdict %+v; want healthy at %+v", v, heads[3])
	}
	for i, h := range seen.Heads {
		if h != heads[i] {
			t.Errorf("head %d = %+v; Append said %+v", i, h, heads[i])
		}
	}
	want, err := manifest.EncodeSegment(r.Log, NewStory(1).Start().Events)
	must(t, err)
	if !bytes.Equal(seen.Segments[0].Bytes, want.Bytes) {
		t.Errorf("the first segment is not what was appended")
	}
	for _, h := range heads {
		must(t, other.Confirm(context.Background(), r.Log, h))
	}
}

func fromHead(t *testing.T, open func(time.Duration) Store) {
	s, r := open(0), NewStory(1)
	heads := commit(t, s, r, 3)
	for i, h := range heads {
		seen, v := Read(t, open(0), r.Log, h)
		if len(seen.Segments) != 3-i || v.Head != heads[3] {
			t.Errorf("from head %d: %d segments, head %+v", i, len(seen.Segments), v.Head)
		}
	}
	stop := errors.New("stop")
	_, err := s.Read(context.Background(), ports.Reading{Log: r.Log}, refusing{stop})
	if err != stop {
		t.Errorf("a visitor's error came back as %v", err)
	}
}

// refusing is a visitor that rejects everything.
type refusing struct{ err error }

func (refusing) Reset()                                        {}
func (r refusing) Visit(manifest.Segment, manifest.Head) error { return r.err }

func notOnChain(t *testing.T, open func(time.Duration) Store) {
	ctx, s := context.Background(), open(0)
	r, other := NewStory(1), NewStory(2)
	commit(t, s, r, 1)
	foreign := commit(t, s, other, 2)
	for i, h := range foreign {
		if _, err := s.Read(ctx, ports.Reading{Log: r.Log, From: h}, &Seen{}); !errors.Is(err, manifest.ErrNotOnChain) {
			t.Errorf("reading from foreign head %d: %v", i, err)
		}
		if err := s.Confirm(ctx, r.Log, h); !errors.Is(err, manifest.ErrNotOnChain) {
			t.Errorf("confirming foreign head %d: %v", i, err)
		}
	}
	if err := s.Confirm(ctx, NewStory(3).Log, foreign[0]); !errors.Is(err, manifest.ErrNotOnChain) {
		t.Errorf("confirming a head of a log that is not there: %v", err)
	}
}

func conflict(t *testing.T, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewStory(1)
	heads := commit(t, s, r, 2)
	stale := r.Advance(heads[1].Next)
	for name, at := range map[string]manifest.Head{"the empty log": {}, "an earlier head": heads[0],
		"the head before": heads[1]} {
		err := ports.WithHealthySession(ctx, s, s, r.Log, manifest.Head{}, &Seen{},
			func(w ports.Witness, _ manifest.Verdict) error {
				p := stale
				if at.Next != heads[1].Next {
					p = NewStory(1).Advance(at.Next)
				}
				_, err := s.Append(ctx, w, at, p)
				return err
			})
		if !fault.Is(err, fault.StoreConflict) {
			t.Errorf("appending behind %s: %v; want STORE_CONFLICT", name, err)
		}
	}
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[2] || v.Health != manifest.Healthy {
		t.Errorf("after conflicts the log is %+v", v)
	}
}

func badPlan(t *testing.T, open func(time.Duration) Store) {
	s, r := open(0), NewStory(1)
	heads := commit(t, s, r, 0)
	gap := r.Advance(heads[0].Next + 1)
	if _, err := Gate(s, gap); err == nil {
		t.Error("a plan that leaves a gap was committed")
	}
	foreign := NewStory(2).Advance(heads[0].Next)
	foreign.Log = r.Log
	if _, err := Gate(s, foreign); err == nil {
		t.Error("events of another session were committed")
	}
	if _, err := Gate(s, manifest.Plan{Log: r.Log}); err == nil {
		t.Error("a plan without events was committed")
	}
	if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head != heads[0] || len(v.Findings) != 0 {
		t.Errorf("after bad plans the log is %+v", v)
	}
}
