//go:build linux || darwin

package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// TestVerifyReportsLinkedSideLogs: what readers of a log refuse, verify reports as damage of that log, whichever part of
// it was replaced.
func TestVerifyReportsLinkedSideLogs(t *testing.T) {
	t.Parallel()
	parts := map[string]func(w *fixture, log string){
		"a linked directory": linkOut,
		"a dead link":        func(w *fixture, log string) { place(w, log, deadLink) },
		"a pipe":             func(w *fixture, log string) { place(w, log, fifo) },
		"a file":             func(w *fixture, log string) { place(w, log, plainFile) },
		"a linked manifest":  func(w *fixture, log string) { linkOut(w, log+"/manifest.jsonl") },
		"linked segments":    func(w *fixture, log string) { linkOut(w, log+"/events") },
	}
	for name, change := range parts {
		for _, side := range []string{"annotations", "proposals", "audit"} {
			t.Run(name+" of "+side, func(t *testing.T) {
				t.Parallel()
				w, goes := verifiedStore(t)
				session := "sessions/" + goes.Session.SessionID.String()
				root := side
				switch side {
				case "annotations":
					root = session + "/" + side
				case "proposals":
					// Any log will do: nothing of it is read.
					moved := filepath.Join(w.dir, side)
					if err := os.CopyFS(moved, os.DirFS(filepath.Join(w.dir, "audit"))); err != nil {
						t.Fatal(err)
					}
				}
				change(w, root)
				w.g = w.process()
				if side == "annotations" {
					_, err := w.g.Store.Read(t.Context(), ports.ReadRequest{Log: feedback.LogOf(goes.Session.SessionID)}, ports.Skip)
					if !fault.Is(err, fault.StoreCorrupt) {
						t.Errorf("reading returned %v", err)
					}
					v, err := w.g.VerifySession(t.Context(), goes.Session.SessionID.String())
					reportsDamageAt(t, v, err, root)
				}
				for _, digests := range []bool{false, true} {
					v, err := w.g.VerifyWith(t.Context(), verify.VerifyOptions{Digests: digests})
					reportsDamageAt(t, v, err, root)
				}
			})
		}
	}
}

// reportsDamageAt requires an error about the log at root, and that it is not valid.
func reportsDamageAt(t *testing.T, v verify.Verification, err error, root string) {
	t.Helper()
	found := slices.ContainsFunc(damageIn(v), func(f manifest.Finding) bool {
		return f.Path == root && f.Code == manifest.ManifestDamaged
	})
	if err != nil || !found || v.OK {
		t.Errorf("%v, %+v", err, damageIn(v))
	}
}

// TestVerifyReportsSessionsThatAreNotRead: a link or file under a session's name is reported, and no object as one that
// nothing refers to.
func TestVerifyReportsSessionsThatAreNotRead(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *fixture, session string){
		"a link": linkOut,
		"a pipe": func(w *fixture, session string) { place(w, session, fifo) },
		"a file": func(w *fixture, session string) { place(w, session, plainFile) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, goes := verifiedStore(t)
			session := "sessions/" + goes.Session.SessionID.String()
			change(w, session)
			v, err := w.process().Verify(t.Context())
			all := slices.Concat(v.Findings, damageIn(v))
			if err != nil || !slices.ContainsFunc(all, func(f manifest.Finding) bool {
				return f.Code == manifest.UnknownFile && f.Path == session
			}) || slices.ContainsFunc(all, func(f manifest.Finding) bool { return f.Code == manifest.OrphanObject }) {
				t.Errorf("%v, %+v", err, v)
			}
		})
	}
}
