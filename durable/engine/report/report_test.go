package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/markup"
	"github.com/waybill/waybill/projections/runs"
)

func TestTextsShareABudget(t *testing.T) {
	for _, c := range []struct {
		name        string
		texts, size int
		fill        string
	}{{"few", 10, 1000, "a"}, {"long", 3, textBytesMax * 2, "a"}, {"many", 2000, 4096, "a"}, {"escaped", 500, 20_000, "<"},
		{"wide", 900, 9000, "表"}, {"more than fit", 40_000, 300, "b"}} {
		all := newTexts()
		steps := make([]Step, c.texts)
		notes := make([]string, c.texts)
		whole := strings.Repeat(c.fill, c.size/len(c.fill))
		for i := range steps {
			all.set(&steps[i].Prompt, "")
			all.set(&steps[i].Prompt, whole) // the last one counts
			notes[i] = whole
			all.add(&notes[i], limitsMarker)
		}
		sum := 0
		for i, s := range steps {
			sum += markup.Size(s.Prompt.Text) + markup.Size(notes[i])
			if s.Prompt.Bytes != int64(len(whole)) || !strings.HasPrefix(whole, s.Prompt.Text) || !strings.HasPrefix(whole, strings.TrimSuffix(notes[i], limitsMarker)) {
				t.Fatalf("%s: %d: %d bytes of %d", c.name, i, len(s.Prompt.Text), s.Prompt.Bytes)
			}
			if s.Prompt.IsCut() != strings.HasSuffix(notes[i], limitsMarker) {
				t.Fatalf("%s: %d: one of two equal texts is cut", c.name, i)
			}
		}
		least := c.texts * 2 * (textBytesMin + len(limitsMarker))
		if sum > max(textsBytesMax, least)+c.texts*len(limitsMarker) || sum != all.size {
			t.Errorf("%s: %d bytes, counted %d", c.name, sum, all.size)
		}
		if isCut := steps[0].Prompt.IsCut(); isCut != (c.name != "few") || isCut != (all.cut() > 0) {
			t.Errorf("%s: cut %v, %d texts", c.name, isCut, all.cut())
		}
		if sum < textsBytesMax/3 && all.cut() > 0 && c.texts > 10 {
			t.Errorf("%s: only %d bytes are left", c.name, sum)
		}
	}
}

func TestOutputsKeepBothEnds(t *testing.T) {
	all := newTexts()
	o := Output{Head: "first\n" + strings.Repeat("h", textBytesMax), Tail: strings.Repeat("t", textBytesMax) + "\nlast", Bytes: 1 << 20, OmittedBytes: 7}
	before := int64(len(o.Head)+len(o.Tail)) + 7
	all.addOutput(&o)
	if !strings.HasPrefix(o.Head, "first\n") || !strings.HasSuffix(o.Tail, "last") || int64(len(o.Head)+len(o.Tail))+o.OmittedBytes != before ||
		o.OmittedBytes == 7 {
		t.Errorf("head %d, tail %d, omitted %d", len(o.Head), len(o.Tail), o.OmittedBytes)
	}
}

func TestLongTimelinesKeepBothEnds(t *testing.T) {
	defer func(n int) { momentsMax = n }(momentsMax)
	momentsMax = 30
	for _, n := range []int{0, 29, 30, 31, 45, 60, 61, 100, 500} {
		m := moments{}
		for i := range n {
			_ = m.add(runs.TimelineEntry{Index: int64(i), Working: i%2 == 1})
		}
		all := m.all()
		if len(all)+m.leftOut != n || len(all) > momentsMax {
			t.Errorf("%d: %d kept, %d left out", n, len(all), m.leftOut)
		}
		if !slices.IsSortedFunc(all, func(a, b runs.TimelineEntry) int { return int(a.Index - b.Index) }) {
			t.Errorf("%d: %v", n, all)
		}
		if n > 100 && (all[0].Index != 0 || all[9].Index != 18 || all[10].Index != int64(n-40) || all[29].Index != int64(n-2)) {
			t.Errorf("%d: first %d %d, last %d %d", n, all[0].Index, all[9].Index, all[10].Index, all[29].Index)
		}
		if n > 30 && slices.ContainsFunc(all, func(e runs.TimelineEntry) bool { return e.Working }) {
			t.Errorf("%d: internal work is kept", n)
		}
	}
}

