package report

import (
	"context"

	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/decision"
)

// Control is what a reviewer asks of one step that was performed or decided: who did it, what was shown, and whether
// the person who approved it is another one than the performer.
type Control struct {
	StepInstanceKey string `json:"stepInstanceKey"`
	Title           string `json:"title"`
	// Performers made the attempts that handed in something, in their order, each once.
	Performers []Performer `json:"performers"`
	// Deciders are the people who approved, sent back or denied, in the order of their decisions.
	Deciders   []Decider  `json:"deciders"`
	Checks     int        `json:"checks"`
	Passed     int        `json:"checksPassed"`
	Separation Separation `json:"separation"`
}

// Performer is who handed in the outputs of a step. Names are claims; the account is that of the operating system,
// where the log has it.
type Performer struct {
	Actor   event.Actor `json:"actor"`
	Account string      `json:"account,omitzero"`
}

// Decider is who decided about a step.
type Decider struct {
	views.DecisionRow
	Account string `json:"account,omitzero"`
	// Principal reports that By is the name to which the settings bind the account.
	Principal bool     `json:"principal,omitzero"`
	Roles     []string `json:"roles,omitzero"`
}

// Separation is the closed set of verdicts about the separation of duties at a step. Only accounts are evidence: the
// other verdicts compare what callers claim.
type Separation string

// The verdicts.
const (
	// NotDecided: no approval of the step counts.
	NotDecided Separation = "no_approval"
	// AccountsDiffer: each approval is from another account than the outputs.
	AccountsDiffer Separation = "accounts_differ"
	// SameAccount: an approval is from an account that handed in outputs.
	SameAccount Separation = "same_account"
	// KindsDiffer: an agent or a command performed the step, and a person at a terminal approved it.
	KindsDiffer Separation = "kinds_differ"
	// NamesDiffer and SameName: people performed and approved it, and the names that they claimed were compared.
	NamesDiffer Separation = "names_differ"
	SameName    Separation = "same_name"
	// NotRecorded: the log does not say who performed or approved it.
	NotRecorded Separation = "not_recorded"
)

// readControls fills the controls from the steps.
func (r Reporter) readControls(ctx context.Context, out *Report) {
	next := 0
	for _, row := range out.Run.Steps {
		if row.NodeID == nil {
			continue
		}
		s := out.Steps[next]
		next++
		c := Control{StepInstanceKey: row.StepInstanceKey, Title: row.Title, Performers: []Performer{}, Deciders: []Decider{},
			Checks: len(row.Checks)}
		for _, k := range row.Checks {
			if k.Passed {
				c.Passed++
			}
		}
		for _, t := range s.Tried {
			c.addPerformer(Performer{t.By, t.Account})
		}
		for _, d := range row.Decisions {
			c.Deciders = append(c.Deciders, r.decider(ctx, d))
		}
		c.Separation = c.separation()
		out.Controls = append(out.Controls, c)
	}
}

// addPerformer adds a performer once.
func (c *Control) addPerformer(p Performer) {
	for _, have := range c.Performers {
		if have == p {
			return
		}
	}
	c.Performers = append(c.Performers, p)
}

// decider reads the account of a decision from its record.
func (r Reporter) decider(ctx context.Context, d views.DecisionRow) Decider {
	out := Decider{DecisionRow: d}
	if d.SHA256.IsZero() {
		return out
	}
	v, err := r.answers.Artifact(ctx, d.SHA256)
	if err != nil {
		return out // the row says why it cannot be read
	}
	if rec, err := decision.Decode(v); err == nil {
		out.Account, out.Principal, out.Roles = string(rec.Account), rec.Principal, rec.Roles
	}
	return out
}

// separation compares who performed a step with who approved it.
func (c *Control) separation() Separation {
	out := NotDecided
	for _, d := range c.Deciders {
		if d.Decision != event.Approved || d.Imported {
			continue
		}
		// The weakest verdict of all pairs is that of the step.
		for _, p := range c.Performers {
			if v := compared(p, d); strength[v] < strength[out] {
				out = v
			}
		}
		if len(c.Performers) == 0 {
			out = NotRecorded
		}
	}
	return out
}

// strength orders the verdicts, the weakest first.
var strength = map[Separation]int{SameAccount: 0, SameName: 1, NotRecorded: 2, NamesDiffer: 3, KindsDiffer: 4,
	AccountsDiffer: 5,
	NotDecided:     6}

// compared compares one performer with one approval.
func compared(p Performer, d Decider) Separation {
	unknown := p.Account == "" || p.Account == decision.UnknownAccount || d.Account == ""
	switch {
	case !unknown && p.Account == d.Account:
		return SameAccount
	case !unknown:
		return AccountsDiffer
	case p.Actor.Kind == "":
		return NotRecorded
	case p.Actor.Kind != event.Human:
		return KindsDiffer
	case p.Actor.Ref == "" || d.By == string(event.Human):
		return NotRecorded
	case p.Actor.Ref == d.By:
		return SameName
	}
	return NamesDiffer
}

// Holds reports that the outputs were not approved by the one who handed them in, as far as the log knows; known is
// false where it knows nothing about it.
func (s Separation) Holds() (holds, known bool) {
	switch s {
	case AccountsDiffer, KindsDiffer, NamesDiffer:
		return true, true
	case SameAccount, SameName:
		return false, true
	}
	return false, false
}
