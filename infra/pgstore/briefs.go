package pgstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// keepBrief replaces the brief of a session, whose events end at a head in the same transaction. The session counts as changed
// if its annotations are others than the brief counts.
func keepBrief(session id.Session, head manifest.Head, b manifest.Brief) (out []db.Change) {
	args := append(append([]any{session.String()}, rows.HeadArgs(head)...), rows.HeadArgs(b.Notes)...)
	add := func(one db.Statement) { out = append(out, db.Change{Statement: one}) }
	add(db.Query("insert into @.briefs values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (session) do update set "+
		"(digest, group_at, bytes, next, next_record, notes_digest, notes_group_at, notes_bytes, notes_next, notes_next_record) = "+
		"($2, $3, $4, $5, $6, $7, $8, $9, $10, $11)", args...))
	// Few columns of a run change with an event, and few runs of a session: rows that are equal are not written again.
	for i, r := range b.Runs {
		add(db.Query("insert into @.brief_runs as b ("+rows.RunColumns+") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) "+
			"on conflict (session, ordinal) do update set ("+rows.RunColumns+") = row (excluded.*) where b is distinct from excluded",
			rows.RunArgs(session, i, r)...))
	}
	add(db.Query("delete from @.brief_runs where session = $1 and ordinal >= $2", session.String(), int64(len(b.Runs))))
	add(db.Query("update @.logs set changed = $2 <> coalesce((select digest from @.logs where root = $3), '') where root = $1",
		manifest.SessionEvents(session).Root, rows.HeadArgs(b.Notes)[0], feedback.LogOf(session).Root))
	return out
}

// KeepBrief implements ports.Briefs. It takes no lock and waits for no disk; a brief of other logs than the present ones changes
// nothing.
func (s *Store) KeepBrief(ctx context.Context, session id.Session, head manifest.Head, b manifest.Brief) error {
	all := []db.Statement{db.Query("begin"), db.Query("set local synchronous_commit = off"), db.Query("set local lock_timeout = 100"),
		db.Require(nil, "select 1 from @.logs where root = $1 and digest = $2 for no key update", manifest.SessionEvents(session).Root,
			rows.HeadArgs(head)[0]).Statement}
	for _, one := range keepBrief(session, head, b) {
		all = append(all, one.Statement)
	}
	err := s.db.RunOnce(ctx, append(all, db.Query("commit"))...)
	if db.IsRefused(err) || db.IsLocked(err) {
		return nil
	}
	return err
}

// The columns of a session in the catalogue, and where those that changed are.
var (
	sessionColumns = "s.owner, s.digest, s.group_at, s.bytes, s.next, s.next_record, s.changed, exists (select from @.controls c where c.place = s.root || '/" +
		ports.KeepFile.Name + "')"
	changedSessions = "from @.logs s where s.place = 'session' and s.name = '' and s.changed"
)

// Briefs implements ports.Briefs. A session that changed has no runs here, and each query has it; one without a selected run is left out
// unless all are asked for.
func (s *Store) Briefs(ctx context.Context, q ports.BriefQuery) (out []ports.BriefSession, err error) {
	sql, args := selectRuns(q, !q.Selects())
	sql = "(" + sql + ") union all select " + sessionColumns + strings.Repeat(", null", strings.Count(rows.RunColumns, ",")) + " " + changedSessions +
		" order by 1, 9"
	// To translate the statement takes longer than to execute it, and to sort in files too. By the cost of a disk that seeks, all logs would be
	// read for some of them.
	local := db.Query("select set_config('jit', 'off', true), set_config('work_mem', '32MB', true), set_config('random_page_cost', '1.1', true)")
	err = s.db.Run(ctx, local, db.Query(sql, args...).Into(func(r db.Row) error {
		session, run, err := briefOf(r)
		if err != nil {
			return err
		}
		if n := len(out); n == 0 || out[n-1].Session != session.Session {
			out = append(out, session)
		}
		if last := &out[len(out)-1]; run != nil && !last.Changed {
			last.Runs = append(last.Runs, *run)
		}
		return nil
	}))
	return out, err
}

