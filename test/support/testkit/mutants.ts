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

/** An adapter with one fault, and the clause that must catch it. */
export interface Mutant {
  readonly clause: string;
  readonly what: string;
  /** What the failed clause says. */
  readonly says: RegExp;
  readonly adapter: ProviderAdapter;
}

const GOOD = httpAdapter as ProviderAdapter;
const UTF8 = { decode: (bytes: Uint8Array | null) => Buffer.from(bytes ?? []).toString() };

/** What the mutants leave behind, on purpose. */
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

/** A change of what is sent. */
function changeRequest(change: (invocation: Invocation) => Invocation): ProviderAdapter {
  return changeProvider((good) => ({ invoke: (asked) => good.invoke(change(asked)) }));
}

function changeTarget(change: (target: string) => string): ProviderAdapter {
  return changeRequest((asked) => {
    const { operation } = asked;
    if (operation.kind !== 'http_route') return asked;
    return { ...asked, operation: { ...operation, target: change(operation.target) } };
  });
}

/** A change of what is answered. */
function changeAnswer(
  change: (outcome: Outcome, asked: Invocation) => Outcome | Promise<Outcome>,
): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: async (asked) => change(await good.invoke(asked), asked),
  }));
}

function changeFailure(
  change: (failure: ProviderFailure, asked: Invocation) => unknown,
): ProviderAdapter {
  return changeProvider((good) => ({
    invoke: (asked) =>
      good.invoke(asked).catch(async (failure: ProviderFailure) => {
        throw await change(failure, asked);
      }),
  }));
}

const NEVER = new Promise<never>(() => {});
const targetOf = ({ operation }: Invocation) =>
  operation.kind === 'http_route' ? operation.target : '';
const withoutSignal = ({ cancellation: _ignored, ...asked }: Invocation): Invocation => ({
  ...asked,
  signal: new AbortController().signal,
});

