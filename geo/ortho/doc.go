// Package ortho orthorectifies images on devices: it computes what an image of a camera would show if every point were seen from above.
//
//	surface, err := ortho.NewSurface(ctx, dsm.Image(), ortho.SurfaceOptions{})
//	sensor, err := ortho.Frame(camera, ortho.OmegaPhiKappa(utm, x, y, z, omega, phi, kappa))
//	err = ortho.File(ctx, dev, "ortho.tif", photo.Image(), sensor, surface, ortho.Options{Resampling: warp.Bilinear})
//
// [File] writes a file. [New] returns an [Image], which is computed where it is read. [Images] are many of them, which are read as if they
// were in files: the sources of a mosaic, for example.
//
// # Cameras
//
// A [Sensor] says where pixels were seen from:
//
//   - [Frame] is a [Camera] with a [Pose]: a pinhole with the distortion of Brown and Conrady, or a fisheye, with the conventions of OpenCV.
//   - [ReadReconstruction] and [ReadCameras] read the files of OpenSfM and ODM; [ReadExterior] reads a table of positions and of the angles
//     omega, phi and kappa.
//   - [RPC] has the rational polynomials of satellite images.
//
// A pose in a projected system takes its coordinates and heights for Cartesian ones, as most photogrammetric programs do. A pose in a
// geocentric system, to which [Topocentric] and reconstructions lead, is exact: the curvature of the Earth and the scale of the map count.
//
// Heights of the surface have to be above the same surface as those of the camera. RPC, and reconstructions with reference_lla in most
// cases, have heights above the ellipsoid. SurfaceOptions.Offset, or [crs.Geoids] in Options.Shift, lead from one to the other.
//
// # What an output pixel is
//
// The height of its center is interpolated between the four pixels of the surface around it. The point is projected into the
// image exactly, in float64, and the image is resampled there, with the meaning of package warp.
//
// A point has no data if the image does not show it, if the surface has no height there, or if the surface hides it: if the line of sight to
// the camera is below the surface somewhere. The line is followed from pixel to pixel of the output. Options.SeeThrough leaves out the test.
//
// # Invariants
//
// The output has the same bits on every device, with any number of cores, size of tiles and amount of memory.
//
// Tests render a known scene with a ray tracer of their own, with all cameras and with distortion, and recover it within 0.02 pixels.
// With RPC, near and bilinear results are those of gdalwarp -rpc -et 0 with RPC_DEM, sample by sample, and cubic ones within 1, because heights
// are float32 here; but gdalwarp does not test what is hidden.
//
// # Memory
//
// The image and the surface are read in windows. A window of the surface covers a tile and what may hide it, and so depends on the
// differences of heights: Options.Memory bounds it: tiles are divided until their windows fit. NewSurface reads all of the
// surface once, for its extreme heights, in parts of 4 million pixels.
//
// # Not supported
//
// Rolling shutters, pushbroom scanners without RPC, spherical and dual cameras of OpenSfM, affinity and shear of sensors, EXIF data.
package ortho
