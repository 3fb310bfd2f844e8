package ortho

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
)

// Shot is an image of a reconstruction.
type Shot struct {
	Name   string // of the file
	Camera Camera
	Pose   Pose
}

// Sensor returns the sensor of the shot.
func (s *Shot) Sensor() (*Sensor, error) { return Frame(s.Camera, s.Pose) }

// cameraJSON is a camera of OpenSfM: lengths are multiples of the image's longer side.
type cameraJSON struct {
	Type   string   `json:"projection_type"`
	Width  int      `json:"width"`
	Height int      `json:"height"`
	Focal  *float64 `json:"focal"`
	FocalX *float64 `json:"focal_x"`
	FocalY *float64 `json:"focal_y"`
	CX     float64  `json:"c_x"`
	CY     float64  `json:"c_y"`
	K1     float64  `json:"k1"`
	K2     float64  `json:"k2"`
	K3     float64  `json:"k3"`
	K4     float64  `json:"k4"`
	P1     float64  `json:"p1"`
	P2     float64  `json:"p2"`
}

// ReadCameras reads OpenSfM's camera_models.json, or ODM's cameras.json: an object of cameras by their names. Models are
// perspective, simple_radial, brown, fisheye and fisheye_opencv.
func ReadCameras(r io.Reader) (map[string]Camera, error) {
	var all map[string]cameraJSON
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return nil, failf(ErrFormat, "cameras: %v", err)
	}
	return readCameras(all)
}

func readCameras(all map[string]cameraJSON) (map[string]Camera, error) {
	cameras := map[string]Camera{}
	for name, j := range all {
		c, err := j.camera(name)
		if err != nil {
			return nil, err
		}
		cameras[name] = c
	}
	return cameras, nil
}

// camera converts to pixels.
func (j *cameraJSON) camera(name string) (c Camera, err error) {
	size := float64(max(j.Width, j.Height))
	fx, fy := j.Focal, j.Focal
	if fx == nil {
		fx = j.FocalX
	}
	if fy == nil || j.FocalY != nil {
		fy = j.FocalY
	}
	if fy == nil {
		fy = fx
	}
	if fx == nil || size <= 0 {
		return c, failf(ErrFormat, "camera %q: focal, width or height is missing", name)
	}
	c = Camera{Width: j.Width, Height: j.Height, FX: *fx * size, FY: *fy * size, K: [4]float64{j.K1, j.K2, j.K3, 0}, P1: j.P1, P2: j.P2}
	c.CX = float64(j.Width)/2 - 0.5 + j.CX*size
	c.CY = float64(j.Height)/2 - 0.5 + j.CY*size
	switch j.Type {
	case "perspective", "brown", "simple_radial", "radial":
	case "fisheye", "fisheye_opencv":
		c.Model, c.K[3] = Fisheye, j.K4
	case "":
		return c, failf(ErrFormat, "camera %q: projection_type is missing", name)
	default:
		return c, failf(ErrFormat, "camera %q: projection_type %q; perspective, simple_radial, radial, brown, fisheye and fisheye_opencv are known", name, j.Type)
	}
	return c, c.check()
}

// ReadReconstruction reads OpenSfM's reconstruction.json, of which ODM keeps a copy: shots with their cameras and poses,
// relative to a point of the ellipsoid. cameras replaces cameras of the same names, and may be nil; reference replaces the
// file's reference_lla. The shots are in the order of their names.
func ReadReconstruction(r io.Reader, cameras map[string]Camera, reference *Topocentric) ([]Shot, error) {
	var all []struct {
		Cameras map[string]cameraJSON `json:"cameras"`
		Shots   map[string]struct {
			Rotation    []float64 `json:"rotation"`
			Translation []float64 `json:"translation"`
			Camera      string    `json:"camera"`
		} `json:"shots"`
		Reference *struct {
			Latitude  *float64 `json:"latitude"`
			Longitude *float64 `json:"longitude"`
			Altitude  float64  `json:"altitude"`
		} `json:"reference_lla"`
	}
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return nil, failf(ErrFormat, "reconstruction: %v", err)
	}
	var shots []Shot
	for i, part := range all {
		own, err := readCameras(part.Cameras)
		if err != nil {
			return nil, err
		}
		maps.Copy(own, cameras)
		origin := reference
		if l := part.Reference; origin == nil && l != nil && l.Latitude != nil && l.Longitude != nil {
			origin = &Topocentric{*l.Latitude, *l.Longitude, l.Altitude}
		}
		if origin == nil && len(part.Shots) > 0 {
			return nil, failf(ErrFormat, "reconstruction %d has no reference_lla, which says where it is; give it", i)
		}
		for _, name := range slices.Sorted(maps.Keys(part.Shots)) {
			s := part.Shots[name]
			c, ok := own[s.Camera]
			switch {
			case !ok:
				return nil, failf(ErrFormat, "shot %q has the camera %q, which is not described", name, s.Camera)
			case len(s.Rotation) != 3 || len(s.Translation) != 3:
				return nil, failf(ErrFormat, "shot %q has a rotation of %d and a translation of %d numbers; 3 are required", name, len(s.Rotation), len(s.Translation))
			}
			pose, err := origin.Pose([3]float64(s.Rotation), [3]float64(s.Translation))
			if err != nil {
				return nil, err
			}
			shots = append(shots, Shot{name, c, pose})
		}
	}
	if len(shots) == 0 {
		return nil, failf(ErrFormat, "the reconstruction has no shots")
	}
	return shots, nil
}
