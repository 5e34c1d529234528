// What helps to ask: questions that fit the world, and the language in short.

import { get } from './api.js';
import { fieldText, quoteName } from './query-text.js';
import { h } from './ui.js';

// examples returns [{ text, detail }]: made of the world's own components, so each of them is a query.
export async function examples(world) {
  const list = [{ text: '', detail: 'every entity' }];
  const values = world.columns.filter((c) => c.storage !== 'tag' && !c.relation && !c.edges && c.name !== 'Name');
  const tags = world.columns.filter((c) => c.storage === 'tag');
  const add = (text, detail) => list.push({ text, detail });
  const [a, b] = values.map((c) => c.text);
  if (a) add(a, 'all that have this component');
  if (a && b) add(`${a}, ${b}`, 'both');
  if (a && tags[0]) add(`${a}, !${tags[0].text}`, 'one without the other');
  if (b) add(`${a} | ${b}`, 'one of the two, or both');
  const number = fieldOf(values, 'float') ?? fieldOf(values, 'int') ?? fieldOf(values, 'uint');
  if (number) add(`${number} > 0`, 'a number compared');
  if (a && b) add(`${a}, ?${b}`, 'shown where there is one');
  const relation = world.columns.find((c) => c.relation);
  if (relation) {
    add(`${relation.text}(*)`, 'has some target');
    const target = await someName();
    if (target) add(`${relation.text}(${quoteName(target)})`, `has ${target} for its target`);
  }
  return list;
}

// sample is a short query that fits the world.
export function sample(world) {
  const value = world.columns.find((c) => c.storage !== 'tag' && !c.relation && !c.edges && c.name !== 'Name');
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
    return undefined; // an example less
  }
}

const language = [
  ['Position', 'has the component, a target in the relation, or edges'],
  ['Position, Velocity', 'has both; and does the same as the comma'],
  ['A | B', 'has one of them; or does the same'],
  ['!Dead', 'does not have it; not does the same'],
  ['?Velocity', 'shown where an entity has it; chooses nothing'],
  ['ChildOf(Paris)', 'has the target with this name'],
  ['ChildOf(17.3)', 'has the target with this ID'],
  ['ChildOf(*)', 'has a target'],
  ['Life.Ends > 100', 'has the component, and the field compares so: == != < <= > >='],
  ['Infected.Stage == Mild', 'values with names compare with those'],
  ['Name ~ "Par"', 'the text contains the other, in whatever case; !~ where it does not'],
  ['"St. John\'s"', 'names with signs in them stand in quotes'],
  ['Position#7', 'where several components are called Position, the one with this number'],
];

// reference is the language in short, folded up.
export function reference() {
  return h('details', { class: 'panel reference' }, h('summary', { class: 'panel-head' }, h('h2', null, 'The language')),
    h('div', { class: 'panel-body' },
      h('p', { class: 'dim' }, 'A query is a list of terms with commas between them. An entity must fulfil all; none means every entity.'),
      h('dl', { class: 'reference-terms' }, language.map(([text, meaning]) => h('div', null, h('dt', null, h('code', null, text)), h('dd', null, meaning))))));
}
