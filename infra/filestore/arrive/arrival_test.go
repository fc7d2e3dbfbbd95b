package arrive_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// hooked is a disk that calls functions before syncs and listings of directories, and counts open
// files.
type hooked struct {
	*osfs.Dir
	syncDir      func(name string) error
	list         func(name string)
	opened, most atomic.Int64
}

func (h *hooked) SyncDir(name string, kind osfs.Sync) error {
	if h.syncDir != nil {
		if err := h.syncDir(name); err != nil {
			return err
		}
	}
	return h.Dir.SyncDir(name, kind)
}

func (h *hooked) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f, err := h.Dir.Open(name, mode)
	if err == nil {
		h.most.Store(max(h.most.Load(), h.opened.Add(1)))
	}
	return hookedFile{f, h}, err
}

func (h *hooked) List(name string) ([]osfs.Entry, error) {
	if h.list != nil {
		h.list(name)
	}
	return h.Dir.List(name)
}

type hookedFile struct {
	osfs.File
	h *hooked
}

func (f hookedFile) Close() error {
	f.h.opened.Add(-1)
	return f.File.Close()
}

func openHooked(t testing.TB, dir string) (*hooked, *filestore.Store) {
	t.Helper()
	h := &hooked{Dir: osfs.NewDir(dir)}
	t.Cleanup(func() { _ = h.Close() })
	s, err := filestore.Open(h, filestore.Options{Locks: lock.Files(h.Dir), Boot: "boot"})
	storetest.Fatal(t, err)
	return h, s
}

func TestImportsAndCleanupsExcludeEachOther(t *testing.T) {
	t.Parallel()
	ctx, dir, tr := context.Background(), filepath.Join(t.TempDir(), "store"), suite.NewImportFixture(t, 1, 0)
	s, other := storetest.OpenDir(t, dir, 0), storetest.OpenDir(t, dir, 0)
	a, err := s.BeginImport(ctx, tr.Session)
	storetest.Fatal(t, err)
	clean := func() error { return other.Exclusive(ctx, func(ports.Sweeper) error { return nil }) }
	if err := clean(); !fault.Is(err, fault.StoreLocked) {
		t.Errorf("a cleanup during an import: %v; want STORE_LOCKED", err)
	}
	storetest.Fatal(t, tr.PassTo(ctx, a, storetest.Imported))
	_, err = a.Commit(ctx)
	storetest.Fatal(t, err)
	if err := clean(); !fault.Is(err, fault.StoreLocked) {
		t.Errorf("a cleanup before the end of the import: %v; want STORE_LOCKED", err)
	}
	storetest.Fatal(t, a.End())
	storetest.Fatal(t, other.Exclusive(ctx, func(ports.Sweeper) error {
		if _, err := s.BeginImport(ctx, tr.Session); !fault.Is(err, fault.StoreLocked) {
			t.Errorf("an import during a cleanup: %v; want STORE_LOCKED", err)
		}
		return nil
	}))
	storetest.Fatal(t, clean())
}

// TestNothingIsAcknowledgedBeforeImportIsDurable: between the rename and its sync the session
// can be read, but no other process may acknowledge anything about it: the rename may be reversed.
func TestNothingIsAcknowledgedBeforeImportIsDurable(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]error{"the sync succeeds": nil, "the sync fails": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			ctx, dir, tr := context.Background(), filepath.Join(t.TempDir(), "store"), suite.NewImportFixture(t, 1, 1)
			_, err := storetest.OpenDir(t, dir, 0).StoreID(ctx, ports.MayCreate)
			storetest.Fatal(t, err)
			h, s := openHooked(t, dir)
			reached := false
			h.syncDir = func(name string) error {
				if name != "sessions" || reached {
					return nil
				}
				reached = true
				_, other := openHooked(t, dir)
				if _, v, err := storetest.Read(other, tr.Log); err != nil || v.Head != tr.Head() {
					t.Errorf("reading the session: %+v, %v", v, err)
				}
				if err := other.Confirm(ctx, tr.Log, tr.Head()); !fault.Is(err, fault.StoreLocked) {
					t.Errorf("confirming the session: %v; want STORE_LOCKED", err)
				}
				for _, p := range []manifest.Plan{
					tr.Advance(tr.Head().Next), suite.Notes(suite.SessionNotes(tr.Session), 2, "three"),
				} {
					if _, err := suite.Gate(other, p); !fault.Is(err, fault.StoreLocked) {
						t.Errorf("appending to %s: %v", p.Log.Root, err)
					}
				}
				first := suite.Notes(suite.SessionNotes(tr.Session), 0, "one")
				first.Log.Root = strings.Replace(first.Log.Root, "notes", "others", 1)
				if _, err := suite.Gate(other, first); !fault.Is(err, fault.StoreLocked) {
					t.Errorf("appending to a new side log: %v; want STORE_LOCKED", err)
				}
				if err := other.UpdateSessionControl(ctx, tr.Session, ports.KeepFile,
					func(ports.Control) (ports.Control, error) { return storetest.Imported, nil }); !fault.Is(err,
					fault.StoreLocked) {
					t.Errorf("writing a keep file: %v; want STORE_LOCKED", err)
				}
				return failure
			}
			placed, err := tr.Import(s, storetest.Imported)
			if !reached || placed != (failure == nil) || !errors.Is(err, failure) {
				t.Fatalf("placed %v, %v", placed, err)
			}
			after := storetest.OpenDir(t, dir, 0)
			_, v, err := storetest.Read(after, tr.Log)
			storetest.Fatal(t, err)
			if v.Unborn() == placed {
				t.Fatalf("placed %v, and the session is %+v", placed, v)
			}
			if placed {
				storetest.Fatal(t, after.Confirm(ctx, tr.Log, tr.Head()))
				return
			}
			if placed, err := tr.Import(s, storetest.Imported); err != nil || !placed {
				t.Errorf("importing it again: %v, %v", placed, err)
			}
		})
	}
}