export const MUTANTS: readonly Mutant[] = [
  {
    clause: 'adapter.brand',
    what: 'was not made by defineAdapter',
    says: /brand/,
    adapter: Object.fromEntries(Object.entries(GOOD)) as unknown as ProviderAdapter,
  },
  {
    clause: 'adapter.brand',
    what: 'is of another contract',
    says: /contract must be 1/,
    adapter: { ...GOOD, contract: 2 as 1 },
  },
  {
    clause: 'adapter.kind',
    what: 'has a kind that no descriptor can name',
    says: /kind must match/,
    adapter: { ...GOOD, kind: 'My Kind' },
  },
  {
    clause: 'config.unknown-keys',
    what: 'takes any key in its config',
    says: /must refuse a key/,
    adapter: { ...GOOD, config: type({ endpoints: any() }) as ProviderAdapter['config'] },
  },
  {
    clause: 'config.not-a-mapping',
    what: 'takes anything for a config',
    says: /config must refuse undefined/,
    adapter: { ...GOOD, config: any() },
  },
  {
    clause: 'open.while-down',
    what: 'connects while it opens',
    says: /ECONNREFUSED/,
    adapter: changeProvider(async (good) => {
      await good.check(new AbortController().signal);
      return {};
    }),
  },
  {
    clause: 'open.while-down',
    what: 'remembers that the provider was down',
    says: /a call after the provider came up did not come to hold/,
    adapter: changeProvider(async (good) => {
      const first = await good.check(new AbortController().signal).catch((error: unknown) => error);
      return first === undefined ? {} : { invoke: () => Promise.reject(first) };
    }),
  },
  {
    clause: 'open.independent',
    what: 'shares one provider among all that it opened',
    says: /UND_ERR_DESTROYED|no answer/,
    adapter: shareProvider(),
  },
  {
    clause: 'manifest.answers',
    what: 'leaves out what it does not know in the manifest',
    says: /deepEqual|deeply equal|deep-equal/,
    adapter: changeProvider((good) => ({
      manifest: async (signal) => {
        const { admin: _left, ...manifest } = (await good.manifest(signal)) as { admin: unknown };
        return manifest;
      },
    })),
  },
  {
    clause: 'manifest.down',
    what: 'answers an empty manifest while the provider is down',
    says: /must fail, but it was answered/,
    adapter: changeProvider((good) => ({
      manifest: (signal) => good.manifest(signal).catch(() => ({})),
    })),
  },
  {
    clause: 'readiness.up',
    what: 'never finds the provider ready',
    says: /check finds the provider ready did not come to hold/,
    adapter: changeProvider(() => ({
      check: () => Promise.reject(new ProviderFailure('unavailable', 'not ready')),
    })),
  },
  {
    clause: 'readiness.down',
    what: 'always finds the provider ready',
    says: /must fail, but it was answered/,
    adapter: changeProvider(() => ({ check: async () => {} })),
  },
  {
    clause: 'readiness.recovers',
    what: 'stays broken once the provider was down',
    says: /a call after the provider came back did not come to hold/,
    adapter: changeProvider((good) => {
      let broken: unknown;
      return {
        invoke: async (asked) => {
          if (broken !== undefined) throw broken;
          return good.invoke(asked).catch((error: unknown) => {
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
    says: /'POST'|POST/,
    adapter: changeRequest((asked) => {
      const { operation } = asked;
      if (operation.kind !== 'http_route' || operation.method !== 'PATCH') return asked;
      return { ...asked, operation: { ...operation, method: 'POST' } };
    }),
  },
  {
    clause: 'request.path',
    what: 'encodes the path a second time',
    says: /%20/,
    adapter: changeTarget((target) => target.replaceAll('%', '%25')),
  },
  {
    clause: 'request.query',
    what: 'keeps the last of the pairs with one name',
    says: /a/,
    adapter: changeTarget((target) => {
      const [path, query = ''] = target.split('?');
      return `${path}?${new URLSearchParams(Object.fromEntries(new URLSearchParams(query)))}`;
    }),
  },
  {
    clause: 'request.target',
    what: 'writes the target anew',
    says: /echo/,
    adapter: changeTarget((target) => {
      const url = new URL(target, 'http://a');
      return `${url.pathname}${url.searchParams.size > 0 ? `?${url.searchParams}` : ''}`;
    }),
  },
  {
    clause: 'request.headers',
    what: 'sends the headers that it knows',
    says: /must arrive unchanged/,
    adapter: changeRequest((asked) => ({ ...asked, headers: { accept: 'application/json' } })),
  },
  {
    clause: 'request.header-injection',
    what: 'writes a header as it is, line breaks too',
    says: /injected/,
    adapter: changeRequest((asked) => {
      const lines = Object.entries(asked.headers).flatMap(([name, value]) =>
        `${name}: ${value}`.split(/[\r\n]+/),
      );
      const pairs = lines.map((line) => line.split(': ')).filter((pair) => pair.length === 2);
      return { ...asked, headers: Object.fromEntries(pairs) };
    }),
  },
  {
    clause: 'request.body',
    what: 'parses the body and writes it anew',
    says: /must arrive unchanged/,
    adapter: changeRequest((asked) => {
      const { operation } = asked;
      if (operation.kind !== 'http_route' || operation.body === null) return asked;
      const body = Buffer.from(JSON.stringify(JSON.parse(UTF8.decode(operation.body))));
      return { ...asked, operation: { ...operation, body } };
    }),
  },
  {
    clause: 'request.no-body',
    what: 'sends an empty object for no body',
    says: /must arrive without a body/,
    adapter: changeRequest((asked) => {
      const { operation } = asked;
      if (operation.kind !== 'http_route') return asked;
      return { ...asked, operation: { ...operation, body: operation.body ?? Buffer.from('{}') } };
    }),
  },
  {
    clause: 'answer.shape',
    what: 'answers the body as text',
    says: /body must be bytes, pieces of them, or null/,
    adapter: changeAnswer((outcome) => ({
      ...outcome,
      body: UTF8.decode(joinBody(outcome.body)) as unknown as Uint8Array,
    })),
  },
  {
    clause: 'answer.shape',
    what: 'answers a header as a list',
    says: /the header x-repeated must be text/,
    adapter: changeAnswer((outcome) => ({
      ...outcome,
      headers: { ...outcome.headers, 'x-repeated': ['one', 'two'] as unknown as string },
    })),
  },
  {
    clause: 'answer.body',
    what: 'parses the answer and writes it anew',
    says: /12345678901234567890/,
    adapter: changeAnswer((outcome) => ({
      ...outcome,
      body: Buffer.from(JSON.stringify(JSON.parse(UTF8.decode(joinBody(outcome.body))))),
    })),
  },
  {
    clause: 'answer.not-json',
    what: 'judges whether an answer is JSON',
    says: /not JSON/,
    adapter: changeAnswer((outcome) => {
      if (outcome.headers['content-type'] === 'application/json') return outcome;
      throw new ProviderFailure('protocol', 'not JSON');
    }),
  },
  {
    clause: 'answer.empty',
    what: 'answers null as JSON for no body',
    says: /null or empty/,
    adapter: changeAnswer((outcome) => ({ ...outcome, body: outcome.body ?? Buffer.from('null') })),
  },
  {
    clause: 'answer.status',
    what: 'takes the status of an error for a failure',
    says: /status 500/,
    adapter: changeAnswer((outcome) => {
      if (outcome.status < 500) return outcome;
      throw new ProviderFailure('unavailable', `status ${outcome.status}`);
    }),
  },
  {
    clause: 'answer.error-body',
    what: 'drops the body of an error',
    says: /409/,
    adapter: changeAnswer((outcome) =>
      outcome.status < 400 ? outcome : { ...outcome, body: null },
    ),
  },
  {
    clause: 'answer.headers',
    what: 'keeps the case of names',
    says: /Kept As It Is/,
    adapter: changeAnswer(({ headers: { 'x-reference': value = '', ...others }, ...outcome }) => ({
      ...outcome,
      headers: { ...others, 'X-Reference': value },
    })),
  },
  {
    clause: 'answer.headers',
    what: 'keeps the last value of a repeated header',
    says: /one, two/,
    adapter: changeAnswer(({ headers, ...outcome }) => ({
      ...outcome,
      headers: { ...headers, 'x-repeated': headers['x-repeated']?.split(', ').at(-1) ?? '' },
    })),
  },
  {
    clause: 'answer.redirect',
    what: 'follows a redirect',
    says: /302/,
    adapter: changeProvider((good) => ({
      invoke: async (asked) => {
        const outcome = await good.invoke(asked);
        const { operation } = asked;
        const target = outcome.headers['location'];
        if (target === undefined || operation.kind !== 'http_route') return outcome;
        return good.invoke({ ...asked, operation: { ...operation, target } });
      },
    })),
  },
  {
    clause: 'answer.at-limit',
    what: 'takes the limit for the first length that is too long',
    says: /larger than 999 bytes/,
    adapter: changeRequest((asked) => ({ ...asked, maxResponseBytes: asked.maxResponseBytes - 1 })),
  },
  {
    clause: 'answer.oversize',
    what: 'knows no limit',
    says: /must fail, but it was answered/,
    adapter: changeRequest((asked) => ({ ...asked, maxResponseBytes: Infinity })),
  },
  {
    clause: 'answer.oversize',
    what: 'cuts an answer that is too long',
    says: /must fail, but it was answered/,
    adapter: changeProvider((good) => ({
      invoke: async (asked) => {
        const outcome = await good.invoke({ ...asked, maxResponseBytes: Infinity });
        return { ...outcome, body: joinBody(outcome.body).subarray(0, asked.maxResponseBytes) };
      },
    })),
  },
  {
    clause: 'answer.malformed',
    what: 'throws what the library throws',
    says: /must throw a ProviderFailure, it threw Error: Parse Error/,
    adapter: changeFailure(() => new Error('Parse Error')),
  },
  {
    clause: 'answer.cut-short',
    what: 'takes what has come for the whole',
    says: /must fail, but it was answered/,
    adapter: changeProvider((good) => ({
      invoke: (asked) =>
        good.invoke(asked).catch((failure: ProviderFailure) => {
          if (failure.status === null) throw failure;
          return { status: failure.status, headers: {}, body: Buffer.from('{"cut":') };
        }),
    })),
  },
  {
    clause: 'failure.down',
    what: 'throws what the system says',
    says: /must throw a ProviderFailure/,
    adapter: changeFailure(() => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
  },
  {
    clause: 'failure.down',
    what: 'makes an answer of its own up',
    says: /must fail, but it was answered/,
    adapter: changeProvider((good) => ({
      invoke: (asked) => good.invoke(asked).catch(() => ({ status: 503, headers: {}, body: null })),
    })),
  },
  {
    clause: 'failure.goes-down',
    what: 'takes a provider that goes down for one that talks nonsense',
    says: /must fail as unavailable, it failed as protocol/,
    adapter: changeFailure(() => new ProviderFailure('protocol', 'broken')),
  },
  {
    clause: 'failure.reset',
    what: 'takes a reset for the end of the time',
    says: /must fail as unavailable, it failed as timeout/,
    adapter: changeFailure(() => new ProviderFailure('timeout', 'it took too long')),
  },
  {
    clause: 'failure.half-closed',
    what: 'waits for an answer on a half-closed connection',
    says: /did not settle/,
    adapter: changeFailure(() => NEVER),
  },
  {
    clause: 'failure.no-secrets',
    what: 'puts the credentials into the message of a failure',
    says: /is shown/,
    adapter: changeProvider((good, context) => ({
      invoke: (asked) =>
        good.invoke(asked).catch((cause: ProviderFailure) => {
          const token = context.secret(REFERENCE_SECRET.reference).reveal();
          throw new ProviderFailure(cause.failure, `no answer for ${token}`, { cause });
        }),
    })),
  },
  {
    clause: 'failure.no-secrets',
    what: 'keeps the request with its credentials as the cause',
    says: /is shown in base64/,
    adapter: changeProvider((good, context) => ({
      invoke: (asked) =>
        good.invoke(asked).catch((failure: ProviderFailure) => {
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
    says: /is shown/,
    adapter: changeProvider((_good, context) => {
      const token = context.secret(REFERENCE_SECRET.reference).reveal();
      context.log.debug({ headers: { authorization: token } }, 'connecting');
      return {};
    }),
  },
  {
    clause: 'signal.deadline',
    what: 'ignores its signal',
    says: /did not settle/,
    adapter: changeRequest(withoutSignal),
  },
  {
    clause: 'signal.deadline',
    what: 'takes every abort for a caller who has gone',
    says: /must fail as timeout, it failed as cancelled/,
    adapter: changeFailure(() => new ProviderFailure('cancelled', 'aborted')),
  },
  {
    clause: 'signal.abort',
    what: 'throws the error of the abort',
    says: /must throw a ProviderFailure, it threw .*AbortError/,
    adapter: changeFailure(() => new DOMException('aborted', 'AbortError')),
  },
  {
    clause: 'signal.already-aborted',
    what: 'looks at its signal once the call has been sent',
    says: /must not be asked/,
    adapter: changeProvider((good) => ({
      invoke: async (asked) => {
        const outcome = await good.invoke(withoutSignal(asked));
        asked.signal.throwIfAborted();
        return outcome;
      },
    })),
  },
  {
    clause: 'signal.trickle',
    what: 'forgets the deadline when the answer has begun',
    says: /did not settle/,
    adapter: changeRequest((asked) =>
      targetOf(asked) === '/fault/trickle' ? withoutSignal(asked) : asked,
    ),
  },
  {
    clause: 'signal.no-listeners',
    what: 'leaves its listener at the signal',
    says: /no listener is left/,
    adapter: changeRequest((asked) => {
      asked.signal.addEventListener('abort', () => {});
      return asked;
    }),
  },
  {
    clause: 'calls.apart',
    what: 'gives each answer to the call that waits longest',
    says: /slow/,
    adapter: answerInOrder(),
  },
  {
    clause: 'calls.once',
    what: 'repeats a call that was answered with 503',
    says: /a status is an answer/,
    adapter: changeProvider((good) => ({
      invoke: async (asked) => {
        const outcome = await good.invoke(asked);
        return outcome.status === 503 ? good.invoke(asked) : outcome;
      },
    })),
  },
  {
    clause: 'calls.once',
    what: 'repeats a call that failed',
    says: /a call that failed must not be repeated/,
    adapter: changeProvider((good) => ({
      invoke: (asked) => good.invoke(asked).catch(() => good.invoke(asked)),
    })),
  },
  {
    clause: 'calls.late-answer',
    what: 'gives an answer that came late to the next call',
    says: /slow|whose answer is late must fail/,
    adapter: answerLate(),
  },
  {
    clause: 'calls.no-stray-rejection',
    what: 'leaves the promise of an aborted call to itself',
    says: /1 rejections were not handled|2 rejections were not handled/,
    adapter: changeProvider((good) => ({
      invoke: (asked) => {
        asked.signal.addEventListener('abort', () => void Promise.reject(new Error('aborted')));
        return good.invoke(asked);
      },
    })),
  },
  {
    clause: 'admin.list',
    what: 'asks for the first page each time',
    says: /deep/,
    adapter: changeRequest((asked) => {
      const { operation } = asked;
      if (operation.kind !== 'admin_list') return asked;
      return { ...asked, operation: { ...operation, cursor: null } };
    }),
  },
  {
    clause: 'admin.action',
    what: 'writes the input anew',
    says: /12345678901234567890/,
    adapter: changeRequest((asked) => {
      const { operation } = asked;
      if (operation.kind !== 'admin_action') return asked;
      const inputJson = Buffer.from(JSON.stringify(operation.input));
      return { ...asked, operation: { ...operation, inputJson } };
    }),
  },
  {
    clause: 'configure.delivers',
    what: 'says that it has delivered, and has not',
    says: /deep/,
    adapter: changeProvider((good) => ({
      invoke: async (asked) =>
        asked.operation.kind === 'configure'
          ? { status: 204, headers: {}, body: null }
          : good.invoke(asked),
    })),
  },
  {
    clause: 'endpoints.shape',
    what: 'names an endpoint twice',
    says: /ids must differ/,
    adapter: changeProvider((good) => {
      const endpoints = good.endpoints?.() ?? [];
      return { endpoints: () => [...endpoints, ...endpoints] };
    }),
  },
  {
    clause: 'endpoints.each',
    what: 'takes the first endpoint for one that it has not',
    says: /must fail, but it was answered/,
    adapter: changeProvider((good) => ({
      invoke: ({ endpoint: _ignored, ...asked }) => good.invoke(asked),
    })),
  },
  {
    clause: 'close.sockets',
    what: 'forgets a connection',
    says: /no connection more than before/,
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
    what: 'forgets a timer',
    says: /handles are active/,
    adapter: changeProvider(() => {
      leaks.timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
  {
    clause: 'close.during-invoke',
    what: 'forgets the calls in flight when it closes',
    says: /did not settle/,
    adapter: changeProvider((good, { scope }) => ({
      invoke: (asked) =>
        good.invoke(asked).catch((failure: unknown) => {
          if (scope.signal.aborted) return NEVER;
          throw failure;
        }),
    })),
  },
  {
    clause: 'lifetime.handles',
    what: 'forgets a timer now and then',
    says: /handles are active/,
    adapter: changeProvider(() => {
      if (Math.random() < 0.2) leaks.timers.push(setInterval(() => {}, 1_000));
      return {};
    }),
  },
  {
    clause: 'lifetime.memory',
    what: 'remembers all that it ever opened',
    says: /memory grew by/,
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
      invoke: (asked) =>
        new Promise((resolve, reject) => {
          waiting.push(resolve);
          good.invoke(asked).then((outcome) => waiting.shift()?.(outcome), reject);
        }),
    };
  });
}

function answerLate(): ProviderAdapter {
  return changeProvider((good) => {
    let late: Outcome | null = null;
    return {
      invoke: async (asked) => {
        const kept = late;
        late = null;
        if (kept !== null) return kept;
        const answering = good.invoke(withoutSignal(asked));
        return new Promise((resolve, reject) => {
          asked.signal.addEventListener('abort', () => {
            answering.then((outcome) => {
              late = outcome;
            }, reject);
            reject(asked.signal.reason);
          });
          answering.then(resolve, reject);
        });
      },
    };
  });
}
