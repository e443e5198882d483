import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { call, parseJson } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { DESK_ENTRY } from '../../support/surfaces/desk-surface.js';
import { useSurfaceHost } from '../../support/surfaces/use-surface-host.js';
import { createFolder } from '../../support/temporary-folder.js';

const KEY = 'the-key-of-acme';
const OPS = 'dev-service:ops:modgate.calls.read';

describe('a request that a surface rejects', () => {
  const folder = createFolder();
  const tokens = join(folder, 'tokens.json');
  const entry = { id: 'key', kind: 'service', scopes: [], sha256: hash('sha256', KEY) };
  writeFileSync(tokens, JSON.stringify({ tokens: [entry] }));
  const setup = useSurfaceHost({
    entry: DESK_ENTRY,
    surfaces: ['desk', 'till'],
    args: ['--token-header', 'x-api-key', '--tokens', tokens],
  });
  let number = 0;

  /** @returns the record and the log line of the request. */
  const send = async (target: string, headers: readonly [string, string][] = []) => {
    number += 1;
    const id = `surface-${number}`;
    await call(setup.host, { target, as: null, headers: [['x-request-id', id], ...headers] });
    const { calls } = parseJson(
      await call(setup.host, { target: `/calls?request_id=${id}`, as: OPS }),
    ) as { calls: Record<string, unknown>[] };
    const find = () =>
      setup.host.logs().find((line) => line['request_id'] === id && line['msg'] === 'request');
    await waitUntil('the line', () => find() !== undefined);
    return { calls, line: find() ?? {} };
  };

  const CAUSES: readonly [string, string, object][] = [
    ['an error', '/desk/reject', { code: 'conflict', detail: 'the desk is taken', step: 'host' }],
    ['a 401', '/till/challenge', { code: 'unauthorized', step: 'actor', reason: 'missing' }],
    ['a response', '/desk/missing', { code: 'not_found', step: 'host', reason: 'surface' }],
    [
      'a response with a status of its own',
      '/desk/teapot',
      { code: 'validation_failed', detail: 'the surface responded with 418', reason: 'surface' },
    ],
    ['a failure', '/desk/throw', { code: 'internal_error', step: 'host' }],
  ];
  for (const [title, target, expected] of CAUSES) {
    it(`leaves a record and a log line with the reason for ${title}`, async () => {
      const { calls, line } = await send(target);
      expect(calls).to.have.length(1);
      expect(calls[0]).to.deep.include(expected);
      expect(line).to.deep.include(expected);
    });
  }

  it('leaves one record each if another request has its id at the same time', async () => {
    const headers = { 'x-request-id': 'shared', authorization: 'Bearer dev-service:a' };
    const refused = fetch(`${setup.host.url}/desk/refused`, { headers });
    await waitUntil('it is early', async () => {
      const counts = await call(setup.host, { target: '/desk/counts', as: null });
      return parseJson(counts)['isEarly'] === true;
    });
    const late = new AbortController();
    const waiting = fetch(`${setup.host.url}/desk/late`, { headers, signal: late.signal });
    expect((await refused).status).to.equal(403);
    const target = '/calls?request_id=shared';
    const { calls } = parseJson(await call(setup.host, { target, as: OPS }));
    expect(calls).to.have.length(1);
    late.abort();
    await waiting.catch(() => {});
  });

  it('has no line of a rejection when it succeeds', async () => {
    const { calls, line } = await send('/desk/empty');
    expect(calls).to.deep.equal([]);
    expect(line).not.to.have.any.keys('code', 'step');
  });

  it('does not show the key of --token-header, nor other credentials of the host', async () => {
    for (const [surface, seen] of [
      ['desk', []],
      ['till', ['authorization']],
    ] as const) {
      const response = await call(setup.host, {
        target: `/${surface}/echo`,
        as: KEY,
        headers: [['X-Api-Key', KEY]],
      });
      expect(response.status).to.equal(200);
      const { headers } = parseJson(response) as { headers: object };
      const names = Object.keys(headers).filter((name) => /authorization|x-api-key/.test(name));
      expect(names).to.deep.equal(seen);
    }
  });
});
