import { expect } from 'chai';
import { UNREAD_SOURCE } from '../../core/modules/descriptor-source.js';
import type { ModuleRecord } from '../../core/modules/module-record.js';
import { SlotStatus } from '../../core/modules/slot-status.js';

const REASON = { reason: 'a reason', hint: null };

describe('slot status', () => {
  let published: ModuleRecord[];
  let errors: unknown[];
  let isFaulted: boolean;
  let status: SlotStatus;

  beforeEach(() => {
    published = [];
    errors = [];
    isFaulted = false;
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (...line: unknown[]) => errors.push(line),
    };
    const onRecordChange = (record: ModuleRecord) => published.push(record);
    const source = { ...UNREAD_SOURCE, name: 'crm', textDigest: 'sha256:1' };
    status = new SlotStatus({ log, onRecordChange }, () => {
      return { file: 'crm.yaml', source, serving: null, attempts: 0, isFaulted };
    });
  });

  it('publishes a change once', () => {
    status.apply('rejected', REASON);
    status.apply('rejected', REASON);
    expect(published.map(({ name, state, reason }) => [name, state, reason])).to.deep.equal([
      ['crm', 'refused', 'a reason'],
    ]);
  });

  it('applies the last event of a faulted module after the recovery', () => {
    status.apply('served');
    isFaulted = true;
    status.apply('faulted', REASON);
    status.apply('manifestPending', REASON);
    expect(status.record.state).to.equal('faulted');
    isFaulted = false;
    status.recover();
    expect(published.map(({ state }) => state)).to.deep.equal(['live', 'faulted', 'waiting']);
  });

  it('returns to the state before the fault without another event', () => {
    status.apply('served');
    isFaulted = true;
    status.apply('faulted', REASON);
    isFaulted = false;
    status.recover();
    const { state, reason } = status.record;
    expect({ state, reason }).to.deep.equal({ state: 'live', reason: null });
  });

  it('logs an event that the state does not allow, and keeps the state', () => {
    status.drain();
    status.apply('served');
    expect(status.record.state).to.equal('draining');
    expect(published).to.deep.equal([]);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.have.nested.property('[1]', 'invalid module state transition');
  });
});
