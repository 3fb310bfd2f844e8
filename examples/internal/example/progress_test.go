package example

import (
	"strings"
	"testing"
	"time"
)

func TestProgressShowsProgressAndIsCleared(t *testing.T) {
	var text strings.Builder
	p := newProgress(&text, "steps", 200, time.Now())
	p.At(50)
	p.At(51) // too soon after the last one
	p.End()
	if want := "\r\x1b[Ksteps: 50 of 200, 25%\r\x1b[K"; text.String() != want {
		t.Errorf("printed %q, want %q", text.String(), want)
	}
}

func TestShortWorkShowsNothing(t *testing.T) {
	var text strings.Builder
	p := newProgress(&text, "steps", 10, time.Now().Add(time.Hour))
	p.At(10)
	p.End()
	(*Progress)(nil).At(1)
	(*Progress)(nil).End()
	if text.Len() > 0 {
		t.Errorf("printed %q", &text)
	}
}
