package candidates

import (
	"context"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/run/resume"
)

// place is a session with what the index has of it.
type place struct {
	index.Session
	words index.Words
}

// candidates returns the sessions of the store in the order of their ids.
func (f *search) candidates(ctx context.Context) ([]place, error) {
	if f.o.Index == nil {
		all, err := f.o.answers.Sessions(ctx)
		out := make([]place, len(all))
		for i, s := range all {
			out[i].ID = s
		}
		return out, err
	}
	all, _, err := f.o.Index.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]place, len(all))
	for i := range all {
		out[i].Session = all[i]
	}
	if !f.m.HasWords() {
		return out, nil
	}
	words, err := f.o.Index.Words(ctx)
	for i, at := 0, 0; i < len(out) && err == nil; i++ {
		// Both are in the order of the ids; a session may be new since.
		for at < len(words) && words[at].ID.String() < out[i].ID.String() {
			at++
		}
		if at < len(words) && words[at].ID == out[i].ID {
			out[i].words = words[at]
		}
	}
	return out, err
}

// kept compares the runs of a session by what the index has of it. ok is false if that does not decide: the session has
// to be read, and none of its runs is compared.
func (f *search) kept(p *place) (ok bool) {
	if !p.Keep {
		return false
	}
	var notes []resume.Note
	if f.m.HasWords() {
		// Whole notes are read within a budget, in the order of the sessions.
		if !p.words.Known || p.words.About.Long {
			return false
		}
		if may := f.m.WordsBy(p.words.May); may.Len() > 0 {
			notes = []resume.Note{{Words: may}}
		}
	}
	before := len(f.ranked)
	for i := range p.Runs {
		r := &p.Runs[i]
		x := r.Facts()
		c := resume.Candidate{Session: p.ID, Run: r.ID, WorkflowID: x.WorkflowID, WorkflowName: x.WorkflowName, Title: x.Title,
			Goal: x.Goal, Heads: x.Heads, Branches: x.Branches, LastAtMs: r.LastAtMs, LastIndex: r.LastIndex}
		least := f.m.Match(c)
		if notes != nil {
			// More words match more: if the notes make no difference with all words that they may have, then they make
			// none with those that they have.
			if c.Notes = notes; !least.Equal(f.m.Match(c)) {
				f.ranked = f.ranked[:before]
				return false
			}
		}
		f.ranked = append(f.ranked, least)
	}
	return true
}
