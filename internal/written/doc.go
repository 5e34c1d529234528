// Package written finds the pages of regions that were written since an earlier moment. With these pages, a
// program can update a copy of a large memory without reading all of the memory.
//
// A [Watch] write-protects pages. The kernel records the first write to each protected page and lets the
// write continue. This needs Linux 6.7 or later. A sandbox may forbid it: see [Supported].
//
// # Terminology
//
//   - Interval: the time between two scans.
//   - Scan: finds the pages that were written in the interval before the scan, and protects them again.
//   - Block: 2 MiB of addresses, aligned like a huge page. A block is protected or loose.
//   - Loose: not protected. All pages of a loose block count as written.
//   - Hot: a block is hot if at least half of its pages are written in most intervals. A hot block becomes
//     loose, because protection would cost a page fault for each written page and split a huge page.
//   - Trial: an interval in which a block that was loose is protected, to test whether the block is hot.
//
// # What is promised
//
// A page that [Watch.Changed] does not report has the same contents as at the kept scan (see [Watch.Keep]).
// Changed may also report pages that were not written: the pages of a new region or of a loose block, pages
// that were committed, discarded or moved, and pages for which a call of the kernel failed.
//
// Package vm sets [Regions] and reports the changes of a region's pages to its [Watcher].
package written
