import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { natsAdapter } from '../../../plugins/nats/nats-adapter.js';
import { failureOf } from '../../support/failure-of.js';
import { createInvocation, openAdapter } from '../open-adapter.js';

const INFO = { server_id: 'strict', version: '2.10.0', max_payload: 1_048_576, headers: true };

const DENIED = '-ERR \'Permissions Violation for Publish to "SUBJECT"\'';

/** The response of the server to a number of calls, one by default, and how far they then were. */
const DENIALS: Readonly<Record<string, readonly [string, string, number?]>> = {
  'was denied': [DENIED, 'connecting'],
  'or another one to the subject was denied': [DENIED, 'sending', 2],
  'was sent, but no reply can arrive': [
    '-ERR \'Permissions Violation for Subscription to "_INBOX.x.*"\'',
    'sending',
  ],
  'was sent before the credentials expired': ["-ERR 'User Authentication Expired'", 'sending'],
};

describe('a call that a NATS server denies', () => {
  for (const [title, [answer, expected, calls = 1]] of Object.entries(DENIALS)) {
    it(`names its phase when it ${title}`, async () => {
      let sent = 0;
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.write(`INFO ${JSON.stringify(INFO)}\r\n`);
        socket.on('data', (data) => {
          const text = data.toString('latin1');
          if (text.includes('PING')) socket.write('PONG\r\n');
          const subjects = [...text.matchAll(/HPUB (\S+)/g)].map(([, subject = '']) => subject);
          sent += subjects.length;
          const [subject] = subjects;
          if (subject === undefined || sent < calls) return;
          socket.write(`${answer.replace('SUBJECT', subject)}\r\n`);
          if (answer.includes('Expired')) socket.end();
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const config = { servers: [`nats://127.0.0.1:${port}`], subject: 'x' };
      const running = await openAdapter(natsAdapter, config);
      try {
        const failures = await Promise.all(
          Array.from({ length: calls }, () =>
            failureOf(running.provider.invoke(createInvocation({}))),
          ),
        );
        for (const failure of failures) {
          expect(failure).to.include({ failure: 'refused', phase: expected });
        }
      } finally {
        await running.close();
        server.close();
      }
    });
  }
});
