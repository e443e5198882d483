import { once } from 'node:events';
import http, { type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ReplyQueue } from '../../../core/http/response/reply-queue.js';
import { headerValue, RawConnection } from '../../../core/selftest/raw-http.js';
import { createFakeLog } from '../../../core/testkit/fakes/fake-log.js';
import { buildRequest } from '../../support/http/send-request.js';

const IDS = { requestId: 'req_1', correlationId: 'corr_1' };
/** More than two batches. */
const MANY = 300;
const GET = buildRequest({ target: '/', headers: [['host', 'h']] });

describe('reply queue', () => {
  const opened: RawConnection[] = [];
  let server: Server;
  /** Responses of requests without a reply. */
  let responses: ServerResponse[] = [];
  const lifecycle = { isClosing: false };
  let log = createFakeLog();
  let queue: ReplyQueue;

  beforeEach(async () => {
    [responses, log, lifecycle.isClosing] = [[], createFakeLog(), false];
    queue = new ReplyQueue({ log, lifecycle, sendTimeoutMs: 60_000 });
    server = http.createServer((_request, response) => responses.push(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    for (const connection of opened.splice(0)) connection.destroy();
    server.close();
  });

  it('writes each reply to its own client', async () => {
    const callers = await callAll(MANY);
    for (const [index, response] of responses.entries()) reply(response, `"${index}"`);
    const answers = await Promise.all(callers.map((caller) => caller.read()));
    expect(new Set(answers.map(({ body }) => body.toString()))).to.have.property('size', MANY);
    for (const answer of answers) expect(answer).to.include({ status: 200, reason: 'OK' });
  });

  it('writes the replies of one turn together', async () => {
    await callAll(2);
    const decide = async (index: number) => {
      await null;
      reply(responses[index], '1');
      expect(responses.map(({ headersSent }) => headersSent)).to.deep.equal([false, false]);
    };
    await Promise.all([decide(0), decide(1)]);
    await new Promise(setImmediate);
    expect(responses.map(({ headersSent }) => headersSent)).to.deep.equal([true, true]);
  });

  it('writes a full batch at once', async () => {
    await callAll(MANY);
    for (const response of responses) reply(response, '1');
    expect(responses.filter((response) => response.headersSent)).to.have.property('length', 256);
  });

  it('skips a client that has disconnected', async () => {
    const [gone, stays] = await callAll(2);
    for (const response of responses) reply(response, '1');
    responses[0]?.destroy();
    expect(await stays?.read()).to.include({ status: 200, reason: 'OK' });
    await gone?.closed();
    expect(gone?.unread).to.equal('');
    expect(log.lines).to.deep.equal([]);
  });

  it('continues after a reply that cannot be written', async () => {
    const [bad, good] = await callAll(2);
    reply(responses[0], '1', ['x-bad', 'a\r\nb']);
    reply(responses[1], '1');
    expect(await good?.read()).to.include({ status: 200, reason: 'OK' });
    await bad?.closed();
    expect(bad?.unread).to.equal('');
    const logged = log.lines.map(({ message }) => message);
    expect(logged).to.deep.equal(['response could not be written']);
  });

  it('closes the connection if the host has begun to drain', async () => {
    const [caller] = await callAll(1);
    reply(responses[0], '1');
    lifecycle.isClosing = true;
    const { headers = [] } = (await caller?.read()) ?? {};
    expect(headerValue(headers, 'connection')).to.equal('close');
  });

  it('runs the last steps of a request before its reply, and writes nothing without a reply', async () => {
    const [caller] = await callAll(1);
    const [response] = responses;
    if (response === undefined) throw new Error('there is no request');
    const steps: boolean[] = [];
    queue.add(response, IDS, () => {
      steps.push(response.headersSent);
      return null;
    });
    await new Promise(setImmediate);
    expect(steps).to.deep.equal([false]);
    expect(response.headersSent).to.equal(false);
    reply(response, '1');
    expect(await caller?.read()).to.include({ status: 200 });
  });

  it('replies at once to a client that is still sending', async () => {
    const headers = [
      ['host', 'h'],
      ['content-length', '9'],
    ] as const;
    const post = buildRequest({ method: 'POST', target: '/', headers });
    await callAll(1, Buffer.concat([post, Buffer.from('123')]));
    const [response] = responses;
    reply(response, '1');
    expect(response?.headersSent).to.equal(true);
  });

  async function callAll(count: number, request: Uint8Array = GET): Promise<RawConnection[]> {
    const { port } = server.address() as AddressInfo;
    for (let index = 0; index < count; index += 1) {
      const connection = await RawConnection.open(port);
      opened.push(connection);
      connection.write(request);
      // One after the other, so that responses are in the order of the clients.
      while (responses.length <= index) await new Promise(setImmediate);
    }
    return [...opened];
  }

  function reply(response: ServerResponse | undefined, body: string, headers: string[] = []): void {
    if (response === undefined) throw new Error('there is no request');
    const pieces = [Buffer.from(body)];
    const contentType = 'application/json';
    const written = {
      status: 200,
      contentType,
      headers,
      pieces,
      length: body.length,
      stream: null,
      upgrade: null,
    };
    queue.add(response, IDS, () => ({ ...written, contentLength: body.length }));
  }
});
