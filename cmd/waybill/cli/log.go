package cli

import (
	"log/slog"
	"time"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/durable/fault"
)

// logLevel parses a value of --log-level; ok is false for an unknown one.
func logLevel(word string) (zerolog.Level, bool) {
	switch word {
	case "debug":
		return zerolog.DebugLevel, true
	case "info":
		return zerolog.InfoLevel, true
	case "warn":
		return zerolog.WarnLevel, true
	case "error":
		return zerolog.ErrorLevel, true
	case "off":
		return zerolog.Disabled, true
	}
	return zerolog.WarnLevel, false
}

// checkLogging returns USAGE_ERROR for unknown values of --log-level and --log-format.
func (a *App) checkLogging() error {
	if _, ok := logLevel(a.Flags.logLevel); !ok {
		return fault.New(fault.UsageError, "unknown log level %q", a.Flags.logLevel).
			Suggest("Use debug, info, warn, error or off.")
	}
	if a.Flags.logFormat != "text" && a.Flags.logFormat != "json" {
		return fault.New(fault.UsageError, "unknown log format %q", a.Flags.logFormat).Suggest("Use text or json.")
	}
	return nil
}

// Log returns a new logger for diagnostics on stderr, with the level and format of the flags.
// Diagnostics help to find the cause of a problem; no fact is reported by them alone. The
// logger is built on demand, since most calls log nothing.
func (a *App) Log() zerolog.Logger {
	level, _ := logLevel(a.Flags.logLevel)
	if a.Flags.logFormat == "json" {
		return zerolog.New(a.Err).Level(level).With().Timestamp().Logger()
	}
	out := zerolog.ConsoleWriter{Out: a.Err, NoColor: !a.Colors(a.Err), TimeFormat: time.TimeOnly}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

// LogHandler returns the logger of Log for packages that use log/slog.
func (a *App) LogHandler() slog.Handler { return zerolog.NewSlogHandler(a.Log()) }

// SyncStderr makes stderr safe for concurrent use: each later record is written in one piece.
// Loggers that were created before are not affected.
func (a *App) SyncStderr() { a.Err = zerolog.SyncWriter(a.Err) }
