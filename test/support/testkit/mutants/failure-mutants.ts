import {
  type Outcome,
  type ProviderAdapter,
  ProviderFailure,
} from '../../../../core/contract/index.js';
import { REFERENCE_SECRET } from '../../../../core/testkit/index.js';
import { startTokenReference } from '../start-token-reference.js';
import {
  changeFailure,
  changeProvider,
  changeRequest,
  type Mutant,
  NEVER,
  targetOf,
  withoutSignal,
} from './mutant.js';

export const FAILURE_MUTANTS: readonly Mutant[] = [
  {
    clause: 'failure.down',
    defect: 'throws system errors',
    reason: /must throw a ProviderFailure/,
    adapter: changeFailure(() => Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
  },
  {
    clause: 'failure.down',
    defect: 'makes up a response',
    reason: /must fail, but it succeeded/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch(() => ({ status: 503, headers: {}, body: null })),
    })),
  },
  {
    clause: 'failure.goes-down',
    defect: 'reports a provider that goes down as protocol',
    reason: /must fail as unavailable, it failed as protocol/,
    adapter: changeFailure(() => new ProviderFailure('protocol', 'broken')),
  },
  {
    clause: 'failure.reset',
    defect: 'reports a reset as timeout',
    reason: /must fail as unavailable, it failed as timeout/,
    adapter: changeFailure(() => new ProviderFailure('timeout', 'it took too long')),
  },
  {
    clause: 'failure.half-closed',
    defect: 'waits for a response on a half-closed connection',
    reason: /did not settle/,
    adapter: changeFailure(() => NEVER),
  },
  {
    clause: 'failure.no-secrets',
    defect: 'puts the credentials into the message of a failure',
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
    defect: 'keeps the request with its credentials as the cause',
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
    defect: 'logs the credentials',
    reason: /is revealed/,
    adapter: changeProvider((_good, context) => {
      const token = context.secret(REFERENCE_SECRET.reference).reveal();
      context.log.debug({ headers: { authorization: token } }, 'connecting');
      return {};
    }),
  },
  {
    clause: 'failure.no-secrets',
    defect: 'reports its secret as the problem with its credentials',
    reason: /is revealed/,
    adapter: changeProvider((_good, context) => ({
      credentialProblem: () => context.secret(REFERENCE_SECRET.reference).reveal(),
    })),
  },
  {
    clause: 'failure.no-secrets',
    defect: 'puts a token that it has requested into the detail of a failure',
    reason: /a credential that the adapter has requested is revealed/,
    start: startTokenReference,
    adapter: changeProvider((good) => {
      let token = '';
      return {
        invoke: async (invocation) => {
          try {
            const outcome = await good.invoke(invocation);
            token = outcome.secrets?.[0]?.reveal() ?? token;
            return outcome;
          } catch (error) {
            throw addDetail(error as ProviderFailure, `rejected ${token}`);
          }
        },
      };
    }),
  },
  {
    clause: 'failure.detail',
    defect: 'explains a failure in several lines',
    reason: /must be one line/,
    adapter: changeFailure((failure) => addDetail(failure, `${failure.stack}`)),
  },
  {
    clause: 'failure.detail',
    defect: 'quotes the request in the detail of a failure',
    reason: /the body of a request is revealed/,
    adapter: changeFailure((failure, { operation }) => {
      const body = operation.kind === 'http_route' ? operation.body : null;
      return addDetail(failure, `no answer to ${Buffer.from(body ?? [])}`);
    }),
  },
  {
    clause: 'failure.detail',
    defect: 'quotes a response that is too large in the detail',
    reason: /the body of a response is revealed/,
    adapter: changeFailure((failure) =>
      addDetail(failure, failure.phase === 'answered' ? `too large: "${'x'.repeat(99)}` : 'none'),
    ),
  },
  {
    clause: 'signal.deadline',
    defect: 'ignores its signal',
    reason: /did not settle/,
    adapter: changeRequest(withoutSignal),
  },
  {
    clause: 'signal.deadline',
    defect: 'reports every abort as cancelled',
    reason: /must fail as timeout, it failed as cancelled/,
    adapter: changeFailure(() => new ProviderFailure('cancelled', 'aborted')),
  },
  {
    clause: 'signal.abort',
    defect: 'throws the AbortError',
    reason: /must throw a ProviderFailure, it threw .*AbortError/,
    adapter: changeFailure(() => new DOMException('aborted', 'AbortError')),
  },
  {
    clause: 'signal.already-aborted',
    defect: 'checks its signal only after the call was sent',
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
    defect: 'ignores the deadline once the response has started',
    reason: /did not settle/,
    adapter: changeRequest((invocation) =>
      targetOf(invocation) === '/fault/trickle' ? withoutSignal(invocation) : invocation,
    ),
  },
  {
    clause: 'signal.no-listeners',
    defect: 'does not remove its listener from the signal',
    reason: /the removal of all listeners did not happen/,
    adapter: changeRequest((invocation) => {
      invocation.signal.addEventListener('abort', () => {});
      return invocation;
    }),
  },
  {
    clause: 'calls.apart',
    defect: 'gives each response to the oldest call',
    reason: /slow/,
    adapter: answerInOrder(),
  },
  {
    clause: 'calls.once',
    defect: 'retries a call with the status 503',
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
    defect: 'retries a call that failed',
    reason: /a call that failed must not be retried/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) => good.invoke(invocation).catch(() => good.invoke(invocation)),
    })),
  },
  {
    clause: 'calls.late-answer',
    defect: 'gives a late response to the next call',
    reason: /held|a late response must fail/,
    adapter: answerLate(),
  },
  {
    clause: 'calls.no-unhandled-rejection',
    defect: 'does not handle the promise of an aborted call',
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
];

function addDetail(
  { failure, message, phase, status, cause }: ProviderFailure,
  detail: string,
): ProviderFailure {
  const options = { cause, phase, detail, ...(status !== null && { status }) };
  return new ProviderFailure(failure, message, options);
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
