package mutant_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/waybill/waybill/ports/porttest/mutant"
)

func TestFailure(t *testing.T) {
	for name, c := range map[string]struct {
		test func(testing.TB)
		want string
	}{
		"passed":          {func(t testing.TB) { t.Log("x"); _ = t.TempDir() }, ""},
		"skipped":         {func(t testing.TB) { t.Skip("no"); t.Error("not reached") }, ""},
		"error":           {func(t testing.TB) { t.Error("a", 1); t.Errorf("b") }, "a 1"},
		"fatal":           {func(t testing.TB) { t.Fatalf("a"); t.Error("not reached") }, "a"},
		"panic":           {func(testing.TB) { panic("p") }, "panic: p"},
		"without message": {func(t testing.TB) { t.FailNow() }, "failed without a message"},
		"in a cleanup":    {func(t testing.TB) { t.Cleanup(func() { t.Fatalf("late") }) }, "late"},
		"another goroutine": {func(t testing.TB) {
			var wg sync.WaitGroup
			wg.Go(func() { t.Errorf("beside") })
			wg.Wait()
			if !t.Failed() {
				t.Errorf("not failed")
			}
		}, "beside"},
	} {
		if got := mutant.Failure(t, c.test); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestCleanupsRunLastFirst(t *testing.T) {
	var ran []int
	mutant.Failure(t, func(t testing.TB) {
		t.Cleanup(func() { ran = append(ran, 1) })
		t.Cleanup(func() { ran = append(ran, 2); t.Cleanup(func() { ran = append(ran, 3) }) })
		t.Fatal("ends here")
	})
	if !slices.Equal(ran, []int{2, 3, 1}) {
		t.Errorf("%v", ran)
	}
}
