package lists

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/paging"
	"github.com/waybill/waybill/durable/run/resume"
	"github.com/waybill/waybill/ports"
)

// Part is a kind of text of a run, a closed set.
type Part string

// The parts.
const (
	InTitle      Part = "title"
	InGoal       Part = "goal"
	InNotes      Part = "notes"
	InCheckpoint Part = "checkpoint" // the notes of a checkpoint
	InOutput     Part = "output"     // an artifact that a step handed in
	InContext    Part = "context"
	InAnnotation Part = "annotation"
)

// Parts lists the closed set.
func Parts() []Part {
	return []Part{InTitle, InGoal, InNotes, InCheckpoint, InOutput, InContext, InAnnotation}
}

// Where is the text of a run in which all words of a search were found.
type Where struct {
	In Part `json:"in"`
	// NodeID and StepID are where the text was recorded, as far as it was recorded at a node, and the node has a pending
	// step.
	NodeID id.Node `json:"nodeId,omitzero"`
	StepID string  `json:"stepId,omitzero"`
	// SHA256 names an output, AnnotationID an annotation.
	SHA256       canon.Digest  `json:"sha256,omitzero"`
	AnnotationID id.Annotation `json:"annotationId,omitzero"`
}

// Hit is one text in which all words of a search were found.
type Hit struct {
	RunID     id.Run     `json:"runId"`
	SessionID id.Session `json:"sessionId"`
	Title     string     `json:"title"` // of the run, as in the list of runs
	LastAtMs  int64      `json:"lastAtMs"`
	Where     Where      `json:"where"`
	// Snippet is one line of the text, from shortly before the first word.
	Snippet string `json:"snippet"`
}

// SearchQuery says what is searched.
type SearchQuery struct {
	Text  string
	Limit int // 0: as many hits as an answer holds
}

// Found is the document "search": the hits in the order of the list of runs, of one run those that were recorded last
// first.
type Found struct {
	Hits []Hit `json:"hits"`
	// More reports that there are more hits.
	More       bool               `json:"more,omitzero"`
	Unreadable []views.Unreadable `json:"unreadable"`
}

// Search finds all words of a text in single texts of the runs of the store (docs/design.md#search). A damaged session
// is searched in its valid beginning. The errors are those of Runs, and VALIDATION_ERROR for a text without words or of
// more than limits.ResumeQueryBytesMax bytes.
func Search(ctx context.Context, o *Lists, q SearchQuery) (Found, error) {
	wanted := resume.NewText(q.Text)
	if len(q.Text) > limits.ResumeQueryBytesMax {
		return Found{}, fault.New(fault.ValidationError, "the text has %d bytes; at most %d are allowed", len(q.Text),
			limits.ResumeQueryBytesMax)
	}
	if !wanted.HasWords() {
		return Found{}, fault.New(fault.ValidationError, "the text has no words: only letters, digits, - and _ are compared").
			Suggest("Give a word of notes, a title or an output, such as %s.", fault.Command{"runs", "search", "parser"})
	}
	return session.Whole(o.store, func() (Found, error) { return o.search(ctx, wanted, q.Limit) })
}

// search is Search, with unreadable sessions where no file descriptor was left.
func (o *Lists) search(ctx context.Context, wanted resume.Text, limit int) (Found, error) {
	out := Found{Hits: []Hit{}, Unreadable: []views.Unreadable{}}
	if o.isStreamed() {
		var size paging.Size
		var last hitsOf
		err := o.searchEach(ctx, &out.Unreadable, func(l *listed) (more bool, err error) {
			if last.session != l.session {
				if last.hits, err = o.hitsIn(ctx, l.session, wanted); err != nil {
					return false, err
				}
				last.session = l.session
			}
			return out.add(l, last.hits[l.ID], limit, &size)
		})
		return out, err
	}
	all, unreadable, of, err := o.listed(ctx, false, ports.BriefQuery{})
	if err != nil {
		return out, err
	}
	out.Unreadable = unreadable
	may, err := o.mayHave(ctx, of, wanted)
	if err != nil {
		return out, err
	}
	var size paging.Size
	size.Add(out.Unreadable)
	found := map[id.Session]map[id.Run][]Hit{}
	for _, l := range all {
		if !may(l.session) {
			continue
		}
		hits, ok := found[l.session]
		if !ok {
			if hits, err = o.hitsIn(ctx, l.session, wanted); err != nil {
				return out, err
			}
			found[l.session] = hits
		}
		if more, err := out.add(l, hits[l.ID], limit, &size); err != nil || !more {
			return out, err
		}
		delete(hits, l.ID)
	}
	return out, nil
}

// add adds the hits of a run. more is false if they exceed what is answered.
func (f *Found) add(l *listed, hits []Hit, limit int, size *paging.Size) (more bool, err error) {
	if len(hits) == 0 {
		return true, nil
	}
	row, _, err := l.full()
	if err != nil {
		return false, err
	}
	for _, h := range hits {
		h.RunID, h.SessionID, h.Title, h.LastAtMs = l.ID, l.session, row.Title, l.LastAtMs
		if limit > 0 && len(f.Hits) == limit || !size.Fits(h) && len(f.Hits) > 0 {
			f.More = true
			return false, nil
		}
		f.Hits = append(f.Hits, h)
	}
	return true, nil
}

// mayHave returns whether the texts of a session may have all words.
func (o *Lists) mayHave(ctx context.Context, of index.Listing, wanted resume.Text) (func(id.Session) bool, error) {
	if o.index == nil {
		return func(id.Session) bool { return true }, nil
	}
	all, err := o.index.Words(ctx, of)
	if err != nil {
		return nil, err
	}
	return func(s id.Session) bool {
		i, ok := slices.BinarySearchFunc(all, s, func(w index.Words, s id.Session) int {
			return w.ID.Compare(s)
		})
		return !ok || wanted.May(all[i].May)
	}, nil
}

// hitsIn returns the hits in a session by run, those that were recorded last first. A session that cannot be read has
// the hits of what could be read.
func (o *Lists) hitsIn(ctx context.Context, s id.Session, wanted resume.Text) (map[id.Run][]Hit, error) {
	texts, err := o.textsOf(ctx, s, wanted.In)
	if err != nil {
		return nil, err
	}
	out := map[id.Run][]Hit{}
	for _, t := range texts.matched {
		where := Where{In: t.in, NodeID: t.node, StepID: o.stepAt(ctx, t), SHA256: t.ref, AnnotationID: t.annotation}
		out[t.run] = append(out[t.run], Hit{Where: where, Snippet: snippetAt(t.text, wanted.FirstIn(t.text))})
	}
	return out, nil
}

// SnippetBytesMax bounds the snippet of a hit: a few lines of a terminal.
const SnippetBytesMax = 240

// isBlank reports the blanks and line breaks of ASCII. Other line breaks are shown as symbols.
func isBlank(r rune) bool { return strings.ContainsRune(" \t\r\n\v\f", r) }

// snippetAt is one line of a text, from shortly before an offset.
func snippetAt(text string, at int) string {
	from := max(strings.LastIndexByte(text[:at], '\n')+1, at-SnippetBytesMax/4)
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	end := min(len(text), from+4*SnippetBytesMax)
	line := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text[from:end], ""), isBlank), " ")
	if from > 0 {
		line = "… " + line
	}
	if len(line) <= SnippetBytesMax && end == len(text) {
		return line
	}
	end = min(len(line), SnippetBytesMax-len(" …"))
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.TrimSpace(line[:end]) + " …"
}
