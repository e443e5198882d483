import { type AddressInfo, connect } from 'node:net';
import { any, type } from 'superstruct';
import {
  type Invocation,
  joinBody,
  type OpenContext,
  type Outcome,
  type Provider,
  type ProviderAdapter,
  ProviderFailure,
} from '../../../core/contract/index.js';
import { REFERENCE_SECRET } from '../../../core/testkit/index.js';
import { httpAdapter } from '../../../plugins/http/http-adapter.js';

/** An adapter with one bug, and the clause that must catch it. */
export interface Mutant {
  readonly clause: string;
  readonly what: string;
  /** The reason of the failed clause. */
  readonly reason: RegExp;
  readonly adapter: ProviderAdapter;
}

const GOOD = httpAdapter as ProviderAdapter;
const UTF8 = { decode: (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString() };

/** Leaks of the mutants, released after each test. */
const leaks: { readonly timers: NodeJS.Timeout[]; memory: unknown[] } = { timers: [], memory: [] };

export function cleanUpAfterMutants(): void {
  for (const timer of leaks.timers.splice(0)) clearInterval(timer);
  leaks.memory = [];
}

type Change = (
  good: Provider,
  context: OpenContext,
  config: { readonly endpoints: readonly string[] },
) => Partial<Provider> | Promise<Partial<Provider>>;

function changeProvider(change: Change): ProviderAdapter {
  return {
    ...GOOD,
    open: async (config, context) => {
      const good = await GOOD.open(config, context);
      const changes = await change(good, context, config as { endpoints: string[] });
      return { ...good, ...changes };
    },
  };
}

/** Changes the request. */
export function changeRequest(change: (invocation: Invocation) => Invocation): ProviderAdapter {
  return changeProvider((good) => ({ invoke: (invocation) => good.invoke(change(invocation)) }));
}

function changeTarget(change: (target: string) => string): ProviderAdapter {
  return changeRequest((invocation) => {
    const { operation } = invocation;
    if (operation.kind !== 'http_route') return invocation;
    return { ...invocation, operation: { ...operation, target: change(operation.target) } };
  });
}

/** Changes the response. */
export function changeResponse(
  change: (outcome: Outcome, invocation: Invocation) => Outcome | Promise<Outcome>,
): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: async (invocation) => change(await good.invoke(invocation), invocation),
  }));
}

function changeFailure(
  change: (failure: ProviderFailure, invocation: Invocation) => unknown,
): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: (invocation) =>
      good.invoke(invocation).catch(async (failure: ProviderFailure) => {
        throw await change(failure, invocation);
      }),
  }));
}

/** Not a mutant: delays each call for which there is no idle connection. */
export function openConnectionsSlowly(ms: number): ProviderAdapter {
  return changeProvider((good) => {
    let inFlight = 0;
    return {
      invoke: async (invocation) => {
        inFlight += 1;
        if (inFlight > 1) await new Promise((resolve) => setTimeout(resolve, ms));
        return good.invoke(invocation).finally(() => {
          inFlight -= 1;
        });
      },
    };
  });
}

const NEVER = new Promise<never>(() => {});
const targetOf = ({ operation }: Invocation) =>
  operation.kind === 'http_route' ? operation.target : '';
const withoutSignal = ({ cancellation: _ignored, ...invocation }: Invocation): Invocation => ({
  ...invocation,
  signal: new AbortController().signal,
});

