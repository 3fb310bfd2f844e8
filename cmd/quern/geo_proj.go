//go:build !bootstrap

package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quern.dev/geo/crs"
	"quern.dev/geo/proj"
	"quern.dev/geo/tiff"
)

// throughPROJ holds the option of commands that can use an installed PROJ.
type throughPROJ struct{ always bool }

func (p *throughPROJ) addTo(flags *pflag.FlagSet) {
	flags.BoolVar(&p.always, "proj", false, "compute coordinates through an installed PROJ; without this only those that are not supported otherwise")
}

// parseSystemsOrPROJ is parseSystems with systems that an installed PROJ knows.
func (p *throughPROJ) parseSystemsOrPROJ(systems ...system) error {
	for _, s := range systems {
		err := parseSystems(s)
		if err == nil {
			*s.to = cited(*s.to, s.text)
			continue
		}
		if _, number := strconv.Atoi(s.text); number == nil {
			return err // PROJ cannot tell the authority of a code either
		}
		if !errors.Is(err, crs.ErrUnsupported) && !errors.Is(err, crs.ErrFormat) && !errors.Is(err, crs.ErrUnknown) {
			return err
		}
		if c, err := crs.Describe(s.text); err == nil && c.Code() != 0 {
			*s.to = c
			continue
		}
		lib, missing := proj.Open("")
		if missing != nil {
			if p.always {
				return missing
			}
			return fmt.Errorf("%w (%w)", err, missing)
		}
		c, unknown := lib.CRS(s.text)
		if unknown != nil {
			return fmt.Errorf("%w (%w)", err, unknown)
		}
		*s.to = c
	}
	return nil
}

// cited returns a system that files can name: if GeoTIFF has no keys for it, with the definition that PROJ knows.
func cited(c *crs.CRS, text string) *crs.CRS {
	if c == nil {
		return nil
	}
	if _, err := c.GeoKeys(); !errors.Is(err, crs.ErrUnsupported) {
		return c
	}
	lib, err := proj.Open("")
	if err != nil {
		return c
	}
	if known, err := lib.CRS(text); err == nil && known.Supported() == nil {
		return known
	}
	return c
}

// converter returns a function for the options of geo/warp and geo/mosaic, or nil if PROJ is not needed. It says on the
// standard error that coordinates go through PROJ, and why.
func (p *throughPROJ) converter(cmd *cobra.Command, images []*tiff.Image, ballpark bool, source *crs.CRS, others ...*crs.CRS) (func(from, to *crs.CRS) (crs.Converter, error), error) {
	var why error
	for _, c := range append(others, source) {
		if c != nil && c.Supported() != nil {
			why = c.Supported()
		}
	}
	for _, im := range images {
		if source != nil || len(im.Geo.Keys) == 0 {
			continue
		}
		if _, err := crs.FromGeoKeys(im.Geo.Keys); errors.Is(err, crs.ErrUnsupported) {
			why = fmt.Errorf("%s: %w", im, err)
		}
	}
	if why == nil && !p.always {
		return nil, nil
	}
	lib, err := proj.Open("")
	if err != nil {
		if why == nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w (%w)", why, err)
	}
	reason := ""
	if why != nil {
		reason = ", because " + why.Error()
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "coordinates are computed by %s%s\n", lib, reason)
	return lib.Converter(proj.Options{Ballpark: ballpark}), nil
}
