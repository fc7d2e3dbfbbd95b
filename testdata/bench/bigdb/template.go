package bigdb

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine/index"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// template is a session that the engine made, from which others are made that differ in their ids, their times and a number: all ids are
// derived again as the engine derives them, and all segments are committed by new groups. What a template makes has the bytes of what the
// engine makes; Write compares both.
type template struct {
	of      *session
	number  int
	derive  []func(*ids) string // the ids of a session in their order
	segs    []pattern
	data    []pattern // of the runs of the brief
	cause   [][]int   // by segment: the index in derive of the id of each event
	firstMs int64
}

// ids are those of one session.
type ids struct {
	number   int   // of the session
	atMs     int64 // the time before its first call
	session  id.Session
	run      id.Run
	nodes    []id.Node
	attempts []id.Attempt
	texts    []string
}

// pattern is text with the places of what differs.
type pattern struct {
	text   []byte
	places []place
}

// place is where a pattern has something that differs.
type place struct {
	at, len int
	id      int   // an index in ids.texts
	kind    byte  // of another text: 't' a time in decimals, 'v' as a varint, 'n' the number, 'h' the commit, 'b' the branch, 'H' and 'B' their digests
	ms      int64 // of a time: since the first one
}

var idPattern = regexp.MustCompile(`[a-z]+_[a-z2-7]{26}`)

// newTemplate finds how the ids of a session are derived.
func newTemplate(s *session, number int) (*template, error) {
	t := &template{of: s, number: number, firstMs: firstMs + int64(number)*stepMs}
	wanted := map[string]bool{}
	for _, g := range s.groups {
		for _, one := range idPattern.FindAll(g.seg.Bytes, -1) {
			wanted[string(one)] = true
		}
	}
	x := &ids{number: number, atMs: t.firstMs}
	add := func(derive func(*ids) string) {
		clone := *x
		clone.nodes, clone.attempts, clone.texts = slices.Clone(x.nodes), slices.Clone(x.attempts), slices.Clone(x.texts)
		text := derive(&clone)
		if !wanted[text] {
			return
		}
		delete(wanted, text)
		t.derive = append(t.derive, derive)
		*x = clone
		x.texts = append(x.texts, text)
	}
	add(func(x *ids) string { x.session = id.NewSession(seedOf(x.number)); return x.session.String() })
	add(func(x *ids) string { x.run = id.NewRun(seedOf(x.number)); return x.run.String() })
	add(func(x *ids) string { x.nodes = append(x.nodes, id.RootNode(x.run)); return x.nodes[0].String() })
	t.facts(add, func(x *ids) id.Origin { return id.FromStart(x.nodes[0]) })
	for n := 0; n < len(x.nodes); n++ {
		for k := range 3 {
			at := len(x.attempts)
			add(func(x *ids) string {
				x.attempts = append(x.attempts, id.NextAttempt(x.nodes[n], id.OpAck, k))
				return x.attempts[len(x.attempts)-1].String()
			})
			if at == len(x.attempts) {
				break
			}
			add(func(x *ids) string {
				x.nodes = append(x.nodes, id.ChildNode(x.nodes[n], x.attempts[at], id.OpAck))
				return x.nodes[len(x.nodes)-1].String()
			})
			t.facts(add, func(x *ids) id.Origin { return id.FromAttempt(x.attempts[at], id.OpAck) })
		}
	}
	for _, g := range s.groups {
		var of []int
		for _, e := range g.seg.Events {
			key := t.pattern(x, []byte(e.DedupeKey()))
			add(func(x *ids) string { return id.EventOf(x.session.String(), string(key.with(x))).String() })
			of = append(of, slices.Index(x.texts, e.ID.String()))
		}
		t.cause = append(t.cause, of)
	}
	if len(wanted) > 0 {
		return nil, fmt.Errorf("%d ids of session %d have no known derivation, such as %v", len(wanted), number, wanted)
	}
	for _, g := range s.groups {
		t.segs = append(t.segs, t.pattern(x, g.seg.Bytes))
	}
	for _, r := range s.brief.Runs {
		t.data = append(t.data, t.pattern(x, []byte(r.Data)))
	}
	return t, nil
}

// facts adds the ids of the facts of an origin.
func (t *template) facts(add func(func(*ids) string), of func(*ids) id.Origin) {
	for n := range 4 {
		add(func(x *ids) string { return of(x).Output(n).String() })
		add(func(x *ids) string { return of(x).Gap(n).String() })
		add(func(x *ids) string { return of(x).Change(n).String() })
		add(func(x *ids) string { return of(x).Trace(n).String() })
		add(func(x *ids) string { return of(x).Context(n).String() })
		add(func(x *ids) string { return of(x).CapObs(n).String() })
	}
}

// seedOf is the seed of the session with a number.
func seedOf(i int) id.Seed { return id.Seed{7, byte(i), byte(i >> 8), byte(i >> 16), byte(i >> 24)} }

// The texts with the number of a session.
func numberText(i int) string { return fmt.Sprintf("Repair job %07d", i) }
func commitText(i int) string { return fmt.Sprintf("c0ffee%034x", i) }
func branchText(i int) string { return fmt.Sprintf("fix/%03d", i%branches) }

