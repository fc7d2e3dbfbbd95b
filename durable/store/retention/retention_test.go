package retention_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/retention"
)

const day = 24 * 60 * 60 * 1000

func TestPolicy(t *testing.T) {
	const now = 1_000 * day
	keep := retention.Policy{RetentionDays: 90, TrashDays: 30, NowMs: now}
	for name, tt := range map[string]struct {
		policy retention.Policy
		of     retention.Session
		want   retention.Reason
	}{
		"young":              {keep, retention.Session{LastAtMs: now - 90*day}, ""},
		"old":                {keep, retention.Session{LastAtMs: now - 90*day - 1}, retention.Expired},
		"old and kept":       {keep, retention.Session{LastAtMs: 1, Kept: true}, ""},
		"of an unknown age":  {keep, retention.Session{}, ""},
		"of the future":      {keep, retention.Session{LastAtMs: now + day}, ""},
		"old, kept for ever": {retention.Policy{NowMs: now}, retention.Session{LastAtMs: 1}, ""},
		"unborn":             {retention.Policy{NowMs: now}, retention.Session{Unborn: true}, retention.Unborn},
		"unborn and kept":    {keep, retention.Session{Unborn: true, Kept: true}, ""},
		"as old as a clock gives": {retention.Policy{RetentionDays: 36500, NowMs: now}, retention.Session{LastAtMs: 1},
			""},
	} {
		if got := tt.policy.Session(tt.of); got != tt.want {
			t.Errorf("a session %s: %q, want %q", name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		policy retention.Policy
		atMs   int64
		want   retention.Reason
	}{
		{keep, now - 30*day, ""}, {keep, now - 30*day - 1, retention.TrashOld}, {retention.Policy{NowMs: now}, 1, ""},
		{retention.Policy{NowMs: now, EmptyTrash: true}, now, retention.Asked},
	} {
		if got := tt.policy.Trash(retention.Trashed{AtMs: tt.atMs}); got != tt.want {
			t.Errorf("in the trash since %d: %q, want %q", tt.atMs, got, tt.want)
		}
	}
}

// A session that is removed at one time is removed at every later one, and a longer retention
// time never removes more.
func TestRetentionIsMonotonic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := retention.Policy{RetentionDays: rapid.Int64Range(0, 400).
			Draw(t, "days"), NowMs: rapid.Int64Range(0, 2000*day).Draw(t, "now")}
		s := retention.Session{LastAtMs: rapid.Int64Range(0, 2000*day).Draw(t, "last"), Kept: rapid.Bool().
			Draw(t, "kept")}
		later, longer := p, p
		later.NowMs += rapid.Int64Range(0, 500*day).Draw(t, "later")
		longer.RetentionDays += rapid.Int64Range(0, 400).Draw(t, "longer")
		why := p.Session(s)
		if why != "" && later.Session(s) == "" {
			t.Fatalf("the session is removed now, and kept later")
		}
		if p.RetentionDays > 0 && why == "" && longer.Session(s) != "" {
			t.Fatalf("the session is kept, and removed with a longer retention time")
		}
		if s.Kept && why != "" {
			t.Fatalf("a kept session is removed: %s", why)
		}
	})
}

func TestSieveDropsReferencedObjects(t *testing.T) {
	named, filed, orphan, gone := canon.Sum([]byte("a")), canon.Sum([]byte("b")), canon.Sum([]byte("c")),
		canon.Sum([]byte("d"))
	objects := &retention.Objects{}
	for _, o := range []retention.Object{{Kind: manifest.Snapshot, Ref: named}, {Kind: manifest.Workflow, Ref: named},
		{Kind: manifest.Artifact, Ref: filed}, {Kind: manifest.Artifact, Ref: orphan},
		{Kind: manifest.Artifact, Ref: gone, Erased: true}} {
		objects.Add(o)
	}
	filter := retention.NewObjectFilter(objects)
	filter.MarkReferenced([]byte(`{"x":"sha256:` + strings.Repeat("0", 63) + `","y":"` + named.String() + `"} sha256 ` +
		filed.FileName() + " " + gone.String() + " sha256:abc"))
	filter.MarkReferenced([]byte(orphan.String()[1:])) // no digest
	left := filter.Unreferenced()
	// They are in the order of their digests.
	if len(left) != 2 || left[0].Ref != gone || left[1].Ref != orphan {
		t.Fatalf("%+v", left)
	}
	if got := filter.TakeUnreferenced(1); len(got) != 1 || got[0].Ref != gone {
		t.Errorf("%+v", got)
	}
	if got := filter.Unreferenced(); len(got) != 1 || got[0].Ref != orphan {
		t.Errorf("%+v", got)
	}
}

// Named finds every digest in any text.
func TestNamedFindsEveryDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text []byte
		want := map[[sha256.Size]byte]bool{}
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			text = append(text,
				rapid.SampledFrom([]string{"", "sha", "sha256", "sha256:", "sha256_", `{"a":"`, "sha256:0123", "ff"}).
					Draw(t, "noise")...)
			d := canon.Sum([]byte{rapid.Byte().Draw(t, "seed")})
			if rapid.Bool().Draw(t, "named") {
				text = append(text, rapid.SampledFrom([]string{d.String(), d.FileName()}).Draw(t, "spelling")...)
				want[d.Raw()] = true
			}
		}
		retention.EachDigest(text, func(raw [sha256.Size]byte) { delete(want, raw) })
		if len(want) > 0 {
			t.Fatalf("%d digests of %q were not found", len(want), text)
		}
	})
}
