import { expect } from 'chai';
import {
  type ApprovalStore,
  createApprovalStore,
  type Decision,
  type StoredApproval,
} from '../../core/store/approvals.js';
import { BACKENDS, useBackend } from './backend.js';

const NOON = Date.parse('2026-01-31T12:00:00.000Z');
const TEN_MINUTES_MS = 600_000;
const AUDIT = { permission: 'shop.write', requestId: 'req_1', correlationId: 'cor_1' };
const ANN = { kind: 'user', id: 'ann' } as const;

interface Decided {
  readonly outcome: string;
  readonly approval: StoredApproval;
}

for (const kind of BACKENDS) {
  describe(`approvals on ${kind.name}`, () => {
    const backend = useBackend(kind);
    let approvals: ApprovalStore;
    let now: number;

    beforeEach(async () => {
      now = NOON;
      await (await backend.open()).close();
      const database = await backend.openDatabase();
      const audited = { ...database, digest: async () => null };
      approvals = createApprovalStore(
        (work) => work(audited),
        () => now,
      );
    });

    const request = (binding: string, { id = 'agent', module = 'shop', version = '1' } = {}) =>
      approvals.request(
        {
          ...{ kind: 'call', module, operation: 'add', binding, version, content: '{}' },
          ...{ actor_kind: 'service', actor_id: id },
        },
        AUDIT,
      );
    const ask = async (...args: Parameters<typeof request>) => {
      const result = await request(...args);
      if (result.outcome !== 'pending') throw new Error(result.outcome);
      return result.approval.id;
    };
    const APPROVE = { decision: 'approve' } as const;
    const decide = (id: string, decision: Decision = APPROVE) =>
      approvals.decide(id, decision, ANN, AUDIT).then(({ outcome }) => outcome);
    const reject = (id: string, reason: string | null = null) =>
      decide(id, { decision: 'reject', reason });

    it('are used once', async () => {
      const id = await ask('a');
      expect(await ask('a')).to.equal(id);
      expect(await decide(id)).to.equal('decided');
      const requests = await Promise.all([request('a'), request('a')]);
      expect(requests.map(({ outcome }) => outcome).sort()).to.deep.equal(['approved', 'pending']);
      expect(await decide(id)).to.equal('conflict');
    });

    it('are decided once, by the first decision', async () => {
      const id = await ask('a');
      const results = await Promise.all([decide(id), reject(id)]);
      expect(results.sort()).to.deep.equal(['conflict', 'decided']);
    });

    it('expire ten minutes after the request, approved or not', async () => {
      const [approved, pending] = [await ask('a'), await ask('b')];
      await decide(approved);
      now += TEN_MINUTES_MS;
      expect(await approvals.get(pending)).to.equal(null);
      expect(await decide(pending)).to.equal('unknown');
      expect(await approvals.list(10)).to.deep.equal([]);
      expect(await ask('a')).not.to.equal(approved);
    });

    it('stay rejected, with the reason, until the request would have expired', async () => {
      const id = await ask('a');
      await reject(id, 'the ticket is open');
      const { outcome, approval } = (await request('a')) as Decided;
      expect(outcome).to.equal('rejected');
      expect(approval).to.include({ id, reason: 'the ticket is open' });
      now += TEN_MINUTES_MS;
      expect(await ask('a')).not.to.equal(id);
    });

    it('apply to one version of the module, except rejections', async () => {
      const pending = await ask('a');
      expect(await ask('a', { version: '2' })).not.to.equal(pending);
      await decide(pending);
      expect(await request('a', { version: '3' })).to.include({ outcome: 'pending' });
      await reject(await ask('b'));
      expect(await request('b', { version: '2' })).to.include({ outcome: 'rejected' });
    });

    it('count for their caller while they are rejected', async () => {
      for (let number = 0; number < 20; number += 1) await reject(await ask(`${number}`));
      expect(await request('20')).to.deep.equal({ outcome: 'too_many', of: 'caller' });
      expect(await request('0')).to.include({ outcome: 'rejected' });
      now += TEN_MINUTES_MS;
      await ask('20');
    });

    it('are limited for each caller and each module', async () => {
      for (let number = 0; number < 20; number += 1) await ask(`${number}`);
      expect(await request('20')).to.deep.equal({ outcome: 'too_many', of: 'caller' });
      await ask('20', { id: 'other' });
      for (let number = 21; number < 200; number += 1) await ask(`${number}`, { id: `a${number}` });
      const last = await request('200', { id: 'last' });
      expect(last).to.deep.equal({ outcome: 'too_many', of: 'module' });
      await ask('200', { id: 'last', module: 'crm' });
    });

    it('keep the last approved one and the one with which it was compared', async () => {
      const ids: string[] = [];
      for (const binding of ['a', 'b', 'c']) {
        const id = await ask(binding);
        await decide(id);
        await request(binding);
        ids.push(id);
        now += 1;
      }
      const next = await approvals.get(await ask('d'));
      const previous = next && (await approvals.findPrevious(next));
      expect(previous?.id).to.equal(ids.at(-1));
      const last = await approvals.get(ids.at(-1) ?? '');
      expect(last && (await approvals.findPrevious(last))?.id).to.equal(ids.at(-2));
      const listed = await approvals.list(10);
      expect(listed.map(({ status }) => status)).to.deep.equal(['pending', 'used', 'used']);
    });
  });
}
