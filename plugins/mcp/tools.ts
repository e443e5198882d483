import type { HostApi, Log } from '../../core/contract/index.js';
import { buildCall } from './build-call.js';
import { type Catalog, type CatalogEntry, createCatalog } from './catalog.js';
import { createArgumentProblem, readArguments, readWhole } from './check-arguments.js';
import type { ExactValue } from './exact-json.js';
import { type Exchange, requestHost } from './exchange.js';
import { describeEntry } from './list-tools.js';
import { readResult } from './read-result.js';
import { createProblemResult, InvalidArguments, type ToolResult } from './tool-error.js';

interface CallableOperations {
  readonly modules: readonly { readonly name: string; readonly operations: readonly string[] }[];
}

/** Thrown when the host does not respond to a request of this surface. */
export class HostRejection extends Error {
  override readonly name = 'HostRejection';
}

/** The tools of a host: their catalog, the tools of each caller, and their calls. */
export class Tools {
  readonly #host: HostApi;
  readonly #log: Log;
  #catalog: Promise<Catalog> | null = null;
  #version: string | null = null;

  constructor(host: HostApi, log: Log) {
    this.#host = host;
    this.#log = log;
  }

  /** Reads the catalog when it is first needed after a change. */
  readCatalog(): Promise<Catalog> {
    this.#catalog ??= this.#read();
    return this.#catalog;
  }

  /**
   * Discards the catalog, because modules have changed.
   * @returns the version that clients may know; `null` if none was read.
   */
  invalidate(): string | null {
    this.#catalog = null;
    return this.#version;
  }

  async #read(): Promise<Catalog> {
    try {
      const catalog = createCatalog(await this.#host.snapshot());
      this.#version = catalog.version;
      for (const { module, operation } of catalog.unnamed) {
        this.#log.warn(
          { module, operation: operation.id },
          'tool without a name of its own left out',
        );
      }
      return catalog;
    } catch (error) {
      // The next request tries again.
      this.#catalog = null;
      this.#log.error({ err: error }, 'tools could not be listed');
      throw error;
    }
  }

  /** Lists exactly the tools that the caller may call, as the host decides. */
  async listCallable(exchange: Exchange): Promise<readonly CatalogEntry[]> {
    const { module } = exchange;
    const query = module === null ? '' : `?module=${encodeURIComponent(module)}`;
    const response = await requestHost(this.#host, exchange, { target: `/operations${query}` });
    if (!response.ok) throw new HostRejection(await readDetail(response));
    const { modules } = (await response.json()) as CallableOperations;
    const catalog = await this.readCatalog();
    return modules.flatMap(({ name, operations }) =>
      operations.flatMap((id) => catalog.findOperation(name, id) ?? []),
    );
  }

  /** Returns `null` for an unknown tool; the host decides whether the caller may call it. */
  async find(name: string, { module }: Exchange): Promise<CatalogEntry | null> {
    const entry = (await this.readCatalog()).find(name);
    return entry !== null && (module === null || entry.module === module) ? entry : null;
  }

  async call(
    entry: CatalogEntry,
    argumentsValue: ExactValue | undefined,
    exchange: Exchange,
  ): Promise<ToolResult> {
    const { requestId } = exchange.call;
    const tool = describeEntry(entry);
    try {
      const values = entry.operation.isTool
        ? readWhole(argumentsValue)
        : readArguments(tool, argumentsValue);
      const response = await requestHost(this.#host, exchange, buildCall(entry, values));
      return await readResult(entry, response, { tool, values, requestId });
    } catch (error) {
      if (!(error instanceof InvalidArguments)) throw error;
      // A caller without the right learns nothing about the arguments.
      if (!(await this.#isCallable(entry, exchange))) return createForbidden(requestId);
      return createArgumentProblem(tool, error.errors, requestId);
    }
  }

  async #isCallable(entry: CatalogEntry, exchange: Exchange): Promise<boolean> {
    const callable = await this.listCallable({ ...exchange, module: entry.module });
    return callable.some(({ name }) => name === entry.name);
  }
}

function createForbidden(request_id: string): ToolResult {
  const detail = 'the caller may not call this tool';
  const next_actions = ['call a tool of tools/list'];
  return createProblemResult({ code: 'forbidden', detail, request_id, next_actions });
}

async function readDetail(response: Response): Promise<string> {
  const problem: unknown = await response.json().catch(() => null);
  const detail: unknown = Reflect.get(Object(problem), 'detail');
  return typeof detail === 'string' ? detail : `the host responded with ${response.status}`;
}
