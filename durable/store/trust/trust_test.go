package trust

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

func entry(name string, atMs int64) Entry {
	return Entry{Actor: event.Actor{Kind: event.Human, Ref: name}, AtMs: atMs, Commands: 1, Root: "/repo",
		WorkflowHash: canon.Sum([]byte(name)), WorkflowID: "test." + name}
}

func TestWithKeepsFirstActor(t *testing.T) {
	l, err := List{}.With(entry("a", 1))
	if err != nil {
		t.Fatal(err)
	}
	l, _ = l.With(entry("b", 2))
	again := entry("a", 99)
	l, _ = l.With(again)
	if e, ok := l.Of(again.WorkflowHash, "/repo"); !ok || e.AtMs != 1 || len(l.Entries) != 2 {
		t.Fatalf("got %+v of %d entries", e, len(l.Entries))
	}
	data, err := l.Data()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Read(Version, data)
	if err != nil || len(back.Entries) != 2 || !reflect.DeepEqual(back.Entries[1], l.Entries[1]) {
		t.Fatalf("read back %+v, %v", back, err)
	}
	if _, ok := back.Without(again.WorkflowHash).Of(again.WorkflowHash, "/repo"); ok {
		t.Error("a revoked version is still trusted")
	}
	if _, ok := back.Of(again.WorkflowHash, "/repo"); !ok {
		t.Error("Without changed the list that it was called on")
	}
}

func TestReadRefusesInvalidData(t *testing.T) {
	if l, err := Read(Version, canon.Value{}); err != nil || len(l.Entries) != 0 {
		t.Errorf("no file: %v, %v", l, err)
	}
	for _, bad := range []string{`[]`, `{}`, `{"trusted":[{}]}`, `{"trusted":[],"more":1}`, `{"trusted":{"x":1}}`} {
		v, err := canon.Parse([]byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(Version, v); !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWithRefusesFullList(t *testing.T) {
	full := slices.Repeat([]Entry{entry("full", 1)}, entriesMax)
	long := entry("long", 1)
	long.Root = "/" + strings.Repeat("x", bytesMax)
	for _, l := range []List{{Entries: full}, {Entries: []Entry{long}}} {
		if _, err := l.With(entry("one more", 1)); !fault.Is(err, fault.StoreLimit) {
			t.Errorf("%d entries: got %v", len(l.Entries), err)
		}
	}
}

// TestEntriesCountInOnePlace: an entry counts in its root, and one of version 1, which has none,
// counts nowhere and is replaced by the next one of its hash.
func TestEntriesCountInOnePlace(t *testing.T) {
	here, other := entry("a", 1), entry("a", 2)
	other.Root = "/other"
	l, err := List{}.With(here)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := l.Of(here.WorkflowHash, "/other"); ok {
		t.Error("trusted in another place")
	}
	if l, err = l.With(other); err != nil || len(l.Entries) != 2 {
		t.Errorf("two places: %v, %v", l, err)
	}
	if len(l.Without(here.WorkflowHash).Entries) != 0 {
		t.Error("revoked in one place only")
	}
	old := here
	old.Root = ""
	data, err := List{[]Entry{old}}.Data()
	if err != nil {
		t.Fatal(err)
	}
	v1, err := Read(1, data)
	if _, ok := v1.Of(old.WorkflowHash, ""); err != nil || ok || len(v1.Entries) != 1 {
		t.Errorf("an entry without a root counts: %v, %v", v1, err)
	}
	none, _ := List{}.Digest()
	if d, err := v1.Digest(); err != nil || d != none {
		t.Errorf("entries that do not count are part of the digest: %v", err)
	}
	if next, err := v1.With(here); err != nil || len(next.Entries) != 1 || next.Entries[0].Root != "/repo" {
		t.Errorf("the entry of version 1 was not replaced: %v, %v", next, err)
	}
	for _, root := range []string{"", "/a\xff"} {
		bad := here
		bad.Root = root
		if _, err := (List{}).With(bad); !fault.Is(err, fault.ValidationError) {
			t.Errorf("root %q: %v", root, err)
		}
	}
	if data, err = l.Data(); err == nil {
		_, err = Read(1, data)
	}
	if !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("version 1 with a root: %v", err)
	}
}
