package interpreter_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// FuzzWalk: over every pinned document that can be decoded, every walk ends, and every state
// on the way can be encoded and decoded.
func FuzzWalk(f *testing.F) {
	files, _ := filepath.Glob("../../../testdata/workflows/constructs/compiled/*")
	if len(files) == 0 {
		f.Fatal("no compiled documents to begin with")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true)
		f.Add(data, false)
	}
	vars := canon.OfMembers(canon.Member{Name: "items", Value: canon.OfList(canon.OfInt(1), canon.OfInt(2))},
		canon.Member{Name: "count", Value: canon.OfInt(2)})
	f.Fuzz(func(t *testing.T, data []byte, neverStop bool) {
		c, err := compile.Decode(data)
		if err != nil {
			return
		}
		in := interpreter.Input{Vars: vars, NeverStop: neverStop}
		r := interpreter.Begin(c, in)
		for range 30 {
			if len(r.Unmet) > 0 && !neverStop {
				return
			}
			bytes, err := r.State.Encode()
			if err != nil {
				t.Fatalf("an impossible state: %v", err)
			}
			s, err := snapshot.Decode(bytes)
			if err != nil {
				t.Fatalf("a state that cannot be read: %v", err)
			}
			if s.PendingStep() == nil {
				return
			}
			if r, err = interpreter.Next(c, s, in); err != nil {
				t.Fatalf("its own state is refused: %v", err)
			}
		}
	})
}
