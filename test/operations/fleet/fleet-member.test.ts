import { expect } from 'chai';
import { FleetMember } from '../../../core/operations/fleet/fleet-member.js';
import type { ModuleList } from '../../../core/operations/status/module-overview.js';
import type { FleetHostStore, Heartbeat } from '../../../core/store/fleet-hosts.js';
import { silent } from '../../store/backend.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { createFolder } from '../../support/temporary-folder.js';

/** Only changes cause heartbeats within a test. */
const HEARTBEAT_MS = 3_600_000;
const EVERY_MS = 5;

describe('heartbeats of a host', () => {
  let state: string;
  let member: FleetMember;
  let beats: Heartbeat[];
  let change: () => void;
  /** The promise that a heartbeat waits for. */
  let blocked: Promise<void>;
  let storeTime: () => number;
  let stored: { startedAt: string; isComplete: boolean };
  let removed: string[];
  let warnings: object[];
  let list: ModuleList;

  beforeEach(async () => {
    state = createFolder();
    beats = [];
    blocked = Promise.resolve();
    storeTime = Date.now;
    stored = { startedAt: 'first', isComplete: true };
    removed = [];
    warnings = [];
    const log = { ...silent, warn: (fields: object) => void warnings.push(fields) };
    list = { modules: [], ignored: [], workers: 1 };
    const hosts = {
      beat: async (beat: Heartbeat) => {
        beats.push(beat);
        await blocked;
        return { at: new Date(storeTime()).toISOString(), ...stored };
      },
      list: async () => [],
      remove: async (_fleet: string, _id: string, startedAt: string) =>
        void removed.push(startedAt),
    } as unknown as FleetHostStore;
    member = new FleetMember({
      ...{ fleet: 'shop', version: '0.1.0', stateDir: state, hosts, log },
      overview: { read: async () => list },
      leadership: { leads: true, onChange: () => () => {} },
      unreadyReason: () => null,
      onChange: (listener) => {
        change = listener;
        return () => {};
      },
      onList: () => {},
      heartbeatMs: HEARTBEAT_MS,
    });
    await untilBeats(1);
  });
  afterEach(() => {
    member.close();
  });

  const untilBeats = (count: number) =>
    waitUntil(`${count} heartbeats`, () => beats.length >= count);

  it('come soon after a change, also after one during a heartbeat', async () => {
    let end = () => {};
    blocked = new Promise((resolve) => {
      end = resolve;
    });
    change();
    await untilBeats(2);
    change();
    end();
    await untilBeats(3);
  });

  it('come while changes follow each other without end', async () => {
    let changes = 0;
    const changing = setInterval(() => {
      changes += 1;
      change();
    }, EVERY_MS);
    try {
      await untilBeats(3);
    } finally {
      clearInterval(changing);
    }
    // A pause of a busy machine would let a heartbeat through as well.
    expect(changes).to.be.below(1000);
  });

  it('come until all workers have followed a change', async () => {
    const waiting = { name: 'crm', file: 'crm.json', state: 'waiting', config_digest: null };
    list = { ...list, workers: 2, modules: [waiting as unknown as ModuleList['modules'][number]] };
    change();
    await untilBeats(3);
    list = { ...list, modules: [] };
    await waitUntil('the report', () => beats.at(-1)?.rejected.length === 0);
    expect(beats[1]?.rejected).to.deep.equal(['crm']);
  });

  it('send again what the host serves when the list has lost it', async () => {
    change();
    await untilBeats(2);
    expect(beats[1]?.serves).to.equal(null);
    stored = { startedAt: 'later', isComplete: false };
    change();
    await untilBeats(3);
    stored = { startedAt: 'later', isComplete: true };
    change();
    await untilBeats(4);
    expect(beats[3]?.serves).to.deep.equal([]);
    await member.leave();
    expect(removed).to.deep.equal(['later']);
    expect(warnings).to.deep.equal([]);
  });

  it('warn of another host with the same id, which stays in the list', async () => {
    stored = { startedAt: 'later', isComplete: true };
    change();
    await waitUntil('the warning', () => warnings.length > 0);
    expect(warnings[0])
      .to.have.property('id')
      .matches(/^host_/);
    await member.leave();
    expect(removed).to.deep.equal(['first']);
  });

  it('warn of no failure once the host stops', async () => {
    let fail = (_error: Error) => {};
    blocked = new Promise((_resolve, reject) => {
      fail = reject;
    });
    change();
    await untilBeats(2);
    const left = member.leave();
    fail(new Error('the store is closed'));
    await left;
    expect(warnings).to.deep.equal([]);
  });

  it('warn of a failure', async () => {
    storeTime = () => {
      throw new Error('the store is closed');
    };
    change();
    await waitUntil('the warning', () => warnings.length === 1);
  });

  it('warn of a clock that differs from that of the store', async () => {
    expect(member.clockSkewMs).to.be.within(-1000, 1000);
    expect(warnings).to.deep.equal([]);
    const now = Date.now();
    storeTime = () => now - 60_000;
    change();
    await waitUntil('the warning', () => warnings.length > 0);
    expect(warnings[0]).to.have.property('skew_ms').within(60_000, 70_000);
    expect(member.clockSkewMs).to.be.within(60_000, 70_000);
  });
});
