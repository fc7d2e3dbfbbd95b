package upkeep

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// Usage is the document "du": disk usage by sessions, objects and directories,
// the largest first. Sizes are those of files in bytes; the overhead of the
// filesystem is not included.
type Usage struct {
	TotalBytes int64          `json:"totalBytes"`
	TotalFiles int64          `json:"totalFiles"`
	Sessions   []SessionUsage `json:"sessions"`
	Trash      []SessionUsage `json:"trash"`
	Objects    []ObjectUsage  `json:"objects"`
	// Folders are the top-level directories of the store.
	Folders  []FolderUsage `json:"folders"`
	Leftover int64         `json:"leftoverBytes"`
	// Unclear lists logs that could not be read: shares of objects may be wrong
	// then.
	Unclear []Unclear `json:"unclear"`
}

// SessionUsage is the disk usage of a session, in the trash or not.
type SessionUsage struct {
	SessionID id.Session `json:"sessionId"`
	Name      string     `json:"name,omitzero"` // name in the trash
	Runs      []RunName  `json:"runs"`
	// TotalBytes covers its directory and the objects that only it refers to.
	TotalBytes int64  `json:"totalBytes"`
	Events     Amount `json:"events"` // its own log
	SideLogs   Amount `json:"sideLogs"`
	Cache      Amount `json:"cache"`
	Other      Amount `json:"other"`
	// Own counts objects that only this session refers to.
	Own ObjectShare `json:"ownObjects"`
	// Shared counts objects that others refer to as well.
	Shared ObjectShare `json:"sharedObjects"`
}

// Amount is a number of files and their size.
type Amount struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
}

// add adds a place of the survey.
func (a *Amount) add(f ports.PlaceUsage) { a.Files, a.Bytes = a.Files+f.Count, a.Bytes+f.Bytes }

// ObjectShare is a number of objects and their size.
type ObjectShare struct {
	Count int64 `json:"count"`
	Bytes int64 `json:"bytes"`
}

// add adds one object.
func (s *ObjectShare) add(bytes int64) { s.Count, s.Bytes = s.Count+1, s.Bytes+bytes }

// ObjectUsage is the usage by objects of one kind. Unused ones are not named in
// any log.
type ObjectUsage struct {
	Kind   manifest.ObjectKind `json:"kind"`
	Count  int64               `json:"count"`
	Bytes  int64               `json:"bytes"`
	Unused ObjectShare         `json:"unused"`
}

// FolderUsage is a directory at the top of the store, with everything below it.
type FolderUsage struct {
	Path string `json:"path"`
	Amount
}

// DU measures the disk usage of a store. It takes no lock and changes nothing but the index.
// Logs that cannot be read are listed in Unclear.
func (u *Upkeep) DU(ctx context.Context) (Usage, error) {
	return session.Whole(u.store, func() (Usage, error) { return u.du(ctx) })
}

// du is DU, with unclear logs where no file descriptor was left.
func (u *Upkeep) du(ctx context.Context) (Usage, error) {
	out := Usage{Sessions: []SessionUsage{}, Trash: []SessionUsage{}, Objects: []ObjectUsage{},
		Folders: []FolderUsage{}, Unclear: []Unclear{}}
	survey, err := u.store.Survey(ctx)
	if err != nil {
		return out, err
	}
	objects, err := u.storedObjects(ctx)
	if err != nil {
		return out, err
	}
	m := &usageCounter{u: u, rows: map[string]*SessionUsage{}, objects: objects, owner: make([]int32, objects.Len()),
		owners: []*SessionUsage{nil, nil}, shared: map[int][]int32{}, numbers: map[[2]string]int32{},
		unclear: map[string]string{}}
	if err := m.countLogs(ctx, &out); err != nil {
		return out, err
	}
	m.countFolders(survey, &out)
	m.countOwnedObjects(&out)
	bySize := func(a, b SessionUsage) int {
		return cmp.Or(cmp.Compare(b.TotalBytes, a.TotalBytes), a.SessionID.Compare(b.SessionID))
	}
	sorting.By(out.Sessions, bySize)
	sorting.By(out.Trash, bySize)
	sorting.By(out.Folders, func(a, b FolderUsage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Path, b.Path))
	})
	return out, nil
}

