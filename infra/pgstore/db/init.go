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
// STORE_FOREIGN: the schema has tables of another program; STORE_INVALID: a part of those of a store; STORE_NEWER: those of a newer version;
// STORE_READ_ONLY: the role may not; other errors are those of Failure.
func Init(ctx context.Context, a Address, o Options, roles Roles) (made Made, err error) {
	d := Open(a, o)
	defer d.Close()
	c, err := d.dial(ctx)
	if err != nil {
		return made, err
	}
	defer d.Rollback(c)
	if err := c.Run(ctx, append(d.begin(), LockStatement("init", false))...); err != nil {
		return made, Failure(ctx, err)
	}
	t, err := tablesOf(ctx, c)
	if err == nil {
		err = t.check(a)
	}
	isNew, isOlder := fault.Is(err, fault.TargetNotFound), t.version > 0 && t.version < schemaVersion
	if err != nil && !isNew && !isOlder {
		return made, Failure(ctx, err)
	}
	if t.own > 0 && !t.readable {
		return made, ownerOnly(a, nil)
	}
	var all []Statement
	if isNew {
		all = append(all, Query(`create schema if not exists "`+a.schema+`"`))
	}
	made.From = t.version
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
		if stateOf(err) == stateNoRight {
			return made, ownerOnly(a, err)
		}
		return made, Failure(ctx, err)
	}
	return made, Failure(ctx, d.Commit(ctx, c))
}

// ownerOnly is the fault of a role that is not the owner of a schema.
func ownerOnly(a Address, cause error) error {
	return fault.Wrap(cause, fault.StoreReadOnly, "the role %s may not create or change the schema %s", a.config.User, a.schema).
		Suggest("Connect with the owner of the schema, or let the administrator grant the right: grant create on database %s to %s.",
			a.config.Database, a.config.User)
}
