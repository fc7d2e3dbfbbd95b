package session_test

import (
	"fmt"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/run/snapshot"
)

// TestLatestViewsAreKept: of many snapshots the latest four thousand are kept at any time, and not many more: those that a
// view reads ahead are not read twice.
func TestLatestViewsAreKept(t *testing.T) {
	r := session.NewReader(nil)
	ref := func(i int) canon.Digest { return canon.Sum([]byte(fmt.Sprint(i))) }
	for i := range 13_000 {
		session.KeepView(r, ref(i), snapshot.At(fmt.Sprint("step-", i), nil, nil).View())
		if before := i - 4000; before >= 0 {
			v, ok := session.ViewOf(r, ref(before))
			if !ok || v.PendingStep().StepID != fmt.Sprint("step-", before) {
				t.Fatalf("after view %d, view %d: %v, %v", i, before, v, ok)
			}
		}
	}
	for i := range 13_000 - 8200 {
		if _, ok := session.ViewOf(r, ref(i)); ok {
			t.Fatalf("view %d is kept", i)
		}
	}
}
