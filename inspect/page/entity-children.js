// A tree of an entity's children: the entities whose target in a relation is this entity. The page loads the
// children of an entity when the user first unfolds the entity.

import * as api from './api.js';
import { format, h, replace } from './ui.js';

const pageSize = 50;

// childrenTree returns the tree: { element, destroy() }. Arrow keys move, unfold and fold. Home and End move
// to the first and the last entity. Enter opens an entity.
export function childrenTree(id, relation, total) {
  const end = new AbortController();
  const tree = h('ul', {
    class: 'tree children',
    role: 'tree',
    aria: { label: `${relation.name}: ${format.number(total)}` },
    onkeydown: pressed,
  });
  fill(tree, id);
  return { element: tree, destroy: () => end.abort() };

  // fill loads the first children of an entity into a list.
  function fill(list, of) {
    replace(list, h('li', { class: 'dim', role: 'none' }, '…'));
    load(list, of, null).catch((error) => failed(list, error, () => fill(list, of)));
  }

  async function load(list, of, after) {
    const answer = await api.get(
      `entities/${encodeURIComponent(of)}/children`,
      { relation: relation.id, by: 'id', limit: pageSize, after },
      { signal: end.signal },
    );
    list.querySelector(':scope > [role=none]')?.remove();
    const more = list.querySelector(':scope > .more-children');
    const hadFocus = more?.contains(document.activeElement);
    more?.remove();
    const items = answer.rows.map(item);
    list.append(...items);
    const seen = list.querySelectorAll(':scope > li[data-id]').length;
    if (items.length > 0 && answer.total > seen)
      list.append(moreItem(list, of, answer.rows.at(-1).id, answer.total - seen));
    if (seen === 0) list.append(h('li', { class: 'dim', role: 'none' }, 'none now'));
    if (!tree.querySelector('[tabindex="0"]'))
      tree.querySelector('[role=treeitem]')?.setAttribute('tabindex', 0);
    if (hadFocus) focus(items[0]);
  }

  function failed(list, error, retry) {
    if (api.aborted(error)) return;
    const again = h('button', { type: 'button', class: 'small', onclick: retry }, 'Try again');
    replace(list, h('li', { role: 'none' }, h('span', { class: 'bad' }, error.message), ' ', again));
  }

  function item(row) {
    const twist =
      row.children > 0
        ? h('span', {
            class: 'twist',
            aria: { hidden: 'true', expanded: 'false' },
            onclick: () => toggle(li),
          })
        : h('span', { class: 'twist-none' });
    const li = h(
      'li',
      {
        role: 'treeitem',
        tabindex: -1,
        data: { id: row.id },
        aria: { expanded: row.children > 0 ? 'false' : null, label: row.name || row.id },
      },
      h(
        'div',
        { class: 'tree-row' },
        twist,
        h(
          'a',
          { href: `#/entity/${encodeURIComponent(row.id)}`, tabindex: -1, class: 'clip' },
          row.name || row.id,
        ),
        row.name && h('span', { class: 'dim num hide-narrow' }, row.id),
        row.children > 0 && h('span', { class: 'chip num' }, format.short(row.children)),
        h('span', { class: 'dim clip has' }, row.has.join(' ')),
      ),
    );
    return li;
  }

  function moreItem(list, of, after, left) {
    const li = h(
      'li',
      { role: 'treeitem', tabindex: -1, class: 'more-children' },
      h(
        'div',
        { class: 'tree-row' },
        h('span', { class: 'twist-none' }),
        h(
          'button',
          { type: 'button', class: 'quiet small', tabindex: -1, onclick: () => next() },
          `${format.number(Math.min(left, pageSize))} of ${format.number(left)} more`,
        ),
      ),
    );
    function next() {
      load(list, of, after).catch((error) => {
        if (api.aborted(error)) return;
        // the entity after which the next children begin was deleted, or is no longer a child
        if (error.status === 404 || error.status === 410) fill(list, of);
        else failed(list, error, () => fill(list, of));
      });
    }
    li.addEventListener('open', next);
    return li;
  }

  function toggle(li, to) {
    const open = to ?? li.getAttribute('aria-expanded') !== 'true';
    if (!li.hasAttribute('aria-expanded')) return;
    li.setAttribute('aria-expanded', open);
    li.querySelector(':scope > .tree-row > .twist')?.setAttribute('aria-expanded', open);
    let list = li.querySelector(':scope > ul');
    if (!list && open) {
      list = h('ul', { role: 'group' });
      li.append(list);
      fill(list, li.dataset.id);
    }
    if (list) list.hidden = !open;
  }

  function focus(li) {
    if (!li) return;
    for (const other of tree.querySelectorAll('[tabindex="0"]')) other.setAttribute('tabindex', -1);
    li.setAttribute('tabindex', 0);
    li.focus();
    li.querySelector('.tree-row')?.scrollIntoView({ block: 'nearest' });
  }

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const li = event.target.closest('[role=treeitem]');
    if (!li) return;
    const seen = [...tree.querySelectorAll('[role=treeitem]')].filter(
      (one) => !one.parentElement.closest('ul[hidden]'),
    );
    const at = seen.indexOf(li);
    switch (event.key) {
      case 'ArrowDown':
        focus(seen[at + 1]);
        break;
      case 'ArrowUp':
        focus(seen[at - 1]);
        break;
      case 'Home':
        focus(seen[0]);
        break;
      case 'End':
        focus(seen.at(-1));
        break;
      case 'ArrowRight':
        if (li.getAttribute('aria-expanded') === 'false') toggle(li, true);
        else if (li.getAttribute('aria-expanded') === 'true') focus(seen[at + 1]);
        break;
      case 'ArrowLeft':
        if (li.getAttribute('aria-expanded') === 'true') toggle(li, false);
        else focus(li.parentElement.closest('[role=treeitem]'));
        break;
      case 'Enter':
        if (li.dataset.id) li.querySelector('a').click();
        else li.dispatchEvent(new CustomEvent('open'));
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
