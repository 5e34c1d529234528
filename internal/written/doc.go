// Package written finds the pages of regions that were written since an earlier moment. With these pages, a
// copy of a large memory can be updated without reading all of the memory.
//
// A [Watch] uses the kernel: the kernel protects pages against writing, records the first write to each page,
// and lets the write continue. This needs Linux 6.7 or later, and a sandbox may forbid it: see [Supported].
//
// # Terminology
//
//   - Scan: the end of an interval, and the beginning of the next. A scan finds the pages that were written
//     in the interval and protects them again.
//   - Block: 2 MiB of addresses, aligned like a huge page. A block is protected or loose.
//   - Loose: not protected. All pages of a loose block count as written.
//   - Hot: mostly written, in most intervals. A hot block becomes loose, because protecting it would cost a
//     page fault for each of its pages, and split its huge page, without telling anything new.
//   - Trial: the first interval in which a loose block is protected. See heat.go.
//
// # What is promised
//
// A page that [Watch.Changed] does not report has the same contents as at the kept scan (see [Watch.Keep]).
// Changed also reports pages that may have other contents: the pages of a new region, pages that were
// committed, discarded or moved meanwhile, and pages for which a call of the kernel failed.
//
// Package vm sets [Regions] and reports the changes of a region's pages to its [Watcher]. Programs that watch
// nothing contain no code of this package and pay no cost.
package written
