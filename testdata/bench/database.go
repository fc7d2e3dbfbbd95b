package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/testdata/bench/bigdb"
)

var (
	manySessions = flag.Int("sessions", 1_000_000, "how many sessions the store of the part database has")
	manyURL      = flag.String("url", "", "the store of the part database, which go run ./bigstore wrote (default: a new one)")
)

// asked is a command over a database of many sessions, with the plain SELECT of the rows of the catalogue that it needs.
type asked struct {
	args   string
	sql    string
	most   float64 // times the SELECT; 0: there is no bar
	rounds int
}

// database compares whole processes that list and find in a store in a database with a client that connects with the same driver, and reads
// the rows of the catalogue that they need with one statement.
func database(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	bin, plain := filepath.Join(dir, "waybill"), filepath.Join(dir, "pgselect")
	if err := errors.Join(build(filepath.Join("..", ".."), bin, "./cmd/waybill"), build(".", plain, "./pgselect")); err != nil {
		return err
	}
	url := *manyURL
	if url == "" {
		s, err := pgtest.New()
		if errors.Is(err, pgtest.ErrMissing) {
			fmt.Printf("\ndatabase: skipped, %v\n", err)
			return nil
		}
		if err != nil {
			return err
		}
		defer s.Remove()
		if err := s.Start("shared_buffers=512MB", "max_wal_size=1GB", "maintenance_work_mem=256MB"); err != nil {
			return err
		}
		url = s.URL("big")
		began := time.Now()
		if err := bigdb.Write(context.Background(), url, *manySessions, runtime.NumCPU()); err != nil {
			return err
		}
		fmt.Printf("\n%d sessions were written in %s\n", *manySessions, time.Since(began).Round(time.Second))
	}
	return databaseOf(n, bin, plain, url, dir)
}

// databaseOf measures commands over a store.
func databaseOf(n int, bin, plain, url, dir string) error {
	ctx := context.Background()
	c, err := bigdb.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	schema := bigdb.Schema(url)
	facts, err := texts(c, "select count(*)::text, (select pg_size_pretty(sum(pg_total_relation_size(oid))) from pg_class where relkind = 'r' and "+
		"relnamespace = '"+schema+"'::regnamespace), (select run from "+schema+".brief_runs order by run limit 1), "+
		"(select count(*)::text from "+schema+".brief_runs where open), (select count(*)::text from "+schema+".brief_runs where pending <> ''), "+
		"(select session from "+schema+".brief_runs order by run limit 1) from "+schema+".logs")
	if err != nil {
		return err
	}
	run := facts[2]
	prefix := run[:12]
	fmt.Printf("\na store of %s sessions in a database, %s; %s runs are open, of %s something is pending\n", facts[0], facts[1], facts[3], facts[4])
	if err := verified(c, bin, url, schema); err != nil {
		return err
	}
	from := "select * from " + schema + ".brief_runs "
	latest := " order by last_at_ms desc, last_index desc, run limit "
	for _, one := range []asked{
		{"runs list --limit 50", from + latest + "51", 5, 25},
		{"runs show " + prefix, from + "where run >= '" + prefix + "' and run < '" + prefix + "\x7f'", 5, 25},
		{"runs show @last", from + latest + "1", 5, 25},
		{"inbox", from + "where open", 5, 9},
		{"resume", from, 20, 3},
	} {
		if err := compared(c, min(n, one.rounds), bin, plain, url, one); err != nil {
			return err
		}
	}
	fmt.Printf("\nother commands over the same store, once\n")
	for _, args := range []string{"inbox --limit 50", "due", "runs list", "runs list --status blocked", "runs list --status failed",
		"runs list --workflow bench.kind-3 --limit 50", "runs list --branch fix/077 --limit 50", "runs list --title 0007777 --limit 50",
		"runs list --sort started --limit 50", "runs search repair --limit 5"} {
		began := time.Now()
		rss, err := memoryOf(bin, append([]string{"--store", url}, strings.Fields(args)...)...)
		if err != nil {
			return fmt.Errorf("%s: %w", args, err)
		}
		fmt.Printf("  %-48s %10s %6.1f MiB\n", args, time.Since(began).Round(time.Millisecond), float64(rss)/1024)
	}
	return nil
}

// verified checks that sessions of each kind pass a verification, and that their runs are shown.
func verified(c *pgconn.PgConn, bin, url, schema string) error {
	some, err := texts(c, "(select session, run from "+schema+".brief_runs where open order by run limit 3) union "+
		"(select session, run from "+schema+".brief_runs where not open order by run limit 3)")
	if err != nil {
		return err
	}
	for i := 0; i < len(some); i += 2 {
		for _, args := range [][]string{{"verify", some[i]}, {"runs", "show", some[i+1]}} {
			if out, err := exec.Command(bin, append(args, "--store", url)...).CombinedOutput(); err != nil {
				return fmt.Errorf("%v: %w: %s", args, err, out)
			}
		}
	}
	fmt.Printf("%d sampled sessions pass a verification, and are shown\n", len(some)/2)
	return nil
}

// texts returns the columns of the rows of a query of texts.
func texts(c *pgconn.PgConn, sql string) (out []string, err error) {
	all, err := c.Exec(context.Background(), sql).ReadAll()
	for _, r := range all {
		for _, row := range r.Rows {
			for _, value := range row {
				out = append(out, string(value))
			}
		}
	}
	return out, err
}

// compared measures a command, the client, and the statement on a connection that exists, in turn.
func compared(c *pgconn.PgConn, rounds int, bin, plain, url string, one asked) error {
	args := append([]string{"--store", url}, strings.Fields(one.args)...)
	client := strings.Replace(url, "&schema="+bigdb.Schema(url), "", 1)
	if client == url {
		client = strings.Replace(url, "schema="+bigdb.Schema(url), "", 1)
	}
	command, process, statement := &series{name: "waybill " + one.args}, &series{name: "a client: connect, SELECT of the same rows"},
		&series{name: "the same SELECT, connected"}
	for range rounds {
		for _, round := range []struct {
			s *series
			f func() error
		}{{command, exec.Command(bin, args...).Run}, {process, exec.Command(plain, client, one.sql).Run},
			{statement, func() error {
				rows := c.ExecParams(context.Background(), one.sql, nil, nil, nil, []int16{1})
				for rows.NextRow() {
				}
				_, err := rows.Close()
				return err
			}}} {
			if err := round.s.time(round.f); err != nil {
				return fmt.Errorf("%s: %w", round.s.name, err)
			}
		}
	}
	rss, err := memoryOf(bin, args...)
	if err != nil {
		return err
	}
	table("database", process, command, process, statement)
	bar(one.args+" / the client, p50", ratio(command, process), one.most)
	fmt.Printf("  the fastest of each: %s / %s = %.2f\n", round(command.at(0)), round(process.at(0)), float64(command.at(0))/float64(process.at(0)))
	bar("MiB of "+one.args, float64(rss)/1024, 64)
	return nil
}
