package soak

import (
	"bytes"
	"os"
	"strconv"
)

// residentBytes returns how many bytes of this process are in memory.
func residentBytes() int {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.Atoi(string(fields[1]))
	return pages * os.Getpagesize()
}

// openDescriptors returns how many files this process has open.
func openDescriptors() int {
	directory, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer directory.Close()
	names, err := directory.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return len(names) - 1 // without the directory itself
}
