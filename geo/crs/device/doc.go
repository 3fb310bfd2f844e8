// Package device converts coordinates in device memory, with the results of package crs bit for bit.
//
//	t, err := crs.NewTransform(utm, mercator)
//	d, err := device.New(s, t)
//	defer d.Close()
//	err = d.Forward(s, x, y, nil) // buffers of float64, in place
//
// Points without coordinates in the target become NaN. Calls queue one kernel and return; they allocate
// nothing, and may be recorded in a graph.
package device
