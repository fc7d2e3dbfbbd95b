package filestore_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// storeJSON is a store file with the features and the version given.
func storeJSON(t *testing.T, v int64, features map[string][]string) []byte {
	t.Helper()
	all := map[string][]string{"compat": {}, "incompat": {}, "roCompat": {}}
	for kind, names := range features {
		all[kind] = names
	}
	doc, err := controlfile.New("store", v, struct {
		Features map[string][]string `json:"features"`
		Future   string              `json:"future"`
		StoreID  string              `json:"storeId"`
	}{all, "a member that this version does not know", "store_" + strings.Repeat("a", 26)})
	fatal(t, err)
	b, err := controlfile.Encode(doc)
	fatal(t, err)
	return b
}

// TestOpenAndWriteRules checks which stores may be opened and written to, and that rejected ones
// stay unchanged.
func TestOpenAndWriteRules(t *testing.T) {
	t.Parallel()
	put := func(name string, b []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			fatal(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
			fatal(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
		}
	}
	for _, rule := range []struct {
		name        string
		setup       func(t *testing.T, dir string)
		open, write fault.Code
	}{
		{"an absent store", func(*testing.T, string) {}, "", ""},
		{"an empty directory", func(t *testing.T, dir string) { fatal(t, os.Mkdir(dir, 0o700)) }, "", ""},
		{"an interrupted creation", put("snapshots/../.tmp-00", nil), "", ""},
		{"a file instead of a directory", func(t *testing.T, dir string) { fatal(t, os.WriteFile(dir, nil, 0o600)) },
			fault.StoreInvalid, ""},
		{"unrelated files", put("notes.txt", []byte("mine")), fault.StoreInvalid, ""},
		{"a store of another program", put("sessions/sess_01JH/manifest.jsonl", nil), "", fault.StoreForeign},
		{"a newer format", put("store.json", storeJSON(t, 2, nil)), fault.StoreNewer, ""},
		{"an unknown incompatible feature",
			put("store.json", storeJSON(t, 1, map[string][]string{"incompat": {"shards"}})),
			fault.StoreNewer, ""},
		{"an unknown feature for writers",
			put("store.json", storeJSON(t, 1, map[string][]string{"roCompat": {"index"}})), "",
			fault.StoreReadOnly},
		{"an unknown compatible feature", put("store.json", storeJSON(t, 1, map[string][]string{"compat": {"hints"}})),
			"", ""},
		{"a damaged store file", put("store.json", append(storeJSON(t, 1, nil), ' ')), fault.StoreCorrupt, ""},
	} {
		t.Run(rule.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			rule.setup(t, dir)
			before := tree(t, filepath.Dir(dir))
			s, err := filestore.OpenDir(dir, filestore.Options{})
			if fault.CodeOf(err) != rule.open {
				t.Fatalf("opening: %v; want %q", err, rule.open)
			}
			if err != nil {
				checkNoPath(t, err, dir)
			} else {
				defer s.Close()
				checkReadable(t, s)
				if after := tree(t, filepath.Dir(dir)); after != before {
					t.Errorf("reading changed the directory from %q to %q", before, after)
				}
				checkWritable(t, s, rule.write)
			}
			if after := tree(t, filepath.Dir(dir)); (rule.open != "" || rule.write != "") && after != before {
				t.Errorf("a rejected store was changed from %q to %q", before, after)
			}
		})
	}
}

// checkReadable runs every operation that a read-only store must allow.
func checkReadable(t *testing.T, s *filestore.Store) {
	t.Helper()
	ctx := context.Background()
	if _, err := s.Sessions(ctx); err != nil {
		t.Errorf("listing: %v", err)
	}
	if _, err := s.StoreID(ctx, ports.ReadOnly); err != nil {
		t.Errorf("identity: %v", err)
	}
	if _, v := suite.Read(t, s, suite.NewSessionFixture(1).Log, manifest.Head{}); !v.Unborn() {
		t.Errorf("reading: %+v", v)
	}
}

