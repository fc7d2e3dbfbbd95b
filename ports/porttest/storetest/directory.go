package storetest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore/layout"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// Directory is a store in a directory of the test that does not exist yet.
func Directory(t testing.TB) suite.Bench { return In(t, filepath.Join(t.TempDir(), "home", "local")) }

// In is the store in a directory.
func In(t testing.TB, dir string) suite.Bench {
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	return suite.Bench{
		Open: func(wait time.Duration) suite.Store { return OpenDir(t, dir, wait) },
		Damage: damage(t, func() (osfs.FS, func()) {
			d := osfs.NewDir(dir)
			return d, func() { _ = d.Close() }
		}),
		Unread: func() string {
			Fatal(t, os.Symlink("elsewhere", at("sessions/linked")))
			return "sessions/linked"
		},
		Leftover: func() string {
			Fatal(t, os.WriteFile(at("snapshots/"+layout.TempPrefix+"1"), []byte("left"), 0o600))
			return "snapshots/" + layout.TempPrefix + "1"
		},
		Unknown: func(name string) {
			Fatal(t, os.MkdirAll(at("sessions/"+name), 0o700))
			Fatal(t, os.WriteFile(at("sessions/"+name+"/"+manifest.FileName), []byte("{}\n"), 0o600))
		},
	}
}

// damage changes files of a store. open returns its tree.
func damage(t testing.TB, open func() (tree osfs.FS, done func())) *suite.Damage {
	flip := func(name string, at int64) {
		t.Helper()
		tree, done := open()
		defer done()
		f, err := tree.Open(name, osfs.Update)
		Fatal(t, err)
		defer f.Close()
		var b [1]byte
		_, err = f.ReadAt(b[:], at)
		Fatal(t, err)
		b[0] ^= 1
		_, err = f.WriteAt(b[:], at)
		Fatal(t, err)
		Fatal(t, f.Sync(osfs.Durable))
	}
	return &suite.Damage{
		Manifest: func(log manifest.Log) { flip(layout.ManifestPath(log), 10) },
		Segment: func(log manifest.Log, first int64) {
			tree, done := open()
			defer done()
			entries, err := tree.List(layout.SegmentsDir(log))
			Fatal(t, err)
			for _, e := range entries {
				if n, _, ok := manifest.ParseSegmentName(e.Name); ok && n == first {
					flip(layout.SegmentsDir(log)+"/"+e.Name, 20)
				}
			}
		},
		Object:         func(kind manifest.ObjectKind, ref canon.Digest) { flip(layout.ObjectPath(kind, ref), 0) },
		Control:        func(f ports.ControlFile) { flip(f.Name, 0) },
		SessionControl: func(s id.Session, f ports.ControlFile) { flip(layout.SessionDir(s)+"/"+f.Name, 0) },
		Keyring:        func() { flip(layout.KeyringFile, 0) },
	}
}
