import { expect } from 'chai';
import { type ApprovalStore, createApprovalStore } from '../../core/store/approvals.js';
import { BACKENDS, useBackend } from './backend.js';

const NOON = Date.parse('2026-01-31T12:00:00.000Z');
const TEN_MINUTES_MS = 600_000;
const AUDIT = { permission: 'shop.write', requestId: 'req_1', correlationId: 'cor_1' };
const ANN = { kind: 'user', id: 'ann' } as const;

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

    const request = (binding: string, { id = 'agent', module = 'shop' } = {}) =>
      approvals.request(
        {
          ...{ kind: 'call', module, operation: 'add', binding, content: '{}' },
          ...{ actor_kind: 'service', actor_id: id },
        },
        AUDIT,
      );
    const ask = async (...args: Parameters<typeof request>) => {
      const result = await request(...args);
      if (result.outcome !== 'pending') throw new Error(result.outcome);
      return result.approval.id;
    };
    const decide = (id: string, decision: 'approve' | 'reject' = 'approve') =>
      approvals.decide(id, decision, ANN, AUDIT).then(({ outcome }) => outcome);

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
      const results = await Promise.all([decide(id), decide(id, 'reject')]);
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

    it('are asked for anew after a rejection', async () => {
      const id = await ask('a');
      await decide(id, 'reject');
      expect(await ask('a')).not.to.equal(id);
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

    it('keep the last one that was approved, for comparison', async () => {
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
      const listed = await approvals.list(10);
      expect(listed.map(({ status }) => status)).to.deep.equal(['pending', 'used']);
    });
  });
}
