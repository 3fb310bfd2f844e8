// Palette finds the few colors that represent a photograph best, with the k-means method,
// and draws it in these colors.
//
//	go run ./examples/palette
//	go run ./examples/palette -in holiday.jpg -colors 16 -out palette.png
//	go run ./examples/palette -device cpu -verify
//
// The pixels are sorted and counted by color first, so the work of an iteration depends on
// the number of different colors. An iteration finds the nearest palette color of each, sorts
// the colors by it, and adds them up by key. All of this is done in integers: the palette has
// the same bits on every device, and -verify compares it with that of plain Go.
package main
