package consoleserver

import (
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/waybill/waybill/durable/fault"
)

// Entrance is a file that leads a browser to the console. It has the token, so that only the account that owns the file
// can open the console, and no list of processes shows it.
type Entrance struct {
	// Path is the file, with mode 0600 in a folder with mode 0700.
	Path string

	remove func()
}

// NewEntrance writes the file that leads to the server at url with a token. runtimeDir is the folder for it, if it is one;
// else it is the temporary folder. The caller removes it.
func NewEntrance(runtimeDir, url, token string) (*Entrance, error) {
	if info, err := os.Stat(runtimeDir); !filepath.IsAbs(runtimeDir) || err != nil || !info.IsDir() {
		runtimeDir = ""
	}
	dir, err := os.MkdirTemp(runtimeDir, "waybill-console-")
	if err != nil {
		return nil, cannotWrite(err)
	}
	e := &Entrance{Path: filepath.Join(dir, "console.html"), remove: sync.OnceFunc(func() { _ = os.RemoveAll(dir) })}
	address := html.EscapeString(url + "/#token=" + token)
	text := "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Waybill console</title>\n" +
		"<meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0; url=" + address + "\">\n" +
		"<p><a href=\"" + address + "\">Open the console</a>. The address can be used once.</p></html>\n"
	f, err := os.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Chmod(0o600), f.Close()) // under any umask
	}
	if err != nil {
		e.remove()
		return nil, cannotWrite(err)
	}
	return e, nil
}

func cannotWrite(err error) error {
	return fault.Wrap(err, fault.OutputFailed, "the file that opens the console cannot be written: %v", err).
		Suggest("Free space in the temporary folder, or set TMPDIR to a folder that can be written.")
}

// Remove removes the file, if it exists.
func (e *Entrance) Remove() { e.remove() }

// Open opens the file with the program for web pages of this desktop, and does not wait for it.
func (e *Entrance) Open() error {
	argv := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open"}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd := exec.Command(argv[0], append(argv[1:], e.Path)...)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
