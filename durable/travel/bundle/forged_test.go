package bundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

// forgery is one false statement in a bundle. Unless it concerns integrity, the digests match
// it, so that only the check in question can detect it.
type forgery struct {
	name string
	do   func(t *testing.T, p *parts)
	code fault.Code
	want string
}

// replaced returns a change of the document's text.
func replaced(old, new string) func(*testing.T, *parts) {
	return func(t *testing.T, p *parts) {
		p.raw = func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("no %s in the document", old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
}

func member(of func(*parts) *doc, name, value string) func(*testing.T, *parts) {
	return func(_ *testing.T, p *parts) {
		d := of(p)
		if !slices.Contains(d.names, name) {
			d.names = append(d.names, name)
		}
		d.items[name] = value
	}
}

func without(of func(*parts) *doc, name string) func(*testing.T, *parts) {
	return func(_ *testing.T, p *parts) {
		d := of(p)
		d.names = slices.DeleteFunc(d.names, func(n string) bool { return n == name })
	}
}

func entries(change func([]string) []string) func(*testing.T, *parts) {
	return func(_ *testing.T, p *parts) { p.entries = change }
}

func top(p *parts) *doc       { return &p.top }
func ofSession(p *parts) *doc { return &p.session }
func annotations(p *parts) *doc {
	return p.logs["annotations"]
}

// events and records return changes of the session's own lists.
func events(change func([]string) []string) func(*testing.T, *parts) {
	return func(t *testing.T, p *parts) { p.session.items["events"] = list(change(small(t).events)) }
}

func records(change func([]string) []string) func(*testing.T, *parts) {
	return func(t *testing.T, p *parts) { p.session.items["manifest"] = list(change(small(t).records)) }
}

func swap(i, j int) func([]string) []string {
	return func(in []string) []string { in[i], in[j] = in[j], in[i]; return in }
}

func in(i int, old, new string) func([]string) []string {
	return func(lines []string) []string {
		if !strings.Contains(lines[i], old) {
			panic("no " + old + " in " + lines[i])
		}
		lines[i] = strings.Replace(lines[i], old, new, 1)
		return lines
	}
}

const (
	format    = fault.BundleInvalidFormat
	version   = fault.BundleUnsupportedVersion
	integrity = fault.BundleIntegrityFailed
	order     = fault.BundleEventOrderInvalid
	manifests = fault.BundleManifestOrderInvalid
)

// TestForgedBundles: every forgery is detected, in any order of the members.
func TestForgedBundles(t *testing.T) {
	for _, l := range slices.Concat(envelopeForgeries, contentForgeries, orderForgeries) {
		t.Run(l.name, func(t *testing.T) {
			p := small(t).parts()
			l.do(t, p)
			refused(t, p.join(t), l.code, l.want)
		})
		if l.code == format {
			continue // the text must match as it is
		}
		t.Run(l.name+", backwards", func(t *testing.T) {
			p := small(t).parts()
			slices.Reverse(p.top.names)
			slices.Reverse(p.session.names)
			l.do(t, p)
			if p.raw == nil {
				refused(t, p.join(t), l.code, "")
			}
		})
	}
}
