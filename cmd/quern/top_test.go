package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
	"quern.dev/monitor"
)

// fakeVariable makes the test binary be the quern command on a machine with so many GPUs. The
// values change with time.
const fakeVariable = "QUERN_TEST_FAKE_GPUS"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(fakeVariable)); err == nil {
		nvml.Substitute(busyGPUs(n).Open)
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// busyGPUs returns GPUs whose values change.
func busyGPUs(n int) *fakenvml.Library {
	gpus := make([]*fakenvml.GPU, n)
	for i := range gpus {
		gpus[i] = fakenvml.H200(i)
		gpus[i].Compute[0].PID += uint32(i)
		gpus[i].Samples[0].PID += uint32(i)
	}
	lib := fakenvml.New(gpus...)
	go func() {
		for step := 0.0; ; step += 0.1 {
			for i := range gpus {
				lib.Change(i, func(g *fakenvml.GPU) {
					wave := 0.5 + 0.5*math.Sin(step+float64(i))
					g.Utilization, g.MemoryBusy = uint32(100*wave), uint32(60*wave)
					g.Power, g.Temperature = uint32(90_000+600_000*wave), uint32(35+40*wave)
					g.Used = usedMiB(wave) << 20
					g.PCIeTransmit += uint64(2e9 * wave)
					g.PCIeReceive += uint64(1e9 * wave)
					g.NVLinkTransmit += uint64(1e7 * wave)
					g.NVLinkReceive += uint64(1e7 * wave)
				})
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return lib
}

func usedMiB(wave float64) uint64 { return uint64(20_000 + 100_000*wave) }

// withGPUs makes NVML have GPUs for the rest of the test.
func withGPUs(t *testing.T, gpus ...*fakenvml.GPU) {
	t.Helper()
	t.Cleanup(nvml.Substitute(fakenvml.New(gpus...).Open))
}

func TestTopOncePrintsAllGPUs(t *testing.T) {
	withGPUs(t, fakenvml.H200(0), fakenvml.H200(1))
	code, out, errs := quern(t, "top", "-once")
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	for _, want := range []string{"driver 580.95.05, CUDA 13.0", "  0 H200          97%", "  1 H200          97%", "118/140", "612/700", "2 processes", "4000001 -            1 C      95%"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestTopOnceJSONHasUnitsInNames(t *testing.T) {
	withGPUs(t, fakenvml.H200(0))
	code, out, errs := quern(t, "top", "--once", "--json")
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d, standard error %q", code, errs)
	}
	var s monitor.Snapshot
	if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.GPUs) != 1 {
		t.Fatalf("%v in\n%s", err, out)
	}
	if v, known := s.GPUs[0].PowerWatts.Get(); !known || v != 612.5 {
		t.Errorf("power = %v, %v, want 612.5", v, known)
	}
	for _, absent := range []string{"fan_percent", "null"} {
		if strings.Contains(out, absent) {
			t.Errorf("%q in\n%s", absent, out)
		}
	}
}

func TestTopWithoutGPUShowsTheCPUAndSaysSo(t *testing.T) {
	t.Cleanup(nvml.Substitute(func() (nvml.Library, error) { return nil, &nvml.MissingError{Reason: "there is no NVIDIA driver"} }))
	code, out, _ := quern(t, "top", "--once")
	if want := "no NVIDIA GPU: there is no NVIDIA driver.\nThis is the CPU, which runs kernels as device cpu:\n"; code != 0 || !strings.HasPrefix(out, want) {
		t.Errorf("exit code %d, want %q at the start of\n%s", code, want, out)
	}
}

func TestTopRefusesBadInput(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"top"}, 1, "quern: top: standard output is not a terminal; use quern top --once, with --json for JSON\n"},
		{[]string{"top", "--interval", "1ms"}, 2, "quern: --interval is 1ms; want 100ms to 1h0m0s\nRun 'quern top --help' for usage.\n"},
		{[]string{"top", "cuda:0"}, 2, "quern: quern top takes no arguments, but got \"cuda:0\"\nRun 'quern top --help' for usage.\n"},
	} {
		if code, _, errs := quern(t, tt.args...); code != tt.code || errs != tt.want {
			t.Errorf("%v: exit code %d, %q; want %d, %q", tt.args, code, errs, tt.code, tt.want)
		}
	}
}

// tmux runs quern top in a terminal, and returns functions that type and wait for a text.
func tmux(t *testing.T, columns, rows int, env ...string) (keys func(...string), await func(text string) string) {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	socket := filepath.Join(t.TempDir(), "tmux")
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), path, append([]string{"-f", os.DevNull, "-u", "-S", socket}, args...)...)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := "env LC_ALL=C.UTF-8 " + strings.Join(env, " ") + " " + binary + " top --interval 100ms; echo The end; cat"
	run("new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), command)
	t.Cleanup(func() { _ = exec.Command(path, "-S", socket, "kill-server").Run() })
	keys = func(list ...string) { run(append([]string{"send-keys"}, list...)...) }
	await = func(text string) string {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; {
			screen := run("capture-pane", "-p")
			if strings.Contains(screen, text) {
				return screen
			}
			if time.Now().After(deadline) {
				t.Fatalf("no %q on the screen\n%s", text, screen)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return keys, await
}

func TestTopOnATerminal(t *testing.T) {
	keys, await := tmux(t, 80, 24, fakeVariable+"=8")
	screen := await("8 GPUs:")
	for i, l := range strings.Split(strings.TrimRight(screen, "\n"), "\n") {
		if n := len([]rune(l)); n > 80 {
			t.Errorf("line %d has %d columns", i, n)
		}
	}
	await("8 processes")
	keys("Down")
	await("GPU 1 NVIDIA H200")
	keys("s")
	await("s sort:busy")
	keys("/", "4000003", "Enter")
	await(`1 match "4000003"`)
	keys("h")
	await("this help")
	keys("q")
	await("The end")
}

func TestTopOnASmallTerminalSaysSo(t *testing.T) {
	keys, await := tmux(t, 40, 10, fakeVariable+"=1")
	await("quern top needs 80x24.")
	keys("q")
	await("The end")
}

func TestTopOnADumbTerminalSaysSo(t *testing.T) {
	_, await := tmux(t, 80, 24, fakeVariable+"=1", "TERM=dumb")
	await("the terminal cannot move its cursor")
	await("The end")
}
