import { once } from 'node:events';
import http, { type Server, type ServerResponse } from 'node:http';
import net, { type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { ReplyQueue } from '../../core/http/reply-queue.js';

const IDS = { requestId: 'req_1', correlationId: 'corr_1' };
/** More than are written together. */
const MANY = 100;

describe('replies that are written together', () => {
  const sockets: Socket[] = [];
  let server: Server;
  /** Responses of requests that wait for their reply. */
  let asked: ServerResponse[] = [];
  let isClosing = false;
  let failures: string[] = [];
  let queue: ReplyQueue;

  beforeEach(async () => {
    [asked, failures, isClosing] = [[], [], false];
    const log = { error: (_fields: unknown, text: string) => failures.push(text) };
    queue = new ReplyQueue({ log: log as never, isClosing: () => isClosing });
    server = http.createServer((_request, response) => asked.push(response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  it('come to each caller, however many there are', async () => {
    const callers = await callAll(MANY);
    for (const [index, response] of asked.entries()) reply(response, `"${index}"`);
    const answers = await Promise.all(callers.map(readAnswer));
    const bodies = answers.map((answer) => /"\d+"$/.exec(answer)?.[0]);
    expect(new Set(bodies)).to.have.property('size', MANY);
    for (const answer of answers) expect(answer).to.match(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('do not leave before the turn of the loop ends', async () => {
    await callAll(1);
    const [response] = asked;
    reply(response, '1');
    expect(response?.headersSent).to.equal(false);
    await new Promise(setImmediate);
    expect(response?.headersSent).to.equal(true);
  });

  it('do not wait for more than some thirty others', async () => {
    await callAll(MANY);
    for (const response of asked) reply(response, '1');
    expect(asked.filter((response) => response.headersSent)).to.have.property('length', 96);
  });

  it('leave out a caller who has hung up', async () => {
    const [gone, stays] = await callAll(2);
    for (const response of asked) reply(response, '1');
    asked[0]?.destroy();
    const answers = await Promise.all([gone, stays].map(readAnswer));
    expect(answers[0]).to.equal('');
    expect(answers[1]).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(failures).to.deep.equal([]);
  });

  it('do not fail with one that cannot be written', async () => {
    const [bad, good] = await callAll(2);
    reply(asked[0], '1', ['x-bad', 'a\r\nb']);
    reply(asked[1], '1');
    const answers = await Promise.all([bad, good].map(readAnswer));
    expect(answers[0]).to.equal('');
    expect(answers[1]).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(failures).to.deep.equal(['a reply could not be written']);
  });

  it('tell of an end of the connection that was decided meanwhile', async () => {
    const [caller] = await callAll(1);
    reply(asked[0], '1');
    isClosing = true;
    expect(await readAnswer(caller)).to.match(/\r\nconnection: close\r\n/i);
  });

  it('do not keep a caller waiting who is still sending', async () => {
    await callAll(1, 'POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 9\r\n\r\n123');
    const [response] = asked;
    reply(response, '1');
    expect(response?.headersSent).to.equal(true);
  });

  async function callAll(
    count: number,
    request = 'GET / HTTP/1.1\r\nhost: h\r\n\r\n',
  ): Promise<Socket[]> {
    const { port } = server.address() as AddressInfo;
    const callers: Socket[] = [];
    for (let index = 0; index < count; index += 1) {
      const socket = net.connect(port, '127.0.0.1');
      sockets.push(socket);
      callers.push(socket);
      socket.write(request);
      // One after the other: responses are then in the order of the callers.
      while (asked.length <= index) await new Promise(setImmediate);
    }
    return callers;
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

/** What comes until the answer is whole or the connection ends. */
function readAnswer(socket: Socket | undefined): Promise<string> {
  if (socket === undefined) throw new Error('nobody called');
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString();
      if (/\r\n\r\n./s.test(text)) resolve(text);
    });
    socket.once('close', () => resolve(text));
  });
}