func checkWritable(t *testing.T, s *filestore.Store, want fault.Code) {
	t.Helper()
	ctx := context.Background()
	_, gateErr := suite.Gate(s, suite.NewSessionFixture(1).Start())
	_, idErr := s.StoreID(ctx, ports.MayCreate)
	_, keysErr := s.Keys(ctx, ports.MayCreate)
	for what, err := range map[string]error{
		"an append": gateErr, "the identity": idErr, "the keys": keysErr,
		"the config": storetest.ReplaceConfig(s, "config.json", ports.Control{V: 1, Data: canon.OfMembers()}),
	} {
		if fault.CodeOf(err) != want {
			t.Errorf("writing %s: %v; want %q", what, err, want)
		}
	}
}

// checkNoPath checks that an error does not contain the path of the store.
func checkNoPath(t *testing.T, err error, dir string) {
	t.Helper()
	f := fault.Of(err)
	if strings.Contains(f.Error(), filepath.Dir(dir)) {
		t.Errorf("the error contains the path of the store: %v", f)
	}
	for _, v := range f.Details {
		if s, ok := v.(string); ok && filepath.IsAbs(s) {
			t.Errorf("the details hold an absolute path: %v", f.Details)
		}
	}
}

// tree lists names and modes of everything in a directory, one line each.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	fatal(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != dir {
			rel, _ := filepath.Rel(dir, path)
			b.WriteString(rel + " " + info.Mode().String() + "\n")
		}
		return err
	}))
	return b.String()
}

func TestNetworkFilesystemsAreRejected(t *testing.T) {
	t.Parallel()
	f := crashfs.New()
	f.Vol.Type, f.Vol.Network = "nfs", true
	if _, err := filestore.Open(f, filestore.Options{}); !fault.Is(err, fault.StoreNetworkFS) {
		t.Errorf("opening on nfs: %v", err)
	}
	if _, err := filestore.Open(f, filestore.Options{AllowNetworkFS: true}); err != nil {
		t.Errorf("opening on nfs with AllowNetworkFS: %v", err)
	}
}

// TestStoreFilesArePrivate: directories have mode 0700, files 0600.
func TestStoreFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no file modes on Windows")
	}
	dir := filepath.Join(t.TempDir(), "home", "store")
	s := openDir(t, dir, 0)
	checkWritable(t, s, "")
	for line := range strings.Lines(tree(t, filepath.Dir(dir))) {
		if mode := strings.Fields(line)[1]; mode != "drwx------" && mode != "-rw-------" {
			t.Errorf("%s", line)
		}
	}
	fatal(t, os.Chmod(filepath.Join(dir, "keys", "keyring.json"), 0o640))
	if _, err := s.Keys(context.Background(), ports.ReadOnly); !fault.Is(err, fault.KeyringInvalid) {
		t.Errorf("a keyring that others can read: %v", err)
	}
}

// TestLinksInStoreAreRejected: an unpacked store must not lead to files outside of it.
func TestLinksInStoreAreRejected(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s := openDir(t, dir, 0)
	one, two := suite.NewSessionFixture(1), suite.NewSessionFixture(2)
	_, err := suite.Gate(s, one.Start())
	fatal(t, err)
	outside := filepath.Join(filepath.Dir(dir), "outside")
	fatal(t, os.Rename(filepath.Join(dir, one.Log.Root), outside))
	if err := os.Symlink(outside, filepath.Join(dir, one.Log.Root)); err != nil {
		t.Skip("symbolic links are not supported")
	}
	_, err = suite.Gate(s, two.Start())
	fatal(t, err)
	if list, err := s.Sessions(context.Background()); err != nil || len(list) != 1 || list[0] != two.Session {
		t.Errorf("Sessions = %v, %v; want the one that is no link", list, err)
	}
	before := tree(t, outside)
	_, err = s.Read(context.Background(), ports.ReadRequest{Log: one.Log}, ports.Skip)
	if !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("reading a linked session: %v", err)
	}
	checkNoPath(t, err, dir)
	if _, err := suite.Gate(s, one.Advance(3)); err == nil || tree(t, outside) != before {
		t.Errorf("writing to a linked session: %v", err)
	}
}
