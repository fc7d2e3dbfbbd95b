package filestore_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/lock"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// storeWithHole is a store whose manifest continues with pages of zeros and a remainder.
func storeWithHole(t *testing.T) damagedStore {
	t.Helper()
	all := damagedStores(t)
	ex := all[slices.IndexFunc(all, func(ex damagedStore) bool { return ex.name == "zeros-beyond-the-group" })]
	name := layout.ManifestPath(suite.NewSessionFixture(1).Log)
	ex.name, ex.files[name] = "hole", append(append(ex.files[name], make([]byte, 3*4096)...), "remains\n"...)
	return ex
}

// TestRepairOfHoleCrashesLoseNothing: every crash state of a repair that copies a file with pages of zeros.
func TestRepairOfHoleCrashesLoseNothing(t *testing.T) {
	t.Parallel()
	ex := storeWithHole(t)
	look := crashfs.ExploreOptions{Limit: crashLimit / 8, Cases: sample.OneIn(t, 20)}
	count := exploreRepair(diskWith(t, ex.files), ex, suite.NewSessionFixture(1).Log, nil, look,
		func(format string, args ...any) bool {
			t.Fatalf(format, args...)
			return false
		})
	t.Logf("%d operations, %d states", count.Ops, count.States)
}

// TestRepairOfHoleKilledAtEachOperation: the process ends, or the operation fails, at each operation. Nothing is lost,
// and the next repair completes.
func TestRepairOfHoleKilledAtEachOperation(t *testing.T) {
	t.Parallel()
	ex, log := storeWithHole(t), suite.NewSessionFixture(1).Log
	base := diskWith(t, ex.files)
	before, tried := base.Files(), 0
	crashfs.InjectFaults(base, sample.OneIn(t, 5), func(f *crashfs.FS) error {
		s, err := process(f, 1)
		if err == nil {
			_, err = s.RepairLog(context.Background(), repairOf(log))
		}
		return err
	}, func(flaw crashfs.Fault, op crashfs.Op, _ error, after *crashfs.FS) bool {
		tried++
		if err := checkNothingLost(before, after.Files()); err != nil {
			t.Errorf("%s, %s: %v", op, flaw, err)
		}
		s, err := process(after, 2)
		fatal(t, err)
		if _, err := s.RepairLog(context.Background(), repairOf(log)); err != nil {
			t.Errorf("%s, %s: the next repair: %v", op, flaw, err)
		}
		if _, v, err := read(s, log); err != nil || v.Health != manifest.Healthy || v.Head.Next != ex.want.Next {
			t.Errorf("%s, %s: after the next repair: %+v, %v", op, flaw, v, err)
		}
		return !t.Failed()
	})
	if tried == 0 {
		t.Error("no operation failed")
	}
}

// counted is a directory that counts the bytes that are read and written.
type counted struct {
	*osfs.Dir
	read, written *int64
}

func (c counted) Open(name string, mode osfs.Mode) (osfs.File, error) {
	f, err := c.Dir.Open(name, mode)
	if err != nil {
		return nil, err
	}
	return countedFile{f, c.read, c.written}, nil
}

type countedFile struct {
	osfs.File
	read, written *int64
}

func (c countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.File.ReadAt(p, at)
	*c.read += int64(n)
	return n, err
}

func (c countedFile) Write(p []byte) (int, error) {
	n, err := c.File.Write(p)
	*c.written += int64(n)
	return n, err
}

func (c countedFile) WriteAt(p []byte, at int64) (int, error) {
	n, err := c.File.WriteAt(p, at)
	*c.written += int64(n)
	return n, err
}

// Unwrap lets package osfs search for holes in the file.
func (c countedFile) Unwrap() osfs.File { return c.File }

const sparseBytes = 10 << 30

// sparseStore is a store on disk with one session, of which a file continues with a hole of ten gigabytes.
func sparseStore(t *testing.T, hole func(f *suite.SessionFixture) string) (dir string, f *suite.SessionFixture) {
	t.Helper()
	dir, f = filepath.Join(t.TempDir(), "store"), suite.NewSessionFixture(1)
	s, err := filestore.OpenDir(dir, filestore.Options{})
	fatal(t, err)
	head, err := suite.Gate(s, f.Start())
	fatal(t, err)
	_, err = suite.Gate(s, f.Advance(head.Next))
	fatal(t, err)
	fatal(t, s.Close())
	name := filepath.Join(dir, hole(f))
	if os.Truncate(name, sparseBytes) != nil {
		t.Skip("the filesystem has no files of ten gigabytes")
	}
	file, err := os.OpenFile(name, os.O_WRONLY, 0)
	fatal(t, err)
	_, err = file.WriteAt([]byte("remains\n"), sparseBytes-8)
	fatal(t, err)
	fatal(t, file.Close())
	return dir, f
}

