package rewrite_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/travel/rewrite"
)

// redacted is a log without secrets, with the artifacts that it refers to.
type redacted struct {
	*rewrite.Redaction
	segments  []manifest.Segment
	artifacts map[canon.Digest][]byte // by their new digest
}

func (w *fixture) load(d canon.Digest) ([]byte, error) {
	return w.store.Object(w.ctx, manifest.Artifact, d)
}

func redactLog(rt *rapid.T, w *fixture, session id.Session) redacted {
	r := redacted{Redaction: rewrite.NewRedaction(w.load), artifacts: map[canon.Digest][]byte{}}
	chain := rewrite.NewChain(manifest.SessionEvents(session))
	was := read(w.t, w.store, manifest.SessionEvents(session))
	for _, seg := range was {
		before := line(rt, seg.Events)
		events, err := r.Segment(seg.Events)
		if err != nil {
			rt.Fatal(err)
		}
		out, err := chain.Next(events)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(before, line(rt, seg.Events)) {
			rt.Fatal("the arguments have changed")
		}
		r.segments = append(r.segments, out)
	}
	for _, seg := range was {
		for _, e := range seg.Events {
			p, ok := e.Data.(event.NodeOutputAppended)
			if !ok || p.OutputChannel != event.Artifact {
				continue
			}
			ref, data, changed, err := r.Artifact(p.Payload.SHA256)
			old, altered := r.Source(ref)
			again, _, _, _ := r.Artifact(old)
			if err != nil || canon.Sum(data) != ref || changed != (ref != p.Payload.SHA256) || altered != changed ||
				changed && again != ref {
				rt.Fatalf("%v: %s became %s (%v), which comes from %s", err, p.Payload.SHA256, ref, changed, old)
			}
			r.artifacts[ref] = data
		}
	}
	return r
}

// TestPlantedSecretsAreRemoved plants a secret in every text that a caller may send: the
// redacted log contains none, is healthy, and differs in nothing else.
func TestPlantedSecretsAreRemoved(t *testing.T) {
	few(t, "80")
	rapid.Check(t, func(rt *rapid.T) {
		w, n := newFixture(t), 0
		plain := rapid.IntRange(0, 3).Draw(rt, "plain") == 0
		w.text = func(s string) string {
			if plain {
				return s
			}
			n++
			secret := fmt.Sprintf("sk-CANARY%06d", n)
			return s + " " + secret
		}
		for _, session := range w.drive(rt) {
			r := redactLog(rt, w, session)
			was := read(t, w.store, manifest.SessionEvents(session))
			head := manifest.Head{}
			for i, seg := range r.segments {
				if bytes.Contains(seg.Bytes, []byte("CANARY")) {
					rt.Fatalf("%s", seg.Bytes)
				}
				if !bytes.Equal(seg.Group, manifest.Group(manifest.SessionEvents(session), head, seg)) {
					rt.Fatal("the chain is broken")
				}
				head = head.After(seg.Group, seg)
				if plain && !bytes.Equal(seg.Bytes, was[i].Bytes) {
					rt.Fatalf("changed without a secret:\n%s\n%s", was[i].Bytes, seg.Bytes)
				}
				r.sameButFor(rt, was[i], seg)
			}
			whole(rt, manifest.SessionEvents(session), r.segments)
			for _, seg := range r.segments {
				for _, e := range seg.Events {
					if p, ok := e.Data.(event.NodeOutputAppended); ok && p.OutputChannel == event.Artifact {
						r.holds(rt, e.Index, p.Payload)
					}
				}
			}
			if (r.Counts().Total() == 0) != plain {
				rt.Fatalf("counts %v", r.Counts())
			}
		}
	})
}

// holds checks that an artifact matches its event and contains no secret.
func (r redacted) holds(rt *rapid.T, index int64, p event.OutputPayload) {
	data, ok := r.artifacts[p.SHA256]
	if !ok || int64(len(data)) != p.ByteLength || bytes.Contains(data, []byte("CANARY")) {
		rt.Fatalf("event %d: %+v %q", index, p, data)
	}
	if p.ContentType == "application/json" {
		v := parse(string(data))
		if kind, _ := v.Get("kind"); kind.Text() != p.ArtifactKind {
			rt.Fatalf("kind %q in %s", p.ArtifactKind, data)
		}
		// The content to which an approval is bound exists.
		outputs, _ := v.Get("outputs")
		for i := range outputs.Len() {
			bound, _ := outputs.Item(i).Get("sha256")
			d, err := canon.ParseDigest(bound.Text())
			if err != nil || r.artifacts[d] == nil && !r.hasNotes(d) {
				rt.Fatalf("approved %s, which does not exist", bound.Text())
			}
		}
	}
}

func (r redacted) hasNotes(d canon.Digest) bool {
	for _, seg := range r.segments {
		for _, e := range seg.Events {
			if p, ok := e.Data.(event.NodeOutputAppended); ok && canon.Sum([]byte(p.Payload.NotesMarkdown)) == d {
				return true
			}
		}
	}
	return false
}

// sameButFor checks that a line is unchanged except for texts with a secret and what depends
// on them.
func (r redacted) sameButFor(rt *rapid.T, was, is manifest.Segment) {
	var same func(a, b canon.Value, at string) bool
	same = func(a, b canon.Value, at string) bool {
		if a.Kind() != b.Kind() {
			return false
		}
		switch a.Kind() {
		case canon.Array, canon.Object:
			for i, j := 0, 0; i < a.Len() || j < b.Len(); i, j = i+1, j+1 {
				if a.Kind() == canon.Object && i < a.Len() && a.Key(i) == "requestDigest" &&
					(j == b.Len() || b.Key(j) != "requestDigest") {
					j--
					continue
				}
				if i >= a.Len() || j >= b.Len() || a.Kind() == canon.Object && a.Key(i) != b.Key(j) {
					return false
				}
				name := at
				if a.Kind() == canon.Object {
					name = a.Key(i)
				}
				if !same(a.Item(i), b.Item(j), name) {
					return false
				}
			}
			return true
		case canon.Number:
			return a.Float() == b.Float() || at == "byteLength"
		}
		if at == "sha256" && a.Text() != b.Text() {
			d, err := canon.ParseDigest(b.Text())
			_, ok := r.Source(d)
			return err == nil && ok
		}
		return a.Equal(b) || strings.Contains(a.Text(), "CANARY") &&
			strings.Contains(b.Text(), redact.Marker(redact.SecretKey))
	}
	for i := range was.Events {
		a, b := parse(string(line(rt, was.Events[i:i+1]))), parse(string(line(rt, is.Events[i:i+1])))
		kind, _ := a.Get("kind")
		if kind.Text() == "observation_recorded" {
			continue
		}
		if !same(a, b, "") {
			rt.Fatalf("event %d:\n%s\n%s", was.Events[i].Index, a.JCS(), b.JCS())
		}
	}
}
