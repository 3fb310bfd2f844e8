package progress

import (
	"strings"
	"testing"
	"time"
)

func TestLineShowsProgressAndIsCleared(t *testing.T) {
	var text strings.Builder
	l := newLine(&text, "steps", 200, time.Now())
	l.At(50)
	l.At(51) // too soon after the last one
	l.End()
	if want := "\r\x1b[Ksteps: 50 of 200, 25%\r\x1b[K"; text.String() != want {
		t.Errorf("printed %q, want %q", text.String(), want)
	}
}

func TestShortWorkShowsNothing(t *testing.T) {
	var text strings.Builder
	l := newLine(&text, "steps", 10, time.Now().Add(time.Hour))
	l.At(10)
	l.End()
	(*Line)(nil).At(1)
	(*Line)(nil).End()
	if text.Len() > 0 {
		t.Errorf("printed %q", &text)
	}
}