// TestSparseFilesCostLittle: a manifest, a segment and a snapshot with a hole of ten gigabytes are read, verified,
// repaired and searched for references with few bytes read and written, and little memory.
func TestSparseFilesCostLittle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holes are found on Linux only")
	}
	const most = 32 << 20
	for name, hole := range map[string]func(f *suite.SessionFixture) string{
		"manifest": func(f *suite.SessionFixture) string { return layout.ManifestPath(f.Log) },
		"segment":  func(f *suite.SessionFixture) string { return layout.SegmentsDir(f.Log) + "/00000000-00000005.jsonl" },
		"snapshot": func(f *suite.SessionFixture) string {
			return layout.ObjectPath(manifest.Snapshot, f.Start().Objects[0].Ref())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, f := sparseStore(t, hole)
			var read, written int64
			d := osfs.NewDir(dir)
			defer d.Close()
			s, err := filestore.Open(counted{d, &read, &written},
				filestore.Options{Locks: lock.Files(d), Boot: osfs.Boot(), LockWait: time.Second})
			fatal(t, err)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ctx := context.Background()
			v, err := s.Read(ctx, ports.ReadRequest{Log: f.Log}, ports.Skip)
			fatal(t, err)
			if v.Damaged() != (name != "snapshot") {
				t.Errorf("reading: %+v", v)
			}
			found, err := s.Inspect(ctx)
			fatal(t, err)
			damaged := func(f manifest.Finding) bool { return f.Code == manifest.ObjectDamaged }
			if slices.ContainsFunc(found, damaged) != (name == "snapshot") {
				t.Errorf("inspection: %+v", found)
			}
			_, err = s.Digests(ctx, f.Log, func() ports.DigestVisitor { return noGroups{} })
			fatal(t, err)
			out, err := s.RepairLog(ctx, repairOf(f.Log))
			fatal(t, err)
			fatal(t, s.ReadOtherContent(ctx, func([]byte) {}))
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; read > most || written > 1<<20 || grown > 2*most {
				t.Errorf("%d bytes read, %d written, %d allocated", read, written, grown)
			}
			for _, step := range out.Steps {
				if step.What == ports.MoveToQuarantine {
					sameSparse(t, filepath.Join(dir, step.To), step)
				}
			}
		})
	}
}

// noGroups ignores the groups of a log.
type noGroups struct{}

func (noGroups) Group([]canon.Digest, manifest.Head) error { return nil }

// sameSparse requires the length and the end of the original of a file in the quarantine.
func sameSparse(t *testing.T, name string, step ports.RepairStep) {
	t.Helper()
	info, err := os.Stat(name)
	fatal(t, err)
	if info.Size() != step.Bytes {
		t.Errorf("%s has %d bytes, had %d", step.To, info.Size(), step.Bytes)
	}
	if info.Size() < sparseBytes {
		return
	}
	f, err := os.Open(name)
	fatal(t, err)
	defer f.Close()
	end := make([]byte, 16)
	if _, err := f.ReadAt(end, sparseBytes-16); err != nil && err != io.EOF ||
		!bytes.Equal(end, append(make([]byte, 8), "remains\n"...)) {
		t.Errorf("%s ends with %q, %v", step.To, end, err)
	}
}

// TestRepairWritesNoPagesOfZeros: where the filesystem reports no holes, pages of zeros are read and not written.
func TestRepairWritesNoPagesOfZeros(t *testing.T) {
	t.Parallel()
	ex, log := storeWithHole(t), suite.NewSessionFixture(1).Log
	name := layout.ManifestPath(log)
	ex.files[name] = append(ex.files[name], make([]byte, 4<<20)...)
	f := diskWith(t, ex.files)
	written := 0
	f.Before = func(op crashfs.Op) {
		if op.Action == "write" {
			written++
		}
	}
	s, err := process(f, 1)
	fatal(t, err)
	_, err = s.RepairLog(context.Background(), repairOf(log))
	fatal(t, err)
	fatal(t, checkNothingLost(ex.files, f.Files()))
	if written > 12 {
		t.Errorf("%d writes", written)
	}
}
