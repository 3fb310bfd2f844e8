package generate

import "quern.dev/internal/compiler/ptx"

// siteKinds are the names that package compiled gives to kinds of sites.
var siteKinds = map[ptx.SiteKind]string{
	ptx.IndexSite:  "IndexSite",
	ptx.SliceSite:  "SliceSite",
	ptx.DivideSite: "DivideSite",
	ptx.ShiftSite:  "ShiftSite",
	ptx.PanicSite:  "PanicSite",
	ptx.NilSite:    "NilSite",
}
