// Turns a JSON Schema into Markdown: one table for the top level, one section for each property that
// has properties of its own, and one subsection for each value that other properties depend on.

/** Deeper than any file format of this project; ends schemas that refer to themselves. */
const MAX_DEPTH = 12;
const HEAD = '| Key | Type | Default | Description |\n|---|---|---|---|';

/**
 * @param {object} schema the root of the schema
 * @param {Readonly<Record<string, string>>} pages links for schemas of other files, by their `$ref`
 */
export function renderSchema(schema, pages = {}) {
  const context = { root: schema, pages, formats: new Map() };
  const rows = collectProperties(schema, context, { path: '', condition: null, depth: 0 });
  const isTop = ({ path, condition }) => condition === null && !/[.[]/.test(path);
  const sections = [...new Set(rows.map(({ path }) => path.split(/[.[]/)[0]))];
  const parts = ['## Top level', renderTable(rows.filter(isTop))];
  for (const section of sections) {
    const members = rows.filter((row) => !isTop(row) && row.path.split(/[.[]/)[0] === section);
    if (members.length === 0) continue;
    parts.push(`## \`${section}\``, ...renderSection(members));
  }
  return [...parts, ...renderFormats(context)].join('\n\n');
}

function renderSection(rows) {
  const conditions = [...new Set(rows.map(({ condition }) => condition))];
  return conditions
    .toSorted((one, other) => (one === null ? -1 : other === null ? 1 : 0))
    .flatMap((condition) => {
      const table = renderTable(rows.filter((row) => row.condition === condition));
      return condition === null ? [table] : [`### With \`${condition}\``, table];
    });
}

function renderTable(rows) {
  const lines = rows.map(({ path, type, required, fallback, description }) => {
    const value = required ? 'required' : fallback === undefined ? '' : code(fallback);
    return `| \`${path}\` | ${type} | ${value} | ${escapeText(description)} |`;
  });
  // Alternatives may have the same member.
  return [HEAD, ...new Set(lines)].join('\n');
}

function renderFormats({ formats }) {
  if (formats.size === 0) return [];
  const lines = [...formats].toSorted().map(([name, { pattern, maxLength, description }]) => {
    const length = maxLength === undefined ? '' : ` At most ${maxLength} characters.`;
    return `| ${name} | ${code(pattern, false)} | ${escapeText(`${description ?? ''}${length}`.trim())} |`;
  });
  return ['## Formats', ['| Name | Pattern | Description |', '|---|---|---|', ...lines].join('\n')];
}

/** One row for each property at any depth, in the order of the schema. */
function collectProperties(schema, context, { path, condition, depth }) {
  if (depth > MAX_DEPTH) return [];
  const { properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).flatMap(([name, described]) => {
    if (typeof described === 'boolean') return [];
    const property = dereference(described, context);
    const place = path === '' ? name : `${path}.${name}`;
    const row = {
      path: place,
      condition,
      type: describeType(described, context),
      required: required.includes(name),
      fallback: property.default,
      description: property.description ?? '',
    };
    return [row, ...collectNested(property, context, { path: place, condition, depth: depth + 1 })];
  });
  return [...rows, ...collectConditional(schema, context, { path, condition, depth })];
}

/** The properties of an object, of the items of a list, of the values of a map, and of alternatives. */
function collectNested(schema, context, at) {
  const { items, additionalProperties } = schema;
  const rows = collectProperties(schema, context, at);
  if (isSchema(items)) {
    rows.push(...collectNested(dereference(items, context), context, extend(at, '[]')));
  }
  if (isSchema(additionalProperties)) {
    const value = dereference(additionalProperties, context);
    rows.push(...collectNested(value, context, extend(at, '.<name>')));
  }
  const alternatives = listAlternatives(schema, context).filter(({ $elsewhere }) => !$elsewhere);
  const conditions = alternatives.map((alternative) => findConstant(alternative, at.path));
  // A single constant cannot distinguish alternatives.
  const isTagged = conditions.length > 1 && !conditions.includes(null);
  for (const [index, alternative] of alternatives.entries()) {
    const condition = isTagged ? conditions[index] : at.condition;
    rows.push(...collectNested(alternative, context, { ...at, condition }));
  }
  return rows;
}

/**
 * The members that `allOf: [{ if: { properties: { kind: { const } } }, then }]` adds, by the value
 * of `kind`.
 */
function collectConditional({ allOf = [] }, context, { path, condition, depth }) {
  return allOf.flatMap(({ if: when, then }) => {
    const label = when === undefined ? condition : findConstant(when, path);
    if (label === null || then === undefined) return [];
    return collectProperties(then, context, { path, condition: label, depth });
  });
}

/** `provider.kind: http`, where a property of the schema has one value or some. */
function findConstant({ properties = {} }, path) {
  for (const [name, property] of Object.entries(properties)) {
    const values = 'const' in property ? [property.const] : property.enum;
    if (values === undefined || values.length === 0) continue;
    return `${path === '' ? name : `${path}.${name}`}: ${values.join(' | ')}`;
  }
  return null;
}

function listAlternatives(schema, context) {
  return rawAlternatives(schema).map((branch) => dereference(branch, context));
}

function describeType(described, context) {
  const { $ref } = described;
  if ($ref !== undefined && context.pages[$ref] !== undefined) return context.pages[$ref];
  const schema = dereference(described, context);
  const name = $ref?.split('/').at(-1);
  if (name !== undefined && schema.pattern !== undefined) {
    context.formats.set(name, dereference({ $ref }, context));
    return `[${name}](#formats)`;
  }
  const alternatives = listAlternatives(schema, context);
  if (alternatives.length > 0) {
    const branches = rawAlternatives(schema);
    return [...new Set(branches.map((branch) => describeType(branch, context)))].join(' or ');
  }
  if ('const' in schema) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => code(value)).join(', ');
  return describePlainType(schema, context);
}

function rawAlternatives(schema) {
  const { anyOf = [], oneOf = [] } = schema;
  return [...anyOf, ...oneOf, ...listConditional(schema)];
}

/** `if` is how a schema without `anyOf` offers two types, or two forms of a mapping. */
function listConditional({ if: when, then = {}, else: otherwise }) {
  if (when?.type !== undefined) return [{ ...when, ...then }, otherwise ?? {}];
  return when?.required !== undefined && otherwise !== undefined ? [then, otherwise] : [];
}

function describePlainType(schema, context) {
  const { type, items, additionalProperties, pattern } = schema;
  if (type === 'array') {
    const item = isSchema(items) ? ` of ${describeType(items, context)}` : '';
    const count = describeRange(schema.minItems, schema.maxItems).slice(2);
    return `list${count === '' ? '' : ` (${count})`}${item}`;
  }
  if (type === 'object' && isSchema(additionalProperties) && schema.properties === undefined) {
    return `map of ${describeType(additionalProperties, context)}`;
  }
  if (type === undefined) return 'any';
  const words = [type].flat().join(' or ');
  const match = pattern === undefined ? '' : ` matching ${code(pattern, false)}`;
  const range = describeRange(schema.minimum, schema.maximum);
  const length = describeRange(schema.minLength, schema.maxLength, ' characters');
  return `${words}${match}${range}${length}`;
}

function describeRange(min, max, unit = '') {
  if (min === undefined && max === undefined) return '';
  if (max === undefined)
    return min === 1 && unit !== '' ? ', not empty' : `, at least ${min}${unit}`;
  return min === undefined ? `, at most ${max}${unit}` : `, ${min} to ${max}${unit}`;
}

/** Follows `$ref`; what stands beside it wins. A schema of another file is not entered. */
function dereference(schema, { root, pages }) {
  const { $ref, ...own } = schema;
  if ($ref === undefined) return own;
  if (pages[$ref] !== undefined) return { ...own, $elsewhere: $ref };
  const names = $ref.replace(/^#\/?/, '').split('/').filter(Boolean);
  const found = names.reduce((at, name) => at?.[name], root);
  if (found === undefined) throw new Error(`the schema has no ${$ref}`);
  const target = dereference(found, { root, pages });
  const properties = { ...target.properties, ...own.properties };
  return { ...target, ...own, ...(Object.keys(properties).length > 0 && { properties }) };
}

const extend = (at, suffix) => ({ ...at, path: `${at.path}${suffix}`, depth: at.depth + 1 });

const isSchema = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Writes a value in backquotes, as JSON unless it is text. */
export function code(value, asJson = typeof value !== 'string') {
  return `\`${escapeCell(asJson ? JSON.stringify(value) : String(value))}\``;
}

/** Text for a cell: what would be read as a tag is shown. */
export function escapeText(text) {
  return escapeCell(text).replaceAll('<', '&lt;');
}

/** A bar would end the cell, also in backquotes. */
function escapeCell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
