package db

import "strings"

// schemaVersion is the version of the tables that this package reads and writes.
const schemaVersion = 1

// steps make the tables of each version from those of the one before it; what is behind "@." is in the schema. A store is changed only by adding a step.
//
// A text column that is sorted or selected by its beginning has the collation C: its order is that of bytes, as everywhere.
var steps = [schemaVersion]string{`
create table @.waybill (one boolean primary key default true check (one), version bigint not null);
create table @.store (one boolean primary key default true check (one), id text not null);
create table @.keyring (one boolean primary key default true check (one), current bytea not null, previous bytea, sum bytea not null);
create table @.logs (
  log bigint generated always as identity primary key,
  root text collate "C" not null unique,
  place text not null check (place in ('session', 'trash', 'store')),
  owner text collate "C" not null,
  name text collate "C" not null,
  digest text not null, group_at bigint not null, bytes bigint not null, next bigint not null, next_record bigint not null,
  changed_ms bigint not null,
  changed boolean not null default false);
create index logs_recent on @.logs (changed_ms desc, owner) where place = 'session' and name = '';
create index logs_changed on @.logs (owner) where place = 'session' and name = '' and changed;
create index logs_owner on @.logs (owner, name);
create table @.groups (
  log bigint not null references @.logs on delete cascade,
  at bigint not null,
  first bigint not null, last bigint not null,
  lines bytea not null, segment bytea not null,
  primary key (log, at));
create table @.objects (
  kind text not null, ref text collate "C" not null, part bigint not null,
  size bigint not null, bytes bytea not null,
  primary key (kind, ref, part));
create table @.tombstones (ref text collate "C" primary key, content bytea not null);
create table @.controls (place text collate "C" primary key, content bytea not null);
create table @.quarantine (place text collate "C" primary key, content bytea not null);
create unlogged table @.heads (root text collate "C" not null, format bigint not null, content bytea not null, primary key (root, format));
create table @.leases (
  session text collate "C" primary key,
  token bigint not null,
  host text not null, pid bigint not null, ref text not null,
  held boolean not null, until timestamptz not null);
create table @.briefs (
  session text collate "C" primary key,
  digest text not null, group_at bigint not null, bytes bigint not null, next bigint not null, next_record bigint not null,
  notes_digest text not null, notes_group_at bigint not null, notes_bytes bigint not null, notes_next bigint not null, notes_next_record bigint not null);
create table @.brief_runs (
  session text collate "C" not null references @.briefs on delete cascade,
  ordinal bigint not null,
  run text collate "C" not null,
  last_at_ms bigint not null, last_index bigint not null,
  open boolean not null, states text[] not null, workflow text not null, branches text[] not null,
  pending text not null, pending_at_ms bigint not null, tags text[] not null, pending_workflow text not null, imported boolean not null,
  data bytea not null,
  primary key (session, ordinal));
create index brief_runs_recent on @.brief_runs (last_at_ms desc, last_index desc, run);
create index brief_runs_run on @.brief_runs (run);
create index brief_runs_open on @.brief_runs (last_at_ms desc, last_index desc, run) where open;
create index brief_runs_pending on @.brief_runs (last_at_ms desc, last_index desc, run) where pending <> '';
insert into @.waybill (version) values (1);
`}

// OwnSession selects the rows of the own logs of sessions that are not in the trash.
const OwnSession = "place = 'session' and name = ''"

// statementsOf returns the statements of a step, which end with a semicolon at the end of a line.
func statementsOf(step string) (out []string) {
	for _, one := range strings.Split(step, ";\n") {
		if one = strings.TrimSpace(one); one != "" {
			out = append(out, one)
		}
	}
	return out
}
