// Command pgselect is the least that a client of a database costs: it connects with the driver of the program, runs one statement and
// reads its rows.
//
//	pgselect URL STATEMENT
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5/pgconn"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pgselect:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, url, sql string) error {
	c, err := pgconn.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	rows, bytes := c.ExecParams(ctx, sql, nil, nil, nil, []int16{1}), 0
	for rows.NextRow() {
		for _, value := range rows.Values() {
			bytes += len(value)
		}
	}
	_, err = rows.Close()
	return err
}
