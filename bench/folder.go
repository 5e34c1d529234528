package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Comparisons keep their files in temporary folders, and remove the folders at the end. If a signal arrives,
// the process removes the remaining folders before it ends, because some hold gigabytes.

// folders are the folders that makeFolder has made and removeFolder has not removed yet.
var folders struct {
	sync.Mutex
	dirs  map[string]bool
	ended bool // set by removeFolders; makeFolder then fails
}

func makeFolder() (dir string, err error) {
	folders.Lock()
	defer folders.Unlock()
	if folders.ended {
		return "", os.ErrProcessDone
	}
	if dir, err = os.MkdirTemp("", "vast-bench-"); err == nil {
		if folders.dirs == nil {
			folders.dirs = make(map[string]bool)
		}
		folders.dirs[dir] = true
	}
	return dir, err
}

func removeFolder(dir string) {
	folders.Lock()
	defer folders.Unlock()
	delete(folders.dirs, dir)
	_ = os.RemoveAll(dir)
}

// removeFolders removes all remaining folders. Afterwards, makeFolder fails.
func removeFolders() {
	folders.Lock()
	defer folders.Unlock()
	folders.ended = true
	for dir := range folders.dirs {
		// RemoveAll can fail, because a comparison may still be making files in dir.
		for range 10 {
			if os.RemoveAll(dir) == nil {
				break
			}
		}
	}
}

// removeOnSignal makes SIGINT and SIGTERM remove the folders before they end the process.
func removeOnSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		removeFolders()
		os.Exit(exitFailed)
	}()
}
