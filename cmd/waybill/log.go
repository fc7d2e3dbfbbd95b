package main

import (
	"time"

	"github.com/rs/zerolog"

	"github.com/waybill/waybill/durable/fault"
)

// logLevel reads a value of --log-level.
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

func (a *app) checkLogging() error {
	if _, ok := logLevel(a.common.logLevel); !ok {
		return fault.New(fault.UsageError, "there is no log level %q", a.common.logLevel).
			Suggest("Use debug, info, warn, error or off.")
	}
	if a.common.logFormat != "text" && a.common.logFormat != "json" {
		return fault.New(fault.UsageError, "there is no log format %q", a.common.logFormat).Suggest("Use text or json.")
	}
	return nil
}

// log writes diagnostics to stderr: for whoever looks for the cause of something,
// never the only place where a fact is. It is made when it is needed, since most
// calls have nothing to say.
func (a *app) log() zerolog.Logger {
	level, _ := logLevel(a.common.logLevel)
	if a.common.logFormat == "json" {
		return zerolog.New(a.errOut).Level(level).With().Timestamp().Logger()
	}
	out := zerolog.ConsoleWriter{Out: a.errOut, NoColor: !a.colors(a.errOut), TimeFormat: time.TimeOnly}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}
