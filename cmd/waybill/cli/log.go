package cli

import (
	"log/slog"
	"time"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/durable/fault"
)

// logLevel reads a value of --log-level; ok is false for a word that is none.
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

// checkLogging refuses values of the logging flags that are none.
func (a *App) checkLogging() error {
	if _, ok := logLevel(a.Flags.logLevel); !ok {
		return fault.New(fault.UsageError, "there is no log level %q", a.Flags.logLevel).
			Suggest("Use debug, info, warn, error or off.")
	}
	if a.Flags.logFormat != "text" && a.Flags.logFormat != "json" {
		return fault.New(fault.UsageError, "there is no log format %q", a.Flags.logFormat).Suggest("Use text or json.")
	}
	return nil
}

// Log makes a logger for diagnostics on stderr. They help to find a cause, and
// are never the only place where a fact is. It is made when it is needed, since
// most calls log nothing.
func (a *App) Log() zerolog.Logger {
	level, _ := logLevel(a.Flags.logLevel)
	if a.Flags.logFormat == "json" {
		return zerolog.New(a.Err).Level(level).With().Timestamp().Logger()
	}
	out := zerolog.ConsoleWriter{Out: a.Err, NoColor: !a.Colors(a.Err), TimeFormat: time.TimeOnly}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

// LogHandler gives the same diagnostics to a package that logs with log/slog.
func (a *App) LogHandler() slog.Handler { return zerolog.NewSlogHandler(a.Log()) }

// ShareErr lets several goroutines write to stderr: after it, each record is written in one
// piece. Loggers that were made before are not affected.
func (a *App) ShareErr() { a.Err = zerolog.SyncWriter(a.Err) }
