package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// A side keeps its files in a temporary folder, and removes the folder when it closes. If a signal ends the
// process, the process first removes the remaining folders, because some hold gigabytes.

// folders are the folders of the sides that are open.
var folders struct {
	sync.Mutex
	left  map[string]bool
	ended bool
}

// makeFolder makes an empty folder.
func makeFolder() (dir string, err error) {
	folders.Lock()
	defer folders.Unlock()
	if folders.ended {
		return "", os.ErrProcessDone
	}
	if dir, err = os.MkdirTemp("", "vast-bench-"); err == nil {
		if folders.left == nil {
			folders.left = make(map[string]bool)
		}
		folders.left[dir] = true
	}
	return dir, err
}

// removeFolder removes a folder and its contents.
func removeFolder(dir string) {
	folders.Lock()
	defer folders.Unlock()
	delete(folders.left, dir)
	_ = os.RemoveAll(dir)
}

// removeFolders removes all remaining folders. Later calls of makeFolder fail.
func removeFolders() {
	folders.Lock()
	defer folders.Unlock()
	folders.ended = true
	for dir := range folders.left {
		// A side may still be making files in dir.
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
