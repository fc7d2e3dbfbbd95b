package config

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact"
)

// The limits of the command of notifications: an argv that a person reads before they confirm it.
const (
	notifyWordsMax     = 32
	notifyWordBytesMax = 1024
)

// Notify returns the argv of the command of notifications, empty for none (docs/design.md#notifications).
func (c Config) Notify() (argv []string) {
	list := c.value(Notify)
	for i := range list.Len() {
		argv = append(argv, list.Item(i).Text())
	}
	return argv
}

// NotifyDigest identifies an argv of notifications.
func NotifyDigest(argv []string) canon.Digest {
	words := make([]canon.Value, len(argv))
	for i, w := range argv {
		words[i] = canon.OfString(w)
	}
	return canon.Sum(canon.OfList(words...).JCS())
}

// absolute matches a path that does not depend on the working directory, on any platform.
var absolute = pattern.New(`^(/|\\\\|[A-Za-z]:[\\/])`)

// checkNotify is the check of the key "notify". The program is a name in PATH or an absolute path: a
// relative one would be another program in each directory that waybill is started in. What looks like a
// secret is refused, because the settings are shown and recorded.
func checkNotify(v canon.Value) *mismatch {
	if v.Kind() != canon.Array {
		return mismatched("", "a list of texts", v)
	}
	if v.Len() > notifyWordsMax {
		return &mismatch{"", "at most " + strconv.Itoa(notifyWordsMax) + " texts", strconv.Itoa(v.Len())}
	}
	for i := range v.Len() {
		w, at := v.Item(i), strconv.Itoa(i)
		text := w.Text()
		switch {
		case w.Kind() != canon.String || text == "":
			return mismatched(at, "a text that is not empty", w)
		case len(text) > notifyWordBytesMax:
			return &mismatch{at, "at most " + strconv.Itoa(notifyWordBytesMax) + " bytes", strconv.Itoa(len(text))}
		case strings.ContainsRune(text, 0):
			return mismatched(at, "a text without the character NUL, which no argument can have", w)
		case redact.Text(text, nil) != text:
			return mismatched(at, "a text that is no secret, such as the name of a script that reads the secret", w)
		case i == 0 && strings.ContainsAny(text, `/\`) && !absolute.MatchString(text):
			return mismatched(at, "the name of a program in PATH, or an absolute path", w)
		}
	}
	return nil
}
