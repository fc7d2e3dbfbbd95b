package cli

import (
	"io"
	"log/slog"
	"time"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/redact"
)

// logLevels are the values of --log-level.
var logLevels = map[string]zerolog.Level{"debug": zerolog.DebugLevel, "info": zerolog.InfoLevel,
	"warn": zerolog.WarnLevel, "error": zerolog.ErrorLevel, "off": zerolog.Disabled}

// Log returns a new logger for diagnostics on stderr, with the level and format of the flags.
// Diagnostics help to find the cause of a problem; no fact is reported by them alone. The
// logger is built on demand, since most calls log nothing.
func (a *App) Log() zerolog.Logger {
	level, ok := logLevels[a.Flags.logLevel]
	if !ok { // the error about the flag is logged, too
		level = zerolog.WarnLevel
	}
	if a.Flags.logFormat == "json" {
		return zerolog.New(redacted{escapedLines{a.Err}}).Level(level).With().Timestamp().Logger()
	}
	out := zerolog.ConsoleWriter{Out: scrubbed{a.Err}, NoColor: !a.Colors(a.Err), TimeFormat: time.TimeOnly}
	return zerolog.New(redacted{out}).Level(level).With().Timestamp().Logger()
}

// redacted writes log records, which are JSON, without the secrets of their texts
// (docs/design.md#redaction): causes of errors quote what a caller sent.
type redacted struct{ io.Writer }

// Write never reports a part of a record as written.
func (r redacted) Write(record []byte) (int, error) {
	out := record
	// A record with equal names is not strict JSON.
	if v, err := canon.Parse(record); err != nil {
		out = []byte(redact.Text(string(record), nil))
	} else if clean := redact.Value(v, nil); !clean.Equal(v) {
		out = append(clean.JCS(), '\n')
	}
	if _, err := r.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(record), nil
}

// scrubbed writes log records without the characters that are not printed.
type scrubbed struct{ io.Writer }

// Write never reports a part of a record as written.
func (s scrubbed) Write(record []byte) (int, error) {
	if _, err := io.WriteString(s.Writer, page.Scrub(string(record))); err != nil {
		return 0, err
	}
	return len(record), nil
}

// LogHandler returns the logger of Log for packages that use log/slog.
func (a *App) LogHandler() slog.Handler { return zerolog.NewSlogHandler(a.Log()) }

// SyncStderr makes stderr safe for concurrent use: each later record is written in one piece.
// Loggers that were created before are not affected.
func (p *Process) SyncStderr() {
	p.Err = zerolog.SyncWriter(p.Err)
	p.Notifications.Directly()
}

// escapedLines writes diagnostics in JSON as all JSON documents are written: see WriteJSON. zerolog writes whole lines.
type escapedLines struct{ to io.Writer }

// Write implements io.Writer.
func (e escapedLines) Write(line []byte) (int, error) {
	if _, err := e.to.Write(invisible.EscapeJSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}
