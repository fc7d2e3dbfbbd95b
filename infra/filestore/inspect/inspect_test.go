package inspect_test

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
)

// TestInspectReportsEachFinding makes one change in a new store per case.
func TestInspectReportsEachFinding(t *testing.T) {
	t.Parallel()
	session := "sessions/" + id.NewSession(id.Seed{1}).String()
	snapshot := "snapshots/sha256_" + "0000000000000000000000000000000000000000000000000000000000000000" + ".json"
	erased := "artifacts/sha256_" + "0000000000000000000000000000000000000000000000000000000000000000" + ".erased"
	controlOf := func(kind string, v int64) string {
		b, err := controlfile.Encode(controlfile.Document{Kind: kind, V: v, Data: canon.OfMembers()})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	write := func(name, text string, perm os.FileMode) func(string) error {
		return func(dir string) error {
			at := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				return err
			}
			return os.WriteFile(at, []byte(text), perm)
		}
	}
	for name, tc := range map[string]struct {
		change func(dir string) error
		want   manifest.FindingCode
		path   string
	}{
		"nothing":                 {func(string) error { return nil }, "", ""},
		"temporary file":          {write(".tmp-x", "", 0o600), "", ""},
		"unknown file at the top": {write("notes.txt", "hello", 0o600), manifest.UnknownFile, "notes.txt"},
		"unknown file in session": {write(session+"/junk", "x", 0o600), manifest.UnknownFile, session + "/junk"},
		"unknown file among segments": {write(session+"/events/1-2.jsonl", "x", 0o600), manifest.UnknownFile, session +
			"/events/1-2.jsonl"},
		"invalid session name": {write("sessions/sess_x/manifest.jsonl", "", 0o600), manifest.UnknownFile,
			"sessions/sess_x"},
		"suspect": {write(session+"/suspect", "", 0o600), manifest.SuspectMarker, session +
			"/suspect"},
		"readable by others":         {write("config.json", "", 0o644), manifest.LooseMode, "config.json"},
		"damaged config":             {write("config.json", "{}", 0o600), manifest.ControlDamaged, "config.json"},
		"wrong digest":               {write(snapshot, "x", 0o600), manifest.ObjectDamaged, snapshot},
		"unknown file among objects": {write("artifacts/readme", "x", 0o600), manifest.UnknownFile, "artifacts/readme"},
		"link": {func(dir string) error {
			return os.Symlink("/etc",
				filepath.Join(dir, "artifacts", "link"))
		}, manifest.UnknownFile, "artifacts/link"},
		"link as segments": {func(dir string) error {
			at := filepath.Join(dir, session)
			return errors.Join(os.MkdirAll(at, 0o700), os.Symlink("/etc", filepath.Join(at, "events")))
		}, manifest.ManifestDamaged, session + "/events"},
		"file as object directory": {func(dir string) error {
			at := filepath.Join(dir, "artifacts")
			return errors.Join(os.Remove(at), os.WriteFile(at, nil, 0o600))
		}, manifest.ObjectDamaged, "artifacts"},
		"damaged import": {write(session+"/imported.json", "{}", 0o600), manifest.ControlDamaged, session +
			"/imported.json"},
		"damaged keep": {write(session+"/keep", "", 0o600), manifest.ControlDamaged, session + "/keep"},
		"newer keep": {write(session+"/keep", controlOf("keep", 2), 0o600), manifest.ControlDamaged,
			session + "/keep"},
		"kept":              {write(session+"/keep", controlOf("keep", 1), 0o600), "", ""},
		"damaged tombstone": {write(erased, "{}", 0o600), manifest.ControlDamaged, erased},
		"another tombstone": {write(erased, controlOf("erased", 1), 0o600), manifest.ControlDamaged, erased},
		"invalid tombstone name": {write("artifacts/readme.erased", "x", 0o600), manifest.UnknownFile,
			"artifacts/readme.erased"},
		"side log":          {write(session+"/rumours/manifest.jsonl", "", 0o600), "", ""},
		"side log of store": {write("rumours/manifest.jsonl", "", 0o600), "", ""},
		"directory without a manifest": {write(session+"/rumours/readme", "", 0o600), manifest.UnknownFile, session +
			"/rumours"},
		"invalid side log name": {write(session+"/Rumours/manifest.jsonl", "", 0o600), manifest.UnknownFile,
			session + "/Rumours"},
		"known side log": {write(session+"/annotations/manifest.jsonl", "", 0o600), "", ""},
		"staged import":  {write("sessions/.tmp-1234/manifest.jsonl", "", 0o600), "", ""},
		"import in progress": {write(session+"/suspect", "arriving boot\n", 0o600), manifest.SuspectMarker,
			session + "/suspect"},
		"trash":                 {write("trash/"+path.Base(session)+".17/manifest.jsonl", "", 0o600), "", ""},
		"unknown file in trash": {write("trash/junk/x", "", 0o600), manifest.UnknownFile, "trash/junk"},
		"damaged note in the trash": {write("trash/"+path.Base(session)+".17/trash.json", "{}", 0o600),
			manifest.ControlDamaged, "trash/" + path.Base(session) + ".17/trash.json"},
		"quarantine": {write("quarantine/anything/x", "", 0o600), "", ""},
		"damaged keyring": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "keys/keyring.json"), []byte("{}"), 0o600)
		}, manifest.ControlDamaged, "keys/keyring.json"},
		"no keyring": {func(dir string) error {
			return errors.Join(write(session+"/manifest.jsonl", "", 0o600)(dir),
				os.Remove(filepath.Join(dir, "keys/keyring.json")))
		}, manifest.ControlMissing, "keys/keyring.json"},
		"no keyring and no session": {func(dir string) error {
			return os.Remove(filepath.Join(dir,
				"keys/keyring.json"))
		}, "", ""},
		"no store.json": {func(dir string) error {
			return errors.Join(write(session+"/manifest.jsonl", "", 0o600)(dir),
				os.Remove(filepath.Join(dir, "store.json")))
		}, manifest.ControlMissing, "store.json"},
		"store of another program": {func(dir string) error {
			return errors.Join(write(session+"/manifest.jsonl", "", 0o600)(dir),
				os.Remove(filepath.Join(dir, "store.json")),
				os.RemoveAll(filepath.Join(dir, ".use.lock")), os.RemoveAll(filepath.Join(dir, "quarantine")))
		}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			s, err := filestore.OpenDir(dir, filestore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Keys(context.Background(), ports.MayCreate); err != nil {
				t.Fatal(err)
			}
			if err := tc.change(dir); err != nil {
				t.Fatal(err)
			}
			// A new process: the first one has cached the state of the store.
			now, err := filestore.OpenDir(dir, filestore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer now.Close()
			found, err := now.Inspect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if tc.want == "" {
				if len(found) > 0 {
					t.Fatal(found)
				}
				return
			}
			if !slices.ContainsFunc(found, func(f manifest.Finding) bool {
				return f.Code == tc.want &&
					f.Path == tc.path
			}) {
				t.Fatalf("want %s at %s, got %+v", tc.want, tc.path, found)
			}
		})
	}
}

