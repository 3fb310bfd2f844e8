package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/gpu"
)

var someDevices = []gpu.DeviceInfo{
	{ID: "cuda:0", Backend: gpu.CUDA, Name: "NVIDIA H200", Memory: 150 << 30, DriverVersion: "13.0", ComputeMajor: 9},
	{ID: "cuda:1", Backend: gpu.CUDA, Name: "NVIDIA K80", ComputeMajor: 3, ComputeMinor: 7, Err: errors.New("the device has compute capability 3.7, needed is 5.0")},
	{ID: "cpu", Backend: gpu.CPU, Name: "AMD EPYC", Memory: 24 << 30, DriverVersion: "go1.26"},
}

func TestDevicesTable(t *testing.T) {
	var b strings.Builder
	if err := devices(&b, someDevices, false); err != nil {
		t.Fatal(err)
	}
	want := `DEVICE  NAME         MEMORY     CAPABILITY  DRIVER
cuda:0  NVIDIA H200  150.0 GiB  9.0         13.0
cpu     AMD EPYC     24.0 GiB   -           go1.26

Not usable:
  cuda:1: the device has compute capability 3.7, needed is 5.0

Run 'go tool quern doctor' to find out how to fix this.
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDevicesTableWithoutProblemsEndsAtTheTable(t *testing.T) {
	var b strings.Builder
	if err := devices(&b, someDevices[:1], false); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines != 2 {
		t.Errorf("%d lines:\n%s", lines, b.String())
	}
}

func TestDevicesJSON(t *testing.T) {
	var b strings.Builder
	if err := devices(&b, someDevices, true); err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"id": "cuda:0", "backend": "cuda", "usable": true, "name": "NVIDIA H200", "memory_bytes": float64(150 << 30), "compute_capability": "9.0", "driver": "13.0"},
		{"id": "cuda:1", "backend": "cuda", "usable": false, "name": "NVIDIA K80", "compute_capability": "3.7", "reason": "the device has compute capability 3.7, needed is 5.0"},
		{"id": "cpu", "backend": "cpu", "usable": true, "name": "AMD EPYC", "memory_bytes": float64(24 << 30), "driver": "go1.26"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Every machine has the CPU and the simulator.
func TestDevicesOfThisMachine(t *testing.T) {
	code, stdout, stderr := quern(t, "devices", "--json")
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, standard error %q", code, stderr)
	}
	var list []deviceJSON
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatal(err)
	}
	usable := map[string]bool{}
	for _, d := range list {
		usable[d.ID] = d.Usable
		if !d.Usable && d.Reason == "" {
			t.Errorf("%s is unusable, but there is no reason", d.ID)
		}
	}
	if !usable["cpu"] || !usable["sim"] {
		t.Errorf("cpu or sim is not usable:\n%s", stdout)
	}
}

func TestDevicesReportsAnUnusableSelection(t *testing.T) {
	for value, want := range map[string]string{
		"abacus":  "quern: the device named by QUERN_DEVICE cannot be opened: gpu: open: no usable device: QUERN_DEVICE=abacus names no back end; use cuda, cuda:1, cpu or sim\n",
		"cpu:3":   "quern: the device named by QUERN_DEVICE cannot be opened: gpu: open cpu:3: no usable device: cpu:3: there is no such device; cpu has one device, cpu\n",
		"cuda:99": "quern: the device named by QUERN_DEVICE cannot be opened: gpu: open cuda:99: no usable device: ",
		"sim":     "",
	} {
		t.Setenv("QUERN_DEVICE", value)
		code, stdout, stderr := quern(t, "devices")
		if (code != 0) != (want != "") || !strings.HasPrefix(stderr, want) || (want == "") != (stderr == "") || !strings.HasPrefix(stdout, "DEVICE") {
			t.Errorf("%s: exit code %d, standard error %q, standard output %q", value, code, stderr, stdout)
		}
	}
}
