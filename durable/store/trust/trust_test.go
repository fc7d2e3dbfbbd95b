package trust

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/event"
)

func entry(name string, atMs int64) Entry {
	return Entry{Actor: event.Actor{Kind: event.Human, Ref: name}, AtMs: atMs, Commands: 1,
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
	if e, ok := l.Of(again.WorkflowHash); !ok || e.AtMs != 1 || len(l.Entries) != 2 {
		t.Fatalf("got %+v of %d entries", e, len(l.Entries))
	}
	data, err := l.Data()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Read(data)
	if err != nil || len(back.Entries) != 2 || back.Entries[1] != l.Entries[1] {
		t.Fatalf("read back %+v, %v", back, err)
	}
	if _, ok := back.Without(again.WorkflowHash).Of(again.WorkflowHash); ok {
		t.Error("a revoked version is still trusted")
	}
	if _, ok := back.Of(again.WorkflowHash); !ok {
		t.Error("Without changed the list that it was called on")
	}
}

func TestReadRefusesInvalidData(t *testing.T) {
	if l, err := Read(canon.Value{}); err != nil || len(l.Entries) != 0 {
		t.Errorf("no file: %v, %v", l, err)
	}
	for _, bad := range []string{`[]`, `{}`, `{"trusted":[{}]}`, `{"trusted":[],"more":1}`, `{"trusted":{"x":1}}`} {
		v, err := canon.Parse([]byte(bad))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Read(v); !fault.Is(err, fault.StoreCorrupt) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestWithRefusesFullList(t *testing.T) {
	l := List{Entries: make([]Entry, entriesMax)}
	if _, err := l.With(entry("one more", 1)); !fault.Is(err, fault.StoreLimit) {
		t.Errorf("got %v", err)
	}
}
