package openruns

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/guard"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/ports"
)

// latest are the latest open runs of each repository, and the mark up to which changes are among them.
type latest struct {
	mark    string
	roots   map[string]rows
	changed bool // it is not the saved one
}

// rows are the latest open runs of a repository.
type rows struct {
	list []row
	// cut reports that there were more than limits.GuardRunsMax.
	cut bool
}

// row is an open run in the form in which it is saved: the session, and fields that only the answer needs.
type row struct {
	session, rest string
	atMs          int64
}

func newLatest(mark string) latest { return latest{mark: mark, roots: map[string]rows{}} }

// text is a row as the list of all sessions has it. No field has white space.
func (r Row) text() string {
	return fmt.Sprintf("%s %d %s %s %s %s", r.Root, r.AtMs, r.Run, r.Node, cmp.Or(string(r.Waits), "-"), r.StepID)
}

// add adds the rows of a session, as Row.text with tabs between; order follows.
func (a *latest) add(session, text string) {
	if text == "" {
		return
	}
	for one := range strings.SplitSeq(text, "\t") {
		root, rest, _ := strings.Cut(one, " ")
		ms, rest, _ := strings.Cut(rest, " ")
		if at, err := strconv.ParseInt(ms, 10, 64); err == nil {
			r := a.roots[root]
			r.list = append(r.list, row{session, rest, at})
			a.roots[root] = r
		}
	}
}

// order sorts the rows of each repository, the latest activity first, and cuts them.
func (a *latest) order() {
	for root, r := range a.roots {
		sorting.By(r.list, func(x, y row) int {
			return cmp.Or(cmp.Compare(y.atMs, x.atMs), strings.Compare(x.rest, y.rest))
		})
		if len(r.list) > limits.GuardRunsMax {
			r.list, r.cut = r.list[:limits.GuardRunsMax], true
		}
		a.roots[root] = r
	}
}

// replace replaces the rows of a session.
func (a *latest) replace(session, text string) {
	for root, r := range a.roots {
		r.list = slices.DeleteFunc(r.list, func(one row) bool { return one.session == session })
		a.roots[root] = r
	}
	a.add(session, text)
	a.order()
	a.changed = true
}

// lacks reports that so many rows of a repository were replaced that earlier ones would have to follow.
func (a *latest) lacks(root string) bool {
	r := a.roots[root]
	return r.cut && len(r.list) < limits.GuardRunsMax/2
}

// parse returns the rows of a repository.
func (r rows) parse(root string) []Row {
	out := make([]Row, 0, len(r.list))
	for _, one := range r.list {
		parts := strings.SplitN(one.rest, " ", 4)
		if len(parts) != 4 {
			continue
		}
		session, err1 := id.ParseSession(one.session)
		run, err2 := id.ParseRun(parts[0])
		node, err3 := id.ParseNode(parts[1])
		if errors.Join(err1, err2, err3) == nil {
			out = append(out, Row{run, node, parts[3], guard.Waits(strings.TrimPrefix(parts[2], "-")), root, one.atMs, session})
		}
	}
	return out
}

// encode returns the saved form: the mark, then a line for each repository that had more runs, then one for each row.
func (a *latest) encode() []byte {
	b := bytes.NewBufferString(a.mark + "\n")
	for _, root := range slices.Sorted(maps.Keys(a.roots)) {
		r := a.roots[root]
		if r.cut {
			fmt.Fprintf(b, "cut %s\n", root)
		}
		for _, one := range r.list {
			fmt.Fprintf(b, "%s %s %d %s\n", one.session, root, one.atMs, one.rest)
		}
	}
	return b.Bytes()
}

// loadLatest returns the saved latest runs; none, without a mark, for a file with any defect.
func (l List) loadLatest(ctx context.Context, key *token.Key) latest {
	mark, lines, _ := strings.Cut(l.load(ctx, key, ports.LatestRuns), "\n")
	a := newLatest(mark)
	for line := range strings.Lines(lines) {
		session, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if session == "cut" {
			r := a.roots[rest]
			r.cut = true
			a.roots[rest] = r
			continue
		}
		a.add(session, rest)
	}
	return a
}

// saved is what the list of all sessions has of one: the stamp at which it was read, and its rows with a tab between.
type saved struct{ session, stamp, rows string }

// encodeAll returns the saved form: a line for each session.
func encodeAll(all []saved) []byte {
	var b bytes.Buffer
	for _, s := range all {
		fmt.Fprintf(&b, "%s %s %s\n", s.session, s.stamp, s.rows)
	}
	return b.Bytes()
}

// loadAll returns the saved list of all sessions by name; an empty one for one with any defect.
func (l List) loadAll(ctx context.Context, key *token.Key) map[string]saved {
	text := l.load(ctx, key, ports.AllRuns)
	all := make(map[string]saved, strings.Count(text, "\n"))
	for line := range strings.Lines(text) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		stamp, rows, _ := strings.Cut(rest, " ")
		all[name] = saved{name, stamp, rows}
	}
	return all
}

// The contexts of the seals of the saved lists.
var seals = map[ports.GuardList]string{
	ports.LatestRuns: "waybill 2026 v2 guard latest runs",
	ports.AllRuns:    "waybill 2026 v2 guard all runs",
}

// load returns a saved list, "" for one with any defect.
func (l List) load(ctx context.Context, key *token.Key, which ports.GuardList) string {
	if key == nil {
		return ""
	}
	data, err := l.files.Saved(ctx, which, limits.GuardCacheBytesMax)
	if err != nil {
		return ""
	}
	doc, ok := sealed.Open(data, seals[which], key)
	if !ok {
		return ""
	}
	return string(doc)
}

// save writes a list. Errors are ignored: it is computed again.
func (l List) save(ctx context.Context, key *token.Key, which ports.GuardList, data []byte) {
	if key != nil && len(data) < limits.GuardCacheBytesMax/2 {
		_ = l.files.Save(ctx, which, sealed.Append(nil, seals[which], key, data))
	}
}
