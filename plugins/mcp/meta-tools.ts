import { RESERVED_TOOL_NAMES } from '../../core/contract/index.js';
import type { CatalogEntry } from './catalog.js';
import {
  type Arguments,
  createArgumentProblem,
  nameKind,
  readArguments,
} from './check-arguments.js';
import type { DescribedTool } from './describe-tool.js';
import type { ExactValue } from './exact-json.js';
import type { Exchange } from './exchange.js';
import { describeEntry } from './list-tools.js';
import { askFor, findNearestNames } from './nearest-names.js';
import { MAX_FOUND, searchTools } from './search-tools.js';
import { createTextResult, InvalidArguments, type ToolResult } from './tool-error.js';
import type { Tools } from './tools.js';

type MetaName = (typeof RESERVED_TOOL_NAMES)[number];

/** The maximum number of listed tools; a larger number is offered by search. */
export const MAX_LISTED_TOOLS = 40;

/** Longer than the name of any tool. */
const MAX_NAME = 64;
const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const CALLS = { ...READS, readOnlyHint: false, destructiveHint: true, idempotentHint: false };
const NAME = { type: 'string', description: 'Name of a tool that search_tools found.' };

const CALL_SCHEMA = {
  type: 'object',
  properties: {
    name: NAME,
    arguments: { type: 'object', description: 'The arguments of that tool, as it declares them.' },
  },
  required: ['name'],
  additionalProperties: false,
} as const;

/** The tools of a host that offers its tools by search. */
export const META_TOOLS: Readonly<Record<MetaName, DescribedTool>> = {
  search_tools: {
    name: 'search_tools',
    description: `Finds tools by words in their names, descriptions and arguments. Returns at most ${MAX_FOUND}, or the modules if none has a word.`,
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'Words to look for.' } },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: READS,
  },
  describe_tool: {
    name: 'describe_tool',
    description: 'Returns a tool with the JSON Schema of its arguments.',
    inputSchema: {
      type: 'object',
      properties: { name: NAME },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: READS,
  },
  read_tool: {
    name: 'read_tool',
    description: 'Calls a tool that changes nothing, such as one that reads or lists.',
    inputSchema: CALL_SCHEMA,
    annotations: READS,
  },
  call_tool: {
    name: 'call_tool',
    description: 'Calls a tool. Use read_tool for one that changes nothing.',
    inputSchema: CALL_SCHEMA,
    annotations: CALLS,
  },
};

export function isMetaName(name: string): name is MetaName {
  return RESERVED_TOOL_NAMES.some((metaName) => metaName === name);
}

export async function callMetaTool(
  name: MetaName,
  argumentsValue: ExactValue | undefined,
  exchange: Exchange,
  tools: Tools,
): Promise<ToolResult> {
  const tool = META_TOOLS[name];
  try {
    return await answerMetaTool(name, readArguments(tool, argumentsValue), exchange, tools);
  } catch (error) {
    if (!(error instanceof InvalidArguments)) throw error;
    return createArgumentProblem(tool, error.errors, exchange.call.requestId);
  }
}

/** @throws InvalidArguments. */
async function answerMetaTool(
  name: MetaName,
  values: Arguments,
  exchange: Exchange,
  tools: Tools,
): Promise<ToolResult> {
  if (name === 'search_tools') {
    const callable = await tools.listCallable(exchange);
    const found = await searchTools(callable, readText(values, 'query'));
    return createTextResult(JSON.stringify(found));
  }
  const toolName = readText(values, 'name');
  const entry = await tools.find(toolName, exchange);
  const calls = name === 'call_tool' || (name === 'read_tool' && entry?.operation.reads === true);
  if (calls && entry !== null) return tools.call(entry, values.get('arguments'), exchange);
  const callable = await tools.listCallable(exchange);
  const found = callable.find((one) => one.name === toolName);
  if (found === undefined) throw createUnknown(toolName, callable);
  if (name === 'describe_tool') return createTextResult(JSON.stringify(describeEntry(found)));
  const reason = 'a tool that may change data: expected one that reads; call it with call_tool';
  throw new InvalidArguments({ field: 'name', reason });
}

function readText(values: Arguments, field: string): string {
  const value = values.get(field);
  if (value?.kind === 'string') return value.value;
  const kind = value === undefined ? 'missing' : nameKind(value);
  throw new InvalidArguments({ field, reason: `${kind}: expected a string` });
}

function createUnknown(name: string, callable: readonly CatalogEntry[]): InvalidArguments {
  const names = callable.map((entry) => entry.name);
  const near = askFor(findNearestNames(name.slice(0, MAX_NAME), names));
  const reason = `no tool that you may call: ${near ?? 'search_tools finds them'}`;
  return new InvalidArguments({ field: 'name', reason });
}
