package db

import (
	"context"
	"strings"

	"github.com/waybill/waybill/durable/fault"
)

// Made is what Init did.
type Made struct {
	// From is the version of the tables before, 0 if there were none; To is the one after.
	From, To int64
}

// Roles are roles of the database that get rights on a store.
type Roles struct {
	Writers []string // may do everything but change tables
	Readers []string // may read
}

// grants returns the statements that give the roles their rights on a schema. The names are quoted: each is that of one role.
func (r Roles) grants(schema string) (out []Statement) {
	add := func(sql string) { out = append(out, Statement{sql: sql, raw: true}) }
	grant := func(rights string, roles []string) {
		if len(roles) > 0 {
			add(`grant usage on schema ` + quoted(schema) + ` to ` + quotedList(roles))
			add(`grant ` + rights + ` on all tables in schema ` + quoted(schema) + ` to ` + quotedList(roles))
		}
	}
	grant("select, insert, update, delete", r.Writers)
	grant("select", r.Readers)
	if len(r.Writers) > 0 {
		add("revoke insert, update, delete on " + quoted(schema) + ".waybill from " + quotedList(r.Writers))
	}
	return out
}

// quoted returns a name for a statement.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quotedList returns names of roles for a statement.
func quotedList(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = quoted(name)
	}
	return strings.Join(out, ", ")
}

// Init makes the schema of a store at an address, or changes the tables of an older version, and gives roles their rights, in one
// transaction; it is called again without an effect. The role of the connection needs the right to make a schema, or is its owner.
// STORE_FOREIGN: the schema has tables that are not of Waybill; STORE_NEWER: those of a newer version; other errors are those of Failure.
func Init(ctx context.Context, a Address, o Options, roles Roles) (made Made, err error) {
	d := Open(a, o)
	defer d.Close()
	c, err := d.dial(ctx)
	if err != nil {
		return made, err
	}
	defer d.Rollback(c)
	found, others := false, int64(0)
	err = c.Run(ctx, append(d.begin(), LockStatement("init", false),
		Query("select to_regclass($1) is not null, (select count(*) from pg_class k join pg_namespace n on n.oid = k.relnamespace "+
			"where n.nspname = $2 and k.relkind in ('r', 'p', 'v', 'm', 'f'))", `"`+a.schema+`".waybill`, a.schema).Into(func(r Row) error {
			found, others = r.IsTrue(0), r.Int(1)
			return nil
		}))...)
	if err != nil {
		return made, Failure(ctx, err)
	}
	if !found && others > 0 {
		return made, fault.New(fault.StoreForeign, "the schema %s has %d tables that are not of a store", a.schema, others).
			Suggest("Name another schema in --store: ?schema=NAME.")
	}
	if found {
		err := c.Run(ctx, Query("select version from @.waybill").Into(func(r Row) error { made.From = r.Int(0); return nil }))
		if err != nil {
			return made, Failure(ctx, err)
		}
		if made.From > schemaVersion {
			return made, checkVersion(made.From)
		}
	}
	var all []Statement
	if !found {
		all = append(all, Query(`create schema if not exists "`+a.schema+`"`))
	}
	for _, step := range steps[made.From:] {
		for _, one := range statementsOf(step) {
			all = append(all, Query(one))
		}
	}
	if made.To = schemaVersion; made.From < made.To {
		all = append(all, Query("update @.waybill set version = $1", made.To))
	}
	if all = append(all, roles.grants(a.schema)...); len(all) == 0 {
		return made, nil
	}
	if err := c.Run(ctx, all...); err != nil {
		return made, Failure(ctx, err)
	}
	return made, Failure(ctx, d.Commit(ctx, c))
}
