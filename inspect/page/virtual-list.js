// A list of millions of rows. Rows in view and a few neighbours have elements. The list fetches the rows in
// view; each request fetches one page of rows.
//
// Browsers limit the height of an element to some tens of millions of pixels. For a higher list, the browser
// scrolls a track, an element that is shorter than the list. Near the ends of the track, one pixel of the
// track is one pixel of the list. In the middle of the track, one pixel of the track is many pixels of the
// list. Wheels, keys and fingers move the list by exact numbers of pixels. The scroll bar moves the track.
// When scrolling stops, the track moves to the position that matches the list.

import { errorBox, h, later, replace, setStyle } from './ui.js';
import { aborted } from './api.js';

const maxTrack = 8_000_000; // pixels; the limit of Firefox is 17.8 million pixels, of Chromium 33 million
const exactEnd = 50_000; // pixels near each end; there, one pixel of the track is one pixel of the list
const maxPages = 64; // limit of the pages in memory; pages in view stay
const overscan = 6; // rows with elements above the view, and below the view

// virtualList makes the list. Its options:
//   label      for screen readers
//   columns    [{ title, width: '8rem' or 'minmax(6rem, 1fr)', class, number: true, head: node }]
//   fetch      async (offset, limit, signal) => ({ rows, total }); total may differ between answers
//   cells      (row, index) => an array of nodes or texts, one for each column
//   onOpen     (row, index), optional: called when Enter or a click opens a row
//   onMark     (row, index), optional: called when the user or goTo marks another row; row is undefined if
//              the row is not fetched yet
//   keyOf      (row) => the key of the row, optional: the mark follows its row if a refresh moves the row
//   rowHeight  in CSS pixels, default 28
//   pageSize   rows per fetch, default 100
//   empty      a node, optional: shown if the list has no rows
// The members of the list:
//   element    the list's HTML element
//   total      the number of rows
//   marked     { index, row } of the marked row, or null
//   onTotal    (total), optional: called when the number of rows changes
//   reload     () drops all rows and fetches rows from the top
//   refresh    () fetches the rows again; the list shows the old rows until the answers arrive
//   goTo       (index) marks the row and scrolls it to the middle
//   setColumns (columns) changes the columns
//   focus      () moves the keyboard focus to the list
//   destroy    () cancels all requests and timers
export function virtualList({
  label,
  columns,
  fetch,
  cells,
  onOpen,
  onMark,
  keyOf,
  rowHeight = 28,
  pageSize = 100,
  empty,
}) {
  // pages holds the fetched and the requested pages by page number: { rows, error, version, request, fresh }.
  // request is the running request's AbortController. fresh is false if the list must fetch the page again.
  const pages = new Map();
  let total = 0;
  let totalKnown = false;
  let listTop = 0; // pixels of the list above the view
  let trackTop = 0; // last handled value of scroller.scrollTop
  let marked = -1;
  let markedKey; // key of the marked row; undefined if the row is not fetched yet or the list has no keys
  let frame = 0;
  let alive = true;
  let reloads = 0; // an answer to a request from before the last reload is dropped
  const rows = new Map(); // row elements by row index

  const head = h('div', { class: 'vlist-head', role: 'row' });
  const view = h('div', { class: 'vlist-view', role: 'presentation' });
  const track = h('div', { class: 'vlist-track', role: 'presentation' }, view);
  const message = h('div', { class: 'vlist-message' });
  const scroller = h(
    'div',
    {
      class: 'vlist-scroll',
      role: 'grid',
      tabindex: 0,
      aria: { label, rowcount: -1, multiselectable: 'false' },
      onscroll: scrolled,
      onkeydown: pressed,
      onfocus: ensureMark,
    },
    h('div', { class: 'vlist-headgroup', role: 'rowgroup' }, head),
    h('div', { class: 'vlist-body', role: 'rowgroup' }, track),
  );
  const element = h('div', { class: 'vlist', style: { '--row': `${rowHeight}px` } }, scroller, message);

  const headHeight = () => head.parentElement.offsetHeight;
  const height = () => Math.max(rowHeight, scroller.clientHeight - headHeight());
  const listHeight = () => total * rowHeight;
  const trackHeight = () => Math.min(listHeight(), maxTrack);
  const maxList = () => Math.max(0, listHeight() - height());
  const trackEnd = () => Math.max(0, trackHeight() - height());

  // toTrack converts a position of the list to a position of the track, in pixels. toList is its inverse.
  function toTrack(top) {
    const [list, end] = [maxList(), trackEnd()];
    if (list <= end) return top;
    if (top <= exactEnd) return top;
    if (top >= list - exactEnd) return end - (list - top);
    return exactEnd + ((top - exactEnd) / (list - 2 * exactEnd)) * (end - 2 * exactEnd);
  }
  function toList(top) {
    const [list, end] = [maxList(), trackEnd()];
    if (list <= end) return top;
    if (top <= exactEnd) return top;
    if (top >= end - exactEnd) return list - (end - top);
    return exactEnd + ((top - exactEnd) / (end - 2 * exactEnd)) * (list - 2 * exactEnd);
  }

  function scrolled() {
    const top = scroller.scrollTop;
    const delta = top - trackTop;
    if (delta === 0) return;
    trackTop = top;
    // One step of a wheel or a finger is shorter than three views. A longer step comes from the scroll bar.
    if (maxList() <= trackEnd()) listTop = top;
    else if (Math.abs(delta) < 3 * height()) listTop += delta;
    else listTop = toList(top);
    listTop = Math.max(0, Math.min(maxList(), listTop));
    scheduleDraw();
    afterScroll();
  }

  const afterScroll = later(200, () => {
    if (!alive) return;
    if (scroller.scrollTop === trackTop) alignTrack();
    else scrolled(); // the browser has not sent the scroll event
  });

  function alignTrack() {
    scroller.scrollTop = toTrack(listTop);
    trackTop = scroller.scrollTop; // the browser rounds the position
  }

  function moveTo(top) {
    listTop = Math.max(0, Math.min(maxList(), top));
    alignTrack();
    scheduleDraw();
  }

  const scheduleDraw = () => {
    frame ||= requestAnimationFrame(draw);
  };

  function draw() {
    frame = 0;
    if (!alive) return;
    track.style.height = `${trackHeight()}px`;
    setStyle(view, { height: `${Math.min(height(), trackHeight())}px`, top: `${headHeight()}px` });
    const from = Math.max(0, Math.floor(listTop / rowHeight) - overscan);
    const to = Math.min(total, Math.ceil((listTop + height()) / rowHeight) + overscan);
    for (const [index, row] of rows) {
      if (index < from || index >= to) {
        row.remove();
        rows.delete(index);
      }
    }
    for (let index = from; index < to; index++) drawRow(index);
    scroller.setAttribute('aria-rowcount', totalKnown ? total + 1 : -1);
    if (rows.has(marked)) scroller.setAttribute('aria-activedescendant', rows.get(marked).id);
    else scroller.removeAttribute('aria-activedescendant');
    ask(from, to);
  }

  function drawRow(index) {
    const page = pages.get(Math.floor(index / pageSize));
    const row = page?.rows?.[index % pageSize];
    const state = page?.error ? 'failed' : row === undefined ? 'waiting' : page.version;
    let line = rows.get(index);
    if (!line) {
      line = h('div', {
        class: 'vlist-row',
        role: 'row',
        id: `row-${listNumber}-${index}`,
        aria: { rowindex: index + 2 },
        onclick: (event) => {
          mark(index);
          if (!event.target.closest('a, button, input')) open(index);
        },
      });
      rows.set(index, line);
      view.append(line);
    }
    setStyle(line, { transform: `translateY(${index * rowHeight - listTop}px)` });
    line.classList.toggle('odd', index % 2 === 1);
    line.setAttribute('aria-selected', index === marked && (!row || markedKey === keyAt(index)));
    if (line.dataset.state === String(state)) return;
    line.dataset.state = state;
    const texts = row === undefined ? [] : cells(row, index);
    replace(
      line,
      columns.map((c, i) =>
        h(
          'span',
          { class: ['vlist-cell', c.class, c.number && 'num right'], role: 'gridcell' },
          row === undefined
            ? page?.error
              ? i === 0
                ? 'not available'
                : ''
              : h('span', { class: 'ghost' })
            : texts[i],
        ),
      ),
    );
  }

  // askSoon fetches the pages in view that are missing or not fresh, and cancels requests for pages far from
  // the view. It also drops the oldest pages if there are more than maxPages.
  const askSoon = later(50, (from, to) => {
    if (!alive) return;
    const [first, last] = [Math.floor(from / pageSize), Math.floor(Math.max(from, to - 1) / pageSize)];
    for (const [number, page] of pages) {
      if (page.request && (number < first - 1 || number > last + 1)) {
        page.request.abort();
        if (page.rows) page.request = null;
        else pages.delete(number);
      }
    }
    for (let number = first; number <= last; number++) {
      const page = pages.get(number);
      if (!page || (!page.fresh && !page.request)) load(number);
      else if (page.rows) {
        // a page in view moves to the end of the map, so that older pages are dropped first
        pages.delete(number);
        pages.set(number, page);
      }
    }
    for (const number of pages.keys()) {
      if (pages.size <= maxPages) break;
      if (number < first || number > last) pages.delete(number);
    }
  });

  function ask(from, to) {
    const need =
      !totalKnown ||
      [Math.floor(from / pageSize), Math.floor(Math.max(from, to - 1) / pageSize)].some(
        (n) => !pages.get(n)?.fresh,
      ) ||
      to - from > pageSize;
    if (need) askSoon(from, to);
  }

  let versions = 0;
  async function load(number) {
    const started = reloads;
    const page = pages.get(number) ?? { rows: null, error: null, version: 0 };
    page.request = new AbortController();
    page.fresh = true;
    pages.set(number, page);
    const { signal } = page.request;
    let changed = true;
    try {
      const answer = await fetch(number * pageSize, pageSize, signal);
      if (started !== reloads || !alive || signal.aborted) return;
      page.rows = answer.rows;
      page.error = null;
      page.version = ++versions;
      followRow(number, page);
      setTotal(answer.total);
      message.textContent = '';
      if (total === 0 && empty) message.append(empty);
    } catch (error) {
      if (started !== reloads || !alive) return;
      if (aborted(error) || signal.aborted) {
        page.fresh = false;
        changed = false;
      } else {
        page.error = error;
        if (!page.rows || number === 0)
          replace(
            message,
            errorBox(error, () => {
              message.textContent = '';
              refresh();
            }),
          );
      }
    } finally {
      if (page.request?.signal === signal) page.request = null;
    }
    if (changed) scheduleDraw();
  }

  function setTotal(n) {
    scrolled(); // perhaps the browser has not sent the last scroll event
    const before = total;
    total = Math.max(0, Math.floor(n));
    totalKnown = true;
    if (total !== before) {
      list.onTotal?.(total);
      track.style.height = `${trackHeight()}px`;
      moveTo(listTop);
    }
    if (marked >= total) marked = total - 1;
  }

  function rowAt(index) {
    return pages.get(Math.floor(index / pageSize))?.rows?.[index % pageSize];
  }

  function keyAt(index) {
    const row = rowAt(index);
    return row && keyOf?.(row);
  }

  // followRow moves the mark if the marked row has moved into a fetched page.
  function followRow(number, page) {
    if (!keyOf || marked < 0) return;
    markedKey ??= keyAt(marked);
    const at = page.rows.findIndex((row) => keyOf(row) === markedKey);
    if (at >= 0) marked = number * pageSize + at;
  }

  function mark(index) {
    if (total === 0) return;
    const to = Math.max(0, Math.min(total - 1, index));
    const changed = to !== marked;
    marked = to;
    markedKey = keyAt(to);
    scheduleDraw();
    if (changed) onMark?.(rowAt(to), to);
  }

  function ensureMark() {
    if (marked < 0 && total > 0 && scroller.matches(':focus-visible')) mark(Math.ceil(listTop / rowHeight));
  }

  // show scrolls as little as needed to bring a row into view.
  function show(index) {
    const top = index * rowHeight;
    if (top < listTop) moveTo(top);
    else if (top + rowHeight > listTop + height()) moveTo(top + rowHeight - height());
  }

  function open(index) {
    const row = rowAt(index);
    if (row !== undefined) onOpen?.(row, index);
  }

  function pressed(event) {
    if (event.target !== scroller || event.ctrlKey || event.metaKey || event.altKey) return;
    const inView = Math.max(1, Math.floor(height() / rowHeight) - 1);
    const now = marked < 0 ? Math.ceil(listTop / rowHeight) : marked;
    const to = {
      ArrowDown: now + 1,
      ArrowUp: now - 1,
      PageDown: now + inView,
      PageUp: now - inView,
      Home: 0,
      End: total - 1,
    }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      mark(to);
      show(marked);
    } else if (event.key === 'Enter' && marked >= 0) {
      event.preventDefault();
      open(marked);
    }
  }

  function reload() {
    reloads++;
    for (const page of pages.values()) page.request?.abort();
    pages.clear();
    for (const row of rows.values()) row.remove();
    rows.clear();
    message.textContent = '';
    totalKnown = false;
    marked = -1;
    markedKey = undefined;
    listTop = 0;
    alignTrack();
    scheduleDraw();
  }

  function refresh() {
    for (const page of pages.values()) page.fresh = page.request !== null && page.request !== undefined;
    scheduleDraw();
  }

  function setColumns(to) {
    columns = to;
    setStyle(element, {
      '--columns': columns.map((c) => c.width ?? 'minmax(6rem, 1fr)').join(' '),
      '--least': minRowWidth(columns),
    });
    replace(
      head,
      columns.map((c) =>
        h(
          'span',
          { class: ['vlist-cell', c.class, c.number && 'right'], role: 'columnheader' },
          c.head ?? c.title,
        ),
      ),
    );
    for (const row of rows.values()) row.dataset.state = '';
    scheduleDraw();
  }

  const size = new ResizeObserver(() => {
    moveTo(listTop);
  });
  size.observe(scroller);

  const listNumber = ++lists;
  const list = {
    element,
    reload,
    refresh,
    setColumns,
    get total() {
      return total;
    },
    get marked() {
      return marked < 0 ? null : { index: marked, row: rowAt(marked) };
    },
    onTotal: null,
    goTo(index) {
      mark(index);
      moveTo(index * rowHeight - height() / 2);
    },
    focus: () => scroller.focus(),
    destroy() {
      alive = false;
      reloads++;
      afterScroll.cancel();
      askSoon.cancel();
      cancelAnimationFrame(frame);
      size.disconnect();
      for (const page of pages.values()) page.request?.abort();
    },
  };
  setColumns(columns);
  return list;
}

let lists = 0;

// minRowWidth returns the minimum width of each row, as a CSS expression. In a narrower window, the list
// scrolls sideways.
function minRowWidth(columns) {
  const widths = columns.map(
    ({ width = 'minmax(6rem, 1fr)' }) =>
      /^minmax\(\s*([^,]+),/.exec(width)?.[1] ?? (/fr$/.test(width) ? '6rem' : width),
  );
  return `calc(${[...widths, ...columns.map(() => '0.9rem'), '0.7rem'].join(' + ')})`;
}
