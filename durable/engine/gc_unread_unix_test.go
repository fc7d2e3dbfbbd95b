//go:build linux || darwin

package engine_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// moveOut moves name of a store to a directory beside the store and returns its new place.
func moveOut(w *fixture, name string) string {
	w.Helper()
	to := filepath.Join(w.TempDir(), "moved")
	if err := os.Rename(filepath.Join(w.dir, name), to); err != nil {
		w.Fatal(err)
	}
	return to
}

// linkOut replaces name of a store with a link to where it was moved.
func linkOut(w *fixture, name string) {
	w.Helper()
	if err := os.Symlink(moveOut(w, name), filepath.Join(w.dir, name)); err != nil {
		w.Fatal(err)
	}
}

// place puts what make makes in place of name, whose content is moved to a directory beside the store.
func place(w *fixture, name string, make func(at string) error) {
	w.Helper()
	at := filepath.Join(w.dir, name)
	if _, err := os.Lstat(at); err == nil {
		moveOut(w, name)
	}
	if err := make(at); err != nil {
		w.Fatal(err)
	}
}

func fifo(at string) error     { return syscall.Mkfifo(at, 0o600) }
func deadLink(at string) error { return os.Symlink("/nowhere/at/all", at) }
func plainFile(at string) error {
	return os.WriteFile(at, []byte("moved\n"), 0o600)
}

// annotationsOf makes a side log directory with a manifest in a session.
func annotationsOf(w *fixture, session string) {
	w.Helper()
	at := filepath.Join(w.dir, session, "annotations")
	if err := os.MkdirAll(at, 0o700); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "manifest.jsonl"), nil, 0o600); err != nil {
		w.Fatal(err)
	}
}

// TestGCRemovesNothingWithUnreadEntries: a link, pipe or file in place of something that may refer to objects ends in
// safe mode, in a dry run and with --apply, and every file stays.
func TestGCRemovesNothingWithUnreadEntries(t *testing.T) {
	t.Parallel()
	onSession := func(make func(string) error) func(*fixture, string) string {
		return func(w *fixture, session string) string { place(w, session, make); return session }
	}
	inStore := func(name string) func(*fixture, string) string {
		return func(w *fixture, _ string) string { linkOut(w, name); return name }
	}
	inSession := func(name string) func(*fixture, string) string {
		return func(w *fixture, session string) string {
			annotationsOf(w, session)
			linkOut(w, session+"/"+name)
			return session + "/" + name
		}
	}
	inTrash := func(change func(w *fixture, name string)) func(*fixture, string) string {
		return func(w *fixture, session string) string {
			w.delete(strings.TrimPrefix(session, "sessions/"))
			name := "trash/" + w.files("trash")[0]
			change(w, name)
			return name
		}
	}
	for name, change := range map[string]func(w *fixture, session string) (path string){
		"a session that was linked back": func(w *fixture, session string) string { linkOut(w, session); return session },
		"a dead link":                    onSession(deadLink),
		"a pipe":                         onSession(fifo),
		"a file":                         onSession(plainFile),
		"a session in the trash":         inTrash(linkOut),
		"a file in the trash":            inTrash(func(w *fixture, name string) { place(w, name, plainFile) }),
		"another name in sessions": func(w *fixture, session string) string {
			if err := os.Symlink(moveOut(w, session), filepath.Join(w.dir, "sessions/old")); err != nil {
				w.Fatal(err)
			}
			return "sessions/old"
		},
		"a copy below another name": func(w *fixture, session string) string {
			if err := os.MkdirAll(filepath.Join(w.dir, "sessions/old"), 0o700); err != nil {
				w.Fatal(err)
			}
			if err := os.Symlink(moveOut(w, session), filepath.Join(w.dir, "sessions/old/copy")); err != nil {
				w.Fatal(err)
			}
			return "sessions/old/copy"
		},
		"sessions":             inStore("sessions"),
		"snapshots":            inStore("snapshots"),
		"artifacts":            inStore("artifacts"),
		"pinned workflows":     inStore("workflows/pinned"),
		"workflows":            inStore("workflows"),
		"quarantine":           inStore("quarantine"),
		"the trash":            func(w *fixture, s string) string { inTrash(linkOut)(w, s); return relinkTrash(w) },
		"the audit log":        inStore("audit"),
		"the manifest":         inSession("manifest.jsonl"),
		"annotations":          inSession("annotations"),
		"an annotations log":   inSession("annotations/manifest.jsonl"),
		"segments":             inSession("events"),
		"an unknown side log":  func(w *fixture, s string) string { place(w, s+"/rumours", deadLink); return s + "/rumours" },
		"a link in quarantine": func(w *fixture, s string) string { place(w, "quarantine/x", deadLink); return "quarantine/x" },
		"a pipe at the top":    func(w *fixture, s string) string { place(w, "rumours", fifo); return "rumours" },
		"a file as annotations": func(w *fixture, s string) string {
			place(w, s+"/annotations", plainFile)
			return s + "/annotations"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newCleanupFixture(t)
			// Its objects have no reference any more, and would be removed.
			orphaned := w.must(w.start(longOne), note("n"))
			a := w.must(w.start(twoSteps), note("done"))
			w.delete(orphaned.Session.RunID.String())
			if _, err := w.g.EmptyTrash(t.Context(), w.by()); err != nil {
				t.Fatal(err)
			}
			if objectCount(w.gc(0, upkeep.GCRequest{})) == 0 {
				t.Fatal("nothing would be removed")
			}
			path := change(w, "sessions/"+a.Session.SessionID.String())
			w.g = w.tended()
			before := allFiles(w)
			for _, apply := range []bool{false, true} {
				r := w.gc(400, upkeep.GCRequest{Apply: apply, EmptyTrash: true})
				if !r.SafeMode || r.Applied || !r.IsEmpty() || len(r.Unclear) == 0 {
					t.Fatalf("applied %v: %+v", apply, r)
				}
				if got := r.Unclear[0]; got.Path != path || got.Message == "" {
					t.Errorf("unclear: %+v, want %s", r.Unclear, path)
				}
			}
			for _, name := range before {
				if _, err := os.Lstat(filepath.Join(w.dir, name)); err != nil {
					t.Errorf("removed: %v", err)
				}
			}
		})
	}
}

