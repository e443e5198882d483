import { shorten } from './shorten.js';

export type JsonObject = Readonly<Record<string, unknown>>;

/** The schema of the arguments of a tool, which its references point into. */
export type InputSchema = JsonObject;

/** The maximum number of steps into a schema, which may refer to itself. */
const MAX_STEPS = 8;
/** The schemas that are read for a form: alternatives that are shared multiply with each level. */
const MAX_READ = 1000;
/** The steps to a member that an error is about. */
const MAX_PATH = 32;
const MAX_VALUES = 10;
const MAX_MEMBERS = 30;
/** Characters. */
const MAX_FORM = 500;

/** Counts the schemas that may still be read. */
export interface ReadBudget {
  left: number;
}

export const createBudget = (): ReadBudget => ({ left: MAX_READ });

/** The expected form of each argument, by its name, for a model that has made a mistake. */
export function describeForms(root: InputSchema): Readonly<Record<string, string>> {
  return Object.fromEntries(listForms(root, root, createBudget(), true));
}

/** `integer`, `one of "a", "b"`, or `object with title (string, required), text (string)`. */
export function describeForm(schema: unknown, root: InputSchema): string {
  return shorten(writeForm(schema, root, createBudget(), true), MAX_FORM);
}

/** The declared members of a schema of an object. */
export function listProperties(schema: unknown, root: InputSchema): JsonObject {
  const properties = follow(schema, root)['properties'];
  return isObject(properties) ? properties : {};
}

/** The schema of a member or an item further down; `undefined` for an undeclared or a distant one. */
export function findSchema(schema: unknown, path: readonly string[], root: InputSchema): unknown {
  if (path.length > MAX_PATH) return undefined;
  let found = schema;
  for (const step of path) {
    const properties = listProperties(found, root);
    found = Object.hasOwn(properties, step) ? properties[step] : follow(found, root)['items'];
  }
  return found;
}

/** Whether a schema admits `null`; true for one that does not say so, or takes long to read. */
export function admitsNull(
  schema: unknown,
  root: InputSchema,
  budget: ReadBudget,
  steps = MAX_STEPS,
): boolean {
  if (schema === false) return false;
  if (isSpent(budget)) return true;
  const found = follow(schema, root);
  if ('const' in found) return found['const'] === null;
  if (Array.isArray(found['enum'])) return found['enum'].includes(null);
  if (found['type'] !== undefined) return [found['type']].flat().includes('null');
  const branches = listBranches(found);
  if (branches.length === 0 || steps === 0) return true;
  return branches.some((branch) => admitsNull(branch, root, budget, steps - 1));
}

function isSpent(budget: ReadBudget): boolean {
  budget.left -= 1;
  return budget.left < 0;
}

function listForms(
  schema: unknown,
  root: InputSchema,
  budget: ReadBudget,
  hasMembers: boolean,
): [string, string][] {
  const { required } = follow(schema, root);
  const entries = Object.entries(listProperties(schema, root)).slice(0, MAX_MEMBERS);
  return entries.map(([name, member]) => {
    const form = writeForm(member, root, budget, hasMembers);
    const isRequired = Array.isArray(required) && required.includes(name);
    const shown = hasMembers ? shorten(form, MAX_FORM) : form;
    return [name, isRequired ? `${shown}, required` : shown];
  });
}

function writeForm(
  schema: unknown,
  root: InputSchema,
  budget: ReadBudget,
  hasMembers: boolean,
  steps = MAX_STEPS,
): string {
  if (isSpent(budget)) return 'any value';
  const found = follow(schema, root);
  const { type, enum: values, items } = found;
  if ('const' in found) return JSON.stringify(found['const']);
  if (Array.isArray(values)) {
    const shown = values.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
    return `one of ${shown.join(', ')}${values.length > MAX_VALUES ? ', …' : ''}`;
  }
  if (type === undefined) {
    const write = (branch: unknown) => writeForm(branch, root, budget, hasMembers, steps - 1);
    const forms = steps === 0 ? [] : listBranches(found).map(write);
    return [...new Set(forms)].slice(0, MAX_VALUES).join(' or ') || 'any value';
  }
  if (type === 'array' && steps > 0)
    return `list of ${writeForm(items, root, budget, false, steps - 1)}`;
  const members = type === 'object' && hasMembers ? listForms(found, root, budget, false) : [];
  if (members.length === 0) return [type].flat().join(' or ');
  return `object with ${members.map(([name, form]) => `${name} (${form})`).join(', ')}`;
}

function listBranches({ anyOf, oneOf }: JsonObject): readonly unknown[] {
  return [anyOf, oneOf].find(Array.isArray) ?? [];
}

/** The schema that a chain of references names; an empty one if it is not found. */
function follow(schema: unknown, root: InputSchema): JsonObject {
  let found = schema;
  for (let steps = 0; steps < MAX_STEPS; steps += 1) {
    if (!isObject(found)) return {};
    if (typeof found['$ref'] !== 'string') return found;
    let target: unknown = root;
    for (const step of found['$ref'].split('/').slice(1)) {
      target = Reflect.get(Object(target), step.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    found = target;
  }
  return {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
