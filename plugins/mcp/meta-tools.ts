import { forEachInSlices } from '../shared/slices.js';
import type { CatalogEntry } from './catalog.js';
import {
  type Arguments,
  createArgumentProblem,
  nameKind,
  readArguments,
} from './check-arguments.js';
import { type DescribedTool, describeTarget } from './describe-tool.js';
import type { ExactValue } from './exact-json.js';
import type { Exchange } from './exchange.js';
import { describeEntry } from './list-tools.js';
import { askFor, findNearestNames } from './nearest-names.js';
import { createTextResult, InvalidArguments, type ToolResult } from './tool-error.js';
import { META_NAMES } from './tool-names.js';
import type { Tools } from './tools.js';

type MetaName = (typeof META_NAMES)[number];

/** The maximum number of listed tools; a larger number is offered by search. */
export const MAX_LISTED_TOOLS = 40;

const MAX_FOUND = 20;
const MAX_SUMMARY = 200;
const MAX_WORDS = 16;
/** Longer than the name of any tool. */
const MAX_NAME = 64;
/** Longer than any question, and short enough to be divided at once. Characters. */
const MAX_QUERY = 4096;
const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
const CALLS = { ...READS, readOnlyHint: false, destructiveHint: true, idempotentHint: false };
const NAME = { type: 'string', description: 'Name of a tool that search_tools found.' };

/** The tools of a host that offers its tools by search. */
export const META_TOOLS: Readonly<Record<MetaName, DescribedTool>> = {
  search_tools: {
    name: 'search_tools',
    description: `Finds tools by words in their names and descriptions. Returns at most ${MAX_FOUND}.`,
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
  call_tool: {
    name: 'call_tool',
    description: 'Calls a tool.',
    inputSchema: {
      type: 'object',
      properties: { name: NAME, arguments: { type: 'object' } },
      required: ['name'],
      additionalProperties: false,
    },
    annotations: CALLS,
  },
};

export function isMetaName(name: string): name is MetaName {
  return META_NAMES.some((metaName) => metaName === name);
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
    const matches = await searchTools(callable, readText(values, 'query'));
    return createTextResult(JSON.stringify({ tools: matches }));
  }
  const toolName = readText(values, 'name');
  const entry = await tools.find(toolName, exchange);
  if (name === 'call_tool' && entry !== null) {
    return tools.call(entry, values.get('arguments'), exchange);
  }
  const callable = await tools.listCallable(exchange);
  const found = callable.find((one) => one.name === toolName);
  if (found === undefined) throw createUnknown(toolName, callable);
  return createTextResult(JSON.stringify(describeEntry(found)));
}

/** Finds the tools with most of the words; matches in names come first. */
async function searchTools(entries: readonly CatalogEntry[], query: string) {
  const words = query
    .slice(0, MAX_QUERY)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .slice(0, MAX_WORDS);
  const found: { readonly entry: CatalogEntry; readonly score: number }[] = [];
  await forEachInSlices(entries, (entry) => {
    const score = scoreOf(entry, words);
    if (score > 0 || words.length === 0) found.push({ entry, score });
    return true;
  });
  return found
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => ({ name: entry.name, description: describeTarget(entry, MAX_SUMMARY) }));
}

function scoreOf(entry: CatalogEntry, words: readonly string[]): number {
  const name = entry.name.toLowerCase();
  const text = entry.tools.describeTarget(entry).toLowerCase();
  let score = 0;
  for (const word of words) score += name.includes(word) ? 2 : text.includes(word) ? 1 : 0;
  return score;
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
