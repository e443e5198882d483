import { expect } from 'chai';
import { CallTable } from '../../../core/observability/calls/call-table.js';
import { createEmptyCall, type KeptCall } from '../../../core/observability/completed-request.js';
import { createKept } from '../../support/observability/completed.js';

const KEPT = createKept(1);
const NAMES = Object.keys(createEmptyCall()) as (keyof KeptCall)[];

/** A call whose members all differ, and have a value. */
const FULL: KeptCall = {
  ...(Object.fromEntries(NAMES.map((name) => [name, `text of ${name}`])) as unknown as KeptCall),
  at: Date.UTC(2026, 10, 28),
  request_id: 'r'.repeat(128),
  correlation_id: 'c'.repeat(128),
  trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
  status: 502,
  duration_ms: 1.234,
  provider_ms: 0.001,
  attempts: 3,
  bytes_in: 2 ** 40,
  bytes_out: 0,
  frames_in: 4,
  frames_out: 5,
  close_code: 1000,
  scopes: new Set(['crm.read']),
};

describe('table of calls', () => {
  it('returns every member of every call, in the order of the declaration', () => {
    const table = new CallTable(3);
    for (const [place, call] of [KEPT, FULL, KEPT].entries()) table.write(place, call);
    expect(table.read(0)).to.deep.equal(KEPT);
    expect(table.read(1)).to.deep.equal(FULL);
    expect(Object.keys(table.read(1))).to.deep.equal(NAMES);
    expect(table.read(2)).to.deep.equal(KEPT);
  });

  it('returns single members', () => {
    const table = new CallTable(2);
    table.write(0, KEPT);
    table.write(1, FULL);
    for (const name of NAMES) {
      expect(table.get(0, name), name).to.deep.equal(KEPT[name]);
      expect(table.get(1, name), name).to.deep.equal(FULL[name]);
    }
  });

  it('overwrites a place completely', () => {
    const table = new CallTable(1);
    table.write(0, FULL);
    table.write(0, KEPT);
    expect(table.read(0)).to.deep.equal(KEPT);
  });
});
