package fly

import (
	"errors"
	"math"

	"quern.dev/geo/fly/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Sampling is how the mosaic is read between its pixels.
type Sampling uint8

const (
	// Float32 computes positions and weights in float32. Frames have the same bits on every device.
	Float32 Sampling = iota
	// Float64 computes them in float64: for frames that are data.
	Float64
	// Texture reads with the texture units, whose weights have 8 bits: for previews. The scene needs Options.Preview.
	Texture
)

// View is how a scene is drawn. The zero value is usable, except for the size.
type View struct {
	Width, Height int // of a frame in pixels
	Sampling      Sampling
	// Samples is how many rays a pixel has in each direction: 1 by default, and up to 8.
	Samples int
	// Probes is the most places at which the mosaic is read per ray, where it is seen at a grazing angle: 4 by default.
	Probes int
	// Far is how far the camera sees, in meters; 0 means without limit.
	Far float64
	// Visibility is the distance in meters from which a third of the light arrives through the haze. 0 means no haze.
	Visibility float64
	// Haze, Zenith and Ground are the colors of the horizon, of the sky above, and of ground that the mosaic does not cover:
	// red, green and blue. Three zeros mean the default.
	Haze, Zenith, Ground [3]uint8
}

// Renderer draws frames of a scene. It is for one goroutine at a time, and holds no resources.
type Renderer struct {
	scene *Scene
	view  View
	look  kernels.Look
}

// NewRenderer checks how to draw a scene. The scene must stay open.
func (s *Scene) NewRenderer(v View) (*Renderer, error) {
	if v.Width < 1 || v.Height < 1 || v.Width > 16384 || v.Height > 16384 {
		return nil, fail(ErrArgument, "render", "size", "%d x %d: want 1 to 16384", v.Width, v.Height)
	}
	if v.Samples == 0 {
		v.Samples = 1
	}
	if v.Probes == 0 {
		v.Probes = 4
	}
	if v.Samples < 1 || v.Samples > 8 || v.Probes < 1 || v.Probes > 64 {
		return nil, fail(ErrArgument, "render", "samples and probes", "%d and %d: want 1 to 8 and 1 to 64", v.Samples, v.Probes)
	}
	if !(v.Far >= 0) || !(v.Visibility >= 0) {
		return nil, fail(ErrArgument, "render", "distances", "far %g, visibility %g: want positive numbers", v.Far, v.Visibility)
	}
	if v.Sampling > Texture {
		return nil, fail(ErrArgument, "render", "sampling", "unknown sampling %d", v.Sampling)
	}
	if v.Sampling == Texture && s.atlas == nil {
		return nil, fail(ErrArgument, "render", "sampling", "the scene has no texture; load it with Options.Preview")
	}
	if v.Far == 0 {
		v.Far = 1e7
	}
	r := &Renderer{scene: s, view: v}
	r.look = kernels.Look{
		Haze:       rgb(v.Haze, [3]uint8{199, 214, 230}),
		Zenith:     rgb(v.Zenith, [3]uint8{74, 124, 192}),
		Ground:     rgb(v.Ground, [3]uint8{128, 132, 122}),
		Visibility: float32(v.Visibility),
		Floor:      float32(s.lowest),
	}
	return r, nil
}

func rgb(c, other [3]uint8) kernel.Vec3[float32] {
	if c == [3]uint8{} {
		c = other
	}
	return kernel.V3(float32(c[0]), float32(c[1]), float32(c[2]))
}

// Render queues the drawing of a frame: rows of pixels of four bytes (red, green, blue, 255). frame has
// 4*Width*Height bytes, and begins at a multiple of 4.
func (r *Renderer) Render(st *gpu.Stream, frame *gpu.Buffer[uint8], c Camera) error {
	if frame.Len() != 4*r.view.Width*r.view.Height {
		return fail(ErrArgument, "render", "frame", "%d bytes: want %d for %d x %d pixels", frame.Len(), 4*r.view.Width*r.view.Height, r.view.Width, r.view.Height)
	}
	for _, v := range []float64{c.X, c.Y, c.Altitude, c.Heading, c.Pitch, c.Roll} {
		if !finite(v) {
			return fail(ErrArgument, "render", "camera", "%+v", c)
		}
	}
	if !(c.FieldOfView > 0 && c.FieldOfView < 175) {
		return fail(ErrArgument, "render", "camera", "a field of view of %g degrees: want more than 0 and less than 175", c.FieldOfView)
	}
	for _, a := range []affine{r.scene.toCell, r.scene.toTexel} {
		if x, y := a.apply(r.scene.toMeters(c.X, c.Y)); math.Abs(x) > farthest || math.Abs(y) > farthest {
			return fail(ErrArgument, "render", "camera", "%g, %g is too far away from the terrain", c.X, c.Y)
		}
	}
	switch r.view.Sampling {
	case Float64:
		return drawn(r, st, frame, camera[float64](r, c), kernels.LaunchRender[float64])
	case Texture:
		return drawn(r, st, frame, camera[float32](r, c), func(st *gpu.Stream, grid gpu.Grid, k kernels.Camera[float32], g kernels.Terrain, look kernels.Look, heights, tops *gpu.Buffer[float32], levels *gpu.Buffer[kernels.Level], light *gpu.Buffer[float32], _ *gpu.Buffer[uint32], mips *gpu.Buffer[kernels.Level], starts *gpu.Buffer[kernels.Start], out *gpu.Buffer[uint32]) error {
			return kernels.LaunchPreview(st, grid, k, g, look, heights, tops, levels, light, r.scene.atlas, mips, starts, out)
		})
	}
	return drawn(r, st, frame, camera[float32](r, c), kernels.LaunchRender[float32])
}

// launcher is kernels.LaunchRender or alike.
type launcher[F float32 | float64] func(st *gpu.Stream, grid gpu.Grid, c kernels.Camera[F], g kernels.Terrain, look kernels.Look, heights, tops *gpu.Buffer[float32], levels *gpu.Buffer[kernels.Level], light *gpu.Buffer[float32], texels *gpu.Buffer[uint32], mips *gpu.Buffer[kernels.Level], starts *gpu.Buffer[kernels.Start], out *gpu.Buffer[uint32]) error

// drawn queues the kernels of a frame.
func drawn[F float32 | float64](r *Renderer, st *gpu.Stream, frame *gpu.Buffer[uint8], c kernels.Camera[F], launch launcher[F]) error {
	s, v := r.scene, &r.view
	across, down := (v.Width+kernels.Tile-1)/kernels.Tile, (v.Height+kernels.Tile-1)/kernels.Tile
	starts, err := gpu.Acquire[kernels.Start](s.dev.Pool(), st, across*down)
	if err != nil {
		return err
	}
	err = kernels.LaunchBeams(st, gpu.Plane(across, down), c, s.shape, s.tops, s.levels, starts)
	if err == nil {
		err = launch(st, gpu.Plane(v.Width, v.Height), c, s.shape, r.look, s.heights, s.tops, s.levels, s.light, s.texels, s.mips, starts, gpu.Reinterpret[uint32](frame))
	}
	return errors.Join(err, starts.Close())
}

// farthest is how many samples or texels the camera may be from the terrain and the mosaic.
const farthest = 1 << 29

// camera returns the kernels' form of a camera.
func camera[F kernel.Float](r *Renderer, c Camera) kernels.Camera[F] {
	s, v := r.scene, &r.view
	x, y := s.toMeters(c.X, c.Y)
	forward := direction(c.Heading, c.Pitch)
	sin, cos := math.Sincos(c.Heading * math.Pi / 180)
	right := vec{cos, -sin, 0}
	up := vec{right.y*forward.z - right.z*forward.y, right.z*forward.x - right.x*forward.z, right.x*forward.y - right.y*forward.x}
	sin, cos = math.Sincos(c.Roll * math.Pi / 180)
	pixel := 2 * math.Tan(c.FieldOfView*math.Pi/360) / float64(v.Width)
	turned := vec{}.plus(pixel*cos, right).plus(-pixel*sin, up)
	raised := vec{}.plus(pixel*sin, right).plus(pixel*cos, up)

	k := kernels.Camera[F]{Forward: vector[F](forward), Right: vector[F](turned), Up: vector[F](raised),
		Width: int32(v.Width), Height: int32(v.Height), Samples: int32(v.Samples), Far: F(v.Far), Probes: int32(v.Probes)}
	k.Eye.CellX, k.Eye.CellY, k.Eye.FracX, k.Eye.FracY = split[F](s.toCell.apply(x, y))
	k.Eye.Z, k.Eye.Cells = F(c.Altitude), floats[F](s.toCell.m)
	k.TexelX, k.TexelY, k.FracX, k.FracY = split[F](s.toTexel.apply(x, y))
	k.Texels = floats[F](s.toTexel.m)
	return k
}

// split returns the whole and the fractional parts of a position.
func split[F kernel.Float](x, y float64) (ix, iy int32, fx, fy F) {
	wx, wy := math.Floor(x), math.Floor(y)
	return int32(wx), int32(wy), F(x - wx), F(y - wy)
}
