package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/infra/controlfile"
)

// goldenStore is a directory in which commands are called, with a store in home/local.
type goldenStore struct {
	*testing.T
	dir string
}

// waybill calls a command in this process, which must end with the status.
func (g goldenStore) waybill(status int, args ...string) string {
	g.Helper()
	var out, errOut bytes.Buffer
	if got := run(args, strings.NewReader(""), &out, &errOut, g.env()); got != status {
		g.Fatalf("waybill %s: exit status %d, want %d\n%s%s", strings.Join(args, " "), got, status, out.String(),
			errOut.String())
	}
	return out.String()
}

// env is the environment of the commands.
func (g goldenStore) env() []string {
	return []string{"HOME=" + g.dir, "USERPROFILE=" + g.dir, "WAYBILL_HOME=" + filepath.Join(g.dir, "home"), "PATH=" +
		os.Getenv("PATH")}
}

// data returns the data of a command's document.
func (g goldenStore) data(into any, args ...string) {
	g.Helper()
	doc := struct{ Data any }{into}
	if err := json.Unmarshal([]byte(g.waybill(0, append(args, "--json")...)), &doc); err != nil {
		g.Fatal(err)
	}
}

// copyStore copies a store without its locks, which name processes that have ended, and without
// caches, which can be computed again.
func copyStore(t *testing.T, from, to string, dirMode, fileMode fs.FileMode) {
	t.Helper()
	heads := 0
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "lock") || strings.HasPrefix(d.Name(), "guard-") {
			return err
		}
		if strings.HasPrefix(d.Name(), "head-") {
			if !strings.Contains(path, "sessions") || heads > 0 {
				return nil
			}
			heads++
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), dirMode); err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, fileMode)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestStoresOfEveryVersion: the program reads a store of each format version, prints the same
// about it, continues its runs, and exports it.
func TestStoresOfEveryVersion(t *testing.T) {
	root, err := filepath.Abs("../../testdata/stores")
	if err != nil {
		t.Fatal(err)
	}
	versions, err := filepath.Glob(filepath.Join(root, "v*"))
	if err != nil || !slices.Contains(versions, filepath.Join(root, "v1")) {
		t.Fatalf("the golden stores are %q (%v): 'go test ./cmd/waybill -run TestMakeStore -update' makes that of "+
			"this version", versions, err)
	}
	for _, golden := range versions {
		t.Run(filepath.Base(golden), func(t *testing.T) { keepsReading(t, golden) })
	}
}

func keepsReading(t *testing.T, golden string) {
	g := goldenStore{t, t.TempDir()}
	t.Chdir(g.dir)
	copyStore(t, filepath.Join(golden, "store"), filepath.Join(g.dir, "home/local"), 0o700, 0o600)
	current(t, filepath.Join(golden, "projections.golden"), g.projections())

	bundle, err := os.ReadFile(filepath.Join(golden, "bundle.json"))
	if err != nil {
		t.Fatal(err)
	}
	session := regexp.MustCompile(`"sessionId":"(sess_[a-z2-7]+)"`).FindSubmatch(bundle)
	if session == nil {
		t.Fatal("the bundle has no session id")
	}
	g.waybill(0, "export", string(session[1]), "-o", "again.json")
	again, err := os.ReadFile("again.json")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := unstamped(again), unstamped(bundle); a != b {
		t.Errorf("the exported session differs: %s", firstDifference(a, b))
	}
	var imported struct{ Relation string }
	if g.data(&imported, "import", filepath.Join(golden, "bundle.json")); imported.Relation != "same" {
		t.Errorf("relation to the exported session is %q", imported.Relation)
	}
	if g.data(&imported, "import", filepath.Join(golden, "bundle.json"), "--store",
		"other"); imported.Relation != "new" {
		t.Errorf("relation in a new store is %q", imported.Relation)
	}
	g.waybill(0, "verify", "--store", "other")
	g.continueRuns()
}

// continueRuns completes the unfinished run and the blocked run.
func (g goldenStore) continueRuns() {
	g.Helper()
	var list struct {
		Runs []struct{ RunID, Title, Status string }
	}
	g.data(&list, "runs", "list")
	for _, title := range []string{"Unfinished", "Blocked"} {
		at := slices.IndexFunc(list.Runs,
			func(r struct{ RunID, Title, Status string }) bool { return r.Title == title })
		if at < 0 {
			g.Fatalf("no run has the title %q", title)
		}
		var answer struct {
			IsComplete bool
			Status     string
		}
		for range 3 {
			if g.data(&answer, "continue", "--run", list.Runs[at].RunID, "--notes",
				"Decision: continue"); answer.IsComplete {
				break
			}
		}
		if answer.Status != "complete" {
			g.Errorf("%s ends %s", title, answer.Status)
		}
		g.data(&struct{}{}, "replay", list.Runs[at].RunID)
	}
	g.waybill(0, "verify")
	g.waybill(0, "audit", "verify")
}

