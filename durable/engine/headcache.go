package engine

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/hex"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/derive"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
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

// shortLog is the number of manifest records up to which a log is read from its
// beginning although a fold of it was saved. That takes no longer and detects
// damage.
const shortLog = 16

// foldNodesMax bounds the nodes of a fold that is kept between calls; beyond it
// a window of the fold is kept. A process that makes 100,000 steps needs no
// more memory than one that makes a hundred.
const foldNodesMax = 1024

// durableHead is the head up to which a log is known to survive a power cut.
// Only such heads are saved: one that could vanish would later prove a loss
// that did not happen.
type durableHead struct {
	head manifest.Head
	// appended reports that this process appended since it last saved.
	appended bool
}

// noteDurable records that a log is durable up to a head. Heads only move
// forward.
func (g *Engine) noteDurable(log manifest.Log, head manifest.Head, appended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.durable == nil {
		g.durable = map[string]durableHead{}
	}
	have := g.durable[log.Owner]
	if head.Next >= have.head.Next {
		have.head = head
	}
	have.appended = have.appended || appended
	g.durable[log.Owner] = have
}

// Flush writes the folds of the sessions that this process has appended to. A
// process calls it last. Errors are ignored: the log is the truth, and the next
// process can save as well.
func (g *Engine) Flush(ctx context.Context) {
	g.mu.Lock()
	memo := g.folds
	g.folds = nil
	g.mu.Unlock()
	for s, f := range memo {
		g.mu.Lock()
		due := f.Ahead > 0 && g.durable[s.String()].appended
		g.mu.Unlock()
		if due {
			f = g.saveHead(ctx, s, f)
		}
		g.mu.Lock()
		if g.folds == nil {
			g.folds = map[id.Session]*runs.Fold{}
		}
		if _, newer := g.folds[s]; !newer {
			g.folds[s] = f
		}
		g.mu.Unlock()
	}
}

// saveHead writes a fold to the session's head cache if its head is known to be
// durable. It returns the fold to use from now on: a window of the given one if
// that has too many nodes.
func (g *Engine) saveHead(ctx context.Context, s id.Session, f *runs.Fold) *runs.Fold {
	g.mu.Lock()
	have := g.durable[s.String()]
	// The entry has served: another append creates a new one.
	if have.head == f.Head {
		delete(g.durable, s.String())
	}
	g.mu.Unlock()
	if g.HeadCache == nil || f.Missed() || have.head != f.Head {
		return f
	}
	f.Ahead = 0 // also on failure: the next try is saveEvery segments later
	key := g.headKey(ctx)
	data, window, ok := f.Save(limits.HeadCacheBytesMax - limits.HeadBriefBytesMax - 1024)
	if key == nil || !ok {
		return f
	}
	lines, err := headLines(key, f.Brief(), data)
	if err == nil {
		_ = g.HeadCache.StoreHead(ctx, manifest.SessionEvents(s), runs.SavedFormat, lines)
	}
	nodes := 0
	for _, r := range f.Runs {
		nodes += len(r.Order)
	}
	if nodes > foldNodesMax {
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
	return appendSealed(appendSealed(nil, briefSeal, key, brief), foldSeal, key, fold), nil
}

// appendSealed appends "<seal> <doc>\n". The seal is a keyed digest of the
// document in its context.
func appendSealed(dst []byte, context string, key *token.Key, doc []byte) []byte {
	seal := derive.Seal(context, key[:], doc)
	dst = append(hex.AppendEncode(dst, seal[:]), ' ')
	return append(append(dst, doc...), '\n')
}

// openSealed returns the document of a sealed line; ok is false if the seal was
// not made with this key and context. The comparison takes constant time.
func openSealed(line []byte, context string, key *token.Key) ([]byte, bool) {
	const start = 2*derive.SealBytes + 1
	// A line that was cut off by a crash has no newline.
	if len(line) < start+1 || line[start-1] != ' ' || line[len(line)-1] != '\n' {
		return nil, false
	}
	doc := line[start : len(line)-1]
	seal := derive.Seal(context, key[:], doc)
	return doc, subtle.ConstantTimeCompare(hex.AppendEncode(nil, seal[:]), line[:start-1]) == 1
}

// headKey is the key that seals head caches: the current signing key. Without a
// keyring, and after a rotation, no cache is valid.
func (g *Engine) headKey(ctx context.Context) *token.Key {
	if g.HeadCache == nil {
		return nil
	}
	keys, err := g.Keyring.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return nil
	}
	return &keys.Current
}

// savedFold loads a session's saved fold. Whether the session's log still
// contains its head is found out by the reading that continues from it.
func (g *Engine) savedFold(ctx context.Context, s id.Session) (*runs.Fold, bool) {
	key := g.headKey(ctx)
	if key == nil {
		return nil, false
	}
	data, err := g.HeadCache.CachedHead(ctx, manifest.SessionEvents(s), runs.SavedFormat, limits.HeadCacheBytesMax+1)
	if err != nil || len(data) > limits.HeadCacheBytesMax {
		return nil, false
	}
	_, line, _ := bytes.Cut(data, []byte{'\n'})
	doc, ok := openSealed(line, foldSeal, key)
	if !ok {
		return nil, false
	}
	f, err := runs.LoadFold(doc)
	return f, err == nil && f.ID == s.String()
}

// brief loads the first line of the head cache; ok is false without a valid
// one.
func (g *Engine) brief(ctx context.Context, s id.Session, key *token.Key) (b runs.Brief, ok bool) {
	if key == nil {
		return b, false
	}
	data, err := g.HeadCache.CachedHead(ctx, manifest.SessionEvents(s), runs.SavedFormat, limits.HeadBriefBytesMax)
	if err != nil {
		return b, false
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	doc, ok := openSealed(append(line[:len(line):len(line)], '\n'), briefSeal, key)
	if !ok || canon.Unmarshal(doc, &b) != nil || b.SessionID != s.String() || b.Head.IsZero() {
		return runs.Brief{}, false
	}
	return b, true
}

// lostTail changes the verdict over a log that ends before a head that was
// saved once: the events in between were acknowledged and are lost
// (docs/design.md#log-tail). A verdict of damage is kept.
func lostTail(log manifest.Log, v manifest.Verdict, claimed manifest.Head) manifest.Verdict {
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
