import {
  admitsNull,
  createBudget,
  describeForm,
  describeForms,
  listProperties,
} from './describe-form.js';
import type { DescribedTool } from './describe-tool.js';
import { assertExactNumbers, type ExactValue, InexactJson, parseExact } from './exact-json.js';
import { askFor, findNearestNames } from './nearest-names.js';
import {
  type ArgumentError,
  createProblemResult,
  InvalidArguments,
  type ToolResult,
} from './tool-error.js';

export type Arguments = ReadonlyMap<string, ExactValue>;

type CheckedTool = Pick<DescribedTool, 'name' | 'inputSchema'>;

const MAX_ERRORS = 20;
const MAX_NAME = 64;
const NO_ARGUMENTS: Arguments = new Map();
/** Arguments that hold others. */
const CONTAINERS = ['body', 'arguments'] as const;

/**
 * The members of `arguments`, which may be absent. `null` for an optional one counts as absent,
 * unless its schema admits it.
 * @throws InvalidArguments for all that are unknown or missing.
 */
export function readArguments(tool: CheckedTool, value: ExactValue | undefined): Arguments {
  const all = readMembers(value);
  const { inputSchema } = tool;
  const properties = new Map(Object.entries(listProperties(inputSchema, inputSchema)));
  const names = Array.isArray(inputSchema['required']) ? inputSchema['required'].map(String) : [];
  const required = new Set(names);
  const budget = createBudget();
  const given = new Map(
    [...all].filter(([name, { kind }]) => {
      const schema = properties.get(name);
      return kind !== 'null' || schema === undefined || admitsNull(schema, inputSchema, budget);
    }),
  );
  const unknown = [...given]
    .filter(([name]) => !properties.has(name))
    // Each one is costly, and a message can have 20,000.
    .slice(0, MAX_ERRORS)
    .map(([name, member]): ArgumentError => {
      const reason = `unknown: ${findPlace(name.slice(0, MAX_NAME), member, { inputSchema, given })}`;
      return { field: name.slice(0, MAX_NAME), reason };
    });
  const missing = [...required]
    .filter((name) => !given.has(name))
    .slice(0, MAX_ERRORS)
    .map((name): ArgumentError => {
      const form = describeForm(properties.get(name), inputSchema);
      return { field: name, reason: `${all.has(name) ? 'null' : 'missing'}: expected ${form}` };
    });
  const errors = [...unknown, ...missing].slice(0, MAX_ERRORS);
  if (errors.length > 0) throw new InvalidArguments(...errors);
  return given;
}

/**
 * All arguments as one body, for a tool of an MCP server, which knows what it takes.
 * @throws InvalidArguments for anything but an object, and for numbers that a parser would change.
 */
export function readWhole(value: ExactValue | undefined): Arguments {
  readMembers(value);
  return new Map([['body', value?.kind === 'object' ? value : parseExact('{}')]]);
}

function readMembers(value: ExactValue | undefined): Arguments {
  if (value === undefined || value.kind === 'null') return NO_ARGUMENTS;
  if (value.kind !== 'object') {
    const hint = value.kind === 'string' ? ', not a text of JSON' : '';
    throw new InvalidArguments({
      field: 'arguments',
      reason: `${nameKind(value)}: expected an object${hint}`,
    });
  }
  try {
    assertExactNumbers(value);
  } catch (error) {
    if (!(error instanceof InexactJson)) throw error;
    const reason = `not exact, with ${error.message}: expected a number of fewer digits, or a string where the tool takes one`;
    throw new InvalidArguments({ field: 'arguments', reason });
  }
  return value.members;
}

/** Where an unknown argument belongs. */
function findPlace(
  name: string,
  value: ExactValue,
  { inputSchema, given }: { readonly inputSchema: CheckedTool['inputSchema']; given: Arguments },
): string {
  const properties = listProperties(inputSchema, inputSchema);
  const known = Object.keys(properties);
  if (value.kind === 'object' && known.some((one) => value.members.has(one))) {
    return `put its members beside the other arguments, not into '${name}'`;
  }
  const container = CONTAINERS.find((one) => known.includes(one));
  if (container !== undefined) {
    const members = Object.keys(listProperties(properties[container], inputSchema));
    const isDeclared = members.includes(name);
    if (isDeclared || container === 'arguments') return `put it into '${container}'`;
  }
  const nearest = askFor(
    findNearestNames(
      name,
      known.filter((one) => !given.has(one)),
    ),
  );
  if (nearest !== null) return nearest;
  if (container !== undefined && !given.has(container)) return `put it into '${container}'`;
  return 'leave it out';
}

/** `a string`, `an object` */
export function nameKind({ kind }: ExactValue): string {
  if (kind === 'null') return kind;
  return `${kind === 'object' || kind === 'array' ? 'an' : 'a'} ${kind}`;
}

/** The error for an agent: what is wrong, what the tool takes, and what to do. */
export function createArgumentProblem(
  { name, inputSchema }: CheckedTool,
  errors: readonly ArgumentError[],
  request_id: string,
  advice: readonly string[] = [],
): ToolResult {
  const [first] = errors;
  const detail = `${name}: '${first?.field}' is ${first?.reason}`;
  const takes = describeForms(inputSchema);
  const next_actions = [
    ...advice,
    `correct what errors names, and call ${name} again: takes and the inputSchema of the tool say what it may be`,
  ];
  const members = { code: 'validation_failed', detail, request_id, tool: name };
  return createProblemResult({ ...members, errors, takes, next_actions });
}
