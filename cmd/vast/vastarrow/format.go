package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"

	vastarrow "github.com/vastgo/vast/arrow"
)

// formats lists the values of -format with the endings of their files.
var formats = []struct {
	name    string
	endings []string
	format  vastarrow.Format
}{
	{"parquet", []string{".parquet"}, vastarrow.Parquet},
	{"arrow", []string{".arrow", ".feather"}, vastarrow.ArrowFile},
	{"stream", []string{".arrows"}, vastarrow.ArrowStream},
	{"csv", []string{".csv"}, vastarrow.CSV},
	{"jsonl", []string{".jsonl", ".ndjson"}, vastarrow.JSONLines},
}

func formatFlag(f *flag.FlagSet, otherwise string) *string {
	return f.String("format", "", "parquet, arrow (a file), stream (Arrow IPC), csv or jsonl, as a `word`\n"+
		"(default: by the ending of the file's name"+otherwise+")")
}

// formatOf returns the format with a name. If the name is empty, formatOf returns the format of the file at
// the given path.
func formatOf(name, path string) (vastarrow.Format, error) {
	for _, f := range formats {
		if f.name == name {
			return f.format, nil
		}
		for _, ending := range f.endings {
			if name == "" && strings.EqualFold(filepath.Ext(path), ending) {
				return f.format, nil
			}
		}
	}
	if name == "" {
		return 0, misuse{fmt.Errorf("the ending of %q names no format: add -format", path)}
	}
	return 0, misuse{fmt.Errorf("-format %q: want parquet, arrow, stream, csv or jsonl", name)}
}
