import type { JsonSchema, SchemaObject } from '../contract/index.js';
import { IdleThread } from '../lib/idle-thread.js';
import { type SchemaRegistry, TOO_COSTLY } from './compile-schema.js';
import type { QueryViolation } from './query-schema.js';
import type { SchemaViolation } from './run.js';
import type { SharedSchemas } from './shared-schemas.js';

/** A schema with the kind of its values. */
type DescribedSchema =
  | { readonly of: 'body'; readonly schema: JsonSchema }
  | { readonly of: 'query'; readonly schema: SchemaObject };

export type CheckedSchema = DescribedSchema & { readonly registry: SchemaRegistry };

export type SentSchema = DescribedSchema & { readonly shared: SharedSchemas };

export type FoundViolations = readonly SchemaViolation[] | readonly QueryViolation[];

export interface CheckRequest {
  readonly schemaId: number;
  /** `null` if the thread already has it. */
  readonly schema: SentSchema | null;
  /** A body, or a query. */
  readonly pieces: readonly Uint8Array[];
  /** Whether to check completely; otherwise the check has a low limit. */
  readonly isFull: boolean;
}

export interface CheckResult {
  readonly violations:
    | FoundViolations
    /** The check exceeds the low limit. */
    | 'too costly'
    | 'unknown schema';
  readonly cpuMs: number;
}

/** A value of JavaScript takes several times the size of its JSON. */
const MAX_HEAP_MB = 2048;
/** About that of the main thread, so that both can check values of the same depth. */
const STACK_MB = 1.15;
/** The thread exits after this time without checks. Milliseconds. */
const IDLE_MS = 30_000;
/** Copying more at once would block the event loop. Bytes. */
const PIECE_BYTES = 4_194_304;

/** Numbers schemas, so that each is sent once. */
const ids = new WeakMap<CheckedSchema, number>();
let lastId = 0;

/** A worker thread that checks values, one after another. */
export class CheckThread {
  readonly #thread = new IdleThread<CheckRequest, CheckResult>({
    entry: new URL('./check-thread-entry.js', import.meta.url),
    name: 'schema checks',
    idleMs: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, stackSizeMb: STACK_MB },
  });

  /** Call it again only when the previous check has ended. */
  async check(checked: CheckedSchema, bytes: Buffer, isFull: boolean): Promise<CheckResult> {
    const request = { schemaId: numberOf(checked), schema: null, isFull };
    const result = await this.#ask({ ...request, pieces: await copy(bytes) });
    if (result.violations !== 'unknown schema') return result;
    return this.#ask({ ...request, schema: toSent(checked), pieces: await copy(bytes) });
  }

  async #ask(request: CheckRequest): Promise<CheckResult> {
    try {
      const buffers = request.pieces.map(({ buffer }) => buffer as ArrayBuffer);
      return await this.#thread.ask(request, buffers);
    } catch (error) {
      const isTooLarge = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (isTooLarge) return { violations: [TOO_COSTLY], cpuMs: 0 };
      throw error;
    }
  }
}

function toSent({ registry, ...described }: CheckedSchema): SentSchema {
  return { ...described, shared: registry.listReached(described.schema) };
}

function numberOf(checked: CheckedSchema): number {
  const existingId = ids.get(checked);
  if (existingId !== undefined) return existingId;
  lastId += 1;
  ids.set(checked, lastId);
  return lastId;
}

/**
 * Copies the body, because the thread takes ownership of the bytes and the body itself is
 * forwarded.
 */
async function copy(bytes: Buffer): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    pieces.push(Uint8Array.prototype.slice.call(bytes, start, start + PIECE_BYTES));
  }
  return pieces;
}
