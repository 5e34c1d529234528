package vastarrow

import "fmt"

// Format is a format of files.
type Format uint8

const (
	// ArrowStream is the Arrow IPC stream, for sockets and pipes.
	ArrowStream Format = iota
	// ArrowFile is the Arrow IPC file, also called Feather V2.
	ArrowFile
	// Parquet is the Apache Parquet file. [Write] compresses it with Zstandard.
	Parquet
	// CSV begins with a line of column names. Absent values and empty texts are empty fields: absent values
	// without quotes, empty texts with quotes. Most readers, such as [Read], see no difference. If there is
	// only one column, absent values have quotes, too, because readers skip empty lines.
	CSV
	// JSONLines has a JSON object on each line. Numbers that JSON lacks are the texts "NaN", "Infinity" and
	// "-Infinity".
	JSONLines

	formats
)

var formatNames = [formats]string{"arrow stream", "arrow file", "parquet", "csv", "json lines"}

// String returns the name of the format, such as parquet.
func (f Format) String() string {
	if f >= formats {
		return fmt.Sprintf("Format(%d)", uint8(f))
	}
	return formatNames[f]
}

func (f Format) check(function string) {
	if f >= formats {
		panic(fmt.Sprintf("vastarrow: %s: there is no format %d: use a constant such as Parquet", function,
			f))
	}
}
