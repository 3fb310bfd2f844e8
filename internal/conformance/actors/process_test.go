package actors

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/conformance/elementwise"
	"quern.dev/ring"
)

// childVariable is the environment variable that says what a process of these
// tests does before it is killed.
const childVariable = "QUERN_ACTORS_CHILD"

func TestMain(m *testing.M) {
	if does := os.Getenv(childVariable); does != "" {
		if err := child(does); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child has resident actors. It says "ready" when they work, and ends if it is to.
func child(does string) error {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Require: gpu.CUDA})
	if err != nil {
		fmt.Println("no device")
		return nil
	}
	rt, err := ring.New(dev, ring.Config{HandlerTimeout: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	a, err := SpawnAccumulate(ctx, rt, ring.Options{})
	if err != nil {
		return err
	}
	if _, err := a.Ask(ctx, Sample{Value: 1}); err != nil {
		return err
	}
	if strings.HasPrefix(does, "stuck") {
		var stuck *ring.StuckError
		if _, err := a.Ask(ctx, Sample{Kind: Forever}); !errors.As(err, &stuck) {
			return fmt.Errorf("%v, want a StuckError", err)
		}
		if err := rt.Close(); !errors.As(err, &stuck) {
			return fmt.Errorf("closing the runtime: %v, want a StuckError", err)
		}
		if err := dev.Close(); !errors.As(err, &stuck) {
			return fmt.Errorf("closing the device: %v, want a StuckError", err)
		}
	}
	fmt.Println("ready")
	if strings.HasSuffix(does, "exit") {
		return nil
	}
	for {
		if _, err := a.Ask(ctx, Sample{Value: 1}); err != nil {
			time.Sleep(time.Hour)
		}
	}
}

func TestGPUsAreFreeAfterTheEndOfAProcess(t *testing.T) {
	for _, tt := range []struct {
		name, does string
		signal     os.Signal
	}{
		{"that is killed", "serve", os.Kill},
		{"that is interrupted", "serve", os.Interrupt},
		{"that ends without closing", "exit", nil},
		{"whose handler does not return, that is killed", "stuck", os.Kill},
		{"whose handler does not return, that ends", "stuck exit", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := exec.CommandContext(within(t, 20*time.Second), os.Args[0])
			c.Env = append(os.Environ(), childVariable+"="+tt.does)
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			lines.Scan()
			switch lines.Text() {
			case "no device":
				c.Wait()
				t.Skip("needs a GPU; go tool quern doctor says what to do")
			case "ready":
			default:
				c.Wait()
				t.Fatalf("the process says %q", lines.Text())
			}
			begin := time.Now()
			if tt.signal != nil {
				if err := c.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
			}
			c.Wait()
			ended := time.Since(begin)
			begin = time.Now()
			dev, err := gpu.Open(gpu.Config{Require: gpu.CUDA})
			if err != nil {
				t.Fatal(err)
			}
			s := dev.DefaultStream()
			x, err := gpu.Upload(s, []float64{3})
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, 1)
			err = errors.Join(elementwise.LaunchSquare(s, gpu.Linear(1), x), gpu.Download(t.Context(), s, got, x))
			t.Logf("the process ended after %v, the next one had a result after %v", ended, time.Since(begin))
			if err != nil || got[0] != 9 {
				t.Errorf("%v, %v", got, err)
			}
			if err := errors.Join(x.Close(), dev.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
