package workqueue_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/workqueue"
)

// running starts a queue and returns it with what ends it and waits for its calls.
func running(t *testing.T, workers int, do func(context.Context, int) time.Time) (*workqueue.Queue[int], func()) {
	t.Helper()
	q := workqueue.New(do)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); q.Run(ctx, workers) }()
	stop := func() { cancel(); <-done }
	t.Cleanup(stop)
	return q, stop
}

// TestOneCallForAKey: calls of one key follow each other, different ones run at once up to the bound, and a key that is
// added during its call is called once more.
func TestOneCallForAKey(t *testing.T) {
	var mu sync.Mutex
	inside, calls, most := map[int]int{}, map[int]int{}, 0
	var total atomic.Int64
	q, stop := running(t, 3, func(_ context.Context, k int) time.Time {
		mu.Lock()
		inside[k]++
		calls[k]++
		if inside[k] > 1 {
			t.Errorf("two calls of %d at once", k)
		}
		sum := 0
		for _, n := range inside {
			sum += n
		}
		most = max(most, sum)
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		inside[k]--
		mu.Unlock()
		total.Add(1)
		return time.Time{}
	})
	for range 20 {
		for k := range 10 {
			q.Add(k)
		}
		time.Sleep(time.Millisecond)
	}
	for q.Len() > 0 {
		time.Sleep(time.Millisecond)
	}
	stop()
	if most != 3 {
		t.Errorf("%d calls at once, want 3", most)
	}
	for k := range 10 {
		if calls[k] < 2 || calls[k] > 20 {
			t.Errorf("%d calls of %d", calls[k], k)
		}
	}
}

// TestAddedDuringItsCall: no addition is lost, whenever it comes.
func TestAddedDuringItsCall(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	q, _ := running(t, 1, func(context.Context, int) time.Time {
		entered <- struct{}{}
		<-leave
		return time.Now().Add(time.Hour)
	})
	q.Add(1)
	<-entered
	q.Add(1)
	q.Add(1)
	leave <- struct{}{}
	<-entered // the second call, although the first one asked for an hour
	leave <- struct{}{}
	q.Add(1) // and a key that is due later is called now
	<-entered
	leave <- struct{}{}
}

// TestCalledAgainAtItsMoment: keys are called in the order of their moments.
func TestCalledAgainAtItsMoment(t *testing.T) {
	order := make(chan int, 10)
	first := map[int]bool{}
	q, _ := running(t, 1, func(_ context.Context, k int) time.Time {
		if !first[k] {
			first[k] = true
			return time.Now().Add(time.Duration(k) * 20 * time.Millisecond)
		}
		order <- k
		return time.Time{}
	})
	for _, k := range []int{3, 1, 2} {
		q.Add(k)
	}
	for want := 1; want <= 3; want++ {
		if got := <-order; got != want {
			t.Errorf("%d, want %d", got, want)
		}
	}
	for q.Len() > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestEndWaitsForCalls: the calls in progress see the end, and Run returns after them.
func TestEndWaitsForCalls(t *testing.T) {
	entered := make(chan struct{})
	var left atomic.Bool
	q, stop := running(t, 2, func(ctx context.Context, _ int) time.Time {
		close(entered)
		<-ctx.Done()
		time.Sleep(5 * time.Millisecond)
		left.Store(true)
		return time.Time{}
	})
	q.Add(1)
	<-entered
	stop()
	if !left.Load() {
		t.Error("the queue ended before its call")
	}
}
