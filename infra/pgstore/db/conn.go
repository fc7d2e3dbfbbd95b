package db

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waybill/waybill/durable/fault"
)

// The types of PostgreSQL that parameters and columns have here, by their numbers in the catalogue of types.
const (
	oidBool      = 16
	oidBytes     = 17
	oidInt       = 20 // 64 bits
	oidText      = 25
	oidTexts     = 1009 // an array of texts
	formatBinary = 1
)

// Conn is one connection. It is used by one goroutine at a time.
type Conn struct {
	pg     *pgconn.PgConn
	schema string         // replaces "@." in statements, and is part of the keys of locks
	warned *pgconn.Notice // the last warning of the server since run began
	limit  time.Duration  // how long one run may take; 0: as long as its context
	idle   time.Time      // since when it is in the pool
	// unreached is that of the handle.
	unreached *unreached
}

// Statement is one statement with its parameters. The zero Statement is none.
type Statement struct {
	sql  string
	raw  bool // "@." is not replaced
	args []any
	each func(Row) error // receives the rows; nil: there are none of interest
}

// Query returns a statement without a receiver of rows. What is behind "@." is in the schema of the store. Parameters are of the types
// bool, int64, string, []byte, []string and LockName; nil is NULL. Columns are of the same types, so that Row can read them: other
// types are cast in the statement.
func Query(sql string, args ...any) Statement { return Statement{sql: sql, args: args} }

// Into returns the statement with a receiver of its rows. A row is valid during the call only; an error of the receiver is that of the
// statement.
func (s Statement) Into(each func(Row) error) Statement {
	s.each = each
	return s
}

// Run sends statements in one round trip and passes their rows to the receivers. The first error, also one of a receiver,
// keeps the statements behind it from being executed or from being received; it is returned as it is. Statements outside of
// an explicit transaction are one transaction. Failure gives an error its meaning.
func (c *Conn) Run(ctx context.Context, all ...Statement) error {
	var done int
	return c.runCounted(ctx, &done, all...)
}

// runCounted is Run, and counts in done the statements that the server answered without an error.
func (c *Conn) runCounted(ctx context.Context, done *int, all ...Statement) error {
	if c.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.limit, ErrSilent)
		defer cancel()
	}
	c.warned = nil
	var b pgconn.Batch
	for _, s := range all {
		values, oids, formats, err := c.encode(s.args)
		if err != nil {
			return err
		}
		b.ExecParams(c.text(s), values, oids, formats, []int16{formatBinary})
	}
	results := c.pg.ExecBatch(ctx, &b)
	var failed error
	for i := 0; i < len(all) && results.NextResult(); i++ {
		rows := results.ResultReader()
		for rows.NextRow() {
			if failed == nil && all[i].each != nil {
				failed = all[i].each(rows.Values())
			}
		}
		if _, err := rows.Close(); err != nil {
			break
		}
		*done = i + 1
	}
	err := results.Close()
	if err != nil && errors.Is(context.Cause(ctx), ErrSilent) {
		err = fmt.Errorf("%w: %w", ErrSilent, err)
	}
	if err == nil {
		err = failed
	}
	return err
}

// ErrSilent is the cause of a run that the server did not answer in time.
var ErrSilent = errors.New("the database did not answer in time")

// text returns the text of a statement.
func (c *Conn) text(s Statement) string {
	if s.raw {
		return s.sql
	}
	return strings.ReplaceAll(s.sql, "@.", quoted(c.schema)+".")
}

// encode returns parameters as the protocol has them.
func (c *Conn) encode(args []any) (values [][]byte, oids []uint32, formats []int16, err error) {
	for _, arg := range args {
		var value []byte
		oid, format := uint32(oidText), int16(formatBinary)
		switch a := arg.(type) {
		case nil:
			oid = 0
		case bool:
			oid, value = oidBool, []byte{0}
			if a {
				value[0] = 1
			}
		case int64:
			oid, value = oidInt, binary.BigEndian.AppendUint64(nil, uint64(a))
		case LockName:
			oid, value = oidInt, binary.BigEndian.AppendUint64(nil, uint64(a.key(c.schema)))
		case string:
			if strings.ContainsRune(a, 0) {
				return nil, nil, nil, fault.New(fault.Internal, "a text for the database has a NUL")
			}
			value = append([]byte{}, a...)
		case []byte:
			oid, value = oidBytes, append([]byte{}, a...)
		case []string:
			oid, value = oidTexts, encodeTexts(a)
		default:
			return nil, nil, nil, fault.New(fault.Internal, "a parameter of the database has the type %T", arg)
		}
		values, oids, formats = append(values, value), append(oids, oid), append(formats, format)
	}
	return values, oids, formats, nil
}

// encodeTexts returns an array of texts in binary form: dimensions, whether there are NULLs, the type, length and first index,
// then each element behind its length.
func encodeTexts(all []string) []byte {
	if len(all) == 0 {
		return binary.BigEndian.AppendUint32(make([]byte, 8), oidText)
	}
	out := binary.BigEndian.AppendUint32(nil, 1)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint32(out, oidText)
	out = binary.BigEndian.AppendUint32(out, uint32(len(all)))
	out = binary.BigEndian.AppendUint32(out, 1)
	for _, text := range all {
		out = append(binary.BigEndian.AppendUint32(out, uint32(len(text))), text...)
	}
	return out
}

// Row has the columns of one row in binary form, by their index from 0. A column that is NULL, or of another type than its reader
// expects, reads as the zero value: statements and their readers are written together, and tests read every one.
type Row [][]byte

// IsNull reports a column without a value.
func (r Row) IsNull(i int) bool { return r[i] == nil }

// Text reads a text.
func (r Row) Text(i int) string { return string(r[i]) }

// Bytes reads bytes, and copies them.
func (r Row) Bytes(i int) []byte { return append([]byte{}, r[i]...) }

// IsTrue reads a boolean.
func (r Row) IsTrue(i int) bool { return len(r[i]) == 1 && r[i][0] == 1 }

// Int reads an integer of 64 bits.
func (r Row) Int(i int) (n int64) {
	if len(r[i]) == 8 {
		n = int64(binary.BigEndian.Uint64(r[i]))
	}
	return n
}

// Texts reads an array of texts without NULLs.
func (r Row) Texts(i int) (out []string) {
	const head = 20
	b := r[i]
	if len(b) < head {
		return nil
	}
	for b = b[head:]; len(b) >= 4; {
		n := int(binary.BigEndian.Uint32(b))
		if b = b[4:]; n > len(b) {
			return out
		}
		out, b = append(out, string(b[:n])), b[n:]
	}
	return out
}

// inTransaction reports that the connection is in a transaction, failed or not.
func (c *Conn) inTransaction() bool { return c.pg.TxStatus() != 'I' }

// Runner runs statements in one transaction and passes their rows to their receivers: on a connection, or as DB.Run does. Its errors are
// those of Failure.
type Runner func(context.Context, ...Statement) error

// On returns a runner on a connection.
func On(c *Conn) Runner {
	return func(ctx context.Context, all ...Statement) error {
		return c.unreached.note(Failure(ctx, c.Run(ctx, all...)))
	}
}

// OnLong returns a runner on a connection whose answers may take as long as LongMost.
func OnLong(c *Conn) Runner {
	return func(ctx context.Context, all ...Statement) error {
		return c.unreached.note(Failure(ctx, c.runLong(ctx, all...)))
	}
}

// close ends the connection without waiting for the server.
func (c *Conn) close() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = c.pg.Close(ctx)
}
