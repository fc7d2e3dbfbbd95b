package repair

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// logRepair is one repair of a log in progress.
type logRepair struct {
	Quarantine
	s     *Repairer
	c     *db.Conn // of the transaction with the lock of the log; nil in a dry run
	r     ports.LogRepair
	v     manifest.Verdict
	whole bool // without a usable prefix all of the log is moved, with what is below its root
}

// RepairLog implements ports.Repairs. It is one transaction behind the lock of the log.
func (s *Repairer) RepairLog(ctx context.Context, r ports.LogRepair) (out ports.RepairResult, err error) {
	j := &logRepair{r: r, s: s, Quarantine: Quarantine{run: s.db.Long, owner: r.Log.Owner, by: r.By, atMs: r.AtMs, root: r.Log.Root}}
	if r.DryRun {
		v, err := s.logs.Read(ctx, ports.ReadRequest{Log: r.Log}, ports.Skip)
		if err == nil {
			err = j.plan(ctx, v)
		}
		return j.result(), err
	}
	c, _, err := s.logs.Begin(ctx, r.Log, false)
	if err != nil {
		return out, err
	}
	given := false // the connection, to finish
	defer func() {
		if !given {
			s.db.Rollback(c)
		}
	}()
	j.c = c
	j.run = db.OnLong(c)
	v, err := j.read(ctx)
	if err == nil {
		err = j.judge(v)
	}
	if err != nil || !j.v.Damaged() {
		return j.result(), err
	}
	if err := j.exclude(ctx); err != nil {
		return out, err
	}
	if err := j.plan(ctx, v); err != nil {
		return out, err
	}
	if err := j.move(ctx); err != nil {
		return out, err
	}
	given = true
	done, err := s.db.Finish(ctx, c, nil, r.Log.Root)
	if err == nil && !done {
		err = fault.New(fault.StoreOutcomeUnknown, "the connection to the database was lost during a repair, and it is not "+
			"known whether it was made").Suggest("Verify the log again.")
	}
	if err != nil {
		return out, err
	}
	return j.result(), nil
}

// result returns what the repair does or did.
func (j *logRepair) result() ports.RepairResult {
	return ports.RepairResult{Verdict: j.v, QuarantinePlace: j.Place, Steps: j.Steps}
}

// read reads the log.
func (j *logRepair) read(ctx context.Context) (manifest.Verdict, error) {
	request := ports.ReadRequest{Log: j.r.Log, Locked: true}
	return j.s.logs.Once(ctx, request, j.run, func(in manifest.Input) (manifest.Verdict, error) {
		return manifest.Read(in, func(manifest.Segment, manifest.Head) error { return nil })
	})
}

// judge sets the verdict. Only a newer version knows what events of unknown kinds mean and what is damage in them; of a log whose table
// has no kinds only the groups are verified.
func (j *logRepair) judge(v manifest.Verdict) error {
	j.v = j.r.Judge(v)
	unknown := func(f manifest.Finding) bool { return f.Code == manifest.UnknownEvents }
	if len(j.r.Log.Table.Kinds()) == 0 {
		j.v.Findings = slices.DeleteFunc(slices.Clone(j.v.Findings), unknown)
	} else if slices.ContainsFunc(j.v.Findings, unknown) {
		return fault.New(fault.SessionUnhealthy, "%s has events that this binary does not know; it is not repaired", j.r.Log.Root).
			Suggest("Use the newer binary, or the other program, that wrote it.").
			With("health", string(manifest.UnknownVersion)).With(j.r.Log.Table.OwnerField, j.r.Log.Owner)
	}
	j.whole = j.v.Health == manifest.CorruptHead
	return nil
}

// exclude takes further locks beside that of the log, in the order of writers. With the log of a session its side logs and control files are
// moved: nothing is committed meanwhile. Otherwise it is a commit like any other.
func (j *logRepair) exclude(ctx context.Context) error {
	if !j.whole {
		return j.run(ctx, db.LockStatement(db.UseLock, true))
	}
	if session, err := id.ParseSession(j.owner); err == nil && j.root == manifest.SessionEvents(session).Root {
		err := j.run(ctx, db.LockStatement(rows.SideLock(session), false))
		if db.IsLocked(err) {
			return j.s.logs.BusySession(ctx, session)
		}
		if err != nil {
			return err
		}
	}
	return j.s.db.Alone(ctx, j.c)
}

