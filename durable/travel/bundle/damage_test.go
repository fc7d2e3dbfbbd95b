package bundle_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports/porttest/sample"
)

func TestFilesThatAreNotBundles(t *testing.T) {
	for name, data := range map[string]string{
		"nothing": "", "spaces": " \n", "a list": "[]", "a word": "true", "a number": "1", "text": `"x"`,
		"an empty object": "{}",
		"zeros":           strings.Repeat("\x00", 4096), "a bundle after zeros": "\x00" + string(small(t).
					write(t, envelope())),
		"depth": strings.Repeat("[", 1<<20), "deep objects": strings.Repeat(`{"session":`, 1<<16), "a long name": `{"` +
			strings.Repeat("x", 1<<20) + `":1}`,
		"a long string": `{"exportedAt":"` + strings.Repeat("x", 2<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) { refused(t, []byte(data), format, "") })
	}
	_, err := bundle.Open(context.Background(), strings.NewReader(""), limits.BundleBytesMax+1, bundle.Options{})
	if !fault.Is(err, format) || !strings.Contains(err.Error(), "want at most") {
		t.Errorf("too large: %v", err)
	}
}

// TestTruncationAndBitFlips: every removal, change or insertion gives a fault, never a
// panic or other content.
func TestTruncationAndBitFlips(t *testing.T) {
	data := small(t).write(t, envelope())
	good, err := open(data)
	if err != nil {
		t.Fatal(err)
	}
	want := read(t, good)
	cases := sample.OneIn(t, 8)
	check := func(what string, i int, changed []byte) {
		if !cases.Try() {
			return
		}
		b, err := open(changed)
		if err != nil {
			if f := fault.Of(err); !strings.HasPrefix(string(f.Code), "BUNDLE_") {
				t.Fatalf("%s %d: %v", what, i, err)
			}
			return
		}
		// Members that do not describe the content may have any value.
		e := b.Envelope()
		e.BundleID, e.ExportedAt, e.Producer = envelope().BundleID, envelope().ExportedAt, envelope().Producer
		if e != envelope() || read(t, b) != want {
			t.Fatalf("%s %d: believed\n%s", what, i, changed)
		}
		if i > bytes.Index(changed, []byte(`"session"`)) && what != "space at" {
			t.Fatalf("%s %d: not noticed: %s", what, i, changed[max(0, i-30):min(len(changed), i+30)])
		}
	}
	for i := range data[:len(data)-1] { // the newline is not part of the document
		check("cut at", i, data[:i])
		for bit := range 8 {
			changed := slices.Clone(data)
			changed[i] ^= 1 << bit
			check("flip at", i, changed)
		}
		check("space at", i, slices.Insert(slices.Clone(data), i, ' '))
		check("zero at", i, slices.Insert(slices.Clone(data), i, 0))
		check("without", i, slices.Delete(slices.Clone(data), i, i+1))
	}
	if _, err := open(data[:len(data)-1]); err != nil {
		t.Errorf("without the last newline: %v", err)
	}
}

// TestWithoutArtifacts: other programs embed artifacts in events; without the member no
// artifact counts as missing.
func TestWithoutArtifacts(t *testing.T) {
	p := small(t).parts()
	p.artifacts.names = nil
	without(ofSession, "artifacts")(t, p)
	if _, err := open(p.join(t)); err != nil {
		t.Error(err)
	}
}

// TestSideLogsHaveNoReferences: the payloads of side logs are opaque for every kind.
func TestSideLogsHaveNoReferences(t *testing.T) {
	p := small(t).parts()
	p.logs["annotations"].items["events"] = list([]string{event(t, 0, "node_created", `{"snapshotRef":"`+
		digest("elsewhere")+`"}`)})
	if _, err := open(p.join(t)); err != nil {
		t.Error(err)
	}
}

type breaking struct {
	io.ReaderAt
	at int64
}

var errBroken = errors.New("the disk broke")

func (b breaking) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.at {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, off)
}

// TestReadErrors: errors of the reader and the context are not faults of the bundle.
func TestReadErrors(t *testing.T) {
	data := small(t).write(t, envelope())
	if _, err := bundle.Open(context.Background(), breaking{bytes.NewReader(data), 100}, int64(len(data)),
		bundle.Options{}); !errors.Is(err, errBroken) {
		t.Errorf("broken: %v", err)
	}
	if _, err := bundle.Open(context.Background(), bytes.NewReader(data), int64(len(data))+1,
		bundle.Options{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("shorter than stated: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := bundle.Open(ctx, bytes.NewReader(data), int64(len(data)), bundle.Options{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	last := int64(0)
	if _, err := bundle.Open(context.Background(), bytes.NewReader(data), int64(len(data)),
		bundle.Options{Progress: func(done, total int64) {
			if done < last || total != int64(len(data)) {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}}); err != nil || last != int64(len(data)) {
		t.Errorf("progress ends at %d: %v", last, err)
	}
}
