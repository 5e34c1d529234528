// Package written finds the pages of regions that were written since a moment, so that a copy of a large
// memory can be brought up to date without reading all of it.
//
// A [Watch] asks the kernel, which protects pages against writing, notes the first write to each, and lets it
// pass. That needs Linux 6.7 or later, and a sandbox may forbid it: see [Supported].
//
// # Terminology
//
//   - Scan: the end of an interval, and the beginning of the next. A scan finds the pages that were written
//     in the interval and protects them again.
//   - Block: 2 MiB of addresses, aligned like a huge page. A block is protected or loose.
//   - Loose: not protected. All pages of a loose block count as written.
//   - Hot: written for the most part in most intervals. Protecting a hot block would cost a page fault for
//     each of its pages, and split its huge page, to learn what is known. So a hot block becomes loose.
//   - Trial: the first interval in which a loose block is protected. See heat.go.
//
// # What is promised
//
// A page that is not reported has the contents that it had at the scan in question. If anything is unknown,
// the page is reported as written: in a new region, if it was committed, discarded or moved meanwhile, and
// after a call of the kernel that failed.
//
// Package vm sets [Regions] and tells a [Watcher] what happens to the pages of its region. Programs that
// watch nothing have neither the code of this package nor its cost.
package written
