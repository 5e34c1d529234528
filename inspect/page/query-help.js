// Help for queries: examples that fit the world, and a short reference.

import { get } from './api.js';
import { fieldText, quoteName } from './query-text.js';
import { h } from './ui.js';

// examples returns [{ text, detail }]. Each text is a valid query, with components of the world.
export async function examples(world) {
  const list = [{ text: '', detail: 'every entity' }];
  const values = world.columns.filter(
    (c) => c.storage !== 'tag' && !c.relation && !c.edges && c.name !== 'Name',
  );
  const tags = world.columns.filter((c) => c.storage === 'tag');
  const add = (text, detail) => list.push({ text, detail });
  const [a, b] = values.map((c) => c.text);
  if (a) add(a, 'entities with this component');
  if (a && b) add(`${a}, ${b}`, 'entities with both components');
  if (a && tags[0]) add(`${a}, !${tags[0].text}`, 'with the first, without the second');
  if (b) add(`${a} | ${b}`, 'with at least one of the two components');
  const number = fieldOf(values, 'float') ?? fieldOf(values, 'int') ?? fieldOf(values, 'uint');
  if (number) add(`${number} > 0`, 'compares a number');
  if (a && b) add(`${a}, ?${b}`, 'the second is shown if present');
  const relation = world.columns.find((c) => c.relation);
  if (relation) {
    add(`${relation.text}(*)`, 'has any target');
    if (a) add(`where ${relation.text}(${a})`, 'has a target with this component');
    const target = await someName();
    if (target) add(`${relation.text}(${quoteName(target)})`, `has the target ${target}`);
  }
  return list;
}

// sample returns a short query that fits the world. For a world without values and tags, it returns an
// example with other components.
export function sample(world) {
  const value = world.columns.find(
    (c) => c.storage !== 'tag' && !c.relation && !c.edges && c.name !== 'Name',
  );
  const tag = world.columns.find((c) => c.storage === 'tag');
  const words = [value?.text, tag && `!${tag.text}`].filter(Boolean);
  return words.join(', ') || 'Position, !Dead';
}

function fieldOf(columns, kind) {
  for (const column of columns) {
    const field = column.fields.find((f) => f.kind === kind && /^[\p{L}_]/u.test(f.path));
    if (field) return fieldText(column, field);
  }
  return undefined;
}

async function someName() {
  try {
    return (await get('names', { prefix: '', limit: 1 })).names[0]?.name;
  } catch {
    return undefined;
  }
}

const language = [
  ['Position', 'has the component; for a relation: has a target; for edges: has an edge'],
  ['Position, Velocity', 'has both components; "and" may replace the comma'],
  ['A | B', 'has at least one of the two; "or" may replace the bar'],
  ['!Dead', 'does not have the component; "not" may replace "!"'],
  ['?Velocity', 'shows the component if present; any entity matches'],
  ['ChildOf(Paris)', 'has the target with this name'],
  ['ChildOf(17.3)', 'has the target with this ID'],
  ['ChildOf(*)', 'has any target'],
  ['where ChildOf(City)', 'has a target with the component; ChildOf(City, !Closed) names several'],
  ['up ChildOf(City)', 'has an ancestor with the component: the target, its target, and so on'],
  ['Life.Ends > 100', 'compares a field: == != < <= > >='],
  ['Infected.Stage == Mild', 'compares with the name of a value'],
  ['Name ~ "Par"', 'contains the text, ignoring case; !~ means: does not contain'],
  ['"St. John\'s"', 'a name with special characters is quoted'],
  ['Position#7', 'the component with this number, if several components have the name'],
];

// reference returns a short reference of the language, collapsed at first.
export function reference() {
  return h(
    'details',
    { class: 'panel reference' },
    h('summary', { class: 'panel-head' }, h('h2', null, 'Query language')),
    h(
      'div',
      { class: 'panel-body' },
      h(
        'p',
        { class: 'dim' },
        'A query is a list of terms, separated by commas. An entity must fulfil all terms. ' +
          'An empty query selects all entities.',
      ),
      h(
        'dl',
        { class: 'reference-terms' },
        language.map(([text, meaning]) =>
          h('div', null, h('dt', null, h('code', null, text)), h('dd', null, meaning)),
        ),
      ),
    ),
  );
}
