import assert from 'node:assert/strict';
import { type BodyStream, isBodyStream, joinBody, type Outcome } from '../../contract/index.js';
import { type AdapterHarness, cancel, type OpenedProvider } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import type { ReferenceFault } from '../reference/reference-protocol.js';
import { needs } from './needs.js';

const HOLD_BYTES = 1_000;
const LONG_BYTES = 2_000_000;
const LONG_BODY = Buffer.from(`"${'x'.repeat(LONG_BYTES - 2)}"`);
/** More than the idle connections that an adapter may keep. */
const STREAM_COUNT = 10;
/** How long a body must not be pushed before it is asked for. */
const QUIET_MS = 100;

export const STREAMS: readonly AdapterClause[] = [
  {
    id: 'streams.response',
    title: 'returns a body that is longer than holdBytes as a stream, byte for byte',
    skip: needs('streams'),
    run: async (harness) => {
      const parts = await harness.wait.settles('a long response', collect(await openLong(harness)));
      assert.ok(parts.equals(LONG_BODY), 'the stream must be the body, byte for byte');
    },
  },
  {
    id: 'streams.held',
    title: 'returns a body of at most holdBytes whole',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const target = `/bytes/${HOLD_BYTES}`;
      const holdBytes = await harness.lengthOf(opened, target);
      const work = opened.invoke({ target }, { holdBytes });
      const { body } = await harness.wait.settles('a short response', work);
      assert.ok(body !== null && !isBodyStream(body), 'a short body must not be a stream');
    },
  },
  {
    id: 'streams.oversize',
    title: 'fails as protocol for a streamed body larger than maxResponseBytes',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      const target = `/bytes/${LONG_BYTES}`;
      const limits = { holdBytes: HOLD_BYTES, maxResponseBytes: LONG_BYTES - 1 };
      await harness.failureOf(
        'a response that is too long',
        opened.invoke({ target }, limits).then(read),
        'protocol',
      );
    },
  },
  {
    id: 'streams.at-head',
    title: 'returns the stream once the head has arrived, with holdBytes 0',
    skip: needs('streams', 'endless'),
    run: async (harness) => {
      const opened = await harness.open();
      await stop(harness, await startStream(harness, opened, 'endless', 0));
    },
  },
  {
    id: 'streams.unknown-length',
    title: 'returns a body without a length as a stream as soon as more than holdBytes has arrived',
    skip: needs('streams', 'endless'),
    run: async (harness) => {
      const opened = await harness.open();
      await stop(harness, await startStream(harness, opened, 'endless', HOLD_BYTES));
    },
  },
  {
    id: 'streams.cut-short',
    title: 'throws a ProviderFailure from a stream that is truncated',
    skip: needs('streams', 'cut_short'),
    run: async (harness) => {
      const opened = await harness.open();
      const call = opened.invoke({ target: '/fault/cut_short' }, { holdBytes: 0 }).then(read);
      await harness.failureOf('a truncated stream', call, 'protocol');
    },
  },
  {
    id: 'streams.stopped',
    title: 'releases the connection of a stream that the host stops reading',
    skip: needs('streams', 'trickle', 'connections'),
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/before');
      for (let count = 0; count < STREAM_COUNT; count += 1) {
        await stop(harness, await startStream(harness, opened, 'trickle', HOLD_BYTES));
      }
      await expectReleased(harness);
    },
  },
  {
    id: 'streams.aborted',
    title: 'throws the reason of the signal from a stream, and releases its connection',
    skip: needs('streams', 'trickle', 'connections'),
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/before');
      for (let count = 0; count < STREAM_COUNT; count += 1) {
        const controller = new AbortController();
        const body = await startStream(harness, opened, 'trickle', HOLD_BYTES, controller.signal);
        cancel(controller);
        await harness.failureOf('a stream whose call is aborted', collect(body), 'cancelled');
      }
      await expectReleased(harness);
    },
  },
  {
    id: 'streams.pushed',
    title: 'pushes a stream that has pushTo part by part, each only once it is asked for',
    skip: needs('streams'),
    run: async (harness) => {
      const body = await openLong(harness);
      if (body.pushTo === undefined) return;
      const parts = await harness.wait.settles('a pushed response', collectPushed(body));
      assert.ok(parts.equals(LONG_BODY), 'the pushed parts must be the body, byte for byte');
    },
  },
  {
    id: 'streams.push-stopped',
    title: 'releases the connection of a pushed stream that the host stops',
    skip: needs('streams', 'trickle', 'connections'),
    run: async (harness) => {
      const opened = await harness.open();
      await opened.read('/echo/before');
      for (let count = 0; count < STREAM_COUNT; count += 1) {
        const body = await startStream(harness, opened, 'trickle', HOLD_BYTES);
        if (body.pushTo === undefined) await stop(harness, body);
        else await harness.wait.settles('the first part of a stream', stopPushed(body));
      }
      await expectReleased(harness);
    },
  },
  {
    id: 'streams.head',
    title: 'sends HEAD, and returns the response without a body',
    skip: needs('streams'),
    run: async (harness) => {
      const opened = await harness.open();
      for (const holdBytes of [0, HOLD_BYTES]) {
        const work = opened.invoke({ method: 'HEAD', target: '/echo/head' }, { holdBytes });
        const { status, headers, body } = await harness.wait.settles('a HEAD', work);
        assert.equal(status, 200);
        assert.equal(headers['x-method'], 'HEAD', 'the provider must get a HEAD');
        const bytes = body !== null && isBodyStream(body) ? await collect(body) : joinBody(body);
        assert.equal(bytes.length, 0, 'the response must have no body');
      }
      await opened.read('/echo/after');
    },
  },
];