export const MUTANTS: readonly Mutant[] = [
  {
    clause: 'adapter.brand',
    what: 'was not created by defineAdapter',
    reason: /brand/,
    adapter: Object.fromEntries(Object.entries(GOOD)) as unknown as ProviderAdapter,
  },
  {
    clause: 'adapter.brand',
    what: 'is for another contract version',
    reason: /contract must be 1/,
    adapter: { ...GOOD, contract: 2 as 1 },
  },
  {
    clause: 'adapter.kind',
    what: 'has a kind that is invalid in a descriptor',
    reason: /kind must match/,
    adapter: { ...GOOD, kind: 'My Kind' },
  },
  {
    clause: 'config.unknown-keys',
    what: 'accepts any key in its config',
    reason: /must reject an unknown key/,
    adapter: { ...GOOD, config: type({ endpoints: any() }) as ProviderAdapter['config'] },
  },
  {
    clause: 'config.not-a-mapping',
    what: 'accepts any config',
    reason: /config must reject undefined/,
    adapter: { ...GOOD, config: any() },
  },
  {
    clause: 'open.while-down',
    what: 'connects while it opens',
    reason: /ECONNREFUSED/,
    adapter: changeProvider(async (good) => {
      await good.check(new AbortController().signal);
      return {};
    }),
  },
  {
    clause: 'open.while-down',
    what: 'remembers that the provider was down',
    reason: /a call after the provider came up did not happen/,
    adapter: changeProvider(async (good) => {
      const first = await good.check(new AbortController().signal).catch((error: unknown) => error);
      return first === undefined ? {} : { invoke: () => Promise.reject(first) };
    }),
  },
  {
    clause: 'open.independent',
    what: 'shares one provider between all openings',
    reason: /UND_ERR_DESTROYED|no answer|no response/,
    adapter: shareProvider(),
  },
  {
    clause: 'manifest.answers',
    what: 'drops unknown fields of the manifest',
    reason: /deepEqual|deeply equal|deep-equal/,
    adapter: changeProvider((good) => ({
      manifest: async (signal) => {
        const { admin: _left, ...manifest } = (await good.manifest(signal)) as { admin: unknown };
        return manifest;
      },
    })),
  },
  {
    clause: 'manifest.down',
    what: 'returns an empty manifest while the provider is down',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      manifest: (signal) => good.manifest(signal).catch(() => ({})),
    })),
  },
  {
    clause: 'readiness.up',
    what: 'never reports the provider as ready',
    reason: /check of the provider did not happen/,
    adapter: changeProvider(() => ({
      check: () => Promise.reject(new ProviderFailure('unavailable', 'not ready')),
    })),
  },
  {
    clause: 'readiness.down',
    what: 'always reports the provider as ready',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider(() => ({ check: async () => {} })),
  },
  {
    clause: 'readiness.recovers',
    what: 'does not recover once the provider was down',
    reason: /a call after the provider came back did not happen/,
    adapter: changeProvider((good) => {
      let broken: unknown;
      return {
        invoke: async (invocation) => {
          if (broken !== undefined) throw broken;
          return good.invoke(invocation).catch((error: unknown) => {
            broken = error;
            throw error;
          });
        },
      };
    }),
  },
  {
    clause: 'request.method',
    what: 'sends PATCH as POST',
    reason: /'POST'|POST/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'http_route' || operation.method !== 'PATCH') return invocation;
      return { ...invocation, operation: { ...operation, method: 'POST' } };
    }),
  },
  {
    clause: 'request.path',
    what: 'encodes the path a second time',
    reason: /%20/,
    adapter: changeTarget((target) => target.replaceAll('%', '%25')),
  },
  {
    clause: 'request.query',
    what: 'keeps only the last query pair of a name',
    reason: /a/,
    adapter: changeTarget((target) => {
      const [path, query = ''] = target.split('?');
      return `${path}?${new URLSearchParams(Object.fromEntries(new URLSearchParams(query)))}`;
    }),
  },
  {
    clause: 'request.target',
    what: 'rebuilds the target',
    reason: /echo/,
    adapter: changeTarget((target) => {
      const url = new URL(target, 'http://a');
      return `${url.pathname}${url.searchParams.size > 0 ? `?${url.searchParams}` : ''}`;
    }),
  },
  {
    clause: 'request.headers',
    what: 'sends only some headers',
    reason: /must arrive unchanged/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      headers: { accept: 'application/json' },
    })),
  },
  {
    clause: 'request.header-injection',
    what: 'sends line breaks in header values',
    reason: /injected/,
    adapter: changeRequest((invocation) => {
      const lines = Object.entries(invocation.headers).flatMap(([name, value]) =>
        `${name}: ${value}`.split(/[\r\n]+/),
      );
      const pairs = lines.map((line) => line.split(': ')).filter((pair) => pair.length === 2);
      return { ...invocation, headers: Object.fromEntries(pairs) };
    }),
  },
  {
    clause: 'request.body',
    what: 'parses and rebuilds the body',
    reason: /must arrive unchanged/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'http_route' || operation.body === null) return invocation;
      const body = Buffer.from(JSON.stringify(JSON.parse(UTF8.decode(operation.body))));
      return { ...invocation, operation: { ...operation, body } };
    }),
  },
  {
    clause: 'request.no-body',
    what: 'sends an empty object instead of no body',
    reason: /must arrive without a body/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'http_route') return invocation;
      return {
        ...invocation,
        operation: { ...operation, body: operation.body ?? Buffer.from('{}') },
      };
    }),
  },
  {
    clause: 'answer.shape',
    what: 'returns the body as text',
    reason: /body must be bytes, pieces of them, or null/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      body: UTF8.decode(joinBody(outcome.body)) as unknown as Uint8Array,
    })),
  },
  {
    clause: 'answer.shape',
    what: 'returns a header as a list',
    reason: /the header x-repeated must be text/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      headers: { ...outcome.headers, 'x-repeated': ['one', 'two'] as unknown as string },
    })),
  },
  {
    clause: 'answer.body',
    what: 'parses and rebuilds the response',
    reason: /12345678901234567890/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      body: Buffer.from(JSON.stringify(JSON.parse(UTF8.decode(joinBody(outcome.body))))),
    })),
  },
  {
    clause: 'answer.not-json',
    what: 'rejects a response that is not JSON',
    reason: /not JSON/,
    adapter: changeResponse((outcome) => {
      if (outcome.headers['content-type'] === 'application/json') return outcome;
      throw new ProviderFailure('protocol', 'not JSON');
    }),
  },
  {
    clause: 'answer.empty',
    what: 'returns null as JSON instead of no body',
    reason: /null or empty/,
    adapter: changeResponse((outcome) => ({
      ...outcome,
      body: outcome.body ?? Buffer.from('null'),
    })),
  },
  {
    clause: 'answer.status',
    what: 'turns an error status into a failure',
    reason: /status 500/,
    adapter: changeResponse((outcome) => {
      if (outcome.status < 500) return outcome;
      throw new ProviderFailure('unavailable', `status ${outcome.status}`);
    }),
  },
  {
    clause: 'answer.error-body',
    what: 'drops the body of an error',
    reason: /409/,
    adapter: changeResponse((outcome) =>
      outcome.status < 400 ? outcome : { ...outcome, body: null },
    ),
  },
  {
    clause: 'answer.headers',
    what: 'keeps the case of header names',
    reason: /Kept As It Is/,
    adapter: changeResponse(
      ({ headers: { 'x-reference': value = '', ...others }, ...outcome }) => ({
        ...outcome,
        headers: { ...others, 'X-Reference': value },
      }),
    ),
  },
  {
    clause: 'answer.headers',
    what: 'keeps the last value of a repeated header',
    reason: /one, two/,
    adapter: changeResponse(({ headers, ...outcome }) => ({
      ...outcome,
      headers: { ...headers, 'x-repeated': headers['x-repeated']?.split(', ').at(-1) ?? '' },
    })),
  },
  {
    clause: 'answer.redirect',
    what: 'follows a redirect',
    reason: /302/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke(invocation);
        const { operation } = invocation;
        const target = outcome.headers['location'];
        if (target === undefined || operation.kind !== 'http_route') return outcome;
        return good.invoke({ ...invocation, operation: { ...operation, target } });
      },
    })),
  },
  {
    clause: 'answer.at-limit',
    what: 'rejects a body of exactly the limit',
    reason: /over 999 bytes/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      maxResponseBytes: invocation.maxResponseBytes - 1,
    })),
  },
  {
    clause: 'answer.oversize',
    what: 'ignores the limit',
    reason: /must fail, but it succeeded/,
    adapter: changeRequest((invocation) => ({ ...invocation, maxResponseBytes: Infinity })),
  },
  {
    clause: 'answer.oversize',
    what: 'truncates a response that is too long',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke({ ...invocation, maxResponseBytes: Infinity });
        return {
          ...outcome,
          body: joinBody(outcome.body).subarray(0, invocation.maxResponseBytes),
        };
      },
    })),
  },
  {
    clause: 'answer.malformed',
    what: 'throws errors of its library',
    reason: /must throw a ProviderFailure, it threw Error: Parse Error/,
    adapter: changeFailure(() => new Error('Parse Error')),
  },
  {
    clause: 'answer.cut-short',
    what: 'returns a truncated response as complete',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch((failure: ProviderFailure) => {
          if (failure.status === null) throw failure;
          return { status: failure.status, headers: {}, body: Buffer.from('{"cut":') };
        }),
    })),
  },
  {
    clause: 'failure.down',
    what: 'throws system errors',
    reason: /must throw a ProviderFailure/,
    adapter: changeFailure(() => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
  },
  {
    clause: 'failure.down',
    what: 'makes up a response',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch(() => ({ status: 503, headers: {}, body: null })),
    })),
  },
  {
    clause: 'failure.goes-down',
    what: 'reports a provider that goes down as protocol',
    reason: /must fail as unavailable, it failed as protocol/,
    adapter: changeFailure(() => new ProviderFailure('protocol', 'broken')),
  },
  {
    clause: 'failure.reset',
    what: 'reports a reset as timeout',
    reason: /must fail as unavailable, it failed as timeout/,
    adapter: changeFailure(() => new ProviderFailure('timeout', 'it took too long')),
  },
  {
    clause: 'failure.half-closed',
    what: 'waits for a response on a half-closed connection',
    reason: /did not settle/,
    adapter: changeFailure(() => NEVER),
  },
  {
    clause: 'failure.no-secrets',
    what: 'puts the credentials into the message of a failure',
    reason: /is revealed/,
    adapter: changeProvider((good, context) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch((cause: ProviderFailure) => {
          const token = context.secret(REFERENCE_SECRET.reference).reveal();
          throw new ProviderFailure(cause.failure, `no answer for ${token}`, { cause });
        }),
    })),
  },
  {
    clause: 'failure.no-secrets',
    what: 'keeps the request with its credentials as the cause',
    reason: /is revealed in base64/,
    adapter: changeProvider((good, context) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch((failure: ProviderFailure) => {
          const token = context.secret(REFERENCE_SECRET.reference).reveal();
          const headers = { authorization: Buffer.from(token).toString('base64') };
          const cause = Object.assign(new Error('failed'), { request: { headers } });
          throw new ProviderFailure(failure.failure, 'no answer', { cause });
        }),
    })),
  },
  {
    clause: 'failure.no-secrets',
    what: 'logs the credentials',
    reason: /is revealed/,
    adapter: changeProvider((_good, context) => {
      const token = context.secret(REFERENCE_SECRET.reference).reveal();
      context.log.debug({ headers: { authorization: token } }, 'connecting');
      return {};
    }),
  },
  {
    clause: 'signal.deadline',
    what: 'ignores its signal',
    reason: /did not settle/,
    adapter: changeRequest(withoutSignal),
  },
  {
    clause: 'signal.deadline',
    what: 'reports every abort as cancelled',
    reason: /must fail as timeout, it failed as cancelled/,
    adapter: changeFailure(() => new ProviderFailure('cancelled', 'aborted')),
  },
  {
    clause: 'signal.abort',
    what: 'throws the AbortError',
    reason: /must throw a ProviderFailure, it threw .*AbortError/,
    adapter: changeFailure(() => new DOMException('aborted', 'AbortError')),
  },
  {
    clause: 'signal.already-aborted',
    what: 'checks its signal only after the call was sent',
    reason: /must not be called/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke(withoutSignal(invocation));
        invocation.signal.throwIfAborted();
        return outcome;
      },
    })),
  },
  {
    clause: 'signal.trickle',
    what: 'ignores the deadline once the response has started',
    reason: /did not settle/,
    adapter: changeRequest((invocation) =>
      targetOf(invocation) === '/fault/trickle' ? withoutSignal(invocation) : invocation,
    ),
  },
  {
    clause: 'signal.no-listeners',
    what: 'does not remove its listener from the signal',
    reason: /the removal of all listeners did not happen/,
    adapter: changeRequest((invocation) => {
      invocation.signal.addEventListener('abort', () => {});
      return invocation;
    }),
  },
  {
    clause: 'calls.apart',
    what: 'gives each response to the oldest call',
    reason: /slow/,
    adapter: answerInOrder(),
  },
  {
    clause: 'calls.once',
    what: 'retries a call with the status 503',
    reason: /a call with an error status must not be retried/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const outcome = await good.invoke(invocation);
        return outcome.status === 503 ? good.invoke(invocation) : outcome;
      },
    })),
  },
  {
    clause: 'calls.once',
    what: 'retries a call that failed',
    reason: /a call that failed must not be retried/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) => good.invoke(invocation).catch(() => good.invoke(invocation)),
    })),
  },
  {
    clause: 'calls.late-answer',
    what: 'gives a late response to the next call',
    reason: /slow|a late response must fail/,
    adapter: answerLate(),
  },
  {
    clause: 'calls.no-unhandled-rejection',
    what: 'does not handle the promise of an aborted call',
    reason: /1 rejections were not handled|2 rejections were not handled/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) => {
        invocation.signal.addEventListener(
          'abort',
          () => void Promise.reject(new Error('aborted')),
        );
        return good.invoke(invocation);
      },
    })),
  },
  {
    clause: 'admin.list',
    what: 'requests the first page each time',
    reason: /deep/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'admin_list') return invocation;
      return { ...invocation, operation: { ...operation, cursor: null } };
    }),
  },
  {
    clause: 'admin.action',
    what: 'rebuilds the input',
    reason: /12345678901234567890/,
    adapter: changeRequest((invocation) => {
      const { operation } = invocation;
      if (operation.kind !== 'admin_action') return invocation;
      const inputJson = Buffer.from(JSON.stringify(operation.input));
      return { ...invocation, operation: { ...operation, inputJson } };
    }),
  },
  {
    clause: 'configure.delivers',
    what: 'reports a delivery that did not happen',
    reason: /deep/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) =>
        invocation.operation.kind === 'configure'
          ? { status: 204, headers: {}, body: null }
          : good.invoke(invocation),
    })),
  },
  {
    clause: 'endpoints.shape',
    what: 'returns an endpoint twice',
    reason: /ids must be distinct/,
    adapter: changeProvider((good) => {
      const endpoints = good.endpoints?.() ?? [];
      return { endpoints: () => [...endpoints, ...endpoints] };
    }),
  },
  {
    clause: 'endpoints.each',
    what: 'calls the first endpoint instead of an unknown one',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: ({ endpoint: _ignored, ...invocation }) => good.invoke(invocation),
    })),
  },
  {
    clause: 'close.sockets',
    what: 'leaks a connection',
    reason: /the close of all connections did not happen/,
    adapter: changeProvider((_good, _context, { endpoints: [url = ''] }) => {
      const { port } = new URL(url) as unknown as AddressInfo;
      connect({ port: Number(port), host: '127.0.0.1' })
        .on('error', () => {})
        .unref();
      return {};
    }),
  },
  {
    clause: 'close.handles',
    what: 'leaks a timer',
    reason: /active handles did not happen/,
    adapter: changeProvider(() => {
      leaks.timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
  {
    clause: 'close.during-invoke',
    what: 'does not fail the calls in flight when it closes',
    reason: /did not settle/,
    adapter: changeProvider((good, { scope }) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch((failure: unknown) => {
          if (scope.signal.aborted) return NEVER;
          throw failure;
        }),
    })),
  },
  {
    clause: 'lifetime.handles',
    what: 'leaks a timer occasionally',
    reason: /active handles did not happen/,
    adapter: changeProvider(() => {
      if (Math.random() < 0.2) leaks.timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
  {
    clause: 'lifetime.memory',
    what: 'keeps all opened providers in memory',
    reason: /memory grew by/,
    adapter: changeProvider(() => {
      leaks.memory.push(Array.from({ length: 20_000 }, (_, index) => `${index}`));
      return {};
    }),
  },
];

function shareProvider(): ProviderAdapter {
  let shared: Promise<Provider> | null = null;
  return {
    ...GOOD,
    open: (config, context) => {
      shared ??= Promise.resolve(GOOD.open(config, context));
      return shared;
    },
  };
}

function answerInOrder(): ProviderAdapter {
  return changeProvider((good) => {
    const waiting: ((outcome: Outcome) => void)[] = [];
    return {
      invoke: (invocation) =>
        new Promise((resolve, reject) => {
          waiting.push(resolve);
          good.invoke(invocation).then((outcome) => waiting.shift()?.(outcome), reject);
        }),
    };
  });
}

function answerLate(): ProviderAdapter {
  return changeProvider((good) => {
    let late: Outcome | null = null;
    return {
      invoke: async (invocation) => {
        const kept = late;
        late = null;
        if (kept !== null) return kept;
        const answering = good.invoke(withoutSignal(invocation));
        return new Promise((resolve, reject) => {
          invocation.signal.addEventListener('abort', () => {
            answering.then((outcome) => {
              late = outcome;
            }, reject);
            reject(invocation.signal.reason);
          });
          answering.then(resolve, reject);
        });
      },
    };
  });
}
