package video_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"quern.dev/gpu"
	"quern.dev/video"
)

func Example() {
	ctx := context.Background()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	folder, err := os.MkdirTemp("", "video")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	name := filepath.Join(folder, "gray.mp4")
	e, err := video.Create(ctx, dev, name, video.Options{Width: 64, Height: 64, Rate: video.FPS(30), FastStart: true})
	if errors.Is(err, video.ErrNotFound) {
		return // ffmpeg is not installed
	} else if err != nil {
		log.Fatal(err)
	}
	defer e.Abort() // does nothing after Close
	s := dev.DefaultStream()
	frame, err := gpu.Alloc[uint8](dev, 4*64*64)
	if err != nil {
		log.Fatal(err)
	}
	defer frame.Close()
	for i := range 30 {
		if err := gpu.Fill(s, frame, uint8(8*i)); err != nil { // a kernel would draw here
			log.Fatal(err)
		}
		if err := e.WriteFrame(s, frame); err != nil {
			log.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		log.Fatal(err)
	}
	info, err := video.Tools{}.Inspect(ctx, name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Width, info.Height, info.Rate.Float(), info.Frames, info.Codec)
}

func ExampleColors_Encode() {
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	rgba, err := gpu.Upload(s, []uint8{255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 0, 0, 255})
	if err != nil {
		log.Fatal(err)
	}
	defer rgba.Close()
	out, err := gpu.Alloc[uint8](dev, video.NV12.Bytes(2, 2))
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	if err := (video.Colors{Matrix: video.BT709}).Encode(s, video.NV12, 2, 2, rgba, out); err != nil {
		log.Fatal(err)
	}
	yuv := make([]uint8, out.Len())
	if err := gpu.Download(context.Background(), s, yuv, out); err != nil {
		log.Fatal(err)
	}
	fmt.Println(yuv)
	// Output: [63 63 63 63 102 240]
}