// usageCounter assigns objects and directories to sessions. A store has many objects and few sessions: of an object
// it keeps one number.
type usageCounter struct {
	u       *Upkeep
	rows    map[string]*SessionUsage // by directory
	objects *retention.Objects
	// owner is the first owner of each object, by its index: unowned, storeOwned, or an index in owners. shared are
	// the others.
	owner  []int32
	shared map[int][]int32
	owners []*SessionUsage
	// numbers are the indices in owners of sessions, by owner and name in the trash.
	numbers map[[2]string]int32
	unclear map[string]string // by the root of a log that could not be read
}

// The owners that are no session: none, and the store itself by a log of its own.
const (
	unowned = iota
	storeOwned
)

// countLogs creates the row of each session, and records which objects each log names: logs of sessions that did not change
// since the index was written as that has it, the others are read. A log that cannot be read is added to out.Unclear.
func (m *usageCounter) countLogs(ctx context.Context, out *Usage) error {
	roots, err := m.u.store.LogRoots(ctx)
	if err != nil {
		return err
	}
	own := map[id.Session]ports.LogRoot{}
	for _, r := range roots {
		if r.Name != "" {
			continue
		}
		usage := &SessionUsage{SessionID: r.Session, Name: r.TrashName, Runs: []RunName{}}
		m.rows[r.Root] = usage
		m.numbers[[2]string{r.Owner, r.TrashName}], m.owners = int32(len(m.owners)), append(m.owners, usage)
		if r.TrashName == "" {
			own[r.Session] = r
		}
	}
	if err := m.countKept(ctx, own); err != nil {
		return err
	}
	for _, r := range roots {
		if _, isOwn := own[r.Session]; r.Name != "" || r.TrashName != "" || isOwn {
			if _, err := m.read(ctx, r); err != nil {
				return err
			}
		}
		if message, ok := m.unclear[r.Root]; ok {
			out.Unclear = append(out.Unclear, Unclear{r.Root, message})
		}
	}
	return nil
}

// countKept counts the logs of sessions, and removes from own those that it has counted.
func (m *usageCounter) countKept(ctx context.Context, own map[id.Session]ports.LogRoot) error {
	if m.u.Index == nil {
		return nil
	}
	kept, err := m.u.Index.Logs(ctx, func(ctx context.Context, s id.Session) ([]byte, bool, error) {
		r, ok := own[s]
		if !ok { // it appeared meanwhile
			return nil, false, nil
		}
		delete(own, s)
		before := m.u.store.Failures()
		log, err := m.read(ctx, r)
		if !log.settled || len(log.digests) > namedMax || m.u.store.Failures() != before {
			return nil, false, err // what could not be opened for want of a descriptor is not known
		}
		return log.encode(), true, err
	})
	if err != nil {
		return err
	}
	for s, text := range kept {
		r, ok := own[s]
		if !ok {
			continue
		}
		owner := m.ownerOf(r)
		if names, ok := decodeNamed(text, func(raw [sha256.Size]byte) { m.addOwner(raw, owner) }); ok {
			m.rows[r.Root].Runs = names
			delete(own, s)
		}
	}
	return nil
}

// ownerOf returns the number of the owner of a log: its session, or the store.
func (m *usageCounter) ownerOf(r ports.LogRoot) int32 {
	if i, ok := m.numbers[[2]string{r.Owner, r.TrashName}]; ok {
		return i
	}
	return storeOwned
}