func TestInspectOfAbsentStoreFindsNothing(t *testing.T) {
	t.Parallel()
	s, err := filestore.OpenDir(filepath.Join(t.TempDir(), "none"), filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if found, err := s.Inspect(context.Background()); err != nil || len(found) > 0 {
		t.Fatal(found, err)
	}
}

// TestInspectSessionReportsOneSession and no other.
func TestInspectSessionReportsOneSession(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := filestore.OpenDir(dir, filestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.StoreID(context.Background(), ports.MayCreate); err != nil {
		t.Fatal(err)
	}
	damaged, healthy := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2})
	for _, session := range []id.Session{damaged, healthy} {
		if err := os.MkdirAll(filepath.Join(dir, "sessions", session.String()), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]manifest.FindingCode{"keep": manifest.ControlDamaged, "imported.json": manifest.ControlDamaged,
		"suspect": manifest.SuspectMarker, "junk": manifest.UnknownFile}
	for name := range want {
		if err := os.WriteFile(filepath.Join(dir, "sessions", damaged.String(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := s.InspectSession(context.Background(), damaged)
	if err != nil || len(found) != len(want) {
		t.Fatal(found, err)
	}
	for _, f := range found {
		if want[path.Base(f.Path)] != f.Code {
			t.Errorf("%+v", f)
		}
	}
	if found, err := s.InspectSession(context.Background(), healthy); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
}