func TestStepsInTheMiddleAreLeftOut(t *testing.T) {
	defer func(n int) { stepsMax = n }(stepsMax)
	stepsMax = 8
	for _, n := range []int{0, 8, 9, 100} {
		r := Report{}
		for i := range n {
			r.Run.Steps = append(r.Run.Steps, views.StepRow{StepID: fmt.Sprint(i)})
		}
		r.limitSteps()
		l, left := r.Without(OfSteps)
		if len(r.Run.Steps)+l.Count != n || left != (n > 8) {
			t.Errorf("%d: %d steps, %d left out", n, len(r.Run.Steps), l.Count)
		}
		if n > 8 && (r.Run.Steps[1].StepID != "1" || r.Run.Steps[2].StepID != fmt.Sprint(n-6) || r.Run.Steps[7].StepID != fmt.Sprint(n-1)) {
			t.Errorf("%d: %v", n, r.Run.Steps)
		}
	}
}

func TestSeparationOfDuties(t *testing.T) {
	human := func(name string) Performer { return Performer{Actor: event.Actor{Kind: event.Human, Ref: name}} }
	with := func(p Performer, account string) Performer { p.Account = account; return p }
	agent := Performer{Actor: event.Actor{Kind: event.Agent, Ref: "bot"}}
	approved := func(by, account string) Decider {
		return Decider{DecisionRow: views.DecisionRow{Decision: event.Approved, By: by}, Account: account}
	}
	denied := Decider{DecisionRow: views.DecisionRow{Decision: event.Denied, By: "eva"}}
	imported := approved("eva", "uid:2")
	imported.Imported = true
	for name, c := range map[string]struct {
		performers []Performer
		deciders   []Decider
		want       Separation
		holds      bool
	}{
		"no decision":             {[]Performer{agent}, nil, NotDecided, false},
		"denied":                  {[]Performer{agent}, []Decider{denied}, NotDecided, false},
		"imported":                {[]Performer{agent}, []Decider{imported}, NotDecided, false},
		"two accounts":            {[]Performer{with(human("ann"), "uid:1")}, []Decider{approved("ann", "uid:2")}, AccountsDiffer, true},
		"one account":             {[]Performer{with(agent, "uid:1")}, []Decider{approved("eva", "uid:1")}, SameAccount, false},
		"one of two accounts":     {[]Performer{with(agent, "uid:3"), with(agent, "uid:1")}, []Decider{approved("eva", "uid:1")}, SameAccount, false},
		"one of two approvals":    {[]Performer{with(agent, "uid:1")}, []Decider{approved("eva", "uid:2"), approved("ann", "uid:1")}, SameAccount, false},
		"an account that failed":  {[]Performer{with(human("ann"), "unknown")}, []Decider{approved("ann", "uid:2")}, SameName, false},
		"an agent":                {[]Performer{agent}, []Decider{approved("eva", "")}, KindsDiffer, true},
		"two names":               {[]Performer{human("ann")}, []Decider{approved("eva", "")}, NamesDiffer, true},
		"an agent and one name":   {[]Performer{agent, human("eva")}, []Decider{approved("eva", "")}, SameName, false},
		"a person without a name": {[]Performer{human("ann")}, []Decider{approved("human", "")}, NotRecorded, false},
		"no performer":            {nil, []Decider{approved("eva", "uid:1")}, NotRecorded, false},
		"no actor":                {[]Performer{{}}, []Decider{approved("eva", "uid:1")}, NotRecorded, false},
	} {
		got := (&Control{Performers: c.performers, Deciders: c.deciders}).separation()
		if holds, _ := got.Holds(); got != c.want || holds != c.holds {
			t.Errorf("%s: %s, holds %v", name, got, holds)
		}
	}
}
