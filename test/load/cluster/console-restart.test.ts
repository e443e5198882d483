import { mkdirSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { callConsole, signIn } from '../../support/console/console-client.js';
import { parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { type RunningModgate, startModgate } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const TRIES = 12;

describe('sessions of the console of a host with workers', () => {
  let folder: string;
  let host: RunningModgate;

  const start = () =>
    startModgate([
      ...['serve', '--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')],
      ...['--port', '0', '--env', 'development', '--workers', '2'],
    ]);

  before(async () => {
    folder = createFolder();
    mkdirSync(join(folder, 'modules.d'));
    host = await start();
  });

  after(async () => {
    const exit = await host.stop();
    expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  /** The distinct statuses of several requests, each over its own connection. */
  const statuses = async (cookie: string) => {
    const calls = Array.from({ length: TRIES }, () =>
      callConsole(host, { path: '/session', cookie }),
    );
    return [...new Set((await Promise.all(calls)).map(({ status }) => status))];
  };
  /** The stores of the workers may open later than the host. */
  const waitUntilEachServes = (cookie: string) =>
    waitUntil('every worker', async () => String(await statuses(cookie)) === '200');

  it('count in each worker, survive a restart, and end in each worker', async () => {
    const cookie = await signIn(host);
    await waitUntilEachServes(cookie);
    const before = parseJson(await callConsole(host, { path: '/session', cookie }));
    const stream = await openStream(host.port, cookie);
    expect(await host.stop()).to.deep.equal({ code: 0, signal: null });
    expect(await stream.ended).to.equal(true);
    host = await start();
    await waitUntilEachServes(cookie);
    const after = parseJson(await callConsole(host, { path: '/session', cookie }));
    expect(after['id']).to.equal(before['id']);
    await callConsole(host, { method: 'DELETE', path: '/session', cookie });
    expect(await statuses(cookie)).to.deep.equal([401]);
  });

  it('close their streams when they end in another worker', async () => {
    const cookie = await signIn(host);
    const streams = await Promise.all(
      Array.from({ length: 6 }, () => openStream(host.port, cookie)),
    );
    await callConsole(host, { method: 'DELETE', path: '/session', cookie });
    const ended = await Promise.all(streams.map(({ ended }) => ended));
    expect(ended).to.deep.equal(Array(6).fill(true));
  });
});

/** `ended` is true if the host ended the stream completely. */
async function openStream(port: number, cookie: string) {
  const headers = { host: `127.0.0.1:${port}`, cookie, 'sec-fetch-site': 'same-origin' };
  const request = http.get({ port, path: '/console/api/events', headers, agent: false });
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  expect(response.statusCode).to.equal(200);
  response.resume();
  return {
    ended: new Promise<boolean>((resolve) => {
      response.once('close', () => resolve(response.complete));
      response.once('error', () => resolve(false));
    }),
  };
}
