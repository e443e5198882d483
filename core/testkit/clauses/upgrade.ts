import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Duplex } from 'node:stream';
import { acceptKey } from '../../lib/websocket/handshake.js';
import { type AdapterHarness, cancel, textOf } from '../adapter-harness.js';
import type { AdapterClause } from '../clause.js';
import { UPGRADE_PATH } from '../reference/http-reference.js';
import { needs } from './needs.js';

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const HANDSHAKE = {
  'sec-websocket-key': KEY,
  'sec-websocket-version': '13',
  'sec-websocket-protocol': 'chat, stomp',
  'sec-websocket-extensions': 'permessage-deflate; client_max_window_bits',
};
const TARGET = `${UPGRADE_PATH}?room=a%20b`;
/** Arbitrary bytes, because the adapter does not parse frames. */
const SENT = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

export const UPGRADE: readonly AdapterClause[] = [
  {
    id: 'upgrade.request',
    title: 'sends a handshake with its headers, as an upgrade',
    skip: needs('upgrade'),
    run: (harness) =>
      withConnection(harness, async ({ request }) => {
        assert.equal(request.method, 'GET', 'the method must be GET');
        assert.equal(request.target, TARGET, 'the target must arrive unchanged');
        const { connection = '', ...headers } = request.headers;
        assert.match(connection, /\bupgrade\b/i, 'the request must have connection: upgrade');
        for (const [name, value] of Object.entries({ upgrade: 'websocket', ...HANDSHAKE })) {
          assert.equal(headers[name], value, `the provider must get ${name} unchanged`);
        }
      }),
  },
  {
    id: 'upgrade.connection',
    title: 'returns a 101 with its headers and its connection, byte for byte in both directions',
    skip: needs('upgrade'),
    run: (harness) =>
      withConnection(harness, async ({ connection, reader }) => {
        connection.write(SENT);
        const received = await harness.wait.settles('what comes back', reader.take(SENT.length));
        assert.ok(received.equals(SENT), 'bytes must pass unchanged in both directions');
      }),
  },
  {
    id: 'upgrade.declined',
    title: 'returns any other response to a handshake like that of any call',
    skip: needs('upgrade'),
    run: async (harness) => {
      const opened = await harness.open();
      const work = opened.invoke({ target: '/elsewhere', upgrade: 'websocket' }, createCall());
      const outcome = await harness.wait.settles('a handshake that is declined', work);
      assert.equal(outcome.status, 403, 'the status must be that of the provider');
      assert.equal(textOf(outcome), 'declined', 'the body must be that of the provider');
      assert.equal(outcome.connection, undefined, 'there must be no connection');
    },
  },
  {
    id: 'upgrade.signal',
    title: 'keeps the connection when the signal of its call is aborted',
    skip: needs('upgrade'),
    run: async (harness) => {
      const controller = new AbortController();
      const use = async ({ connection, reader }: Opened) => {
        cancel(controller);
        connection.write('after');
        const received = await harness.wait.settles('what comes back', reader.take(5));
        assert.equal(received.toString(), 'after', 'the connection must stay open');
      };
      await withConnection(harness, use, controller.signal);
    },
  },
  {
    id: 'upgrade.destroy',
    title: 'closes the connection of the provider when the host destroys it',
    skip: needs('upgrade', 'connections'),
    run: (harness) =>
      withConnection(harness, async ({ connection }) => {
        const before = harness.reference.connections?.() ?? 0;
        connection.destroy();
        await harness.wait.eventually(
          'the end of the connection of the provider',
          () => (harness.reference.connections?.() ?? 0) < before,
        );
      }),
  },
];

interface Opened {
  readonly connection: Duplex;
  readonly reader: Reader;
  /** The request at the provider. */
  readonly request: {
    readonly method: string;
    readonly target: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

const createCall = (signal?: AbortSignal) => ({
  headers: HANDSHAKE,
  ...(signal !== undefined && { signal }),
});

async function withConnection(
  harness: AdapterHarness,
  use: (opened: Opened) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const opened = await harness.open();
  const work = opened.invoke({ target: TARGET, upgrade: 'websocket' }, createCall(signal));
  const { status, headers, connection } = await harness.wait.settles('a handshake', work);
  try {
    assert.equal(status, 101, 'the status must be 101');
    assert.equal(
      headers['sec-websocket-accept'],
      acceptKey(KEY),
      'the headers of the 101 must be returned',
    );
    assert.ok(connection instanceof Duplex, 'the connection must be returned, a Duplex');
    connection.on('error', () => {});
    const reader = new Reader(connection);
    const first = await harness.wait.settles('the first bytes', reader.takeLine());
    assert.ok(first.startsWith('{'), 'what was read behind the head must be its first bytes');
    await use({ connection, reader, request: JSON.parse(first) as Opened['request'] });
  } finally {
    connection?.destroy();
  }
}

/** Reads a connection in parts of a known length. */
class Reader {
  readonly #connection: Duplex;
  #received = Buffer.alloc(0);

  constructor(connection: Duplex) {
    this.#connection = connection;
    connection.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
    });
  }

  async take(length: number): Promise<Buffer> {
    while (this.#received.length < length) await once(this.#connection, 'data');
    const bytes = this.#received.subarray(0, length);
    this.#received = this.#received.subarray(length);
    return bytes;
  }

  async takeLine(): Promise<string> {
    while (!this.#received.includes('\n')) await once(this.#connection, 'data');
    return (await this.take(this.#received.indexOf('\n') + 1)).toString();
  }
}
