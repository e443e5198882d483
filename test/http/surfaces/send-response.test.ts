import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  type BodyOptions,
  canAnnounceLength,
  type SentBody,
  sendBody,
} from '../../../core/http/surfaces/send-response.js';
import { waitUntil } from '../../support/http/wait-until.js';

/** The result of a response: complete, or truncated. */
interface Received {
  readonly text: string;
  readonly isComplete: boolean;
}

describe('the body of a response of a surface', () => {
  let server: Server;
  let url: string;
  let body: ReadableStream<Uint8Array>;
  let options: BodyOptions;
  let announced: number | null = null;
  let sent: SentBody;
  const ends: number[] = [];
  const errors: unknown[] = [];

  before(async () => {
    server = createServer((_request, response) => {
      if (announced !== null) {
        response.strictContentLength = true;
        response.setHeader('content-length', announced);
      }
      sent = sendBody(response, body, options);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  beforeEach(() => {
    ends.length = 0;
    errors.length = 0;
    announced = null;
    options = {
      held: { keepOnly: () => null },
      sendTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
      onEnd: (bytes) => ends.push(bytes),
      onError: (error) => errors.push(error),
    };
  });

  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const receive = (onData: (text: string) => void = () => {}) =>
    new Promise<Received>((resolve, reject) => {
      const read = (response: IncomingMessage) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          onData(text);
        });
        response.on('error', () => {});
        response.on('close', () => resolve({ text, isComplete: response.complete }));
      };
      get(url, { agent: false }, read).on('error', reject);
    });
  const bytes = (text: string) => new TextEncoder().encode(text);

  it('is sent to its end, and its bytes are counted', async () => {
    body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(bytes('one '));
        controller.enqueue(bytes('two'));
        controller.close();
      },
    });
    expect(await receive()).to.deep.equal({ text: 'one two', isComplete: true });
    expect(ends).to.deep.equal([7]);
  });

  it('is cut when it pauses for too long, and canceled', async () => {
    let isCanceled = false;
    options = { ...options, idleTimeoutMs: 20 };
    body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes('one')),
      cancel: () => {
        isCanceled = true;
      },
    });
    expect(await receive()).to.deep.equal({ text: 'one', isComplete: false });
    expect(String(errors[0])).to.contain('the body paused for 20 ms');
    expect(isCanceled).to.equal(true);
  });

  for (const length of [1, 10]) {
    it(`is reported when it has another length than ${length}, as announced`, async () => {
      announced = length;
      body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(bytes('one'));
          controller.close();
        },
      });
      const received = await receive().catch(() => null);
      expect(received?.isComplete ?? false).to.equal(false);
      expect(errors).to.have.length(1);
      expect(errors[0]).to.have.property('code', 'ERR_HTTP_CONTENT_LENGTH_MISMATCH');
    });
  }

  it('is complete when the host ends it', async () => {
    body = new ReadableStream({ start: (controller) => controller.enqueue(bytes('one')) });
    const received = await receive(() => sent.end());
    expect(received).to.deep.equal({ text: 'one', isComplete: true });
    expect(ends).to.deep.equal([3]);
    expect(errors).to.deep.equal([]);
  });

  it('is read only as fast as the client reads', async () => {
    let read = 0;
    const chunk = new Uint8Array(65_536);
    body = new ReadableStream(
      {
        pull: (controller) => {
          read += 1;
          if (read > 2000) controller.close();
          else controller.enqueue(chunk);
        },
      },
      { highWaterMark: 0 },
    );
    const request = get(url, { agent: false });
    const response = await new Promise<IncomingMessage>((resolve) => {
      request.once('response', resolve);
    });
    // The client does not read: both sockets fill up, and then nothing more is pulled.
    let last = -1;
    await waitUntil('the stream waits', async () => {
      const isSame = last === read;
      last = read;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return isSame && read === last;
    });
    expect(read).to.be.below(2000);
    response.resume();
    await new Promise((resolve) => response.once('end', resolve));
    expect(read).to.equal(2001);
  });
});

describe('the length of a response of a surface', () => {
  const canAnnounce = (status: number, method: string, body: string | null = null, length = '5') =>
    canAnnounceLength(
      new Response(body, { status, headers: { 'content-length': length } }),
      method,
    );

  it('is announced with a body, for HEAD and for a 304', () => {
    expect(canAnnounce(200, 'GET', 'hello')).to.equal(true);
    expect(canAnnounce(200, 'HEAD')).to.equal(true);
    expect(canAnnounce(304, 'GET')).to.equal(true);
    expect(canAnnounce(200, 'GET', null, '0')).to.equal(true);
  });

  it('is not announced without a body, for a 204, or if it is not a number', () => {
    expect(canAnnounce(200, 'GET')).to.equal(false);
    expect(canAnnounce(204, 'GET')).to.equal(false);
    expect(canAnnounce(204, 'HEAD')).to.equal(false);
    for (const length of ['', 'abc', '-1', '+5', '0x5', '5e0', '5, 5']) {
      expect(canAnnounce(200, 'GET', 'hello', length), length).to.equal(false);
    }
  });
});
