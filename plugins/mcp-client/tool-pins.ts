import {
  type AdapterCounter,
  type Log,
  type LogWrite,
  type ProviderFact,
  ProviderFailure,
  type ProviderRoute,
} from '../../core/contract/index.js';
import type { McpOperation } from './config.js';
import type { ToolWatch } from './tool-watch.js';

const TOOLS = '/tools/';

/** Of changed tools, beside two others. */
const MAX_FACTS = 98;

/** What operators read of a changed tool. */
const CHANGED = 'tool changed since it was imported';
const UNCHANGED = 'tool is as it was imported';

/** Of tools that change at once. */
const MAX_LINES = 100;

/** The tool of a route, and what it was at the import. */
export interface PinnedTool {
  readonly tool: string;
  readonly digest?: string | undefined;
}

/** @returns `null` for a path that names no tool */
export function findTool(path: string, operation: McpOperation): PinnedTool | null {
  if (operation !== undefined) return operation;
  return path.startsWith(TOOLS) ? { tool: path.slice(TOOLS.length) } : null;
}

interface PinsOptions {
  /** Whether calls of changed tools are rejected. */
  readonly isEnforced: boolean;
  readonly log: Log;
  /** Counts calls of changed tools. */
  readonly calls: AdapterCounter;
}

/** Compares the tools of a server with those that the manifest was made from. */
export class ToolPins {
  readonly #options: PinsOptions;
  #pinned: ReadonlyMap<string, string> = new Map();
  #last: ToolWatch | null = null;
  #changed: ReadonlySet<string> = new Set();

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** What operators see of the tools, as of the last list. */
  facts(): readonly ProviderFact[] {
    const tools = this.#last;
    if (tools === null) return [];
    const { size, problem } = tools;
    const changed = [...this.#changed].slice(0, MAX_FACTS);
    return [
      { name: 'tools', value: `${size}` },
      ...(problem === null ? [] : [{ name: 'list of tools', value: problem, problem: true }]),
      ...changed.map((tool) => ({ name: `tool ${tool}`, value: CHANGED, problem: true })),
    ];
  }

  replace(routes: readonly ProviderRoute[]): void {
    const tools = routes.map(({ declared, options }) =>
      findTool(declared.path, options as McpOperation),
    );
    this.#pinned = new Map(
      tools.flatMap((tool) => (tool?.digest === undefined ? [] : [[tool.tool, tool.digest]])),
    );
    if (this.#last !== null) this.compare(this.#last);
  }

  /** Notes which tools differ after a list. */
  compare(tools: ToolWatch): void {
    this.#last = tools;
    const changed = [...this.#pinned].filter(([tool, digest]) => isChanged(tool, digest, tools));
    const before = this.#changed;
    this.#changed = new Set(changed.map(([tool]) => tool));
    const { log } = this.#options;
    const after = this.#changed;
    writeLines(
      log.warn,
      [...after].filter((tool) => !before.has(tool)),
      CHANGED,
    );
    writeLines(
      log.info,
      [...before].filter((tool) => !after.has(tool)),
      UNCHANGED,
    );
  }

  /** @throws ProviderFailure for a tool that is not the one of the route. */
  assertSame({ tool, digest }: PinnedTool, tools: ToolWatch): void {
    if (digest === undefined) return;
    const { isEnforced, calls } = this.#options;
    if (!tools.isListed) {
      if (!isEnforced) return;
      const detail = `the tools of the server cannot be listed: ${tools.problem}`;
      throw new ProviderFailure('unavailable', detail, { phase: 'connecting' });
    }
    if (!isChanged(tool, digest, tools)) return;
    calls.add();
    if (!isEnforced) return;
    throw new ProviderFailure('protocol', CHANGED, { phase: 'preparing' });
  }
}

/** Logs one line per tool, at most `MAX_LINES`. */
function writeLines(write: LogWrite, tools: readonly string[], message: string): void {
  for (const tool of tools.slice(0, MAX_LINES)) write({ tool }, message);
  const others = tools.length - MAX_LINES;
  if (others > 0) write({ others }, message);
}

/** A missing tool is looked for, before it counts as removed. */
function isChanged(tool: string, digest: string, tools: ToolWatch): boolean {
  const known = tools.find(tool);
  return known === undefined ? !tools.isSought(tool) : known.digest !== digest;
}
