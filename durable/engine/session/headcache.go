package session

import (
	"bytes"
	"context"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/projections/runs"
)

// The head cache of a session (docs/design.md#head-cache) has two lines, each
// "<seal> <JCS>": a brief for use cases that search for a run, and the fold for
// those that continue it. A cache with any defect counts as absent: the log is
// read instead, with the same result.

// The contexts under which the keys for the seals are derived. Each line has
// its own, so that one cannot be put in place of the other.
const (
	briefSeal = "waybill 2026 v1 head cache brief"
	foldSeal  = "waybill 2026 v1 head cache fold"
)

// saveEvery is the number of segments that a fold may be ahead of the saved one
// while the process runs. Reading them again costs less than saving after every
// step.
const saveEvery = 16

// ShortLog is the number of manifest records up to which a log is read from its
// beginning although a fold of it was saved. That takes no longer and detects
// damage.
const ShortLog = 16

// FoldNodesMax bounds the nodes of a fold that is kept between calls; beyond it
// a window of the fold is kept. A process that makes 100,000 steps needs no
// more memory than one that makes a hundred.
const FoldNodesMax = 1024

// durableHead is the head up to which a log is known to survive a power cut.
// Only such heads are saved: one that could vanish would later prove a loss
// that did not happen.
type durableHead struct {
	head manifest.Head
	// appended reports that this process appended since it last saved.
	appended bool
}

// NoteDurable records that a log is durable up to a head. Heads only move
// forward.
func (r *Reader) NoteDurable(log manifest.Log, head manifest.Head, appended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	have := r.durable[log.Owner]
	if head.Next >= have.head.Next {
		have.head = head
	}
	have.appended = have.appended || appended
	if len(r.durable) >= homesMax {
		clear(r.durable) // heads are then saved later
	}
	r.durable[log.Owner] = have
}

// Flush writes the folds of the sessions that this process has appended to. A
// process calls it last. Errors are ignored: the log is the truth, and the next
// process can save as well.
func (r *Reader) Flush(ctx context.Context) {
	r.mu.Lock()
	memo := r.folds
	r.folds = map[id.Session]*runs.Fold{}
	r.mu.Unlock()
	for s, f := range memo {
		r.mu.Lock()
		due := f.Ahead > 0 && r.durable[s.String()].appended
		r.mu.Unlock()
		if due {
			f = r.saveHead(ctx, s, f)
		}
		r.mu.Lock()
		if _, newer := r.folds[s]; !newer {
			r.folds[s] = f
		}
		r.mu.Unlock()
	}
}

// saveHead writes a fold to the session's head cache if its head is known to be
// durable. It returns the fold to use from now on: a window of the given one if
// that has too many nodes.
func (r *Reader) saveHead(ctx context.Context, s id.Session, f *runs.Fold) *runs.Fold {
	r.mu.Lock()
	have := r.durable[s.String()]
	// The entry has served: another append creates a new one.
	if have.head == f.Head {
		delete(r.durable, s.String())
	}
	r.mu.Unlock()
	if f.Missed() || have.head != f.Head {
		return f
	}
	f.Ahead = 0 // also on failure: the next try is saveEvery segments later
	key := r.HeadKey(ctx)
	data, window, ok := f.Save(limits.HeadCacheBytesMax - limits.HeadBriefBytesMax - 1024)
	if key == nil || !ok {
		return f
	}
	lines, err := headLines(key, f.Brief(), data)
	if err == nil {
		_ = r.source.StoreHead(ctx, manifest.SessionEvents(s), runs.SavedFormat, lines)
	}
	if NodeCount(f) > FoldNodesMax {
		return window
	}
	return f
}

// headLines encodes the file. A brief that exceeds its limit is replaced by an
// empty one.
func headLines(key *token.Key, b runs.Brief, fold []byte) ([]byte, error) {
	brief, err := canon.Marshal(b)
	if err == nil && len(brief) > limits.HeadBriefBytesMax-2*derive.SealBytes-2 {
		brief, err = canon.Marshal(runs.Brief{SessionID: b.SessionID, Runs: []runs.BriefRun{}})
	}
	if err != nil {
		return nil, err
	}
	return sealed.Append(sealed.Append(nil, briefSeal, key, brief), foldSeal, key, fold), nil
}

// HeadKey is the key that seals the caches of this store.
func (r *Reader) HeadKey(ctx context.Context) *token.Key { return sealed.Key(ctx, r.source) }

// SavedFold loads a session's saved fold. Whether the session's log still
// contains its head is found out by the reading that continues from it.
func (r *Reader) SavedFold(ctx context.Context, s id.Session) (*runs.Fold, bool) {
	key := r.HeadKey(ctx)
	if key == nil {
		return nil, false
	}
	data, err := r.source.CachedHead(ctx, manifest.SessionEvents(s), runs.SavedFormat, limits.HeadCacheBytesMax+1)
	if err != nil || len(data) > limits.HeadCacheBytesMax {
		return nil, false
	}
	_, line, _ := bytes.Cut(data, []byte{'\n'})
	doc, ok := sealed.Open(line, foldSeal, key)
	if !ok {
		return nil, false
	}
	f, err := runs.LoadFold(doc)
	return f, err == nil && f.ID == s.String()
}

// Brief loads the first line of the head cache; ok is false without a valid
// one.
func (r *Reader) Brief(ctx context.Context, s id.Session, key *token.Key) (b runs.Brief, ok bool) {
	if key == nil {
		return b, false
	}
	data, err := r.source.CachedHead(ctx, manifest.SessionEvents(s), runs.SavedFormat, limits.HeadBriefBytesMax)
	if err != nil {
		return b, false
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	doc, ok := sealed.Open(append(line[:len(line):len(line)], '\n'), briefSeal, key)
	if !ok || canon.Unmarshal(doc, &b) != nil || b.SessionID != s.String() || b.Head.IsZero() {
		return runs.Brief{}, false
	}
	return b, true
}

// LostTail changes the verdict over a log that ends before a head that was
// saved once: the events in between were acknowledged and are lost
// (docs/design.md#log-tail). A verdict of damage is kept.
func LostTail(log manifest.Log, v manifest.Verdict, claimed manifest.Head) manifest.Verdict {
	if claimed.Next <= v.Head.Next || v.Damaged() {
		return v
	}
	v.Health, v.TailBytes = manifest.CorruptTail, 0
	if v.Head.IsZero() {
		v.Health = manifest.CorruptHead
	}
	v.Findings = append(v.Findings, manifest.NewFinding(manifest.LostTail, log.Root,
		"the log ends before event %d, and its head cache was written behind event %d: what was committed between is "+
			"lost", v.Head.Next, claimed.Next-1))
	return v
}