// relinkTrash replaces the whole trash by a link.
func relinkTrash(w *fixture) string { linkOut(w, "trash"); return "trash" }

// allFiles lists everything in the store and beside it.
func allFiles(w *fixture) (names []string) {
	w.Helper()
	err := filepath.WalkDir(w.dir, func(at string, _ fs.DirEntry, err error) error {
		name, _ := filepath.Rel(w.dir, at)
		names = append(names, name)
		return err
	})
	if err != nil {
		w.Fatal(err)
	}
	return names
}

// TestGCSearchesUnknownFilesOfSessions: a file in a session's directory that this version does not know may refer to
// objects, and its session stays when it has no events.
func TestGCSearchesUnknownFilesOfSessions(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	orphaned := w.must(w.start(longOne), note("n"))
	a := w.must(w.start(twoSteps), note("done"))
	w.delete(orphaned.Session.RunID.String())
	if _, err := w.g.EmptyTrash(t.Context(), w.by()); err != nil {
		t.Fatal(err)
	}
	would := objectCount(w.gc(0, upkeep.GCRequest{}))
	at := filepath.Join(w.dir, "sessions", a.Session.SessionID.String(), "rumours")
	if err := os.Mkdir(at, 0o700); err != nil {
		t.Fatal(err)
	}
	names := strings.Join(append(w.files("snapshots"), w.files("workflows/pinned")...), "\n")
	if err := os.WriteFile(filepath.Join(at, "1"), []byte(strings.ReplaceAll(names, "sha256_", "sha256:")), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := w.gc(0, upkeep.GCRequest{Apply: true}); objectCount(r) != 0 || would == 0 {
		t.Errorf("%d would have been removed; removed: %+v", would, r)
	}
}

// exclusively calls before ahead of the part of a cleanup that removes objects.
type exclusively struct {
	enginetest.Store
	before func()
}

func (e exclusively) Exclusive(ctx context.Context, do func(ports.Sweeper) error) error {
	e.before()
	return e.Store.Exclusive(ctx, do)
}

// TestGCSeesLinksThatAppearAfterThePlan: a link that is made after the plan, and before objects are removed, stops the
// cleanup as well.
func TestGCSeesLinksThatAppearAfterThePlan(t *testing.T) {
	t.Parallel()
	w := newCleanupFixture(t)
	orphaned := w.must(w.start(longOne), note("n"))
	w.must(w.start(twoSteps), note("done"))
	w.delete(orphaned.Session.RunID.String())
	if _, err := w.g.EmptyTrash(t.Context(), w.by()); err != nil {
		t.Fatal(err)
	}
	before := w.files("snapshots")
	appears := func() { place(w, "sessions/"+orphaned.Session.SessionID.String(), deadLink) }
	w.g = enginetest.Over(exclusively{w.g.Store, appears})
	r := w.gc(0, upkeep.GCRequest{Apply: true})
	if !r.SafeMode || len(r.Unclear) != 1 || objectCount(r) != 0 || len(w.files("snapshots")) != len(before) {
		t.Errorf("%+v", r)
	}
}
