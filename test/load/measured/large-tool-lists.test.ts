import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { Exchange } from '../../../plugins/mcp-client/exchange.js';
import type { Session } from '../../../plugins/mcp-client/session.js';
import { ToolPins } from '../../../plugins/mcp-client/tool-pins.js';
import { ToolWatch } from '../../../plugins/mcp-client/tool-watch.js';
import { createRecordedLog } from '../../support/auth/recorded-log.js';
import { slowness } from '../../support/slowness.js';
import { readMainThreadMs } from '../../support/waited-ms.js';

const TOOLS = 10_000;
const PAGE = 2_500;
const MAX_TURN_MS = 50;
/** All digests together take longer than one turn may. */
const MIN_TOTAL_MS = 2 * MAX_TURN_MS;

function writePage(page: number, version: number): string {
  const tools = Array.from({ length: PAGE }, (_, index) => ({
    name: `change_part_${page * PAGE + index}`,
    description: `Changes a part of an order, version ${version}. `.repeat(2),
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, amount: { type: 'number' }, at: {} },
      required: ['text'],
    },
  }));
  const next = (page + 1) * PAGE < TOOLS && { nextCursor: `${page + 1}` };
  return JSON.stringify({ tools, ...next });
}

/** A session whose server lists pages that are there already, so that only the host works. */
function createSession(pages: () => readonly string[]): Session {
  const session: Pick<Session, 'ended' | 'offers' | 'createExchange' | 'request'> = {
    ended: new Promise(() => {}),
    offers: () => true,
    createExchange: () => new Exchange({ maxResponseBytes: 1 }),
    request: async ({ params }) => pages()[Number(params['cursor'] ?? 0)] ?? '',
  };
  return session as Session;
}

/** The CPU time of the main thread: of the dearest turn of the event loop, and of all. */
async function measureTurns(work: Promise<void>): Promise<{ dearestMs: number; totalMs: number }> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  const startedAt = readMainThreadMs(process.pid);
  let dearestMs = 0;
  for (let before = startedAt; !isOver; ) {
    await nextTurn();
    const now = readMainThreadMs(process.pid);
    dearestMs = Math.max(dearestMs, now - before);
    before = now;
  }
  await ended;
  return { dearestMs, totalMs: readMainThreadMs(process.pid) - startedAt };
}

describe('the list of a server with 10,000 tools', () => {
  it('is read and compared in many turns, also when all of them have changed', async () => {
    let pages: readonly string[] = [];
    const watch = new ToolWatch(
      createSession(() => pages),
      createRecordedLog().log,
      () => {},
    );
    for (let version = 0; version < 3; version += 1) {
      pages = Array.from({ length: TOOLS / PAGE }, (_, page) => writePage(page, version));
      const { dearestMs, totalMs } = await measureTurns(watch.refresh());
      expect(watch.problem).to.equal(null);
      expect(watch.size).to.equal(TOOLS);
      expect(totalMs).to.be.above(MIN_TOTAL_MS);
      expect(dearestMs).to.be.below(MAX_TURN_MS * slowness());
    }
  });

  it('has few lines in the log when all of its tools have changed', async () => {
    const { log, lines } = createRecordedLog();
    const pins = new ToolPins({ isEnforced: true, log, calls: { add() {} } });
    const digest = `sha256:${'0'.repeat(64)}`;
    pins.replace(
      Array.from({ length: TOOLS }, (_, index) => {
        const tool = `change_part_${index}`;
        return { declared: { path: `/tools/${tool}` }, options: { tool, digest } } as never;
      }),
    );
    const pages = Array.from({ length: TOOLS / PAGE }, (_, page) => writePage(page, 0));
    const session = createSession(() => pages);
    await new ToolWatch(session, log, (tools) => pins.compare(tools)).refresh();
    expect(pins.facts()).to.have.lengthOf(99);
    expect(lines).to.have.lengthOf(101);
    expect(lines.at(-1)?.fields).to.deep.equal({ others: TOOLS - 100 });
  });
});
