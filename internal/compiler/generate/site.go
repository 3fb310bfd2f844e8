package generate

import "quern.dev/internal/compiler/ptx"

// siteKinds maps kinds of sites to their names in package compiled.
var siteKinds = map[ptx.SiteKind]string{
	ptx.IndexSite:  "IndexSite",
	ptx.SliceSite:  "SliceSite",
	ptx.DivideSite: "DivideSite",
	ptx.ShiftSite:  "ShiftSite",
	ptx.PanicSite:  "PanicSite",
	ptx.NilSite:    "NilSite",
}
