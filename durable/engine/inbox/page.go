package inbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/paging"
)

// Query selects what is listed.
type Query struct {
	// Workspace is that of the proposals.
	Workspace string
	// Trusted reports that a person trusted a version of a workflow in this place; nil: all of them.
	Trusted func(ctx context.Context, hash canon.Digest) bool
	// Kinds are alternatives; none selects all.
	Kinds []Kind
	// Imported includes imported runs that were not continued in this store: their decisions are those of the store
	// that they came from.
	Imported bool
	Limit    int // 0: as many as a page holds
	// Cursor is NextCursor of the previous page.
	Cursor string

	trusted map[canon.Digest]bool // what Trusted returned
}

// Kinds lists the closed set.
func Kinds() []Kind {
	return []Kind{Paused, Failed, Approval, Question, Confirmation, Blocked, Proposal}
}

// isTrusted asks Trusted once for each version.
func (q *Query) isTrusted(ctx context.Context, hash canon.Digest) bool {
	if q.Trusted == nil {
		return true
	}
	known, ok := q.trusted[hash]
	if !ok {
		if q.trusted == nil {
			q.trusted = map[canon.Digest]bool{}
		}
		known = q.Trusted(ctx, hash)
		q.trusted[hash] = known
	}
	return known
}

// subject is the id of the run or of the proposal.
func (i Item) subject() string {
	if i.Kind == Proposal {
		return i.ProposalID.String()
	}
	return i.RunID.String()
}

// compare orders items: the one that waits longest first.
func compare(a, b Item) int {
	return cmp.Or(cmp.Compare(a.SinceMs, b.SinceMs), cmp.Compare(a.subject(), b.subject()))
}

// position is where a page ends: behind an item. The zero value is the beginning.
type position struct {
	sinceMs int64
	subject string
}

// isBehind reports that an item follows the position. A cursor names the item before the page and not an offset, so
// that what is done between two pages hides nothing.
func (p position) isBehind(i Item) bool {
	return p.subject == "" || cmp.Or(cmp.Compare(i.SinceMs, p.sinceMs), cmp.Compare(i.subject(), p.subject)) > 0
}

// cursorOf encodes the position behind an item.
func cursorOf(i Item) string { return fmt.Sprintf("%d.%s", i.SinceMs, i.subject()) }

// parseCursor decodes a cursor; "" is the beginning.
func parseCursor(text string) (p position, err error) {
	if text == "" {
		return p, nil
	}
	at, subject, _ := strings.Cut(text, ".")
	if p.sinceMs, err = strconv.ParseInt(at, 10, 64); err != nil || subject == "" {
		return p, fault.New(fault.ValidationError, "the cursor %q is not valid", text).
			Suggest("Copy nextCursor unchanged from the previous page.")
	}
	p.subject = subject
	return p, nil
}

// page returns the items of a list, which are in order, that a query selects behind a position.
func (l List) page(q Query, after position) List {
	all := l.Items
	l.Items = []Item{}
	var size paging.Size
	size.Add(l.Unreadable)
	for _, i := range all {
		if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, i.Kind) {
			l.Excluded++
			continue
		}
		if !after.isBehind(i) {
			continue
		}
		if full := q.Limit > 0 && len(l.Items) == q.Limit; full || !size.Fits(i) && len(l.Items) > 0 {
			l.NextCursor = cursorOf(l.Items[len(l.Items)-1])
			break
		}
		l.Items = append(l.Items, i)
	}
	if len(l.Items) > 0 || after != (position{}) {
		l.Excluded = 0
	}
	return l
}
