import { MAX_TOOL_NAME } from './config.js';
import { readMember } from './exchange.js';

/** The keyword of an argument that newer revisions repeat in the header `Mcp-Param-<name>`. */
const KEYWORD = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/** Far more than tools have. A manifest, in which a tool is some levels further down, may have 100. */
const MAX_LEVELS = 90;

/** Keywords whose value is data. */
const DATA: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples']);
/** Keywords whose value has schemas as its members. */
const MAPS: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'],
]);

export function repeatsArguments(inputSchema: unknown): boolean {
  return JSON.stringify(inputSchema ?? {}).includes(`"${KEYWORD}"`);
}

interface NamedTool {
  readonly name: string;
  readonly inputSchema?: unknown;
  readonly isAmbiguous?: boolean;
}

/**
 * Finds why a tool must not be called: no route can name it, another one has its name, it is nested
 * so deep that its readers would run out of stack, or it has a header that the protocol forbids.
 * @returns `null` for a good tool
 */
export function findToolProblem(tool: NamedTool): string | null {
  if (tool.name === '' || tool.name.length > MAX_TOOL_NAME) {
    return `the name of the tool is empty or longer than ${MAX_TOOL_NAME} characters`;
  }
  if (tool.isAmbiguous === true) return 'the server lists two tools of this name';
  if (isDeep(tool)) return `the tool is nested deeper than ${MAX_LEVELS} levels`;
  const { inputSchema } = tool;
  if (!repeatsArguments(inputSchema)) return null;
  const names = new Set<string>();
  return visit(inputSchema, 'root', names) ? null : `the tool has a wrong ${KEYWORD}`;
}

export function isDeep(tool: object): boolean {
  let level: readonly unknown[] = [tool];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_LEVELS) return true;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}

/**
 * @param place only members of members may have a header
 * @returns whether all headers are good
 */
function visit(schema: unknown, place: 'root' | 'member' | 'other', names: Set<string>): boolean {
  if (typeof schema !== 'object' || schema === null) return true;
  if (Array.isArray(schema)) return schema.every((part) => visit(part, 'other', names));
  if (KEYWORD in schema) {
    const name = readMember(schema, KEYWORD);
    if (place !== 'member' || typeof name !== 'string' || !TOKEN.test(name)) return false;
    if (!TYPES.has(readMember(schema, 'type')) || names.has(name.toLowerCase())) return false;
    names.add(name.toLowerCase());
  }
  return Object.entries(schema).every(([keyword, value]) => {
    if (DATA.has(keyword)) return true;
    if (!MAPS.has(keyword)) return visit(value, 'other', names);
    const below = keyword === 'properties' && place !== 'other' ? 'member' : 'other';
    return Object.values(value ?? {}).every((part) => visit(part, below, names));
  });
}
