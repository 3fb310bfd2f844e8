// Package video writes and reads video files with ffmpeg, and has frames in device memory.
//
//	e, err := video.Create(ctx, dev, "out.mp4", video.Options{Width: 1920, Height: 1080, Rate: video.FPS(30)})
//	defer e.Abort()
//	err = e.WriteFrame(stream, frame) // once per frame: a buffer of RGBA
//	err = e.Close()
//
// An [Encoder] writes a file and a [Decoder] reads one. [Transcode] changes all frames of a file, and [Stabilize] steadies
// the picture. [Segments] uses several encoders at the same time, and joins their parts without encoding them again.
//
// # ffmpeg
//
// ffmpeg and ffprobe are programs: this package runs them, and passes frames through pipes. [Tools] says where they are.
// Encoders are x264, SVT-AV1, and NVENC's H.264 and HEVC where a session opens; [Tools.Probe] tries with a tiny video.
// Datacenter GPUs such as the H100 have no encoder.
//
// When ffmpeg fails, the [Error] has the last lines that it printed. It ends with the context of Create or Open, even if
// it hangs.
//
// # Files
//
// A file appears under its name when it is complete. After an error there is none, and a file that had the name before is
// unchanged. A killed program leaves files or folders whose names end in ".partial".
//
// # Frames
//
// A frame is a gpu.Buffer of bytes: rows of pixels of red, green, blue and alpha, without gaps. Alpha is ignored when it
// is written, and 255 when it is read. Kernels convert frames to what ffmpeg takes, so that 1.5 bytes per pixel cross the
// bus and the pipe, not 4. The conversion is exact; see [Colors]. Three frames are under way at a time: while one is drawn,
// others are copied and encoded.
//
// # Not here
//
// Sound, subtitles, variable frame rates, 10 bits, HDR. Frames of an input with a variable rate are read one by one, and
// written at its mean rate.
package video
