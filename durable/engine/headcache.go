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
	"github.com/waybill/waybill/projections"
)

// The head cache of a session (R11) is two lines, each "<seal> <JCS>": a brief for
// whoever looks for a run, and the fold for whoever goes on with it. Whatever is
// wrong with it is a miss, silently: the log is read instead, and says the same.

// The contexts under which the keys of seals are derived: one a line, so that no
// line can stand in another's place.
const (
	briefSeal = "waybill 2026 v1 head cache brief"
	foldSeal  = "waybill 2026 v1 head cache fold"
)

// saveEvery is how many segments a fold may be ahead of the saved one while the
// process goes on: reading them again costs less than saving at every step.
const saveEvery = 16

// shortLog is up to how many manifest records a log is read from its beginning
// although a fold of it was saved: that takes no longer, and meets what is damaged.
const shortLog = 16

// memoNodesMax is how many nodes a fold may hold between calls before a window of
// it is kept instead: a process that makes 100,000 steps stays as small as one that
// makes a hundred.
const foldNodesMax = 1024

// proof says up to where a log is known to survive a power cut: only such a head is
// saved, since one that could vanish would later prove a loss that never was.
type durableHead struct {
	head     manifest.Head
	appended bool // by this process, since it last saved
}

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

// Flush saves the folds of sessions that this process has written to: the last thing
// that it does. What fails leaves the log as it is, and is tried by the next one.
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
			g.folds = map[id.Session]*projections.Fold{}
		}
		if _, newer := g.folds[s]; !newer {
			g.folds[s] = f
		}
		g.mu.Unlock()
	}
}

// saveHead writes a fold whose head is durable to the session's head cache, and
// gives the fold to go on with.
func (g *Engine) saveHead(ctx context.Context, s id.Session, f *projections.Fold) *projections.Fold {
	g.mu.Lock()
	have := g.durable[s.String()]
	if have.head == f.Head {
		delete(g.durable, s.String())
	}
	g.mu.Unlock()
	if g.Heads == nil || f.Missed() || have.head != f.Head {
		return f
	}
	f.Ahead = 0 // not at once again, whatever comes of it
	key := g.headKey(ctx)
	data, window, ok := f.Save(limits.HeadCacheBytesMax - limits.HeadBriefBytesMax - 1024)
	if key == nil || !ok {
		return f
	}
	lines, err := headLines(key, f.Brief(), data)
	if err == nil {
		_ = g.Heads.KeepHead(ctx, manifest.SessionEvents(s), projections.SavedFormat, lines)
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

// headLines spells the file. A brief that is too long for its line says nothing.
func headLines(key *token.Key, b projections.Brief, fold []byte) ([]byte, error) {
	brief, err := canon.Marshal(b)
	if err == nil && len(brief) > limits.HeadBriefBytesMax-2*derive.SealBytes-2 {
		brief, err = canon.Marshal(projections.Brief{SessionID: b.SessionID, Runs: []projections.BriefRun{}})
	}
	if err != nil {
		return nil, err
	}
	return appendSealed(appendSealed(nil, briefSeal, key, brief), foldSeal, key, fold), nil
}

func appendSealed(dst []byte, context string, key *token.Key, doc []byte) []byte {
	seal := derive.Seal(context, key[:], doc)
	dst = append(hex.AppendEncode(dst, seal[:]), ' ')
	return append(append(dst, doc...), '\n')
}

// unsealed is the document of a line that was sealed under the key.
func openSealed(line []byte, context string, key *token.Key) ([]byte, bool) {
	const start = 2*derive.SealBytes + 1
	if len(line) < start+1 || line[start-1] != ' ' || line[len(line)-1] != '\n' {
		return nil, false
	}
	doc := line[start : len(line)-1]
	seal := derive.Seal(context, key[:], doc)
	return doc, subtle.ConstantTimeCompare(hex.AppendEncode(nil, seal[:]), line[:start-1]) == 1
}

// headKey is what head caches are sealed with: the current signing key. Without one,
// and after a rotation, there is no cache.
func (g *Engine) headKey(ctx context.Context) *token.Key {
	if g.Heads == nil {
		return nil
	}
	keys, err := g.Keyring.Keys(ctx, ports.ReadOnly)
	if err != nil {
		return nil
	}
	return &keys.Current
}

// savedFold loads a session's fold; whether it is of the log shows when that is read
// on from its head.
func (g *Engine) savedFold(ctx context.Context, s id.Session) (*projections.Fold, bool) {
	key := g.headKey(ctx)
	if key == nil {
		return nil, false
	}
	data, err := g.Heads.CachedHead(ctx, manifest.SessionEvents(s), projections.SavedFormat, limits.HeadCacheBytesMax+1)
	if err != nil || len(data) > limits.HeadCacheBytesMax {
		return nil, false
	}
	_, line, _ := bytes.Cut(data, []byte{'\n'})
	doc, ok := openSealed(line, foldSeal, key)
	if !ok {
		return nil, false
	}
	f, err := projections.LoadFold(doc)
	return f, err == nil && f.ID == s.String()
}

// brief loads the first line alone; the zero Brief where there is none.
func (g *Engine) brief(ctx context.Context, s id.Session, key *token.Key) (b projections.Brief, ok bool) {
	if key == nil {
		return b, false
	}
	data, err := g.Heads.CachedHead(ctx, manifest.SessionEvents(s), projections.SavedFormat, limits.HeadBriefBytesMax)
	if err != nil {
		return b, false
	}
	line, _, _ := bytes.Cut(data, []byte{'\n'})
	doc, ok := openSealed(append(line[:len(line):len(line)], '\n'), briefSeal, key)
	if !ok || canon.Unmarshal(doc, &b) != nil || b.SessionID != s.String() || b.Head.IsZero() {
		return projections.Brief{}, false
	}
	return b, true
}

// lostTail is the verdict over a log of which a later head was saved once: what
// stood between was acknowledged, and is lost (R9).
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
