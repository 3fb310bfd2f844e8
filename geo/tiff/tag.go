package tiff

import "strconv"

// Tag is the number of a field of a directory.
type Tag uint16

// Tags that this package reads or writes. Their names are those of the
// specifications: TIFF 6.0, its technical notes, GeoTIFF 1.1 and GDAL's own.
const (
	NewSubfileType      Tag = 254
	ImageWidth          Tag = 256
	ImageLength         Tag = 257
	BitsPerSample       Tag = 258
	CompressionTag      Tag = 259
	PhotometricTag      Tag = 262
	FillOrder           Tag = 266
	ImageDescription    Tag = 270
	StripOffsets        Tag = 273
	Orientation         Tag = 274
	SamplesPerPixel     Tag = 277
	RowsPerStrip        Tag = 278
	StripByteCounts     Tag = 279
	XResolution         Tag = 282
	YResolution         Tag = 283
	PlanarConfiguration Tag = 284
	ResolutionUnit      Tag = 296
	Software            Tag = 305
	DateTime            Tag = 306
	PredictorTag        Tag = 317
	ColorMap            Tag = 320
	TileWidth           Tag = 322
	TileLength          Tag = 323
	TileOffsets         Tag = 324
	TileByteCounts      Tag = 325
	SubIFDs             Tag = 330
	ExtraSamples        Tag = 338
	SampleFormat        Tag = 339
	JPEGTables          Tag = 347
	YCbCrSubSampling    Tag = 530
	ReferenceBlackWhite Tag = 532
	ModelPixelScale     Tag = 33550
	ModelTiepoint       Tag = 33922
	ModelTransformation Tag = 34264
	GeoKeyDirectory     Tag = 34735
	GeoDoubleParams     Tag = 34736
	GeoASCIIParams      Tag = 34737
	GDALMetadata        Tag = 42112
	GDALNoData          Tag = 42113
	RPCCoefficients     Tag = 50844
)

var tagNames = map[Tag]string{
	NewSubfileType: "NewSubfileType", ImageWidth: "ImageWidth", ImageLength: "ImageLength",
	BitsPerSample: "BitsPerSample", CompressionTag: "Compression", PhotometricTag: "PhotometricInterpretation",
	FillOrder: "FillOrder", ImageDescription: "ImageDescription", StripOffsets: "StripOffsets",
	Orientation: "Orientation", SamplesPerPixel: "SamplesPerPixel", RowsPerStrip: "RowsPerStrip",
	StripByteCounts: "StripByteCounts", XResolution: "XResolution", YResolution: "YResolution",
	PlanarConfiguration: "PlanarConfiguration", ResolutionUnit: "ResolutionUnit", Software: "Software",
	DateTime: "DateTime", PredictorTag: "Predictor", ColorMap: "ColorMap", TileWidth: "TileWidth",
	TileLength: "TileLength", TileOffsets: "TileOffsets", TileByteCounts: "TileByteCounts", SubIFDs: "SubIFDs",
	ExtraSamples: "ExtraSamples", SampleFormat: "SampleFormat", JPEGTables: "JPEGTables",
	YCbCrSubSampling: "YCbCrSubSampling", ReferenceBlackWhite: "ReferenceBlackWhite",
	ModelPixelScale: "ModelPixelScale", ModelTiepoint: "ModelTiepoint", ModelTransformation: "ModelTransformation",
	GeoKeyDirectory: "GeoKeyDirectory", GeoDoubleParams: "GeoDoubleParams", GeoASCIIParams: "GeoAsciiParams",
	GDALMetadata: "GDAL_METADATA", GDALNoData: "GDAL_NODATA", RPCCoefficients: "RPCCoefficient",
}

// String returns the number and the name, for example "324 (TileOffsets)".
func (t Tag) String() string {
	n := strconv.Itoa(int(t))
	if name, ok := tagNames[t]; ok {
		return n + " (" + name + ")"
	}
	return n
}

// fieldType is the type of the values of a tag.
type fieldType uint16

const (
	typeByte fieldType = 1 + iota
	typeASCII
	typeShort
	typeLong
	typeRational
	typeSByte
	typeUndefined
	typeSShort
	typeSLong
	typeSRational
	typeFloat
	typeDouble
	typeIFD
	typeLong8 fieldType = 3 + iota
	typeSLong8
	typeIFD8
)

// size returns the bytes of one value, and 0 for an unknown type.
func (t fieldType) size() int64 {
	switch t {
	case typeByte, typeASCII, typeSByte, typeUndefined:
		return 1
	case typeShort, typeSShort:
		return 2
	case typeLong, typeSLong, typeFloat, typeIFD:
		return 4
	case typeRational, typeSRational, typeDouble, typeLong8, typeSLong8, typeIFD8:
		return 8
	}
	return 0
}
