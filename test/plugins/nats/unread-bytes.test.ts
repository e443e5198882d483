import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { isProviderFailure } from '../../../core/contract/index.js';
import { NatsLink } from '../../../plugins/nats/nats-link.js';
import { MAX_UNREAD_BYTES, UnreadBytes } from '../../../plugins/nats/unread-bytes.js';

const PAYLOAD = Buffer.alloc(1_048_576);
const INFO = {
  server_id: 'stalled',
  version: '2.10.0',
  max_payload: PAYLOAD.length,
  headers: true,
};
const log = { debug() {}, info() {}, warn() {}, error() {} };

describe('bytes that a NATS server has not read', () => {
  it('are counted until the server answers', async () => {
    let answer = () => {};
    const unread = new UnreadBytes(() => new Promise((resolve) => (answer = resolve)), 100);
    unread.add(60);
    unread.add(30);
    expect(unread.isFull).to.equal(false);
    unread.add(10);
    expect(unread.isFull).to.equal(true);
    answer();
    await new Promise(setImmediate);
    expect(unread.isFull).to.equal(false);
    // 40 were published after the question.
    unread.add(60);
    expect(unread.isFull).to.equal(true);
  });

  it('are asked for again if many were published meanwhile', async () => {
    const answers: (() => void)[] = [];
    const unread = new UnreadBytes(() => new Promise((resolve) => answers.push(resolve)), 100);
    unread.add(60);
    unread.add(1_000);
    for (const count of [1, 2]) {
      expect(unread.isFull).to.equal(true);
      expect(answers).to.have.length(count);
      answers.at(-1)?.();
      await new Promise(setImmediate);
    }
    expect(unread.isFull).to.equal(false);
    expect(answers).to.have.length(2);
  });

  describe('of a server that stops reading', () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.write(`INFO ${JSON.stringify(INFO)}\r\n`);
      socket.once('data', () => {
        socket.pause();
        socket.write('PONG\r\n');
      });
    });
    let link: NatsLink;

    before(async () => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const options = { servers: `127.0.0.1:${port}`, reconnect: false };
      const servers = [{ name: 'stalled', options }];
      link = new NatsLink({ servers, subject: 'x', inbox: '_INBOX', log });
      link.start();
    });

    after(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await link.close();
    });

    it('are bounded: further calls fail at once', async () => {
      const send = () => {
        const controller = new AbortController();
        const request = { kind: 'check', payload: PAYLOAD, headers: {} } as const;
        const limits = { maxResponseBytes: 1, signal: controller.signal };
        const sent = link.request(request, limits).then(
          () => 'answered',
          (error: unknown) => (isProviderFailure(error) ? error.message : 'failed'),
        );
        return { sent, abort: () => controller.abort(new Error('late')) };
      };
      const calls = Array.from({ length: 3 * (MAX_UNREAD_BYTES / PAYLOAD.length) }, () => send());
      await new Promise(setImmediate);
      // Would never settle without a bound.
      const last = await send().sent;
      for (const { abort } of calls) abort();
      const failed = (await Promise.all(calls.map(({ sent }) => sent))).filter((text) =>
        text.includes('does not read'),
      );
      expect(last).to.equal('the NATS server does not read what it is sent');
      expect(failed.length).to.be.at.least(1);
    });
  });
});