// plan finds what has to be moved, and passes events of it to the caller.
func (j *logRepair) plan(ctx context.Context, v manifest.Verdict) error {
	if err := j.judge(v); err != nil || !j.v.Damaged() {
		return err
	}
	if err := j.FindPlace(ctx); err != nil {
		return err
	}
	j.Findings, j.health, j.kept = j.v.Findings, j.v.Health, j.v.Head
	moved := j.rows()
	for _, d := range j.derived() {
		moved += " union all select 1, " + d.name + ", " + d.name + ", " + d.content + " from " + d.table + " where " + d.where
	}
	err := j.run(ctx, db.Query("select source, name, octet_length(content)::bigint from ("+moved+") moved order by rank, name",
		j.args()...).Into(func(r db.Row) error {
		step := ports.RepairStep{What: ports.MoveToQuarantine, From: r.Text(0), To: j.Place + "/" + r.Text(1), Bytes: r.Int(2)}
		j.Steps = append(j.Steps, step)
		return nil
	}))
	switch {
	case err != nil:
		return err
	case !j.whole:
		j.Steps = append(j.Steps, ports.RepairStep{What: ports.KeepPrefix, From: j.root, To: j.root, Bytes: j.v.Head.Bytes})
	case len(j.Steps) == 0:
		j.Place = ""
	}
	return j.report(ctx)
}

// behind is where the last group begins that is kept.
func (j *logRepair) behind() int64 {
	if j.whole {
		return math.MinInt64
	}
	return j.v.Head.GroupAt
}

// args are the parameters of derived and rows: the root, what is behind which group, and the head that is kept.
func (j *logRepair) args() []any {
	return []any{j.root, j.behind(), rows.HeadArgs(j.v.Head)[0], j.v.Head.Bytes}
}

// within is the condition that a column names the log, or, if all is moved, what is below its root.
func (j *logRepair) within(column string) string {
	if !j.whole {
		return column + " = $1"
	}
	return rows.Within(column, 1)
}

// rows is the query of what the repair copies from the tables of logs: where it is, its name in the quarantine, its content. Segments
// keep their bytes, the lines of a manifest are joined up to a size that one row can have.
func (j *logRepair) rows() string {
	groups := "from @.groups g join @.logs l using (log) where " + j.within("l.root") + " and (g.at > $2 or l.root <> $1)"
	index := func(column string) string {
		return "lpad(" + column + "::text, greatest(8, length(" + column + "::text)), '0')"
	}
	segment := index("g.first") + " || '-' || " + index("g.last") + " || '.jsonl'"
	events := "l.root || '/" + manifest.SegmentDir + "/' || "
	return "select 2 as rank, " + events + segment + " as source, " + events + index("g.at") + " || '/' || " + segment +
		" as name, g.segment as content " + groups +
		" union all select 3, l.root || '/head', l.root || '/head', convert_to(json_build_object('digest', l.digest, 'groupAt', l.group_at, " +
		"'bytes', l.bytes, 'next', l.next, 'nextRecord', l.next_record)::text, 'UTF8') from @.logs l where " + j.within("l.root") +
		" and (l.digest <> $3 or l.bytes <> $4 or l.root <> $1)" +
		" union all select 4, l.root || '/" + manifest.FileName + "', l.root || '/manifest/' || " + index("min(g.at)") + " || '.jsonl', " +
		"string_agg(g.lines, '' order by g.at) " + groups + " group by l.root, g.at / (64 << 20)"
}

// derived is a part of a table beside those of logs that a repair moves. It is changed without the lock of the log, and therefore removed
// and copied by one statement.
type derived struct{ table, where, name, content string }

// derived returns what is moved with the log. The brief of a session whose log is kept is one of an old log, as the session's row says, and
// stays. Data of runs are bytes, which JSON does not show as they are: they follow it.
func (j *logRepair) derived() []derived {
	const runs = "from @.brief_runs r where r.session = t.session"
	out := []derived{{"@.heads t", j.within("t.root"), "t.root || '/cache/' || t.format", "t.content"}}
	if j.whole {
		out = append(out, derived{"@.controls t", "t.place >= $1 || '/' and t.place < $1 || '0'", "t.place", "t.content"},
			derived{"@.briefs t", "'sessions/' || t.session = $1", "'sessions/' || t.session || '/brief'",
				"convert_to(json_build_object('brief', row_to_json(t), 'runs', (select json_agg(r) " + runs + "))::text, 'UTF8') || " +
					"coalesce((select string_agg('\n'::bytea || r.data, '' order by r.ordinal) " + runs + "), '')"})
	}
	return out
}

// ofRoot selects the number of the log of a root.
const ofRoot = "(select log from @.logs where root = $1)"

// report passes the events that are moved to the caller.
func (j *logRepair) report(ctx context.Context) error {
	if j.r.Quarantine == nil {
		return nil
	}
	const page = 16
	var lines []byte
	after := j.behind()
	for count := page; count == page; {
		count = 0
		err := j.run(ctx, db.Query("select at, first, last, lines, segment from @.groups where log = "+ofRoot+
			" and at > $2 order by at limit "+strconv.Itoa(page), j.root, after).Into(func(r db.Row) error {
			count, after = count+1, r.Int(0)
			lines = append(lines, r[3]...)
			j.r.Quarantine(manifest.SegmentName(r.Int(1), r.Int(2)), r.Bytes(4))
			return nil
		}))
		if err != nil {
			return err
		}
	}
	j.r.Quarantine(manifest.FileName, lines)
	return nil
}

