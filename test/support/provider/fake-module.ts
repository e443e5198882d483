import { create } from 'superstruct';
import {
  type Balancing,
  type Invocation,
  type Log,
  type Endpoint as NamedEndpoint,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../../core/contract/index.js';
import { createDescriptor, type Descriptor } from '../../../core/descriptor/descriptor.js';
import { descriptorStruct } from '../../../core/descriptor/sections.js';
import { ModuleScope } from '../../../core/isolation/scope.js';
import type { LoadShedder } from '../../../core/provider/load-shedding.js';
import { type CheckedOutcome, ProviderStatus } from '../../../core/provider/outcome.js';
import type { ProviderAnswer, ProviderCall } from '../../../core/provider/provider-call.js';
import { ProviderClient } from '../../../core/provider/provider-client.js';

export const SILENT_LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface FakeModuleOptions {
  readonly endpoints?: readonly (string | NamedEndpoint)[];
  readonly balancing?: Partial<Balancing>;
  readonly limits?: Partial<Descriptor['limits']>;
  readonly retry?: Partial<Descriptor['retry']>;
  readonly breaker?: Partial<Descriptor['breaker']>;
  readonly provider_errors?: Descriptor['provider_errors'];
  readonly loadShedder?: LoadShedder;
  readonly invoke?: (invocation: Invocation) => Promise<Outcome>;
  /** Keeps no invocations: for benchmarks. */
  readonly isForgetful?: boolean;
  readonly check?: (signal: AbortSignal, endpoint: string | undefined) => Promise<void>;
}

export interface FakeModule {
  readonly client: ProviderClient;
  readonly scope: ModuleScope;
  readonly invocations: readonly Invocation[];
  /** The behavior of the next calls. */
  answer(invoke: (invocation: Invocation) => Promise<Outcome>): void;
  call(overrides?: Partial<ProviderCall>): Promise<ProviderAnswer<string>>;
}

/** A client over a provider that does what the test says. */
export function createFakeModule(options: FakeModuleOptions = {}): FakeModule {
  const invocations: Invocation[] = [];
  let invoke = options.invoke ?? (async () => ok());
  const { endpoints, balancing } = options;
  const weighted = endpoints?.map((endpoint) =>
    typeof endpoint === 'string' ? { id: endpoint, weight: 1 } : endpoint,
  );
  const provider: Provider = {
    manifest: async () => Buffer.from('{}'),
    check: async (signal, endpoint) => options.check?.(signal, endpoint),
    invoke: (invocation) => {
      if (options.isForgetful !== true) {
        invocations.push({ ...invocation, headers: { ...invocation.headers } });
      }
      return invoke(invocation);
    },
    ...(weighted && { endpoints: () => weighted }),
    ...(balancing && {
      balancing: () => ({
        strategy: 'round_robin' as const,
        hashHeader: null,
        health: null,
        ...balancing,
      }),
    }),
  };
  const scope = new ModuleScope(SILENT_LOG);
  const client = new ProviderClient({
    provider,
    descriptor: createFakeDescriptor(options),
    log: SILENT_LOG,
    scope,
    loadShedder: options.loadShedder ?? null,
    identity: null,
  });
  return {
    client,
    scope,
    invocations,
    answer: (next) => {
      invoke = next;
    },
    call: (overrides) => client.call(createCall(overrides), readText),
  };
}

/** Two retries and breakers that never open, by default. */
function createFakeDescriptor(options: FakeModuleOptions): Descriptor {
  const { limits, retry, breaker, provider_errors } = options;
  const wire = create(
    {
      module: 'fake',
      provider: { kind: 'fake' },
      limits: {
        request_bytes: 1024,
        response_bytes: 1024,
        hold_bytes: 1024,
        hold_request_bytes: 1024,
        ...limits,
      },
      retry: { attempts: 2, budget: 1, ...retry },
      breaker: { failures: 1000, ...breaker },
      provider_errors,
    },
    descriptorStruct,
  );
  return createDescriptor(wire, {}, { configDescription: { hostUses: [] }, furtherProviders: [] });
}

let spans = 0;

export function createCall(overrides: Partial<ProviderCall> = {}): ProviderCall {
  return {
    operation: {
      kind: 'http_route',
      method: 'GET',
      declaredPath: '/a',
      target: '/a',
      providerPath: '/a',
      pathParams: {},
      body: null,
    },
    route: 'GET /a',
    context: { module: 'fake', actor: null, requestId: 'req_1', correlationId: 'corr_1' },
    headers: { accept: 'application/json' },
    nextTraceparent: () => {
      spans += 1;
      return `span-${spans}`;
    },
    timeoutMs: 5000,
    signal: new AbortController().signal,
    ...overrides,
  };
}

export function ok(text = '"fine"'): Outcome {
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(text),
  };
}

export async function answerStatus(status: number): Promise<Outcome> {
  return { ...ok(), status };
}

export async function fail(
  failure: ConstructorParameters<typeof ProviderFailure>[0] = 'unavailable',
  status?: number,
): Promise<never> {
  throw new ProviderFailure(
    failure,
    'as the test wants it',
    status === undefined ? {} : { status },
  );
}

/** Never responds, but obeys the signal. */
export function hang({ signal }: Pick<Invocation, 'signal'>): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

function readText(outcome: CheckedOutcome): string {
  if (outcome.status < 200 || outcome.status > 299) throw new ProviderStatus(outcome);
  return Buffer.concat(outcome.pieces).toString();
}
