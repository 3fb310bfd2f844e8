package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
)

// files are the files of a machine for a test.
type files map[string]string

func (f files) read(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

// assessment returns the findings about a machine as text.
func assessment(h hardware) string {
	var b strings.Builder
	printFindings(&b, h.findings())
	return b.String()
}

func TestHardwareIsAssessed(t *testing.T) {
	good := files{
		"/sys/bus/pci/devices/0000:04:00.0/numa_node":           "1\n",
		"/sys/bus/pci/devices/0000:04:00.0/local_cpulist":       "32-63\n",
		"/sys/devices/system/node/node0/cpulist":                "0-31\n",
		"/sys/devices/system/node/node1/cpulist":                "32-63\n",
		"/sys/kernel/mm/transparent_hugepage/enabled":           "always [madvise] never\n",
		"/proc/self/limits":                                     "Limit  Soft  Hard  Units\nMax locked memory         unlimited            unlimited            bytes\n",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
	}
	bad := files{
		"/sys/kernel/mm/transparent_hugepage/enabled":           "always madvise [never]\n",
		"/proc/self/limits":                                     "Max locked memory         65536                65536                bytes\n",
		"/sys/devices/system/node/node0/cpulist":                "0-31\n",
		"/sys/devices/system/node/node1/cpulist":                "32-63\n",
		"/proc/sys/kernel/numa_balancing":                       "1\n",
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
	}
	for _, c := range []struct {
		name   string
		change func(g *fakenvml.GPU)
		files  files
		want   []string
	}{
		{"a machine without a fault", func(g *fakenvml.GPU) { g.ClockReasons = 0 }, good, []string{
			"ok       GPU 0: NVIDIA H200, 00000000:04:00.0, driver 580.95.05\n",
			"ok       GPU 0: PCIe link of generation 5 with 16 lanes (most: 5, 16)\n",
			"ok       GPU 0: ECC is on\n", "ok       GPU 0: power limit 700 W (default 700 W)\n", "ok       GPU 0: clock 1980 MHz of 1980 MHz\n",
			"ok       GPU 0: persistence mode is on\n",
			"ok       GPU 0: NUMA node 1, CPUs 32-63\n         -> run programs near it: numactl --cpunodebind=1 --membind=1\n",
			"ok       NUMA: 2 nodes\n", "ok       transparent huge pages: madvise\n", "ok       limit of locked memory: unlimited\n", "ok       CPU governor: performance\n",
		}},
		{"a machine with faults", func(g *fakenvml.GPU) {
			g.PCIeWidth, g.PowerLimit, g.ECCLater, g.Persistence, g.PCIeReplays, g.ECCUncorrected = 8, 500_000, false, false, 3, 2
		}, bad, []string{
			"note     GPU 0: PCIe link of generation 5 with 8 lanes (most: 5, 16)\n         -> copies reach 8/16 of the bandwidth", "3 PCIe replays",
			"ECC is on\n         -> it will be off after the next reset", "2 uncorrected errors",
			"note     GPU 0: power limit 500 W (default 700 W)\n", "nvidia-smi -pl 700",
			"limited by power cap\n", "persistence mode is off\n",
			"note     NUMA: 2 nodes, automatic balancing is on\n", "note     transparent huge pages: never\n", "note     limit of locked memory: 64 KiB\n", "note     CPU governor: powersave\n",
		}},
		{"a slow link under load", func(g *fakenvml.GPU) { g.PCIeGeneration = 3 }, good, []string{"note     GPU 0: PCIe link of generation 3 with 16 lanes (most: 5, 16)\n         -> the link is slower"}},
		{"a lost GPU", func(g *fakenvml.GPU) { g.Lost = true }, good, []string{"MISSING  ", "-> reset it"}},
		{"an old driver", func(g *fakenvml.GPU) {
			g.Lacks = []string{"nvmlDeviceGetEccMode", "nvmlDeviceGetMaxPcieLinkWidth", "nvmlDeviceGetPersistenceMode", "nvmlDeviceGetPowerManagementDefaultLimit"}
		}, files{}, []string{"generation 5 with 16 lanes\n", "power limit 700 W\n", "NUMA: unknown\n", "transparent huge pages: unknown\n", "limit of locked memory: unknown\n", "CPU governor: unknown"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := fakenvml.H200(0)
			c.change(g)
			defer nvml.Substitute(fakenvml.New(g).Open)()
			h := hardware{read: c.files.read}
			h.gpus, h.reason = readGPUs(t.Context())
			text := assessment(h)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the assessment lacks %q:\n%s", want, text)
				}
			}
			if c.name == "a machine without a fault" && (strings.Contains(text, "note ") || strings.Contains(text, "MISSING")) {
				t.Error(text)
			}
		})
	}
}

func TestAMachineWithoutNVMLIsAssessed(t *testing.T) {
	defer nvml.Substitute(func() (nvml.Library, error) { return nil, &nvml.MissingError{Reason: "no library"} })()
	h := hardware{read: files{}.read}
	h.gpus, h.reason = readGPUs(t.Context())
	if text := assessment(h); !strings.Contains(text, "note     GPUs: ") || !strings.Contains(text, "no library") || !strings.Contains(text, "-> ") {
		t.Error(text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := assess(ctx, &strings.Builder{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancellation: %v", err)
	}
}
