package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

// Usage is the document "du": how much lies where, the largest first. Bytes are those
// of files; what a filesystem adds is not known.
type Usage struct {
	TotalBytes int64          `json:"totalBytes"`
	TotalFiles int64          `json:"totalFiles"`
	Sessions   []SessionUsage `json:"sessions"`
	Trash      []SessionUsage `json:"trash"`
	Objects    []ObjectUsage  `json:"objects"`
	Folders    []FolderUsage  `json:"folders"` // of the store, with all that lies below each
	Leftover   int64          `json:"leftoverBytes"`
	Unclear    []Unclear      `json:"unclear"` // what could not be read: shares of objects may be wrong
}

// SessionUsage is how much a session takes, in the trash or out of it.
type SessionUsage struct {
	SessionID  id.Session  `json:"sessionId"`
	Name       string      `json:"name,omitzero"` // in the trash
	Runs       []RunName   `json:"runs"`
	TotalBytes int64       `json:"totalBytes"` // of its folder and of the objects that it alone needs
	Events     Amount      `json:"events"`     // its own log
	SideLogs   Amount      `json:"sideLogs"`
	Cache      Amount      `json:"cache"`
	Other      Amount      `json:"other"`
	Own        ObjectShare `json:"ownObjects"`    // that nobody else needs
	Shared     ObjectShare `json:"sharedObjects"` // that others need as well
}

// Amount counts files.
type Amount struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

func (a *Amount) add(f ports.Folder) { a.Files, a.Bytes = a.Files+f.Files, a.Bytes+f.Bytes }

// ObjectShare counts objects.
type ObjectShare struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

func (s *ObjectShare) add(bytes int64) { s.Count, s.Bytes = s.Count+1, s.Bytes+bytes }

// ObjectUsage is how much the objects of a kind take; Unused ones no log names.
type ObjectUsage struct {
	Kind   manifest.ObjectKind `json:"kind"`
	Count  int64               `json:"count"`
	Bytes  int64               `json:"bytes"`
	Unused ObjectShare         `json:"unused"`
}

// FolderUsage is a folder at the store's top.
type FolderUsage struct {
	Path string `json:"path"`
	Amount
}