// TestImportKeepsSessionCommittedMeanwhile: a session that is committed to while an import inspects
// its empty directory is not replaced.
func TestImportKeepsSessionCommittedMeanwhile(t *testing.T) {
	t.Parallel()
	dir, own, tr := filepath.Join(t.TempDir(), "store"), suite.NewSessionFixture(1), suite.NewImportFixture(t, 1, 2)
	_, err := storetest.OpenDir(t, dir, 0).StoreID(context.Background(), ports.MayCreate)
	storetest.Fatal(t, err)
	h, s := openHooked(t, dir)
	storetest.Fatal(t, h.Mkdir(tr.Log.Root))
	var head manifest.Head
	h.list = func(name string) {
		if name != tr.Log.Root+"/events" || !head.IsZero() { // the manifest was read by then
			return
		}
		_, other := openHooked(t, dir)
		head, err = suite.Gate(other, own.Start())
		storetest.Fatal(t, err)
	}
	if placed, err := tr.Import(s, storetest.Imported); placed || err != nil || head.IsZero() {
		t.Errorf("placed %v, %v, over %+v", placed, err, head)
	}
	if _, v, err := storetest.Read(storetest.OpenDir(t, dir, 0), tr.Log); err != nil || v.Head != head {
		t.Errorf("the session is %+v, %v", v, err)
	}
}

// TestImportBoundsOpenFilesAndMemory: open files and memory do not grow with the size of the
// session.
func TestImportBoundsOpenFilesAndMemory(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 200
	}
	ctx, dir, tr := context.Background(), filepath.Join(t.TempDir(), "store"), suite.NewImportFixture(t, 1, n)
	h, s := openHooked(t, dir)
	start := time.Now()
	placed, err := tr.Import(s, storetest.Imported)
	if err != nil || !placed {
		t.Fatal(placed, err)
	}
	t.Logf("%d segments and %d objects in %v; at most %d files open", len(tr.Segments), len(tr.Objects),
		time.Since(start), h.most.Load())
	if most := h.most.Load(); most > 80 || h.opened.Load() > 1 {
		t.Errorf("%d files were open at a time, and %d still are", most, h.opened.Load())
	}
	if err := s.Confirm(ctx, tr.Log, tr.Head()); err != nil {
		t.Error(err)
	}

	// The largest allowed artifact, imported twice.
	ref := zerosRef(limits.ArtifactBytesMax)
	for range 2 {
		a, err := s.BeginImport(ctx, tr.Session)
		storetest.Fatal(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		storetest.Fatal(t, a.Object(ctx, manifest.Artifact, ref, io.LimitReader(zeros{}, limits.ArtifactBytesMax)))
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
			t.Errorf("an artifact of %d bytes took %d of memory", limits.ArtifactBytesMax, grown)
		}
		storetest.Fatal(t, a.Segment(ctx, "", tr.Segments[0]))
		_, err = a.Commit(ctx)
		storetest.Fatal(t, errors.Join(err, a.End()))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func zerosRef(n int64) canon.Digest {
	sum := sha256.New()
	_, _ = io.CopyN(sum, zeros{}, n)
	return canon.DigestOf([sha256.Size]byte(sum.Sum(nil)))
}

// TestImportDoesNotRestoreErasedArtifact: the file is not even written beside its tombstone.
func TestImportDoesNotRestoreErasedArtifact(t *testing.T) {
	t.Parallel()
	ctx, dir, tr := context.Background(), filepath.Join(t.TempDir(), "store"), suite.NewImportFixture(t, 1, 0)
	s, artifact := storetest.OpenDir(t, dir, 0), tr.Objects[len(tr.Objects)-1]
	other := suite.NewSessionFixture(2).Start()
	other.Objects = append(other.Objects, artifact)
	_, err := suite.Gate(s, other)
	storetest.Fatal(t, err)
	_, err = s.Keys(ctx, ports.MayCreate)
	storetest.Fatal(t, err)
	_, err = s.Erase(ctx, artifact.Ref(), func(int64) canon.Value {
		return canon.OfMembers(canon.Member{Name: "sha256", Value: canon.OfString(artifact.Ref().String())})
	})
	storetest.Fatal(t, err)
	if placed, err := tr.Import(s, storetest.Imported); err != nil || !placed {
		t.Fatal(placed, err)
	}
	files, err := os.ReadDir(filepath.Join(dir, "artifacts"))
	if err != nil || len(files) != 1 || files[0].Name() != manifest.ObjectName(manifest.Artifact, artifact.Ref())+
		".erased" {
		t.Errorf("the artifacts directory holds %v, %v; want the tombstone only", files, err)
	}
	if found, err := s.Inspect(ctx); err != nil || len(found) > 0 {
		t.Errorf("Inspect found %+v, %v", found, err)
	}
}
