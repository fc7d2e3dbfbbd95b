package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
)

func (w *fixture) keys() upkeep.KeyList {
	w.Helper()
	k, err := w.repairer().ListKeys(context.Background())
	if err != nil {
		w.Fatal(err)
	}
	return k
}

func (w *fixture) rotate(have upkeep.KeyList) upkeep.KeyList {
	w.Helper()
	k, err := w.repairer().RotateKeys(context.Background(), w.by(), have)
	if err != nil {
		w.Fatal(err)
	}
	return k
}

// TestTokensOutliveOneRotation: those of the previous key verify until the next one.
func TestTokensOutliveOneRotation(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	first := w.keys()
	if first.State != upkeep.KeysReady || first.Current == "" || first.Previous != "" || first.Rotated {
		t.Errorf("%+v", first)
	}
	second := w.rotate(first)
	if !second.Rotated || second.Previous != first.Current || second.Current == first.Current ||
		second.Voided != "" {
		t.Errorf("%+v", second)
	}
	w.g = w.process()
	b := w.must(a, note("one"))
	if _, err := w.repairer().RotateKeys(context.Background(), w.by(), first); !fault.Is(err, fault.StoreConflict) {
		t.Errorf("a second rotation from the same: %v", err)
	}
	third := w.rotate(w.keys())
	if third.Voided != first.Current || third.Previous != second.Current {
		t.Errorf("%+v", third)
	}
	w.g = w.process()
	if _, err := w.next(a, note("one")); !fault.Is(err, fault.TokenBadSignature) ||
		fault.Of(err).Suggestion.String() == "" {
		t.Errorf("after two rotations: %v", err)
	}
	w.must(b, note("two"))
}

// TestALostKeyring: tokens are lost, runs are not.
func TestALostKeyring(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(at string) error{
		"damaged": func(at string) error { return os.WriteFile(at, []byte("{}"), 0o600) },
		"open":    func(at string) error { return os.Chmod(at, 0o644) },
		"missing": os.Remove,
	} {
		w := newFixture(t)
		a := w.start(longOne)
		at := filepath.Join(w.dir, "keys", "keyring.json")
		if err := lose(at); err != nil {
			t.Fatal(err)
		}
		have := w.keys()
		want := upkeep.KeysUnusable
		if name == "missing" {
			want = upkeep.KeysMissing
		}
		if have.State != want || have.Current != "" || (have.Problem == "") != (name == "missing") {
			t.Errorf("%s: %+v", name, have)
		}
		now := w.rotate(have)
		if now.State != upkeep.KeysReady || now.Previous != "" || (now.Quarantine == "") != (name == "missing") {
			t.Errorf("%s: %+v", name, now)
		}
		if now.Quarantine != "" {
			info, err := os.Stat(filepath.Join(w.dir, now.Quarantine, "keys", "keyring.json"))
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
		w.g = w.process()
		if _, err := w.next(a, note("one")); !fault.Is(err, fault.TokenBadSignature) {
			t.Errorf("%s: a token of the lost key: %v", name, err)
		}
		at2, err := w.g.Locate(context.Background(), a.Session.RunID.String())
		if err != nil {
			t.Fatal(err)
		}
		b, err := w.g.Rehydrate(context.Background(), at2)
		if err != nil || b.StateToken == "" {
			t.Errorf("%s: the run is lost too: %v", name, err)
		}
	}
}

// TestHeadCachesMissAfterARotation: a cache that the old key sealed is a miss, and the answers are
// the same.
func TestHeadCachesMissAfterARotation(t *testing.T) {
	t.Parallel()
	l := newLongRun(t, newFixture(t), 8)
	for range 20 {
		l.attempt(l.tip(), "ok")
	}
	l.process()
	if fold, brief := l.g.Cached(l.session); !fold || !brief {
		t.Fatal("nothing was cached")
	}
	keys, err := l.g.ListKeys(context.Background())
	if err == nil {
		_, err = l.g.RotateKeys(context.Background(), caller(5), keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.process()
	if fold, brief := l.g.Cached(l.session); fold || brief {
		t.Errorf("a cache of the old key is believed: %v, %v", fold, brief)
	}
	if tip := l.tip(); tip.Node.IsZero() {
		t.Error("the run is not found")
	}
	l.attempt(l.tip(), "ok")
	l.process()
	if fold, _ := l.g.Cached(l.session); !fold {
		t.Error("no cache was made under the new key")
	}
}

// TestKeysWithoutAStore: nothing is made.
func TestKeysWithoutAStore(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	if k := w.keys(); k.State != upkeep.KeysMissing {
		t.Errorf("%+v", k)
	}
	if _, err := w.repairer().
		RotateKeys(context.Background(), w.by(), w.keys()); !fault.Is(err, fault.TargetNotFound) ||
		fault.Of(err).Suggestion.String() == "" {
		t.Errorf("rotated: %v", err)
	}
	if _, err := os.Stat(w.dir); err == nil {
		t.Error("the store was made")
	}
}

// TestKeysOfAForeignStore: its keys are not used, and nothing is written there.
func TestKeysOfAForeignStore(t *testing.T) {
	t.Parallel()
	var dir string
	g := overForeign(t, foreignDir, &dir)
	k, err := g.ListKeys(context.Background())
	if err != nil || k.State != upkeep.KeysMissing {
		t.Errorf("%+v %v", k, err)
	}
	if _, err := g.RotateKeys(context.Background(), engine.Caller{AtMs: 1}, k); !fault.Is(err, fault.StoreForeign) {
		t.Errorf("rotated: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "audit")); err == nil {
		t.Error("an audit log was begun")
	}
}
