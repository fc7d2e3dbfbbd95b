package adapters

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// EachBrief checks that a catalogue that is read run by run is the one of Briefs: sessions that changed first, then the runs in the order
// of a list, and nothing behind an error of the function that receives them, which may use the store.
func EachBrief(t testing.TB, s suite.CataloguedStore) {
	ctx := context.Background()
	for i := range 7 {
		r := suite.NewSessionFixture(i)
		p := r.Start()
		if i != 3 { // that one has no brief
			p.Brief = &manifest.Brief{Runs: []manifest.BriefRun{{ID: r.RunID, LastAtMs: int64(1000 + i/3), LastIndex: int64(i % 2),
				States: []string{[]string{"in_progress", "complete"}[i%2]}, Workflow: "test.flow", Data: fmt.Sprint("row ", i)}}}
		}
		if _, err := suite.Gate(s, p); err != nil {
			t.Fatal(err)
		}
	}
	for name, q := range map[string]ports.BriefQuery{"all": {}, "a state": {States: []string{"complete"}}, "the latest two": {Limit: 2},
		"none": {Workflow: "none"}} {
		want, err := s.Briefs(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]ports.BriefSession{}
		var order []manifest.BriefRun
		err = s.EachBrief(ctx, q, func(of *ports.BriefSession, run *manifest.BriefRun) error {
			if _, err := s.Sessions(ctx); err != nil {
				return err
			}
			one, known := got[of.Session.String()]
			if one = *of; run != nil {
				one.Runs, order = append(one.Runs, *run), append(order, *run)
			}
			if known || of.Changed != (run == nil) || of.Changed && len(order) > 0 || len(of.Runs) > 0 {
				t.Errorf("%s: %+v with run %+v", name, of, run)
			}
			got[of.Session.String()] = one
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var sessions []ports.BriefSession
		for _, one := range got {
			sessions = append(sessions, one)
		}
		slices.SortFunc(sessions, func(a, b ports.BriefSession) int { return a.Session.Compare(b.Session) })
		if !reflect.DeepEqual(sessions, want) || len(want) == 0 {
			t.Errorf("%s: %+v, want %+v", name, sessions, want)
		}
		if !slices.IsSortedFunc(order, func(a, b manifest.BriefRun) int {
			return -strings.Compare(placeOf(a), placeOf(b))
		}) {
			t.Errorf("%s: the order is %+v", name, order)
		}
	}
	enough, calls := errors.New("enough"), 0
	err := s.EachBrief(ctx, ports.BriefQuery{}, func(*ports.BriefSession, *manifest.BriefRun) error {
		if calls++; calls == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || calls != 2 {
		t.Errorf("%d calls, %v; want 2, and the error of the last one", calls, err)
	}
}

// placeOf is a text that is greater for a run that is listed earlier; the ids of runs with equal times are not compared.
func placeOf(r manifest.BriefRun) string { return fmt.Sprintf("%d %d", r.LastAtMs, r.LastIndex) }
