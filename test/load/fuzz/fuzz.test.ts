import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { fuzzRequests } from './fuzz-requests.js';
import { type FuzzTarget, startFuzzHost } from './fuzz-target.js';
import { fuzzTexts } from './fuzz-texts.js';

/** The duration of each of the two tests. `npm run fuzz` is the long form. */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 20) / 2;
/** A weak parser or host fails at once; the rest is spent on shrinking what fast-check found. */
const WEAK_SECONDS = 3;
/** Additional time for a busy machine. */
const SLACK_MS = 90_000;

describe('fuzzing', function () {
  this.timeout(SECONDS * 1000 + SLACK_MS);
  // A second run would use other texts and hide the failure.
  this.retries(0);

  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 0x7fffffff);
  const createFuzzing = (seconds: number) => ({ seconds, seed });

  it('finds no file that breaks a parser', async () => {
    expect(await fuzzTexts(createFuzzing(SECONDS))).to.be.above(0);
  });

  it('finds no request that breaks the host', async () => {
    const host = await startFuzzHost();
    try {
      const { connections, statuses } = await fuzzRequests(createFuzzing(SECONDS), host);
      expect(connections).to.be.above(0);
      expect(statuses.size).to.be.above(0);
      expect((await host.host.stop()).code).to.equal(0);
    } finally {
      await host.close();
    }
  });

  it('finds a parser that throws, and reports the text', async () => {
    const parsers = {
      weak: (_file: string, text: string) => {
        if (text.includes('module')) throw new TypeError('weak');
      },
    };
    const message = await failureOf(fuzzTexts(createFuzzing(WEAK_SECONDS), parsers));
    expect(message).to.match(/the weak parser threw TypeError: weak: ".*module/s);
    expect(message).to.match(/seed: \d+/);
  });

  const responseOf = (status: string, body = '') =>
    `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

  const weakHosts: readonly (readonly [title: string, bytes: string | null, message: RegExp])[] = [
    ['a 500', responseOf('500 Internal Server Error'), /the host returned 500, for "/],
    [
      'an error response without a Problem',
      responseOf('400 Bad Request', '{}'),
      /a Problem has no type, for "/,
    ],
    [
      'an error response without a body',
      responseOf('400 Bad Request'),
      /an error response has no body, for "/,
    ],
    ['a response that is not HTTP', 'hello\r\n\r\n', /a response has no status line, for "/],
    ['a truncated response', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}', /within its body/],
    [
      'a response without its last chunk',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
      /within its body/,
    ],
    [
      'a chunk of another size',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n',
      /an invalid chunk/,
    ],
    [
      'a response with two framings',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}',
      /no framing, or several/,
    ],
    ['a host that hangs', null, /had no response and was not closed within 300 ms, for "/],
  ];
  for (const [title, bytes, message] of weakHosts) {
    it(`finds ${title}`, async () => {
      const weak = await startWeakHost(bytes);
      try {
        expect(await failureOf(fuzzRequests(createFuzzing(WEAK_SECONDS), weak, 300))).to.match(
          message,
        );
      } finally {
        weak.close();
      }
    });
  }
});

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was found';
}

async function startWeakHost(bytes: string | null): Promise<FuzzTarget & { close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      if (bytes !== null) socket.end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    drop: () => {},
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
