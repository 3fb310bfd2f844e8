package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"quern.dev/gpu"
)

func devicesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that can run kernels",
		Long: `devices lists the usable devices of this machine, best first, and explains why
others cannot be used. gpu.Open opens the first one by default; QUERN_DEVICE
(cuda:1, cpu, sim) selects another. If QUERN_DEVICE names a device that cannot
be opened, devices prints the reason and exits with 1.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := devices(cmd.OutOrStdout(), gpu.Devices(), asJSON); err != nil {
				return err
			}
			return checkSelected()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkSelected returns an error if the device that the environment selects
// cannot be opened.
func checkSelected() error {
	if os.Getenv(gpu.DeviceVariable) == "" {
		return nil
	}
	d, err := gpu.Open(gpu.Config{})
	if err != nil {
		return fmt.Errorf("the device named by %s cannot be opened: %w", gpu.DeviceVariable, err)
	}
	return d.Close()
}

// deviceJSON is a device in the output of --json. Unknown values are omitted.
type deviceJSON struct {
	ID                string `json:"id"`
	Backend           string `json:"backend"`
	Usable            bool   `json:"usable"`
	Name              string `json:"name,omitempty"`
	Memory            int64  `json:"memory_bytes,omitempty"`
	ComputeCapability string `json:"compute_capability,omitempty"`
	Driver            string `json:"driver,omitempty"`
	Reason            string `json:"reason,omitempty"`
}

func devices(w io.Writer, list []gpu.DeviceInfo, asJSON bool) error {
	rows := make([]deviceJSON, len(list))
	for i, d := range list {
		rows[i] = deviceJSON{
			ID: d.ID, Backend: string(d.Backend), Usable: d.Err == nil, Name: d.Name,
			Memory: d.Memory, Driver: d.DriverVersion,
		}
		if d.ComputeMajor > 0 {
			rows[i].ComputeCapability = fmt.Sprintf("%d.%d", d.ComputeMajor, d.ComputeMinor)
		}
		if d.Err != nil {
			rows[i].Reason = d.Err.Error()
		}
	}
	if asJSON {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(rows)
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "DEVICE\tNAME\tMEMORY\tCAPABILITY\tDRIVER")
	for _, r := range rows {
		if r.Usable {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", r.ID, orDash(r.Name), memory(r.Memory), orDash(r.ComputeCapability), orDash(r.Driver))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	first := true
	for _, r := range rows {
		if r.Usable {
			continue
		}
		if first {
			fmt.Fprintln(w, "\nNot usable:")
			first = false
		}
		fmt.Fprintf(w, "  %s: %s\n", r.ID, r.Reason)
	}
	if !first {
		fmt.Fprintln(w, "\nRun 'go tool quern doctor' to find out how to fix this.")
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func memory(bytes int64) string {
	if bytes <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasAvailableSubCommands() {
		return errUsage{fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()), cmd.CommandPath()}
	}
	if len(args) > 0 {
		return errUsage{fmt.Errorf("%s takes no arguments, but got %q", cmd.CommandPath(), args[0]), cmd.CommandPath()}
	}
	return nil
}
