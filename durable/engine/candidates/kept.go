package candidates

import (
	"container/heap"
	"context"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/ports"
)

// place is a session with what the index has of it.
type place struct {
	*index.Session
	words index.Words
}

// candidates returns the sessions of the store in the order of their ids.
func (f *search) candidates(ctx context.Context) ([]place, error) {
	if f.o.Index == nil {
		all, err := f.o.answers.Sessions(ctx)
		out := make([]place, len(all))
		for i, s := range all {
			out[i].Session = &index.Session{ID: s}
		}
		return out, err
	}
	l, err := f.o.Index.Sessions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]place, len(l.Sessions))
	for i := range out {
		out[i].Session = &l.Sessions[i]
	}
	if !f.m.HasWords() {
		return out, nil
	}
	words, err := f.o.Index.Words(ctx, l)
	for i := range words {
		out[i].words = words[i]
	}
	return out, err
}

// compare compares the runs of all sessions with the query: by what the index has of a session, or as they are read.
func (f *search) compare(ctx context.Context, all []place) error {
	half := len(all) / 2
	first := runsOf(all[:half])
	f.queue = make(queue, first+runsOf(all[half:])) // memory for both halves
	before, behind := f.queue[:0:first], f.queue[first:first]
	var changed, later []id.Session
	var second sync.WaitGroup
	second.Go(func() { behind, later = f.eachKept(all[half:], behind) })
	before, changed = f.eachKept(all[:half], before)
	second.Wait()
	f.queue = append(f.queue[:len(before)], behind...)
	for _, s := range append(changed, later...) {
		exact, err := f.exact(ctx, s)
		if err != nil {
			return err
		}
		for _, r := range exact {
			f.queue = append(f.queue, waiting{r, true})
		}
	}
	f.considered = len(f.queue)
	heap.Init(&f.queue)
	return nil
}

// runsOf returns the number of runs of sessions, at least one for each.
func runsOf(all []place) (n int) {
	for i := range all {
		n += max(1, len(all[i].Runs))
	}
	return n
}

// eachKept appends what kept does of each session, and returns those that have to be read.
func (f *search) eachKept(all []place, to queue) (_ queue, changed []id.Session) {
	for i := range all {
		var ok bool
		if to, ok = f.kept(&all[i], to); !ok {
			changed = append(changed, all[i].ID)
		}
	}
	return to, changed
}

// few is how many of the best runs of a catalogue in the store are held at first: those that are shown, and others in the place of those
// that cannot be read.
const few = 64

// compareEach is compare for a catalogue in the store, of which at most so many runs are held: the best ones, and the best ones that the
// words of the query match. whole reports that none was left out.
func (f *search) compareEach(ctx context.Context, most int) (whole bool, err error) {
	f.queue, f.considered, f.skipped = nil, 0, 0
	all, worded, read := held{most: most}, held{most: most}, map[id.Session]bool{}
	add := func(w waiting) {
		f.considered++
		all.add(w)
		if w.HasWords() {
			worded.add(w)
		}
		if len(f.places) > 8*most {
			f.forget(append(slices.Clone(all.list()), worded.list()...))
		}
	}
	err = f.o.Index.Each(ctx, ports.BriefQuery{}, func(s *index.Session, r *index.Run) error {
		one := *s
		p := place{Session: &one}
		if r != nil {
			p.Runs = []index.Run{*r}
		}
		var ok bool
		if f.queue, ok = f.kept(&p, f.queue[:0]); ok {
			for _, w := range f.queue {
				add(w)
			}
			return nil
		}
		if !s.Keep && read[s.ID] {
			return nil // with another run
		}
		read[s.ID] = !s.Keep
		if s.Keep {
			delete(read, s.ID)
		}
		exact, err := f.exact(ctx, s.ID)
		for _, one := range exact {
			if !s.Keep || one.Run == r.ID {
				add(waiting{one, true})
			}
		}
		return err
	})
	f.queue = all.list()
	for _, w := range worded.list() {
		if !slices.ContainsFunc(f.queue, func(q waiting) bool { return q.Run == w.Run }) {
			f.queue = append(f.queue, w)
		}
	}
	heap.Init(&f.queue)
	return !all.cut, err
}

