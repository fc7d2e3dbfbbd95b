package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// driver compares the program with one that is built without the driver of a database: how long it starts, and how large it is.
func driver(n int, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	with, without := filepath.Join(dir, "waybill"), filepath.Join(dir, "waybill-nopostgres")
	if err := errors.Join(build(filepath.Join("..", ".."), with, "./cmd/waybill"),
		buildTagged(filepath.Join("..", ".."), without, "./cmd/waybill", "nopostgres")); err != nil {
		return err
	}
	out, err := exec.Command(without, "runs", "list", "--store", "postgres:///x?host=/nowhere&user=x").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no driver of a database") {
		return fmt.Errorf("a URL is not refused without the driver: %v: %s", err, out)
	}
	a, b := &series{name: "waybill version, with the driver"}, &series{name: "waybill version, without it"}
	for range min(n, 200) {
		if err := a.time(exec.Command(with, "version").Run); err != nil {
			return err
		}
		if err := b.time(exec.Command(without, "version").Run); err != nil {
			return err
		}
	}
	table("the driver of a database", b, a, b)
	var sizes []float64
	for _, name := range []string{with, without} {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		sizes = append(sizes, float64(info.Size())/1e6)
	}
	fmt.Printf("  sizes: %.2f MB with it, %.2f MB without: %.2f MB\n", sizes[0], sizes[1], sizes[0]-sizes[1])
	bar("MB of the program", sizes[0], 28)
	return nil
}
