package actors

import (
	"fmt"
	"testing"
	"time"

	"quern.dev/ring"
)

func TestHandlersMayTakeAContext(t *testing.T) {
	for _, b := range backends {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			rt := open(t, b)
			ctx := within(t, 20*time.Second)
			a, err := SpawnPost(ctx, rt, ring.Options{State: host{Messages: 5}})
			if err != nil {
				t.Fatal(err)
			}
			for i := range int32(3) {
				if r, err := a.Ask(ctx, 2); err != nil || r.Messages != 7+2*i {
					t.Errorf("message %d: got %d, %v", i, r.Messages, err)
				}
			}
		})
	}
}

func TestSharedVariablesOfHandlers(t *testing.T) {
	for _, b := range backends {
		t.Run(fmt.Sprint(b), func(t *testing.T) {
			rt := open(t, b)
			ctx := within(t, 20*time.Second)
			a, err := SpawnHighest(ctx, rt, ring.Options{Batch: 4})
			if err != nil {
				t.Fatal(err)
			}
			const rows = 10
			want := make([]Highest, rows)
			for n := range rows {
				var row Row
				for i := range row.Values {
					row.Values[i] = int32(i*37%64 - 64*n)
				}
				want[n] = Highest{int32(100 - n), int32(5 * n)}
				row.Values[5*n] = int32(100 - n)
				if err := a.Send(ctx, row); err != nil {
					t.Fatal(err)
				}
			}
			for n := range rows {
				if got, err := a.Receive(ctx); err != nil || got != want[n] {
					t.Errorf("row %d: got %v, %v, want %v", n, got, err, want[n])
				}
			}
		})
	}
}