// selectRuns returns the query of the sessions that did not change with the runs that a query selects, and its parameters. With all set,
// sessions without runs are in it too.
func selectRuns(q ports.BriefQuery, all bool) (sql string, args []any) {
	where, args := conditions(q)
	join := "join"
	if all {
		join = "left join"
	}
	runs := strings.TrimPrefix(rows.RunColumns, "session, ")
	sql = "select " + sessionColumns + ", r." + strings.ReplaceAll(runs, ", ", ", r.") + " from @.logs s " + join +
		" @.brief_runs r on r.session = s.owner where s.place = 'session' and s.name = '' and not s.changed" + where
	if q.Limit > 0 {
		sql += fmt.Sprintf(" order by last_at_ms desc, last_index desc, run limit %d", q.Limit)
	}
	return sql, args
}

// briefOf reads a row of sessionColumns and, behind them, of a run; nil if there is none.
func briefOf(r db.Row) (s ports.BriefSession, run *manifest.BriefRun, err error) {
	if s.Session, err = rows.ParseSession(r.Text(0)); err != nil {
		return s, nil, err
	}
	if s.Changed, s.Marked = r.IsTrue(6), r.IsTrue(7); !s.Changed {
		// A row that is damaged is found by who reads the log.
		s.Head, err = rows.HeadOf(r, 1)
		s.Changed = err != nil
	}
	if len(r) == 8 || r.IsNull(8) || s.Changed {
		return s, nil, nil
	}
	one, err := rows.RunOf(r, 9)
	return s, &one, err
}

// fetched is how many rows EachBrief asks for at once.
const fetched = 2048

// EachBrief implements ports.Briefs: a cursor over one snapshot.
func (s *Store) EachBrief(ctx context.Context, q ports.BriefQuery, visit func(*ports.BriefSession, *manifest.BriefRun) error) error {
	sql, args := selectRuns(q, false)
	if q.Limit == 0 {
		sql += " order by last_at_ms desc, last_index desc, run"
	}
	c, err := s.db.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { s.db.Rollback(c) }()
	var all []brief
	into := func(r db.Row) error {
		session, run, err := briefOf(r)
		all = append(all, brief{session, run})
		return err
	}
	next := []db.Statement{db.Query("select " + sessionColumns + " " + changedSessions + " order by 1").Into(into),
		db.Query("declare listed no scroll cursor for "+sql, args...)}
	fetch := db.Query(fmt.Sprintf("fetch %d from listed", fetched)).Into(into)
	for more := true; more; {
		all = all[:0]
		if err := db.OnLong(c)(ctx, append(next, fetch)...); err != nil {
			return err
		}
		more = len(all) >= fetched
		next = nil
		for i := range all {
			if err := visit(&all[i].session, all[i].run); err != nil {
				return err
			}
		}
	}
	return nil
}

// brief is a session with one of its runs, or one that changed.
type brief struct {
	session ports.BriefSession
	run     *manifest.BriefRun
}

// conditions returns the selection of runs by a query, and its parameters.
func conditions(q ports.BriefQuery) (sql string, args []any) {
	add := func(condition string, values ...any) {
		for _, value := range values {
			args = append(args, value)
			condition = strings.Replace(condition, "?", "$"+strconv.Itoa(len(args)), 1)
		}
		sql += " and " + condition
	}
	if q.Run != "" {
		add("run >= ? and run < ?", q.Run, q.Run+"\x7f")
	}
	if len(q.States) > 0 {
		add("states && ?", q.States)
	}
	if q.Workflow != "" {
		add("workflow = ?", q.Workflow)
	}
	if q.Branch != "" {
		add("? = any (branches)", q.Branch)
	}
	if q.SinceMs != 0 {
		add("last_at_ms >= ?", q.SinceMs)
	}
	if q.Open {
		add("open")
	}
	if q.Pending {
		add("pending <> ''")
	}
	if a := q.After; a != (ports.BriefPlace{}) {
		add("last_at_ms <= ? and (last_at_ms, last_index) <= (?, ?) and ((last_at_ms, last_index) < (?, ?) or run > ?)",
			a.LastAtMs, a.LastAtMs, a.LastIndex, a.LastAtMs, a.LastIndex, a.Run)
	}
	return sql, args
}
