// Package filter has filters for images, and stencils for arrays of up to three dimensions:
// correlation, smoothing, medians, morphology, gradients, edges, geometry, colors, histograms
// and connected components.
//
// An [Image] describes pixels in a [gpu.Buffer]: rows of pixels of 1 to 4 channels, which lie
// beside each other, of type uint8, uint16 or float32. An array of one dimension is an image
// of one row; a [Volume] has three dimensions. [Image.Part] is a part of an image, and shares
// its pixels. [Upload] and [Download] copy images of package image.
//
//	src, err := filter.NewImage[uint8](dev, w, h, 4)
//	dst, err := filter.NewImage[uint8](dev, w, h, 4)
//	err = filter.Upload(s, src, picture)             // an *image.NRGBA
//	err = filter.Gaussian(s, dst, src, 2, 0, filter.Boundary{})
//	err = filter.Download(ctx, s, picture, dst)
//
// # Calls
//
// The stream is the first argument. Functions check their arguments, queue their work and
// return; only [Download] waits. They return an [*Error] that names the operation, the
// argument and the rule if an argument is wrong, and have written nothing then. Calls may be
// recorded in a graph, except [Upload] and [Download]. Nothing is allocated once the device's
// pool has what a filter needs; a [gpu.Workspace] as the last argument replaces the pool.
//
// The output has the size of the input, except where a function says otherwise. It must not
// share pixels with the input, except where a function allows it to be the same image.
// Channels are filtered separately, except by [Bilateral] and [ConvertColor].
//
// # Boundaries
//
// A [Boundary] says what lies beyond the edges of an image. The rules are those of
// scipy.ndimage, with the same names. For a line of the pixels a b c d:
//
//	Reflect   d c b a | a b c d | d c b a    the default
//	Constant  k k k k | a b c d | k k k k    k is Boundary.Value
//	Nearest   a a a a | a b c d | d d d d
//	Mirror    . d c b | a b c d | c b a .
//	Wrap      a b c d | a b c d | a b c d
//
// As indices of pixels:
//
//	position  -5 -4 -3 -2 -1   0  1  2  3   4  5  6  7  8
//	Reflect    3  3  2  1  0   0  1  2  3   3  2  1  0  0
//	Nearest    0  0  0  0  0   0  1  2  3   3  3  3  3  3
//	Mirror     1  2  3  2  1   0  1  2  3   2  1  0  1  2
//	Wrap       3  0  1  2  3   0  1  2  3   0  1  2  3  0
//
// Lines may be shorter than a stencil: the rules continue without end. When a warp reads
// between two pixels at an edge, the rule applies to each of the two (in SciPy's terms, Constant
// and Wrap are grid-constant and grid-wrap).
//
// # Numbers
//
// Sums of weighted pixels are computed in float32 and rounded once, to the nearest integer,
// ties to even, for integer pixels. Values out of range saturate. [Box], [Median], the
// morphological filters, [Equalize], [CLAHE], [Label], [Histogram], and the colors of 8 bits
// are computed without rounding errors in between.
//
// # Determinism and concurrency
//
// A filter writes the same bits in each run, and, where the results are exact, on each device.
// An Image is a value. Functions may be called by several goroutines, on different streams; the
// program orders calls that share images, and gives each concurrent call its own workspace.
package filter
