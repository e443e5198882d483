import { expect } from 'chai';
import {
  type CallContext,
  type Invocation,
  type Log,
  type OpenContext,
  type Provider,
  type ProviderAdapter,
  type ProviderOperation,
  Secret,
} from '../../core/contract/index.js';
import { DEADLINE_MS } from '../support/http/wait-until.js';

export interface OpenedProvider {
  readonly provider: Provider;
  readonly log: readonly { readonly level: string; readonly message: string }[];
  /** The same with the fields of each line. */
  readonly entries: readonly LogEntry[];
  /** What the adapter has counted with its counter of that name. */
  counted(name: string): number;
  /** Runs what the adapter has deferred, last in, first out. */
  close(): Promise<void>;
}

interface LogEntry {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

export interface OpenOptions {
  /** The secrets by reference: `env:TOKEN`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The results of `context.path`; default: the reference itself. */
  readonly paths?: Readonly<Record<string, string>>;
  readonly stateDir?: string;
}

/** Opens a provider as the host does: the struct judges first. */
export async function openAdapter<Config>(
  adapter: ProviderAdapter<Config>,
  config: unknown,
  options: OpenOptions = {},
): Promise<OpenedProvider> {
  const [error, judged] = adapter.config.validate(config, { coerce: true });
  if (error) throw error;
  const undone: (() => void | Promise<void>)[] = [];
  const controller = new AbortController();
  const entries: LogEntry[] = [];
  const counts = new Map<string, number>();
  const context: OpenContext = {
    module: 'crm',
    scope: { signal: controller.signal, defer: (undo) => void undone.unshift(undo) },
    log: createLog(entries),
    secret: (reference) => new Secret(need(options.secrets, reference)),
    file: (reference) => Buffer.from(need(options.files, reference)),
    path: (reference) => options.paths?.[reference] ?? reference,
    counter: (name) => ({
      add: (count = 1) => void counts.set(name, (counts.get(name) ?? 0) + count),
    }),
    follow: () => Promise.reject(new Error('the test follows no document')),
    ...(options.stateDir !== undefined && { stateDir: options.stateDir }),
  };
  const provider = await adapter.open(judged, context);
  return {
    provider,
    entries,
    counted: (name) => counts.get(name) ?? 0,
    get log() {
      return entries.map(({ level, message }) => ({ level, message }));
    },
    close: async () => {
      controller.abort();
      for (const undo of undone.splice(0)) await undo();
    },
  };
}

function need<T>(values: Readonly<Record<string, T>> | undefined, reference: string): T {
  const value = values?.[reference];
  if (value === undefined) throw new Error(`the test gave no '${reference}'`);
  return value;
}

function createLog(entries: LogEntry[]): Log {
  const write = (level: string) => (fields: LogEntry['fields'], message: string) =>
    void entries.push({ level, fields, message });
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

const CONTEXT: CallContext = {
  module: 'crm',
  actor: { kind: 'service', id: 'billing', scopes: new Set() },
  requestId: 'req_1',
  correlationId: 'corr_1',
};

/** A GET of `/contacts` by default. */
export function createInvocation(
  operation: Partial<Extract<ProviderOperation, { kind: 'http_route' }>> | ProviderOperation = {},
  others: Partial<Omit<Invocation, 'operation'>> = {},
): Invocation {
  const route = {
    kind: 'http_route',
    method: 'GET',
    declaredPath: '/contacts',
    target: '/contacts',
    providerPath: '/contacts',
    pathParams: {},
    body: null,
  } as const;
  const isOther = operation.kind !== undefined && operation.kind !== 'http_route';
  return {
    id: 'call_1',
    operation: (isOther ? operation : { ...route, ...operation }) as ProviderOperation,
    headers: { accept: 'application/json' },
    context: CONTEXT,
    maxResponseBytes: 4 * 1_048_576,
    signal: new AbortController().signal,
    ...others,
  };
}

const POLL_MS = 5;

/** Polls until it holds. */
export async function eventually(holds: () => boolean): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  while (!holds()) {
    if (performance.now() > end) expect.fail('it did not come to hold in time');
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
