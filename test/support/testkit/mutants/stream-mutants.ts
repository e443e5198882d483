import { openFlow } from '../../../../core/contract/body-flow.js';
import {
  type BodySink,
  type BodyStream,
  isBodyStream,
  type ProviderFailure,
} from '../../../../core/contract/index.js';
import {
  changeProvider,
  changeRequest,
  changeResponse,
  type Mutant,
  withoutSignal,
} from './mutant.js';

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
    clause: 'streams.at-head',
    defect: 'takes holdBytes 0 for none',
    reason: /did not settle/,
    adapter: changeRequest(({ holdBytes, ...invocation }) => ({
      ...invocation,
      ...(holdBytes !== undefined && { holdBytes: holdBytes || 500_000 }),
    })),
  },
  {
    clause: 'streams.unknown-length',
    defect: 'ignores holdBytes for a body without a length',
    reason: /did not settle/,
    adapter: changeResponse(async (outcome, { holdBytes = 0 }) => {
      const { body, headers } = outcome;
      const isLengthKnown = headers['content-length'] !== undefined || holdBytes === 0;
      if (body === null || !isBodyStream(body) || isLengthKnown) return outcome;
      const parts: Uint8Array[] = [];
      for await (const part of body) parts.push(part);
      return { ...outcome, body: parts };
    }),
  },
  {
    clause: 'streams.cut-short',
    defect: 'ends a stream that is truncated',
    reason: /must fail/,
    adapter: changeStream((body) => endWhenCut(body)),
  },
  {
    clause: 'streams.stopped',
    defect: 'goes on with a stream that the host stops reading',
    reason: /the release of the connections did not happen/,
    adapter: changeStream((body) => ({
      [Symbol.asyncIterator]: () => {
        const iterator = body[Symbol.asyncIterator]();
        return { next: () => iterator.next(), return: async () => ({ done: true, value: null }) };
      },
    })),
  },
  {
    clause: 'streams.aborted',
    defect: 'ignores the signal once it has returned a stream',
    reason: /did not settle/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const controller = new AbortController();
        const abort = () => controller.abort(invocation.signal.reason);
        if (invocation.signal.aborted) abort();
        invocation.signal.addEventListener('abort', abort);
        const { signal } = controller;
        try {
          return await good.invoke({ ...withoutSignal(invocation), signal });
        } finally {
          invocation.signal.removeEventListener('abort', abort);
        }
      },
    })),
  },
  {
    clause: 'streams.pushed',
    defect: 'pushes before it is asked',
    reason: /a part must be asked for/,
    adapter: changeStream((body) => ({
      ...iterated(body),
      pushTo: (sink) => {
        const flow = openFlow(body, sink);
        flow.resume();
        return flow;
      },
    })),
  },
  {
    clause: 'streams.pushed',
    defect: 'loses the last part of a pushed stream',
    reason: /byte for byte/,
    adapter: changeStream((body) => ({
      ...iterated(body),
      pushTo: (sink) => {
        let last: Uint8Array | null = null;
        const write = (part: Uint8Array) => {
          const passed = last;
          last = part;
          return passed === null || sink.write(passed);
        };
        return openFlow(body, { ...bound(sink), write });
      },
    })),
  },
  {
    clause: 'streams.pushed',
    defect: 'pushes behind the end',
    reason: /a part must be asked for/,
    adapter: changeStream((body) => ({
      ...iterated(body),
      pushTo: (sink) => {
        const end = () => {
          sink.end();
          sink.write(Buffer.from(' '));
        };
        return openFlow(body, { ...bound(sink), write: (part) => sink.write(part), end });
      },
    })),
  },
  {
    clause: 'streams.pushed',
    defect: 'ends twice',
    reason: /the end must be asked for/,
    adapter: changeStream((body) => ({
      ...iterated(body),
      pushTo: (sink) => {
        const end = () => {
          sink.end();
          setImmediate(() => sink.end());
        };
        return openFlow(body, { ...bound(sink), write: (part) => sink.write(part), end });
      },
    })),
  },
  {
    clause: 'streams.push-stopped',
    defect: 'fails a pushed stream that the host stops',
    reason: /must not call its sink any more/,
    adapter: changeStream((body) => ({
      ...iterated(body),
      pushTo: (sink) => {
        const flow = openFlow(body, sink);
        const stop = () => {
          flow.stop();
          sink.fail(new Error('stopped'));
        };
        return { resume: () => flow.resume(), stop };
      },
    })),
  },
  {
    clause: 'streams.push-stopped',
    defect: 'goes on with a pushed stream that the host stops',
    reason: /the release of the connections did not happen/,
    adapter: changeStream((body) => ({
      ...iterated(body),
      pushTo: (sink) => {
        const flow = openFlow(body, sink);
        return { resume: () => flow.resume(), stop: () => {} };
      },
    })),
  },
  {
    clause: 'streams.head',
    defect: 'sends GET instead of HEAD, and drops the body',
    reason: /must get a HEAD/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const { operation } = invocation;
        if (operation.kind !== 'http_route' || operation.method !== 'HEAD') {
          return good.invoke(invocation);
        }
        const { holdBytes: _ignored, ...others } = invocation;
        const outcome = await good.invoke({
          ...others,
          operation: { ...operation, method: 'GET' },
        });
        return { ...outcome, body: null };
      },
    })),
  },
];

function changeStream(change: (body: BodyStream) => BodyStream) {
  return changeResponse((outcome) => {
    const { body } = outcome;
    return body === null || !isBodyStream(body) ? outcome : { ...outcome, body: change(body) };
  });
}

function iterated(body: BodyStream): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => body[Symbol.asyncIterator]() };
}

function bound(sink: BodySink): Pick<BodySink, 'end' | 'fail'> {
  return { end: () => sink.end(), fail: (error) => sink.fail(error) };
}

/** A failure of the protocol is taken for the end. */
async function* endWhenCut(body: BodyStream): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    const { failure, phase } = error as ProviderFailure;
    if (failure !== 'protocol' || phase === 'answered') throw error;
  }
}

async function* dropFirst(body: BodyStream): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const part of body) {
    if (!isFirst) yield part;
    isFirst = false;
  }
}
