import { expect } from 'chai';
import type { CallContext } from '../../../core/contract/index.js';
import type { OpenSession } from '../../../plugins/mcp-client/session-slot.js';
import { SessionSlots } from '../../../plugins/mcp-client/session-slots.js';

const MAX_ACTORS = 64;
const IDLE_MS = 600_000;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** Fake sessions, on a clock that the test moves. */
function createSlots() {
  const ended: string[] = [];
  let opened = 0;
  const slots = new SessionSlots({
    isShared: false,
    log: LOG,
    open: async (_signal, readContext) => {
      opened += 1;
      const id = readContext()?.actor?.id ?? '';
      let end: (reason: string) => void = () => {};
      const session = {
        version: '2025-11-25',
        ended: new Promise<string>((resolve) => {
          end = resolve;
        }),
        end: async (reason: string) => {
          ended.push(id);
          end(reason);
        },
      };
      return { session, tools: { size: 0 } } as unknown as OpenSession;
    },
  });
  const contextOf = (id: string) => ({ actor: { kind: 'user', id } }) as unknown as CallContext;
  const call = (id: string, during: () => Promise<void> = async () => {}) =>
    slots.find(contextOf(id)).use(contextOf(id), new AbortController().signal, during);
  return { slots, ended, call, opened: () => opened };
}

describe('sessions of actors', () => {
  const { now } = performance;
  let passedMs = 0;
  before(() => {
    performance.now = () => now.call(performance) + passedMs;
  });
  beforeEach(() => {
    passedMs = 0;
  });
  after(() => {
    performance.now = now;
  });

  it('end after ten idle minutes, when another actor needs the place', async () => {
    const { slots, ended, call } = createSlots();
    for (let index = 0; index < MAX_ACTORS; index += 1) await call(`actor-${index}`);
    passedMs = IDLE_MS - 60_000;
    await call('actor-7');
    expect(() => slots.find({ actor: { kind: 'user', id: 'new' } } as never)).to.throw(/64 actors/);
    passedMs = IDLE_MS + 1_000;
    await call('new');
    expect(ended)
      .to.have.length(MAX_ACTORS - 1)
      .and.not.include('actor-7');
    await slots.close();
    expect(ended).to.have.length(MAX_ACTORS + 1);
  });

  it('do not end during a call, however long it is', async () => {
    const { slots, ended, call } = createSlots();
    let finish: () => void = () => {};
    const long = call('actor-0', () => new Promise((resolve) => (finish = resolve)));
    for (let index = 1; index < MAX_ACTORS; index += 1) await call(`actor-${index}`);
    passedMs = 2 * IDLE_MS;
    await call('new');
    expect(ended)
      .to.have.length(MAX_ACTORS - 1)
      .and.not.include('actor-0');
    finish();
    await long;
    await slots.close();
  });

  it('start again for an actor whose session has ended', async () => {
    const { slots, call, opened } = createSlots();
    for (let index = 0; index < MAX_ACTORS; index += 1) await call(`actor-${index}`);
    passedMs = IDLE_MS + 1_000;
    await call('new');
    const before = opened();
    await call('actor-0');
    expect(opened()).to.equal(before + 1);
    await slots.close();
  });
});
