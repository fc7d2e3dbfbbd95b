package filestore

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/osfs"
)

const (
	// batchMax is how many files of an arrival are synced side by side: each is open,
	// and more of them at a time save little.
	batchMax = 64
	// reliedMax is how many objects are brought before their folders are synced: what a
	// failed sync of one would need to know stays small, whatever arrives.
	reliedMax = 1024
)

// staged is a file that was written and waits for its sync. One that lies in the
// staged folder has its name already; an object is placed once it is synced.
type staged struct {
	file    osfs.File
	temp    string
	name    string
	replace bool
	same    func() (bool, error)
}

// write writes a file of the staged folder.
func (a *arrival) write(name string, b []byte) error {
	f, err := a.s.fs.Open(name, osfs.New)
	if errors.Is(err, fs.ErrExist) {
		return fault.Wrap(err, fault.Internal, "%s arrived twice", path.Base(name))
	}
	if err != nil {
		return err
	}
	a.waiting = append(a.waiting, &staged{file: f})
	if _, err := f.Write(b); err != nil {
		return err
	}
	return a.flushFull()
}

// stage opens the file of an object beside its name.
func (a *arrival) stage(name string) (*staged, error) {
	temp, f, made, err := a.s.openTemp(path.Dir(name))
	if err != nil {
		return nil, err
	}
	a.relied.add(made...)
	st := &staged{file: f, temp: temp, name: name}
	a.waiting = append(a.waiting, st)
	return st, nil
}

func (a *arrival) flushFull() error {
	if len(a.waiting) < batchMax {
		return nil
	}
	return a.flush()
}

// flush syncs what waits, side by side, closes it, and gives objects their names:
// neither open files nor memory grow with what arrives.
func (a *arrival) flush() error {
	var syncs []func() error
	for _, st := range a.waiting {
		syncs = append(syncs, func() error { return st.file.Sync(osfs.Order) })
	}
	err := a.s.fs.Together(syncs...)
	for _, st := range a.waiting {
		err = errors.Join(err, st.file.Close())
		st.file = nil
	}
	if err != nil {
		return err
	}
	for _, st := range a.waiting {
		if st.temp == "" {
			continue
		}
		placed, err := a.s.placeObject(st.temp, st.name, st.replace, st.same)
		if err != nil {
			return err
		}
		if !placed {
			_ = a.s.fs.Remove(st.temp)
		}
		st.temp = ""
		if err := a.rely(st.name); err != nil {
			return err
		}
	}
	a.waiting = a.waiting[:0]
	return nil
}

// rely adds an object that the commit relies on.
func (a *arrival) rely(name string) error {
	if dir := path.Dir(name); !slices.Contains(a.kinds, dir) {
		a.kinds = append(a.kinds, dir)
	}
	a.relied.add(name)
	if a.relies++; a.relies < reliedMax {
		return nil
	}
	return a.settle(nil)
}

// settle syncs the folders of objects, and whatever else.
func (a *arrival) settle(more []func() error) error {
	err := a.s.fs.Together(append(a.s.syncsFor(&a.relied), more...)...)
	if err != nil {
		a.unsettle()
	}
	a.relied, a.relies = entries{}, 0
	return err
}

// unsettle moves in anew what a sync may have lost, as appending's does: other logs
// may rely on it.
func (a *arrival) unsettle() {
	for _, dir := range a.kinds {
		for _, name := range a.relied.names[dir] {
			if a.s.copyAnew(name) {
				a.s.doubt([]string{name}, false)
			} else {
				a.stay = true
			}
		}
	}
}

