// Package docs embeds the pages of the documentation. The command `vast docs` shows them in a browser.
package docs

import "embed"

// Files holds the Markdown pages and their pictures, by their paths in this folder.
//
//go:embed *.md guide/*.md decisions/*.md
//go:embed picture/bench.svg picture/choosing.svg picture/growth.svg picture/*.webp
var Files embed.FS
