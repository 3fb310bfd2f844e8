package proj_test

import (
	"fmt"

	"quern.dev/geo/crs"
	"quern.dev/geo/proj"
	"quern.dev/geo/warp"
)

func ExampleLibrary_NewTransform() {
	lib, err := proj.Open("")
	if err != nil {
		fmt.Println(err) // PROJ is not installed
		return
	}
	t, err := lib.NewTransform("EPSG:4326", "ESRI:54030", proj.Options{}) // Robinson
	if err != nil {
		panic(err)
	}
	defer t.Close()
	x, y, err := t.Forward(13.405, 52.52)
	fmt.Printf("%.2f %.2f %v\n", x, y, err)
}

func ExampleLibrary_Converter() {
	lib, err := proj.Open("")
	if err != nil {
		fmt.Println(err)
		return
	}
	bogota, err := crs.Describe("EPSG:6247") // Colombia Urban is not a projection of package crs
	if err != nil {
		panic(err)
	}
	o := warp.Options{Target: bogota, Converter: lib.Converter(proj.Options{})}
	fmt.Println(o.Target)
}
