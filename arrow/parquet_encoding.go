package vastarrow

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// sampleRows is how many values of the first record are read, at most, to choose the encoding of a column.
const sampleRows = 32 << 10

// encodingFor chooses the encoding of a column from a sample of its values. A dictionary is best for values
// that repeat, such as the coordinates of towns. Differences are best for integers that grow or lie close
// together, such as IDs. Floats that do not repeat compress better if all first bytes stand together, then
// all second bytes, and so on (ByteStreamSplit).
func encodingFor(a arrow.Array) encoding.Encoding {
	if list, ok := a.(*array.FixedSizeList); ok {
		a = list.ListValues()
	}
	switch a := a.(type) {
	case *array.Boolean:
		return &parquet.Plain
	case *array.Int8:
		return encodingOfInts(a.Values())
	case *array.Int16:
		return encodingOfInts(a.Values())
	case *array.Int32:
		return encodingOfInts(a.Values())
	case *array.Int64:
		return encodingOfInts(a.Values())
	case *array.Uint8:
		return encodingOfInts(a.Values())
	case *array.Uint16:
		return encodingOfInts(a.Values())
	case *array.Uint32:
		return encodingOfInts(a.Values())
	case *array.Uint64:
		return encodingOfInts(a.Values())
	case *array.Timestamp:
		return encodingOfInts(a.Values())
	case *array.Float32:
		return encodingOf(a.Values(), &parquet.ByteStreamSplit)
	case *array.Float64:
		return encodingOf(a.Values(), &parquet.ByteStreamSplit)
	case *array.String:
		n := min(a.Len(), sampleRows)
		texts := make([]string, n)
		for i := range texts {
			texts[i] = a.Value(i)
		}
		return encodingOf(texts, &parquet.DeltaLengthByteArray)
	}
	return &parquet.DeltaLengthByteArray
}

// encodingOf returns the encoding by dictionary if at least an eighth of the values repeat earlier values.
// Otherwise it returns the other encoding.
func encodingOf[T comparable](v []T, other encoding.Encoding) encoding.Encoding {
	v = v[:min(len(v), sampleRows)]
	if distinct(v) <= len(v)*7/8 {
		return &parquet.RLEDictionary
	}
	return other
}

// encodingOfInts chooses between a dictionary and differences. It chooses a dictionary only if values repeat
// as in encodingOf, a difference takes more than 4 bits, and an index into the dictionary takes fewer bits
// than a difference.
func encodingOfInts[T interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}](v []T) encoding.Encoding {
	v = v[:min(len(v), sampleRows)]
	differenceBits := 0
	const block = 128 // number of differences that are stored relative to the smallest of them
	blocks := 0
	for at := 1; at+block <= len(v); at += block {
		least, most := int64(v[at])-int64(v[at-1]), int64(v[at])-int64(v[at-1])
		for i := at + 1; i < at+block; i++ {
			d := int64(v[i]) - int64(v[i-1])
			least, most = min(least, d), max(most, d)
		}
		differenceBits += bits.Len64(uint64(most - least))
		blocks++
	}
	if blocks == 0 {
		return &parquet.DeltaBinaryPacked
	}
	differenceBits /= blocks
	if differenceBits <= 4 {
		return &parquet.DeltaBinaryPacked
	}
	if d := distinct(v); d <= len(v)*7/8 && bits.Len(uint(d)) < differenceBits {
		return &parquet.RLEDictionary
	}
	return &parquet.DeltaBinaryPacked
}

func distinct[T comparable](v []T) int {
	seen := make(map[T]struct{})
	for _, x := range v {
		seen[x] = struct{}{}
	}
	return len(seen)
}