// move copies what is moved to the quarantine, removes it, and checks that the log is sound then.
func (j *logRepair) move(ctx context.Context) error {
	record, err := j.Record()
	if err != nil {
		return err
	}
	// The parameters of copies are numbered behind those of what they copy.
	args := append(j.args(), j.Place)
	all := []db.Statement{
		db.Query("insert into @.quarantine (place, content) select $5 || '/' || name, content from ("+j.rows()+") moved", args...),
	}
	for _, d := range j.derived() {
		all = append(all, db.Query("with gone as (delete from "+d.table+" where "+d.where+" returning "+d.name+" as name, "+d.content+
			" as content) insert into @.quarantine (place, content) select $5 || '/' || name, content from gone", args...))
	}
	if j.whole {
		all = append(all, db.Query("delete from @.logs where "+j.within("root"), j.root))
	} else {
		all = append(all, db.Query("delete from @.groups where log = (select log from @.logs where root = $1) and at > $2", j.root, j.v.Head.GroupAt),
			db.Query("update @.logs set ("+rows.HeadColumns+", changed_ms) = ($1, $2, $3, $4, $5, "+rows.NowMs+") where root = $6",
				append(rows.HeadArgs(j.v.Head), j.root)...))
	}
	if session, err := id.ParseSession(j.owner); err == nil {
		all = append(all, rows.Outdated(session))
	}
	if err := j.run(ctx, append(all, record.Statement)...); err != nil {
		return err
	}
	v, err := j.read(ctx)
	if err == nil && (v.Damaged() || v.Head != j.v.Head) {
		err = fault.New(fault.StoreCorrupt, "%s cannot be repaired: its rows are not those of groups", j.root)
	}
	return err
}

// RepairControl implements ports.Repairs.
func (s *Repairer) RepairControl(ctx context.Context, r ports.ControlRepair, check func(ports.Control) error) (out ports.RepairResult,
	err error) {
	if name := r.File.Name; name == "" || name == storeFile || strings.Contains(name, "/") && name != keysFile {
		return out, fault.New(fault.Internal, "%q is not a control file that can be repaired", r.File.Name)
	}
	place := r.File.Name
	q := NewQuarantine(s.db.Run, "", r.By, r.AtMs)
	if r.DryRun {
		_, err := q.control(ctx, r.File, check)
		return q.result(), err
	}
	locks := []db.Statement{db.LockStatement("control/"+place, false), db.LockStatement(db.UseLock, true)}
	err = s.db.Locked(ctx, locks, func(c *db.Conn) ([]db.Change, error) {
		q.run = db.On(c)
		return q.control(ctx, r.File, check)
	}, place)
	if err != nil {
		return ports.RepairResult{}, err
	}
	return q.result(), nil
}

// result returns what the repair of a control file does or did.
func (q *Quarantine) result() (out ports.RepairResult) {
	out.QuarantinePlace, out.Steps, out.Verdict.Findings = q.Place, q.Steps, q.Findings
	return out
}

// control returns the changes that move a control file to the quarantine; none if it can be used.
func (q *Quarantine) control(ctx context.Context, f ports.ControlFile, check func(ports.Control) error) ([]db.Change, error) {
	var content []byte
	owner := db.Query("select id from @.store").Into(func(r db.Row) error { q.owner = r.Text(0); return nil })
	if err := q.run(ctx, rows.ReadControl(f.Name, &content), owner); err != nil || content == nil {
		return nil, err
	}
	why, err := unusable(f, content, check)
	if err != nil || why == "" {
		return nil, err
	}
	if q.owner == "" || strings.Contains(q.owner, "/") {
		q.owner = storePlace
	}
	if err := q.FindPlace(ctx); err != nil {
		return nil, err
	}
	q.Findings = []manifest.Finding{manifest.NewFinding(manifest.ControlDamaged, f.Name, "%s", why)}
	to := q.Place + "/" + f.Name
	q.Steps = []ports.RepairStep{{What: ports.MoveToQuarantine, From: f.Name, To: to, Bytes: int64(len(content))}}
	record, err := q.Record()
	return []db.Change{{Statement: db.Query("with gone as (delete from @.controls where place = $1 returning content) "+
		"insert into @.quarantine (place, content) select $2, content from gone", f.Name, to)}, record}, err
}

// unusable returns why a control file cannot be used, "" for one that can. A newer format is an error: it shows no damage.
func unusable(f ports.ControlFile, content []byte, check func(ports.Control) error) (why string, err error) {
	doc, err := controlfile.Decode(content, f.Kind)
	if err != nil {
		return err.Error(), nil
	}
	err = check(ports.Control{V: doc.V, Data: doc.Data})
	switch {
	case err == nil:
		return "", nil
	case fault.Is(err, fault.StoreNewer):
		return "", err
	}
	return fault.Of(err).Message, nil
}
