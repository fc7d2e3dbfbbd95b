package db

import (
	"context"
	"errors"
	"time"

	"github.com/waybill/waybill/durable/fault"
)

// The exclusive use-lock is waited for in short pieces: a transaction that waits for it makes all commits wait behind it, while an import
// may hold it for minutes.
const (
	alonePiece = 250 * time.Millisecond
	alonePause = 250 * time.Millisecond
)

// ErrLogLocked reports a log that another writer held for the whole lock wait.
var ErrLogLocked = errors.New("a log is locked")

// Alone takes locks of logs in a transaction, and the use-lock exclusively behind them, so that no commit is under way and none begins.
// Between two tries it holds none of them: an import has the use-lock when it waits for a log. STORE_LOCKED: the use-lock was
// held for the whole lock wait of the handle; ErrLogLocked: one of the others was.
func (d *DB) Alone(ctx context.Context, c *Conn, logs ...Statement) error {
	for end := time.Now().Add(d.o.LockWait); ; {
		all := append([]Statement{Query("savepoint alone"), lockTimeout(min(alonePiece, time.Until(end)))}, logs...)
		before, reached := len(all), 0
		err := c.runCounted(ctx, &reached, append(all, LockStatement(UseLock, false), Query("release savepoint alone"), lockTimeout(d.o.LockWait))...)
		switch state := stateOf(err); {
		case state != stateLocked && state != stateDeadlock:
			return Failure(ctx, err)
		case time.Now().Before(end):
		case reached < before:
			return ErrLogLocked
		default:
			return inUse()
		}
		if err := c.Run(ctx, Query("rollback to savepoint alone"), Query("release savepoint alone")); err != nil {
			return Failure(ctx, err)
		}
		select {
		case <-ctx.Done():
			return fault.Wrap(ctx.Err(), fault.Interrupted, "waiting for the lock was interrupted")
		case <-time.After(min(alonePause, time.Until(end))):
		}
	}
}
