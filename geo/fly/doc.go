// Package fly films flights over an orthomosaic that lies on a height field.
//
//	scene, err := fly.Load(ctx, dev, ortho.Image(), dsm.Image(), fly.Options{})
//	path, err := fly.ReadJSON(file)
//	flight, err := scene.Plan(path)
//	stats, err := fly.Film(ctx, flight, "flight.mp4", fly.FilmOptions{
//		View:  fly.View{Width: 1920, Height: 1080},
//		Video: video.Options{Rate: video.FPS(30)},
//	})
//
// A [Scene] is in the memory of a device. A [Renderer] draws single frames of it, [Film] a whole [Flight], with package
// video; [Draw] measures the speed without an encoder.
//
// # The scene
//
// The surface is the bilinear interpolation between the samples of the height field, which are at the centers of its
// pixels. There is none next to samples without data. From the side, the edge of the surface is a wall with the colors of
// the edge. The mosaic is seen from above. What it does not cover has
// View.Ground as its color.
//
// Coordinates are those of the mosaic. If they are longitude and latitude, both images are warped to a UTM zone. A DEM in
// another system is warped to that of the mosaic. The Earth is flat: over 10 km its curvature is 8 m. Distances are those
// of the map, and heights are in meters: use Options.HeightScale for others.
//
// Images that are larger than Options.Memory allows are read from the overview, or reduced by the factor, that leaves most
// pixels.
//
// # How a frame is drawn
//
// A thread follows the rays of one pixel. A pyramid has the highest sample of each cell, of 2 x 2, 4 x 4 cells and so on:
// where the ray is above it, these are passed in one step. In a cell, the first intersection with the surface is the root
// of a quadratic equation. The rays of 8 x 8 pixels have most of their way in common: a cone around them is followed first,
// until it may meet the surface.
//
// Colors come from a pyramid of halved images. The footprint of a pixel on the surface chooses the level, and two levels
// are mixed. At a grazing angle the footprint is long, and View.Probes samples are taken along it.
//
// Light is computed once for each sample of the height field, with shadows if they are wanted. Haze takes its part of it
// with the distance. Colors are mixed as they are stored, without regard to gamma.
//
// # Exactness
//
// The surface is met where a reference in float64 meets it, and features of the mosaic are in their place, within half a
// pixel. Frames have the same bits on every device with Float32 and Float64. With [Texture] they differ between devices:
// texture units interpolate with weights of 8 bits, and positions in a texture of more than 32,768 texels lose precision.
//
// Positions are relative to the camera, so float32 is precise for a mosaic of any size.
//
// # Paths
//
// The curve through the waypoints is that of Catmull and Rom. The camera moves along it at a constant speed. Where it is
// nearer to the ground than Path.Clearance, it is raised. A path in JSON:
//
//	{
//	  "duration": 20, "fov": 60,
//	  "waypoints": [
//	    {"lon": 15.01, "lat": 47.05, "height": 120, "heading": 45, "pitch": -20},
//	    {"x": 501500, "y": 5211800, "altitude": 640, "look_at": {"x": 502000, "y": 5212000}},
//	    {"lon": 15.04, "lat": 47.07, "height": 80}
//	  ]
//	}
//
// [ReadCSV] describes the same as a table. [Orbit] and [Line] make simple paths.
//
// # Not here
//
// Overhangs and vertical walls: a height field has one height per place. Meshes, point clouds, vegetation, clouds, water,
// motion blur, stereo.
package fly