// projections returns the documents about a store that are derived from stored records only and
// do not depend on the machine or the time.
func (g goldenStore) projections() string {
	g.Helper()
	var b strings.Builder
	tell := func(args ...string) {
		fmt.Fprintf(&b, "waybill %s\n%s\n", strings.Join(args, " "), g.waybill(0, append(args, "--json")...))
	}
	for _, call := range []string{"runs list", "sessions list", "verify", "audit list", "audit verify", "trust --list",
		"keys list", "config get lockWaitMs",
		"annotations summary", "proposals list", "proposals events", "proposals installed",
		"automations due --at 2027-01-01T00:00:00Z"} {
		tell(strings.Fields(call)...)
	}
	var list struct {
		Runs []struct{ RunID, Title string }
	}
	g.data(&list, "runs", "list")
	for _, r := range list.Runs {
		tell("runs", "show", r.RunID)
		if r.Title == "Complete" {
			tell("annotations", "list", r.RunID, "--history")
		}
		if slices.Contains([]string{"Approved", "Branches", "Loops"}, r.Title) {
			tell("runs", "timeline", r.RunID)
			tell("runs", "graph", r.RunID)
		}
	}
	return b.String()
}

// stamps match the parts that differ between two exports of the same session.
var stamps = expression(`"(bundleId|exportedAt|appVersion)":"[^"]*"`)

// unstamped returns a bundle without these parts, which are all near its beginning.
func unstamped(bundle []byte) string {
	head, rest, _ := strings.Cut(string(bundle), `"session":`)
	return stamps().ReplaceAllString(head, `"$1":""`) + rest
}

func firstDifference(a, b string) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%q, and it was %q", a[max(0, i-60):min(len(a), i+60)],
				b[max(0, i-60):min(len(b), i+60)])
		}
	}
	return fmt.Sprintf("%d bytes, and it was %d", len(a), len(b))
}

// TestGoldenStoreIsValid: the records of the current format version are valid by the schemas,
// and a record with an additional or missing member is rejected.
func TestGoldenStoreIsValid(t *testing.T) {
	t.Parallel()
	asked := validStore(t, "../../testdata/stores/v1-learning/store")
	text, err := os.ReadFile("../../testdata/stores/v1-learning/bundle.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := valid("bundle", text); err != nil {
		t.Error(err)
	}
	asked["bundle"] = [][]byte{text}
	for name, record := range laterRecords(t) {
		asked[name] = append(asked[name], record)
		if err := valid(name, record); err != nil {
			t.Errorf("%s: %v\n%s", name, err, record)
		}
	}
	for _, name := range schemasOf(false) {
		if len(asked[name]) == 0 {
			t.Errorf("the golden store has no record of schema %s", name)
		}
		for _, record := range asked[name] {
			refusesOthers(t, name, record)
		}
	}
}

// laterRecords returns records of kinds that came after the golden store was written, by schema.
func laterRecords(t *testing.T) map[string][]byte {
	t.Helper()
	keys, err := httpkeys.List{}.With(httpkeys.NewKey("ci", "text", httpkeys.Scopes(), 1))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := controlfile.New(httpkeys.Kind, httpkeys.Version, keys)
	if err != nil {
		t.Fatal(err)
	}
	control, err := controlfile.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	store := id.NewStore(id.Seed{1})
	answer, kept := idempotency.New("key", "POST /x", canon.Sum(nil), 201, canon.OfMembers(), 1, 0)
	line, err := idempotency.Table.AppendLine(nil, event.New(store.String(), 0, event.Scope{}, event.Actor{Kind: event.Engine}, 1,
		answer))
	if err != nil || !kept {
		t.Fatal(err, kept)
	}
	return map[string][]byte{"http_keys": control, "idempotency-event": bytes.TrimSuffix(line, []byte("\n"))}
}

// freeData lists the members whose data may have members that no schema contains.
var freeData = []string{"store", "config", "side-log-event"}

// mayMiss lists the optional members by schema.
var mayMiss = map[string][]string{
	"annotation-event": {"actor", "scope", "timestampMs"}, "proposal-event": {"actor", "timestampMs"},
	"event": {"actor", "ignorable", "scope", "timestampMs"}, "audit-event": {"actor", "timestampMs"},
	"idempotency-event": {"actor", "timestampMs"},
	"side-log-event":    {"actor", "ignorable", "scope", "timestampMs"},
	"manifest-record":   {"pins", "prev"}, "compiled-workflow": {"inputs", "assessments", "references"},
}

// refusesOthers adds and removes members of a record, one at a time, and checks that the schema
// rejects the result.
func refusesOthers(t *testing.T, name string, record []byte) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(record, &members); err != nil {
		t.Fatal(err)
	}
	refused := func(how string) {
		t.Helper()
		changed, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		if valid(name, changed) == nil {
			t.Errorf("%s: a record %s is not rejected: %.300s", name, how, changed)
		}
	}
	members["another"] = json.RawMessage("1")
	refused("with another member")
	delete(members, "another")
	for member, is := range maps.Clone(members) {
		if slices.Contains(mayMiss[name], member) {
			continue
		}
		delete(members, member)
		refused("without " + member)
		members[member] = is
	}
	if is, ok := members["data"]; ok && !slices.Contains(freeData, name) {
		members["data"] = json.RawMessage(strings.Replace(`{"another":1,`+string(is[1:]), ",}", "}", 1))
		refused("with another member in its data")
	}
}
