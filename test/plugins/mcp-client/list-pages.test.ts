import { expect } from 'chai';
import { Exchange } from '../../../plugins/mcp-client/exchange.js';
import { listPages } from '../../../plugins/mcp-client/list-pages.js';
import type { Session } from '../../../plugins/mcp-client/session.js';

/** A session with a server that has two pages, of which the empty cursor is the second. */
function createSession(version: string): Session {
  const session = {
    version,
    createExchange: () => new Exchange({ maxResponseBytes: 1_000 }),
    request: async ({ params }: { params: { cursor?: string } }) =>
      params.cursor === undefined
        ? '{"tools": [{"name": "a"}], "nextCursor": ""}'
        : '{"tools": [{"name": "b"}]}',
  };
  return session as unknown as Session;
}

describe('a list with an empty cursor', () => {
  for (const { version, names } of [
    { version: '2026-07-28', names: ['a', 'b'] },
    { version: '2025-11-25', names: ['a'] },
    { version: '2024-11-05', names: ['a'] },
  ]) {
    it(`has ${names.length} tools in ${version}`, async () => {
      const tools = await listPages(createSession(version), 'tools/list');
      expect([...tools.keys()]).to.deep.equal(names);
    });
  }
});