/** A response that is longer than holdBytes. */
async function openLong(harness: AdapterHarness): Promise<BodyStream> {
  const opened = await harness.open();
  const work = opened.invoke({ target: `/bytes/${LONG_BYTES}` }, { holdBytes: HOLD_BYTES });
  const { body } = await harness.wait.settles('the head of a long response', work);
  assert.ok(body !== null && isBodyStream(body), 'a long body must be a stream');
  return body;
}

async function collect(body: BodyStream): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** Asks for each part in a later turn of the event loop. */
function collectPushed(body: BodyStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let isWanted = false;
    const ask = () => {
      isWanted = true;
      flow?.resume();
    };
    const expectWanted = (what: string) => {
      if (!isWanted) reject(new assert.AssertionError({ message: `${what} must be asked for` }));
      isWanted = false;
    };
    const flow = body.pushTo?.({
      write: (part) => {
        expectWanted('a part');
        parts.push(part);
        setImmediate(ask);
        return false;
      },
      end: () => {
        expectWanted('the end');
        // What comes behind the end is not wanted.
        setTimeout(() => resolve(Buffer.concat(parts)), QUIET_MS);
      },
      fail: reject,
    });
    setTimeout(ask, QUIET_MS);
  });
}

/** Stops behind the first part. */
function stopPushed(body: BodyStream): Promise<void> {
  return new Promise((resolve, reject) => {
    let isStopped = false;
    const expectOpen = () => {
      const message = 'a stream that is stopped must not call its sink any more';
      if (isStopped) reject(new assert.AssertionError({ message }));
    };
    const flow = body.pushTo?.({
      write: () => {
        expectOpen();
        setImmediate(() => {
          isStopped = true;
          flow?.stop();
          setTimeout(resolve, QUIET_MS);
        });
        return false;
      },
      end: () => reject(new assert.AssertionError({ message: 'a stopped stream must not end' })),
      fail: (error) => {
        expectOpen();
        reject(error);
      },
    });
    flow?.resume();
  });
}

async function read({ body }: Outcome): Promise<void> {
  if (body !== null && isBodyStream(body)) await collect(body);
}

/** Starts a response that never ends. */
async function startStream(
  harness: AdapterHarness,
  opened: OpenedProvider,
  fault: ReferenceFault,
  holdBytes: number,
  signal = new AbortController().signal,
): Promise<BodyStream> {
  const work = opened.invoke({ target: `/fault/${fault}` }, { holdBytes, signal });
  const { body } = await harness.wait.settles('a response without an end', work);
  assert.ok(body !== null && isBodyStream(body), 'a body without an end must be a stream');
  return body;
}

/** Stops reading behind the first part, like a host whose client has closed the connection. */
async function stop(harness: AdapterHarness, body: BodyStream): Promise<void> {
  const iterator = body[Symbol.asyncIterator]();
  await harness.wait.settles('the first part of a stream', iterator.next());
  await harness.wait.settles('the end of the iteration', (async () => iterator.return?.())());
}

/** Some adapters keep an idle connection. */
async function expectReleased({ wait, reference }: AdapterHarness): Promise<void> {
  await wait.eventually(
    'the release of the connections',
    () => (reference.connections?.() ?? 0) < STREAM_COUNT,
  );
}
