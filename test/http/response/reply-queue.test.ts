import { once } from 'node:events';
import http, { type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ReplyQueue } from '../../../core/http/response/reply-queue.js';
import { buildRequest, headerValue, RawConnection } from '../../../core/selftest/raw-http.js';
import { createFakeLog } from '../../../core/testkit/fakes/fake-log.js';

const IDS = { requestId: 'req_1', correlationId: 'corr_1' };
/** Twice as many as are written together, and some. */
const MANY = 300;
const GET = buildRequest({ target: '/', headers: [['host', 'h']] });

describe('replies that are written together', () => {
  const opened: RawConnection[] = [];
  let server: Server;
  /** Responses of requests that wait for their reply. */
  let asked: ServerResponse[] = [];
  let isClosing = false;
  let log = createFakeLog();
  let queue: ReplyQueue;

  beforeEach(async () => {
    [asked, log, isClosing] = [[], createFakeLog(), false];
    queue = new ReplyQueue({ log, isClosing: () => isClosing, answerTimeoutMs: 60_000 });
    server = http.createServer((_request, response) => asked.push(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    for (const connection of opened.splice(0)) connection.destroy();
    server.close();
  });

  it('come to each caller, however many there are', async () => {
    const callers = await callAll(MANY);
    for (const [index, response] of asked.entries()) reply(response, `"${index}"`);
    const answers = await Promise.all(callers.map((caller) => caller.read()));
    expect(new Set(answers.map(({ body }) => body.toString()))).to.have.property('size', MANY);
    for (const answer of answers) expect(answer).to.include({ status: 200, reason: 'OK' });
  });

  it('do not leave before those that are decided with them', async () => {
    await callAll(2);
    const decide = async (index: number) => {
      await null;
      reply(asked[index], '1');
      expect(asked.map(({ headersSent }) => headersSent)).to.deep.equal([false, false]);
    };
    await Promise.all([decide(0), decide(1)]);
    await new Promise<void>((resolve) => process.nextTick(resolve));
    expect(asked.map(({ headersSent }) => headersSent)).to.deep.equal([true, true]);
  });

  it('do not wait for more than some hundred others', async () => {
    await callAll(MANY);
    for (const response of asked) reply(response, '1');
    expect(asked.filter((response) => response.headersSent)).to.have.property('length', 256);
  });

  it('leave out a caller who has hung up', async () => {
    const [gone, stays] = await callAll(2);
    for (const response of asked) reply(response, '1');
    asked[0]?.destroy();
    expect(await stays?.read()).to.include({ status: 200, reason: 'OK' });
    await gone?.closed();
    expect(gone?.unread).to.equal('');
    expect(log.lines).to.deep.equal([]);
  });

  it('do not fail with one that cannot be written', async () => {
    const [bad, good] = await callAll(2);
    reply(asked[0], '1', ['x-bad', 'a\r\nb']);
    reply(asked[1], '1');
    expect(await good?.read()).to.include({ status: 200, reason: 'OK' });
    await bad?.closed();
    expect(bad?.unread).to.equal('');
    const logged = log.lines.map(({ message }) => message);
    expect(logged).to.deep.equal(['a reply could not be written']);
  });

  it('tell of an end of the connection that was decided meanwhile', async () => {
    const [caller] = await callAll(1);
    reply(asked[0], '1');
    isClosing = true;
    const { headers = [] } = (await caller?.read()) ?? {};
    expect(headerValue(headers, 'connection')).to.equal('close');
  });

  it('do not keep a caller waiting who is still sending', async () => {
    const headers = [
      ['host', 'h'],
      ['content-length', '9'],
    ] as const;
    const post = buildRequest({ method: 'POST', target: '/', headers });
    await callAll(1, Buffer.concat([post, Buffer.from('123')]));
    const [response] = asked;
    reply(response, '1');
    expect(response?.headersSent).to.equal(true);
  });

  async function callAll(count: number, request: Uint8Array = GET): Promise<RawConnection[]> {
    const { port } = server.address() as AddressInfo;
    for (let index = 0; index < count; index += 1) {
      const connection = await RawConnection.open(port);
      opened.push(connection);
      connection.write(request);
      // One after the other: responses are then in the order of the callers.
      while (asked.length <= index) await new Promise(setImmediate);
    }
    return [...opened];
  }

  function reply(response: ServerResponse | undefined, body: string, headers: string[] = []): void {
    if (response === undefined) throw new Error('nobody asked');
    const pieces = [Buffer.from(body)];
    const contentType = 'application/json';
    queue.add(
      response,
      { status: 200, contentType, headers, body: { pieces, length: body.length } },
      IDS,
    );
  }
});
