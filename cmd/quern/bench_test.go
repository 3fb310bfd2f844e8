package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestBenchAlgoRunsItsProgramWithTheOptions(t *testing.T) {
	b := algoBench{device: "cuda:1", elements: 4096, sweep: true, plot: "sweep.svg"}
	want := []string{"go", "run", "quern.dev/internal/algobench", "-device=cuda:1", "-elements=4096", "-sweep=true", "-json=false", "-plot=sweep.svg"}
	if got := b.command(t.Context()).Args; !slices.Equal(got, want) {
		t.Errorf("the command is %q, want %q", got, want)
	}
}

func TestBenchAlgoExplainsFailures(t *testing.T) {
	if err := explain(nil); err != nil {
		t.Error(err)
	}
	if err := explain(fmt.Errorf("run: %w", new(exec.ExitError))); err != errFound {
		t.Errorf("a program that fails is reported as %v", err)
	}
	missing := &exec.Error{Name: "go", Err: exec.ErrNotFound}
	if err := explain(missing); !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "go command") {
		t.Errorf("a missing go command is reported as %v", err)
	}
}
