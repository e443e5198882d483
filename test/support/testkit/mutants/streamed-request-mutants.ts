import type { BodyStream } from '../../../../core/contract/index.js';
import { changeProvider, changeRequest, type Mutant } from './mutant.js';

export const STREAMED_REQUEST_MUTANTS: readonly Mutant[] = [
  {
    clause: 'streams.request',
    defect: 'sends the first part alone',
    reason: /must get the body/,
    adapter: changeBody((body) => takeFirst(body)),
  },
  {
    clause: 'streams.request-pushed',
    defect: 'pushes a body, and iterates it as well',
    reason: /must be read once/,
    adapter: changeBody((body) => {
      body.pushTo?.({ write: () => false, end: () => {}, fail: () => {} });
      return body;
    }),
  },
  {
    clause: 'streams.request-cut',
    defect: 'ends a body that breaks off',
    reason: /must fail/,
    adapter: changeBody((body) => endQuietly(body)),
  },
  {
    clause: 'streams.request-length',
    defect: 'drops the length of a streamed body',
    reason: /the length must arrive/,
    adapter: changeRequest((invocation) => {
      const { 'content-length': _ignored, ...headers } = invocation.headers;
      return { ...invocation, headers };
    }),
  },
  {
    clause: 'streams.request-pace',
    defect: 'collects a body once it can be sent',
    reason: /must not be read ahead/,
    adapter: changeBody((body) => readAhead(body)),
  },
  {
    clause: 'streams.request-unread',
    defect: 'reads the first part before it has a connection',
    reason: /must not be read without a connection/,
    adapter: changeProvider((good) => ({
      invoke: async (invocation) => {
        const { operation } = invocation;
        if (operation.kind !== 'http_route' || operation.bodyStream === undefined) {
          return good.invoke(invocation);
        }
        const iterator = operation.bodyStream[Symbol.asyncIterator]();
        const first = await iterator.next();
        const bodyStream = goOn(first, iterator);
        return good.invoke({ ...invocation, operation: { ...operation, bodyStream } });
      },
    })),
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

async function* readAhead(body: BodyStream): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  yield* parts;
}

async function* goOn(
  first: IteratorResult<Uint8Array>,
  others: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let next = first; next.done !== true; next = await others.next()) yield next.value;
}