// copyAnew is moveAnew for a file whose bytes nobody holds.
func (s *Store) copyAnew(name string) bool {
	old, err := s.fs.Open(name, osfs.Read)
	if err != nil {
		return false
	}
	defer old.Close()
	return s.rewrite(name, func(f osfs.File) error {
		b := make([]byte, copyBytes)
		for at := int64(0); ; {
			n, err := old.ReadAt(b, at)
			at += int64(n)
			if _, err := f.Write(b[:n]); err != nil {
				return err
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}

// sourceError carries the error of whoever hands bytes over past the mapping of the
// disk's.
type sourceError struct{ error }

// Object implements ports.Arrival.
func (a *arrival) Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader) error {
	return a.do(ctx, func() error {
		name := path.Join(manifest.ObjectDir(kind), manifest.ObjectName(kind, ref))
		if kind == manifest.Artifact {
			// What a person erased does not come back by another door.
			data, erased, err := a.s.Tombstone(ctx, ref)
			if err != nil && !fault.Is(err, fault.StoreCorrupt) {
				return err
			}
			if err != nil || erased && !broughtAlong(data) {
				return a.pass(ctx, kind, ref, r, name+erasedSuffix)
			}
		}
		whole, wrong, err := a.look(name, kind, ref)
		if err != nil {
			return err
		}
		if whole {
			return a.pass(ctx, kind, ref, r, name)
		}
		st, err := a.stage(name)
		if err != nil {
			return err
		}
		st.replace = wrong
		st.same = func() (bool, error) { return a.holds(name, kind, ref) }
		if err := a.receive(ctx, st.file, kind, ref, r); err != nil {
			return err
		}
		return a.flushFull()
	})
}

// pass reads what is not needed, since name is there.
func (a *arrival) pass(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, r io.Reader,
	name string) error {
	if err := a.receive(ctx, nil, kind, ref, r); err != nil {
		return err
	}
	return a.keep(name)
}

// keep relies on a file that is there; one that may be in memory only is moved in anew.
func (a *arrival) keep(name string) error {
	if a.doubtful || a.s.doubts(name) {
		if !a.s.copyAnew(name) {
			return fault.New(fault.StoreIO, "%s may be lost by a power cut, and could not be written again", name).
				With("path", name)
		}
		a.s.doubt([]string{name}, false)
	}
	return a.rely(name)
}

// look is appending's look for bytes that are not in memory: whole is one that stays,
// wrong one that is replaced.
func (a *arrival) look(name string, kind manifest.ObjectKind, ref canon.Digest) (whole, wrong bool, err error) {
	same, err := a.holds(name, kind, ref)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	whole = same && !a.doubtful && !a.s.doubts(name)
	return whole, !whole, err
}

// holds hashes what stands at a name: what stat says is no evidence.
func (a *arrival) holds(name string, kind manifest.ObjectKind, ref canon.Digest) (bool, error) {
	f, err := a.s.fs.Open(name, osfs.Read)
	if err != nil {
		return false, err
	}
	defer f.Close()
	sum := sha256.New()
	// One byte more than any object has: such a file is none.
	n, err := io.CopyBuffer(onlyWriter{sum}, io.NewSectionReader(f, 0, int64(objectBytesMax(kind))+1), a.buf)
	return err == nil && n <= int64(objectBytesMax(kind)) && canon.DigestOf([sha256.Size]byte(sum.Sum(nil))) == ref, err
}

// onlyWriter keeps io.CopyBuffer to the buffer that it is given.
type onlyWriter struct{ io.Writer }

// receive reads what is handed over to its end, whatever becomes of it: bytes that are
// not what they are called are refused also where they are not needed.
func (a *arrival) receive(ctx context.Context, to osfs.File, kind manifest.ObjectKind, ref canon.Digest,
	r io.Reader) error {
	sum := sha256.New()
	most := int64(objectBytesMax(kind))
	for n := int64(0); ; {
		m, err := r.Read(a.buf)
		if n += int64(m); n > most {
			return fault.New(fault.StoreLimit, "%s %s has more than %d bytes, which is all that a store takes", kind,
				ref, most)
		}
		sum.Write(a.buf[:m])
		if to != nil && m > 0 {
			if _, err := to.Write(a.buf[:m]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			if canon.DigestOf([sha256.Size]byte(sum.Sum(nil))) != ref {
				return fault.New(fault.StoreCorrupt, "the bytes that came as %s %s do not have that digest", kind, ref)
			}
			return nil
		case err != nil:
			return sourceError{err}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
