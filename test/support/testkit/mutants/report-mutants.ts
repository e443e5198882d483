import type { BodyStream, ProviderFact } from '../../../../core/contract/index.js';
import {
  REFERENCE_SECRET,
  type StartReference,
  startHttpReference,
} from '../../../../core/testkit/index.js';
import { changeProvider, changeRequest, GOOD, type Mutant } from './mutant.js';

/** The reference over HTTP, for an adapter that reports progress. */
const startReportingReference: StartReference = async (reference) => ({
  ...(await startHttpReference(reference)),
  progress: { target: '/echo/progress' },
});

/** Counters, facts, memory and progress that only their own clauses see. */
export const REPORT_MUTANTS: readonly Mutant[] = [
  {
    clause: 'open.counters',
    defect: 'opens a counter with a name that no host accepts',
    reason: /must have a name such as/,
    adapter: changeProvider((_good, { counter }) => {
      counter('lateAnswers', 'Answers that came late.');
      return {};
    }),
  },
  {
    clause: 'open.counters',
    defect: 'opens a counter without a help text',
    reason: /must have a help text/,
    adapter: changeProvider((_good, { counter }) => {
      counter('late_answers_total', '');
      return {};
    }),
  },
  {
    clause: 'open.counters',
    defect: 'opens a counter for each path',
    reason: /must not have more than 16 counters/,
    adapter: changeProvider((_good, { counter }) => {
      for (let path = 0; path < 20; path += 1) counter(`path_${path}_total`, 'Calls of a path.');
      return {};
    }),
  },
  {
    clause: 'readiness.facts',
    defect: 'lists its facts later',
    reason: /facts must be a list/,
    adapter: listFacts(() => Promise.resolve([])),
  },
  {
    clause: 'readiness.facts',
    defect: 'lists a fact twice',
    reason: /the names of facts must differ/,
    adapter: listFacts(() => [
      { name: 'procedures', value: '1' },
      { name: 'procedures', value: '2' },
    ]),
  },
  {
    clause: 'readiness.facts',
    defect: 'lists numbers',
    reason: /which are texts/,
    adapter: listFacts(() => [{ name: 'procedures', value: 1 }]),
  },
  {
    clause: 'readiness.facts',
    defect: 'shows a secret',
    reason: /must not contain a secret/,
    adapter: listFacts(() => [{ name: 'token', value: REFERENCE_SECRET.value }]),
  },
  {
    clause: 'calls.hold',
    defect: 'continues after its memory was denied',
    reason: /must fail, but it succeeded/,
    adapter: holdParts((hold) => {
      try {
        return hold();
      } catch {
        return undefined;
      }
    }),
  },
  {
    clause: 'calls.hold',
    defect: 'releases its memory twice',
    reason: /must be released once/,
    adapter: holdParts((hold) => {
      const release = hold();
      release?.();
      return release;
    }),
  },
  {
    clause: 'calls.progress',
    defect: 'keeps the progress to itself',
    reason: /the progress must be reported/,
    start: startReportingReference,
    adapter: GOOD,
  },
  {
    clause: 'calls.progress',
    defect: 'reports a progress that is no number',
    reason: /must be numbers/,
    start: startReportingReference,
    adapter: changeRequest((invocation) => {
      invocation.reportProgress?.({ progress: Number.NaN });
      return invocation;
    }),
  },
  {
    clause: 'answer.tool-result',
    defect: 'returns a response that is not the result of a tool',
    reason: /must be the result of a tool/,
    adapter: { ...GOOD, supports: { ...GOOD.supports, toolResults: true } },
  },
];

function listFacts(facts: () => unknown) {
  return changeProvider(() => ({ facts: facts as () => readonly ProviderFact[] }));
}

/** Holds each part of a request while it is sent. */
function holdParts(take: (hold: () => (() => void) | undefined) => (() => void) | undefined) {
  return changeRequest((invocation) => {
    const { operation } = invocation;
    if (operation.kind !== 'http_route' || operation.bodyStream === undefined) return invocation;
    const { bodyStream } = operation;
    async function* parts(): BodyStream & AsyncGenerator<Uint8Array> {
      for await (const part of bodyStream as BodyStream) {
        const release = take(() => invocation.hold?.(part.length));
        yield part;
        release?.();
      }
    }
    return { ...invocation, operation: { ...operation, bodyStream: parts() } };
  });
}