// forget leaves only the places of some runs.
func (f *search) forget(but []waiting) {
	places := map[id.Run]note{}
	for _, w := range but {
		if n, ok := f.places[w.Run]; ok {
			places[w.Run] = n
		}
	}
	f.places = places
}

// held are the best of many runs.
type held struct {
	most int
	all  []waiting
	cut  bool // some were left out
}

// add adds a run.
func (h *held) add(w waiting) {
	if h.all = append(h.all, w); len(h.all) > 2*h.most {
		h.list()
	}
}

// list returns the best runs.
func (h *held) list() []waiting {
	slices.SortFunc(h.all, func(a, b waiting) int { return resume.Compare(&a.Ranked, &b.Ranked) })
	if len(h.all) > h.most {
		h.all, h.cut = h.all[:h.most], true
	}
	return h.all
}

// exact reads a session and returns its runs, compared with their notes.
func (f *search) exact(ctx context.Context, s id.Session) ([]resume.Ranked, error) {
	f.ranked = nil
	h, err := f.session(ctx, s)
	if err != nil {
		return nil, err
	}
	switch h {
	case manifest.Healthy:
	case manifest.UnknownVersion:
		f.foreign[s] = true
	default:
		f.skipped++
	}
	return f.ranked, nil
}

// kept compares the runs of a session by what the index has of it, and appends them; false if it has to be read. It is safe for
// concurrent use.
func (f *search) kept(p *place, to queue) (_ queue, ok bool) {
	if !p.Keep {
		return to, false
	}
	var notes []resume.Note
	if f.m.HasWords() {
		// Whole notes are read within a budget, in the order of the sessions.
		if !p.words.Known || p.words.About.Long {
			return to, false
		}
		if may := f.m.WordsBy(p.words.May); may.Len() > 0 {
			notes = []resume.Note{{Words: may}}
		}
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		x := r.Facts()
		c := resume.Candidate{Session: p.ID, Run: r.ID, WorkflowID: x.WorkflowID, WorkflowName: x.WorkflowName, Title: x.Title,
			Goal: x.Goal, Heads: x.Heads, Branches: x.Branches, LastAtMs: r.LastAtMs, LastIndex: r.LastIndex}
		if notes == nil {
			to = append(to, waiting{f.m.Match(c), true})
			continue
		}
		// More words match more: if the notes make no difference with all words that they may have, then they make
		// none with those that they have. Else the run comes no earlier than with all of them.
		c.Notes = notes
		least, most := f.m.Bounds(c)
		to = append(to, waiting{most, least.Equal(most)})
	}
	return to, true
}

// best returns the first runs in the order of resume.Sort, as many as are shown, and the best one that the words of the
// query match.
func (f *search) best(ctx context.Context) (out []resume.Ranked, err error) {
	found := !f.m.HasWords()
	for len(out) < limits.ResumeCandidatesMax || !found {
		r, ok, err := f.next(ctx)
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		out, found = append(out, r), found || r.HasWords()
	}
	resume.Sort(out)
	return out, nil
}

// next returns the next run in the order of resume.Compare. Sessions are read as far as their notes decide about it.
func (f *search) next(ctx context.Context) (r resume.Ranked, ok bool, err error) {
	for len(f.queue) > 0 {
		if f.queue[0].exact {
			return heap.Pop(&f.queue).(waiting).Ranked, true, nil
		}
		r := f.queue[0].Ranked
		all, done := f.read[r.Session]
		if !done {
			if all, err = f.exact(ctx, r.Session); err != nil {
				return r, false, err
			}
			f.read[r.Session] = all
		}
		if i := slices.IndexFunc(all, func(x resume.Ranked) bool { return x.Run == r.Run }); i >= 0 {
			f.queue[0] = waiting{all[i], true}
			heap.Fix(&f.queue, 0)
		} else {
			heap.Pop(&f.queue)
			f.considered--
		}
	}
	return r, false, nil
}

// waiting is a run in the queue. If it is not exact, it has all words that its notes may have.
type waiting struct {
	resume.Ranked
	exact bool
}

// queue is a heap of runs in the order of resume.Compare.
type queue []waiting

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return resume.Compare(&q[i].Ranked, &q[j].Ranked) < 0 }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(waiting)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	out := (*q)[last]
	*q = (*q)[:last]
	return out
}