// DU measures a store.
func (g *Engine) DU(ctx context.Context) (Usage, error) {
	out := Usage{Sessions: []SessionUsage{}, Trash: []SessionUsage{}, Objects: []ObjectUsage{},
		Folders: []FolderUsage{}, Unclear: []Unclear{}}
	survey, err := g.Retention.Survey(ctx)
	if err != nil {
		return out, err
	}
	m := &usageCounter{g: g, rows: map[string]*SessionUsage{}, stored: map[[sha256.Size]byte]*owners{}}
	objects, err := g.storedObjects(ctx)
	if err != nil {
		return out, err
	}
	for _, o := range objects {
		m.stored[o.Ref.Raw()] = &owners{bytes: o.Bytes}
	}
	if err := m.countLogs(ctx, &out); err != nil {
		return out, err
	}
	m.countFolders(survey, &out)
	m.countOwnedObjects(objects, &out)
	bySize := func(a, b SessionUsage) int {
		return cmp.Or(cmp.Compare(b.TotalBytes, a.TotalBytes), cmp.Compare(a.SessionID.String(), b.SessionID.String()))
	}
	slices.SortFunc(out.Sessions, bySize)
	slices.SortFunc(out.Trash, bySize)
	slices.SortFunc(out.Folders, func(a, b FolderUsage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	return out, nil
}

// measure knows who needs which object.
type usageCounter struct {
	g      *Engine
	rows   map[string]*SessionUsage // by folder
	stored map[[sha256.Size]byte]*owners
}

// owners of an object: none, one, or several of whom the first is known and the rest
// listed. Nearly all objects have one.
type owners struct {
	bytes int64
	first *SessionUsage
	more  []*SessionUsage
	store bool // a log of the store names it
}

func (m *usageCounter) countLogs(ctx context.Context, out *Usage) error {
	roots, err := m.g.Retention.LogRoots(ctx)
	if err != nil {
		return err
	}
	top := map[string]*SessionUsage{} // by session and trash name
	for _, r := range roots {
		log := manifest.Log{Root: r.Root, Owner: r.Owner, Table: event.Domain}
		usage := top[r.Owner+"/"+r.Trash]
		if r.Name != "" {
			log.Table = event.Opaque(r.Name, ownerField(r))
		} else {
			usage = &SessionUsage{SessionID: r.Session, Name: r.Trash}
			top[r.Owner+"/"+r.Trash], m.rows[r.Root] = usage, usage
		}
		v := &ownerVisitor{usageCounter: m, usage: usage}
		if r.Name == "" {
			v.fold = projections.NewFold()
		}
		verdict, err := m.g.Logs.Read(ctx, ports.Reading{Log: log}, v)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			out.Unclear = append(out.Unclear, Unclear{r.Root, fault.Of(err).Message})
		} else if verdict.Damaged() {
			out.Unclear = append(out.Unclear, Unclear{r.Root, describeHealth(verdict)})
		}
		if r.Name == "" {
			usage.Runs = m.g.runNames(ctx, v.fold)
		}
	}
	return nil
}

// claimant visits a log and notes whose the objects are that it names.
type ownerVisitor struct {
	*usageCounter
	usage *SessionUsage     // nil: the store's
	fold  *projections.Fold // nil for a side log
}

// Reset starts over; what was claimed stays claimed.
func (c *ownerVisitor) Reset() {
	if c.fold != nil {
		c.fold.Reset()
	}
}

// Visit claims what a segment names.
func (c *ownerVisitor) Visit(seg manifest.Segment, head manifest.Head) error {
	for _, text := range [][]byte{seg.Bytes, seg.Group} {
		retention.Named(text, func(raw [sha256.Size]byte) {
			if o := c.stored[raw]; o != nil {
				o.addOwner(c.usage)
			}
		})
	}
	if c.fold == nil {
		return nil
	}
	return c.fold.Visit(seg, head)
}

func (o *owners) addOwner(usage *SessionUsage) {
	switch {
	case usage == nil:
		o.store = true
	case o.first == nil:
		o.first = usage
	case o.first != usage && !slices.Contains(o.more, usage):
		o.more = append(o.more, usage)
	}
}

// folders adds up what lies where: a session's folder by its parts, the store's by its
// top.
func (m *usageCounter) countFolders(survey ports.Survey, out *Usage) {
	tops := map[string]*Amount{}
	for _, f := range survey.Folders {
		out.TotalBytes, out.TotalFiles = out.TotalBytes+f.Bytes, out.TotalFiles+f.Files
		top, _, _ := strings.Cut(f.Path, "/")
		if tops[top] == nil {
			tops[top] = &Amount{}
		}
		tops[top].add(f)
		parts := strings.SplitN(f.Path, "/", 4)
		if len(parts) < 2 {
			continue
		}
		usage := m.rows[parts[0]+"/"+parts[1]]
		switch {
		case usage == nil:
		case len(parts) == 2, parts[2] == manifest.SegmentDir:
			usage.Events.add(f)
		case parts[2] == "cache":
			usage.Cache.add(f)
		default:
			usage.SideLogs.add(f)
		}
	}
	for path, a := range tops {
		out.Folders = append(out.Folders, FolderUsage{path, *a})
	}
	for _, l := range survey.Leftovers {
		out.Leftover += l.Bytes
		out.TotalBytes += l.Bytes
	}
}

// share tells who needs each object.
func (m *usageCounter) countOwnedObjects(objects []retention.Object, out *Usage) {
	for _, kind := range manifest.ObjectKinds() {
		row := ObjectUsage{Kind: kind}
		for _, o := range objects {
			if o.Kind != kind {
				continue
			}
			row.Count, row.Bytes = row.Count+1, row.Bytes+o.Bytes
			owned := m.stored[o.Ref.Raw()]
			switch {
			case owned.first == nil && !owned.store:
				row.Unused.add(o.Bytes)
			case owned.first != nil && len(owned.more) == 0 && !owned.store:
				owned.first.Own.add(o.Bytes)
			default:
				for _, usage := range owned.more {
					usage.Shared.add(o.Bytes)
				}
				if owned.first != nil {
					owned.first.Shared.add(o.Bytes)
				}
			}
		}
		out.Objects = append(out.Objects, row)
	}
	for _, usage := range m.rows {
		usage.TotalBytes = usage.Events.Bytes + usage.SideLogs.Bytes + usage.Cache.Bytes + usage.Own.Bytes
		switch {
		case usage.Name != "":
			out.Trash = append(out.Trash, *usage)
		default:
			out.Sessions = append(out.Sessions, *usage)
		}
	}
}
