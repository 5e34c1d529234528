// Package docs holds the pages of the documentation, for the command `vast docs`, which shows them in a browser. They are
// Markdown, and are read as well where they lie.
package docs

import "embed"

// Files are the pages and their pictures, by their paths in this folder.
//
//go:embed *.md guide/*.md decisions/*.md
//go:embed picture/bench.svg picture/choosing.svg picture/growth.svg
var Files embed.FS
