package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	vastarrow "github.com/vastgo/vast/arrow"
)

// formats lists the values of -format with the extensions of their files.
var formats = []struct {
	name       string
	extensions []string
	format     vastarrow.Format
}{
	{"parquet", []string{".parquet"}, vastarrow.Parquet},
	{"arrow", []string{".arrow", ".feather"}, vastarrow.ArrowFile},
	{"stream", []string{".arrows"}, vastarrow.ArrowStream},
	{"csv", []string{".csv"}, vastarrow.CSV},
	{"jsonl", []string{".jsonl", ".ndjson"}, vastarrow.JSONLines},
}

func formatFlag(f *flag.FlagSet, aboutDefault string) *string {
	return f.String("format", "", "parquet, arrow (an Arrow file), stream (an Arrow IPC stream), csv or\n"+
		"jsonl, as a `word`\n(default: "+aboutDefault+")")
}

// formatOf returns the format with the given name. If the name is empty, formatOf chooses the format by the
// extension of the path.
func formatOf(name, path string) (vastarrow.Format, error) {
	for _, f := range formats {
		if f.name == name {
			return f.format, nil
		}
		for _, extension := range f.extensions {
			if name == "" && strings.EqualFold(filepath.Ext(path), extension) {
				return f.format, nil
			}
		}
	}
	if name == "" {
		return 0, misuse{fmt.Errorf("the extension of %q names no format: add -format", path)}
	}
	return 0, misuse{fmt.Errorf("-format %q: want parquet, arrow, stream, csv or jsonl", name)}
}
