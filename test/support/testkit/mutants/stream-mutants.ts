import { type BodyStream, isBodyStream } from '../../../../core/contract/index.js';
import { changeRequest, changeResponse, type Mutant } from './mutant.js';

export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    clause: 'streams.response',
    defect: 'collects a long body',
    reason: /must be a stream/,
    adapter: changeResponse(async (outcome) => {
      if (outcome.body === null || !isBodyStream(outcome.body)) return outcome;
      const parts: Uint8Array[] = [];
      for await (const part of outcome.body) parts.push(part);
      return { ...outcome, body: parts };
    }),
  },
  {
    clause: 'streams.response',
    defect: 'loses the start of a stream',
    reason: /byte for byte/,
    adapter: changeResponse((outcome) => {
      if (outcome.body === null || !isBodyStream(outcome.body)) return outcome;
      return { ...outcome, body: dropFirst(outcome.body) };
    }),
  },
  {
    clause: 'streams.held',
    defect: 'streams every body',
    reason: /must not be a stream/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      ...(invocation.holdBytes !== undefined && { holdBytes: 0 }),
    })),
  },
  {
    clause: 'streams.oversize',
    defect: 'streams without a limit',
    reason: /must fail/,
    adapter: changeRequest((invocation) => ({
      ...invocation,
      maxResponseBytes: Number.MAX_SAFE_INTEGER,
    })),
  },
  {
    clause: 'streams.request',
    defect: 'sends the first part alone',
    reason: /must get the body/,
    adapter: changeBody((body) => takeFirst(body)),
  },
  {
    clause: 'streams.request-cut',
    defect: 'ends a body that breaks off',
    reason: /must fail/,
    adapter: changeBody((body) => endQuietly(body)),
  },
];

function changeBody(change: (body: BodyStream) => BodyStream) {
  return changeRequest((invocation) => {
    const { operation } = invocation;
    if (operation.kind !== 'http_route' || operation.bodyStream === undefined) return invocation;
    const bodyStream = change(operation.bodyStream);
    return { ...invocation, operation: { ...operation, bodyStream } };
  });
}

async function* dropFirst(body: BodyStream): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const part of body) {
    if (!isFirst) yield part;
    isFirst = false;
  }
}

async function* takeFirst(body: BodyStream): AsyncGenerator<Uint8Array> {
  for await (const part of body) {
    yield part;
    return;
  }
}

async function* endQuietly(body: BodyStream): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch {
    // The provider takes what has come for whole.
  }
}
