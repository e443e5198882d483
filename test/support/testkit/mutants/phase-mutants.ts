import {
  type FailureOptions,
  type FailurePhase,
  type Invocation,
  type Outcome,
  type Provider,
  ProviderFailure,
} from '../../../../core/contract/index.js';
import { type StartReference, startHttpReference } from '../../../../core/testkit/index.js';
import { startTokenReference } from '../start-token-reference.js';
import {
  changeFailure,
  changeProvider,
  changeRequest,
  changeResponse,
  GOOD,
  type Mutant,
  targetOf,
} from './mutant.js';

const HEADER = 'x-unsendable';
const UNSENDABLE = { field: `header.${HEADER}`, reason: 'must be absent' };

/** The reference over HTTP, for an adapter that cannot send one header. */
const startStrictReference: StartReference = async (reference) => ({
  ...(await startHttpReference(reference)),
  invalid: { headers: { [HEADER]: '1' } },
});

let isHeld = false;

/** The reference over HTTP, for an adapter that waits for its provider. */
const startHeldReference: StartReference = async (reference) => {
  isHeld = false;
  return {
    ...(await startHttpReference(reference)),
    holdStart: () => {
      isHeld = true;
      return () => {
        isHeld = false;
      };
    },
  };
};

/** Failures and counts that only their own clauses see. */
export const PHASE_MUTANTS: readonly Mutant[] = [
  {
    clause: 'readiness.credentials',
    defect: 'returns nothing for credentials that it gets',
    reason: /must return null/,
    adapter: { ...GOOD, tryCredentials: async () => undefined as unknown as null },
  },
  {
    clause: 'readiness.credentials',
    defect: 'gets credentials that are not issued',
    reason: /must return the reason/,
    adapter: { ...GOOD, tryCredentials: async () => null },
    start: startTokenReference,
  },
  {
    clause: 'readiness.credentials',
    defect: 'throws for credentials that are not issued',
    reason: /invalid_client/,
    adapter: {
      ...GOOD,
      tryCredentials: async (...args) => {
        const reason = await GOOD.tryCredentials?.(...args);
        if (reason != null) throw new Error(reason);
        return null;
      },
    },
    start: startTokenReference,
  },
  {
    clause: 'failure.connecting',
    defect: 'does not say that there was no connection',
    reason: /the phase must be connecting/,
    adapter: changePhase('connecting', 'responding'),
  },
  {
    clause: 'failure.preparing',
    defect: 'takes missing credentials for a missing connection',
    reason: /the phase must be preparing/,
    start: startTokenReference,
    adapter: changePhase('preparing', 'connecting'),
  },
  {
    clause: 'failure.preparing',
    defect: 'sends the call without the credentials that were not issued',
    reason: /a call without its credentials must not be sent/,
    start: startTokenReference,
    adapter: changeProvider((good, _context, { endpoints: [url] }) => ({
      invoke: (invocation) =>
        good.invoke(invocation).catch(async (failure: ProviderFailure) => {
          const isMissing = failure.phase === 'preparing' && !invocation.signal.aborted;
          if (isMissing) await fetch(`${url}${targetOf(invocation)}`);
          throw failure;
        }),
    })),
  },
  {
    clause: 'failure.invalid',
    defect: 'sends a call that does not fit',
    reason: /must fail, but it succeeded/,
    start: startStrictReference,
    adapter: GOOD,
  },
  {
    clause: 'failure.invalid',
    defect: 'does not name what does not fit',
    reason: /invalid must name what does not fit/,
    start: startStrictReference,
    adapter: rejectUnsendable({ phase: 'preparing' }),
  },
  {
    clause: 'failure.invalid',
    defect: 'takes a call that does not fit for a failure of the connection',
    reason: /the phase must be preparing/,
    start: startStrictReference,
    adapter: rejectUnsendable({ phase: 'connecting', invalid: [UNSENDABLE] }),
  },
  {
    clause: 'failure.invalid',
    defect: 'sends a call before it finds that it does not fit',
    reason: /a call that does not fit must not be sent/,
    start: startStrictReference,
    adapter: rejectUnsendable({ phase: 'preparing', invalid: [UNSENDABLE] }, (good, invocation) =>
      good.invoke(invocation),
    ),
  },
  {
    clause: 'failure.starting',
    defect: 'does not say when to try again',
    reason: /retryAfterMs must say when to try again/,
    start: startHeldReference,
    adapter: waitForStart({ phase: 'preparing' }),
  },
  {
    clause: 'failure.starting',
    defect: 'takes a provider that starts for one that is down',
    reason: /the phase must be preparing/,
    start: startHeldReference,
    adapter: waitForStart({ phase: 'connecting', retryAfterMs: 10 }),
  },
  {
    clause: 'failure.starting',
    defect: 'never notices that its provider has started',
    reason: /a call once it has started did not happen/,
    start: startHeldReference,
    adapter: waitForStart({ phase: 'preparing', retryAfterMs: 10 }, () => true),
  },
  {
    clause: 'answer.secrets',
    defect: 'keeps the credentials of a call to itself',
    reason: /must have its credentials/,
    start: startTokenReference,
    adapter: changeResponse(({ secrets: _ignored, ...outcome }) => outcome),
  },
  {
    clause: 'failure.sending',
    defect: 'takes a request that was cut for one that was never sent',
    reason: /the phase must be sending/,
    adapter: changePhase('sending', 'connecting'),
  },
  {
    clause: 'failure.responding',
    defect: 'takes a request that was sent for one that was not',
    reason: /the phase must be responding/,
    adapter: changePhase('responding', 'connecting'),
  },
  {
    clause: 'failure.answered',
    defect: 'takes a response that is too large for none',
    reason: /the phase must be answered/,
    adapter: changePhase('answered', 'responding'),
  },
  {
    clause: 'answer.counted',
    defect: 'counts no bytes',
    reason: /a call of countReceived did not happen/,
    adapter: changeRequest(({ countReceived: _ignored, ...invocation }) => invocation),
  },
  {
    clause: 'answer.counted',
    defect: 'counts bytes twice',
    reason: /were counted of a body of/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      countReceived: (bytes) => invocation.countReceived?.(2 * bytes),
    })),
  },
  {
    clause: 'answer.not-needed',
    defect: 'asks whether a body is needed, and returns it nevertheless',
    reason: /without its body/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      needsBody: (status, headers) => {
        invocation.needsBody?.(status, headers);
        return true;
      },
    })),
  },
  {
    clause: 'answer.not-needed',
    defect: 'goes on with the transfer of a body that is not needed',
    reason: /the release of the connections did not happen/,
    adapter: changeProvider((good) => ({
      invoke: (invocation) => {
        let leave = (_status: number) => {};
        const left = new Promise<Outcome>((resolve) => {
          leave = (status) => resolve({ status, headers: {}, body: null });
        });
        const work = good.invoke({
          ...invocation,
          needsBody: (status, headers) => {
            if (invocation.needsBody?.(status, headers) === false) leave(status);
            return true;
          },
        });
        return Promise.race([work, left]);
      },
    })),
  },
];

function changePhase(from: FailurePhase, phase: FailurePhase) {
  return changeFailure(
    ({ failure, message, phase: own, cause }) =>
      new ProviderFailure(failure, message, { cause, phase: own === from ? phase : own }),
  );
}

function rejectUnsendable(
  options: FailureOptions,
  before: (good: Provider, invocation: Invocation) => Promise<unknown> = async () => {},
) {
  return changeProvider((good) => ({
    invoke: async (invocation) => {
      if (invocation.headers[HEADER] === undefined) return good.invoke(invocation);
      await before(good, invocation);
      throw new ProviderFailure('refused', 'the request does not fit', options);
    },
  }));
}

function waitForStart(options: FailureOptions, isStarting = () => isHeld) {
  return changeProvider((good) => ({
    invoke: async (invocation) => {
      if (!isStarting()) return good.invoke(invocation);
      throw new ProviderFailure('unavailable', 'the provider is starting', options);
    },
  }));
}
