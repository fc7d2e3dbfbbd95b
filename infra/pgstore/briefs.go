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

// Briefs implements ports.Briefs.
func (s *Store) Briefs(ctx context.Context, q ports.BriefQuery) (out []ports.BriefSession, err error) {
	where, args := conditions(q)
	selected := "select r.* from @.brief_runs r join @.logs l on l.owner = r.session where l." + strings.ReplaceAll(db.OwnSession, "name", "l.name") +
		" and not l.changed" + where
	if q.Limit > 0 {
		selected += fmt.Sprintf(" order by last_at_ms desc, last_index desc, run limit %d", q.Limit)
	}
	// A session that changed has no runs here, and each query has it; one without a selected run is left out unless all are asked for.
	join := "left join"
	if q.Selects() {
		join = "join"
	}
	columns := "s.owner, s.digest, s.group_at, s.bytes, s.next, s.next_record, s.changed, exists (select from @.controls c where c.place = s.root || '/" +
		ports.KeepFile.Name + "')"
	runs := strings.TrimPrefix(rows.RunColumns, "session, ordinal, ")
	sql := "with chosen as (" + selected + ") select * from (select " + columns + ", c.ordinal, c." + strings.ReplaceAll(runs, ", ", ", c.") +
		" from @.logs s " + join + " chosen c on c.session = s.owner where s.place = 'session' and s.name = '' and not s.changed" +
		" union all select " + columns + ", null, null, null, null, null, null, null, null, null, null, null, null, null, null " +
		"from @.logs s where s.place = 'session' and s.name = '' and s.changed) all_of order by 1, 9"
	err = s.db.Run(ctx, db.Query(sql, args...).Into(func(r db.Row) error {
		session, err := rows.ParseSession(r.Text(0))
		if err != nil {
			return err
		}
		if n := len(out); n == 0 || out[n-1].Session != session {
			one := ports.BriefSession{Session: session, Changed: r.IsTrue(6), Marked: r.IsTrue(7)}
			if !one.Changed {
				// A row that is damaged is found by who reads the log.
				one.Head, err = rows.HeadOf(r, 1)
				one.Changed = err != nil
			}
			out = append(out, one)
		}
		if r.IsNull(8) || out[len(out)-1].Changed {
			return nil
		}
		run, err := rows.RunOf(r, 9)
		last := &out[len(out)-1]
		last.Runs = append(last.Runs, run)
		return err
	}))
	return out, err
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
