package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/log/manifest"
)

// controlsGone returns what a verification reports about missing control files.
func controlsGone(v verify.Verification) (paths, says []string) {
	all := slices.Clone(v.Findings)
	for _, s := range v.Sessions {
		all = append(all, s.Findings...)
	}
	for _, f := range all {
		if f.Code == manifest.ControlMissing {
			paths, says = append(paths, f.Path), append(says, f.Message)
		}
	}
	return paths, says
}

// TestAMissingMarkIsReported: of an imported session, by its first event or by the audit log.
func TestAMissingMarkIsReported(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	first := newFixture(t)
	a := first.must(first.start(twoSteps), note("one"))
	data := export(t, first.g, a.Session.SessionID, 1)
	for name, tt := range map[string]struct{ audited, asNew, want bool }{
		"as new":                       {false, true, true},
		"as new, on record":            {true, true, true},
		"under its own ids, on record": {true, false, true},
		"of which nothing tells":       {false, false, false},
	} {
		w := newFixture(t)
		if tt.audited {
			w = auditWorld(t)
		}
		s := take(t, w.g, data, tt.asNew).SessionID
		if !tt.audited { // as an older version left it
			if err := os.RemoveAll(filepath.Join(w.dir, "audit")); err != nil {
				t.Fatal(err)
			}
		}
		w.start(twoSteps) // another one, which was begun here
		mark := filepath.Join(w.dir, "sessions", s.String(), "imported.json")
		check := func(want bool) {
			for _, ref := range []string{"", s.String()} {
				v, err := verify.Verification{}, error(nil)
				if ref == "" {
					v, err = w.g.Verify(ctx)
				} else {
					v, err = w.g.VerifySession(ctx, ref)
				}
				paths, says := controlsGone(v)
				if err != nil || !v.OK ||
					(len(paths) == 1 && paths[0] == "sessions/"+s.String()+"/imported.json") != want || len(paths) > 1 {
					t.Errorf("%s, %q: %v %v", name, ref, paths, err)
				}
				if want && strings.Contains(says[0], "audit log records") != tt.audited {
					t.Errorf("%s: %s", name, says)
				}
			}
		}
		check(false)
		if err := os.Remove(mark); err != nil {
			t.Fatal(err)
		}
		check(tt.want)
	}
}

// TestAMissingKeyringIsReported: in a store with sessions, and only there.
func TestAMissingKeyringIsReported(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.start(twoSteps)
	if err := os.Remove(filepath.Join(w.dir, "keys", "keyring.json")); err != nil {
		t.Fatal(err)
	}
	v, err := w.g.Verify(context.Background())
	if paths, _ := controlsGone(v); err != nil || !v.OK || !slices.Equal(paths, []string{"keys/keyring.json"}) {
		t.Errorf("%+v %v", v, err)
	}
}

// TestVerifyOfASessionChecksItsControls: those of that session.
func TestVerifyOfASessionChecksItsControls(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	odd, whole := w.start(twoSteps).Session.SessionID, w.start(twoSteps).Session.SessionID
	for _, name := range []string{"keep", "imported.json"} {
		at := filepath.Join(w.dir, "sessions", odd.String(), name)
		if err := os.WriteFile(at, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := w.g.VerifySession(ctx, odd.String())
		if err != nil || v.OK || len(v.Sessions[0].Findings) != 1 ||
			v.Sessions[0].Findings[0].Code != manifest.ControlDamaged ||
			!strings.HasSuffix(v.Sessions[0].Findings[0].Path, "/"+name) {
			t.Errorf("%s: %+v %v", name, v, err)
		}
		if v, err := w.g.VerifySession(ctx, whole.String()); err != nil || !v.OK {
			t.Errorf("%+v %v", v, err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
}