// read reads a log, and records which objects it names and, of a session's own one, its runs. The errors are those of a
// context that ended; what cannot be read is unclear.
func (m *usageCounter) read(ctx context.Context, r ports.LogRoot) (log namedByLog, err error) {
	of := manifest.Log{Root: r.Root, Owner: r.Owner, Table: event.Domain}
	if r.Name != "" {
		of.Table = event.Opaque(r.Name, ownerField(r))
	}
	var fold *runs.Fold // nil for a side log
	if r.Name == "" {
		fold = runs.NewFold()
	}
	owner := m.ownerOf(r)
	verdict, err := m.u.store.Read(ctx, ports.ReadRequest{Log: of}, func(manifest.Head) ports.Visitor {
		var window ports.Visitor
		if r.Name == "" {
			fold = runs.NewFold()
			window = session.NewWindowed(fold)
		}
		log.digests = map[[sha256.Size]byte]struct{}{}
		// Owners remain when the reading starts over: each is recorded once.
		return ports.VisitorFunc(func(seg manifest.Segment, head manifest.Head) error {
			for _, text := range [][]byte{seg.Bytes, seg.Group} {
				retention.EachDigest(text, func(raw [sha256.Size]byte) {
					m.addOwner(raw, owner)
					log.add(raw)
				})
			}
			if window == nil {
				return nil
			}
			return window.Visit(seg, head)
		})
	})
	if ctx.Err() != nil {
		return log, err
	}
	if err != nil {
		m.unclear[r.Root] = fault.Of(err).Message
	} else if verdict.Damaged() {
		m.unclear[r.Root] = describeHealth(verdict)
	}
	log.settled = err == nil && verdict.Health == manifest.Healthy && verdict.TailBytes == 0 && len(verdict.Orphans) == 0
	if fold != nil {
		log.runs = m.u.runNames(ctx, fold)
		for _, run := range fold.Order {
			_, err := m.u.e.Workflow(ctx, fold.Runs[run].Started.WorkflowHash)
			log.settled = log.settled && err == nil // else the name is another one when it can be read
		}
		m.rows[r.Root].Runs = log.runs
	}
	return log, nil
}

// addOwner records an owner of the objects with a digest, once for each of them.
func (m *usageCounter) addOwner(raw [sha256.Size]byte, owner int32) {
	first, end := m.objects.Find(raw)
	for i := first; i < end; i++ {
		switch {
		case m.owner[i] == unowned:
			m.owner[i] = owner
		case m.owner[i] != owner && !slices.Contains(m.shared[i], owner):
			m.shared[i] = append(m.shared[i], owner)
		}
	}
}

// countFolders adds up directories: below a session by log and cache, below the
// store by their top directory.
func (m *usageCounter) countFolders(survey ports.Survey, out *Usage) {
	tops := map[string]*Amount{}
	for _, f := range survey.Places {
		out.TotalBytes, out.TotalFiles = out.TotalBytes+f.Bytes, out.TotalFiles+f.Count
		top, _, _ := strings.Cut(f.Place, "/")
		if tops[top] == nil {
			tops[top] = &Amount{}
		}
		tops[top].add(f)
		parts := strings.SplitN(f.Place, "/", 4)
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

// countOwnedObjects adds each object to the share of its owners and completes
// the totals.
func (m *usageCounter) countOwnedObjects(out *Usage) {
	for _, kind := range manifest.ObjectKinds() {
		row := ObjectUsage{Kind: kind}
		for i := range m.objects.Len() {
			if m.objects.Kind(i) != kind {
				continue
			}
			size, first := m.objects.Bytes(i), m.owner[i]
			row.Count, row.Bytes = row.Count+1, row.Bytes+size
			switch {
			case first == unowned:
				row.Unused.add(size)
			case first != storeOwned && len(m.shared[i]) == 0:
				m.owners[first].Own.add(size)
			default:
				for _, owner := range append([]int32{first}, m.shared[i]...) {
					if owner != storeOwned {
						m.owners[owner].Shared.add(size)
					}
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