// digestOf is the digest of an observation in the key of its event.
func digestOf(o event.ObservationRecorded) string {
	key := event.New("", 0, event.Scope{}, event.Actor{}, 0, o).DedupeKey()
	return key[strings.LastIndex(key, ":sha256:")+1:]
}

// pattern finds what differs in a text.
func (t *template) pattern(x *ids, text []byte) pattern {
	p := pattern{text: text}
	find := func(part []byte, at place) {
		for from := 0; ; {
			i := bytes.Index(text[from:], part)
			if i < 0 {
				return
			}
			at.at, at.len = from+i, len(part)
			p.places = append(p.places, at)
			from += i + len(part)
		}
	}
	for i, one := range x.texts {
		find([]byte(one), place{id: i})
	}
	find([]byte(numberText(t.number)), place{kind: 'n'})
	find([]byte(commitText(t.number)), place{kind: 'h'})
	find([]byte(branchText(t.number)), place{kind: 'b'})
	find([]byte(digestOf(branchObserved(t.number))), place{kind: 'B'})
	find([]byte(digestOf(commitObserved(t.number))), place{kind: 'H'})
	for n := range int64(16) {
		find(fmt.Append(nil, t.firstMs+n*1000), place{kind: 't', ms: n * 1000})
		find(varint(t.firstMs+n*1000), place{kind: 'v', ms: n * 1000})
	}
	return p
}

// varint is how a brief has a number.
func varint(n int64) []byte {
	var w index.Writer
	w.Int(n)
	return w.Bytes()
}

// with returns the text for another session.
func (p pattern) with(x *ids) []byte {
	out := bytes.Clone(p.text)
	for _, at := range p.places {
		to := out[at.at : at.at+at.len]
		switch at.kind {
		case 0:
			copy(to, x.texts[at.id])
		case 't':
			copy(to, fmt.Append(nil, x.atMs+at.ms))
		case 'v':
			copy(to, varint(x.atMs+at.ms))
		case 'n':
			copy(to, numberText(x.number))
		case 'h':
			copy(to, commitText(x.number))
		case 'b':
			copy(to, branchText(x.number))
		case 'B':
			copy(to, digestOf(branchObserved(x.number)))
		case 'H':
			copy(to, digestOf(commitObserved(x.number)))
		}
	}
	return out
}

// session makes the session with a number.
func (t *template) session(i int) (*session, error) {
	x := &ids{number: i, atMs: firstMs + int64(i)*stepMs}
	for _, derive := range t.derive {
		x.texts = append(x.texts, derive(x))
	}
	out := &session{id: x.session, objects: t.of.objects}
	log := manifest.SessionEvents(x.session)
	for k, g := range t.of.groups {
		seg := g.seg
		seg.Bytes, seg.Events = t.segs[k].with(x), slices.Clone(g.seg.Events)
		for n := range seg.Events {
			var err error
			if seg.Events[n].ID, err = id.ParseEvent(x.texts[t.cause[k][n]]); err != nil {
				return nil, err
			}
		}
		seg.Group = manifest.Group(log, out.head, seg)
		out.groups = append(out.groups, group{out.head, seg})
		out.head = out.head.After(seg.Group, seg)
	}
	brief := *t.of.brief
	brief.Runs = slices.Clone(brief.Runs)
	for k := range brief.Runs {
		r := &brief.Runs[k]
		r.ID, r.LastAtMs = x.run, r.LastAtMs-t.firstMs+x.atMs
		r.Data = string(t.data[k].with(x))
		r.Branches = []string{branchText(i)}
	}
	out.brief, out.lastMs = &brief, t.of.lastMs-t.firstMs+x.atMs
	return out, nil
}

// equal reports that two sessions have the same rows.
func (s *session) equal(other *session) error {
	if s.id != other.id || len(s.groups) != len(other.groups) {
		return fmt.Errorf("session %s has %d groups, and %s has %d", s.id, len(s.groups), other.id, len(other.groups))
	}
	for i, g := range s.groups {
		if !bytes.Equal(g.seg.Bytes, other.groups[i].seg.Bytes) || !bytes.Equal(g.seg.Group, other.groups[i].seg.Group) {
			return fmt.Errorf("group %d of session %s differs:\n%s\n%s", i, s.id, g.seg.Bytes, other.groups[i].seg.Bytes)
		}
	}
	if s.head != other.head {
		return fmt.Errorf("session %s ends at %+v and at %+v", s.id, s.head, other.head)
	}
	if a, b := fmt.Sprintf("%+v", *s.brief), fmt.Sprintf("%+v", *other.brief); a != b || s.lastMs != other.lastMs {
		return fmt.Errorf("the brief of session %s differs:\n%q\n%q", s.id, a, b)
	}
	return nil
}

// kindOf names the template of the session with a number.
func kindOf(i int) string {
	if i%Every < working {
		return fmt.Sprint("open ", i%Every)
	}
	return fmt.Sprint("complete ", i%kinds)
}
