import { expect } from 'chai';
import { ATTACK_CORPUS } from '../../core/selftest/attack-corpus.js';
import { type OwnHost, startOwnHost } from '../../core/selftest/own-host.js';
import { runAttacks } from '../../core/selftest/run-attacks.js';
import { requireOwn } from '../../core/selftest/scene.js';
import { FINDINGS } from '../support/selftest/findings.js';
import { startWeakenedHost, WEAKENED_HOSTS } from '../support/selftest/weakened-hosts.js';

const CASES = new Set(FINDINGS.flatMap(({ cases }) => cases));
/** They take seconds, and run against two hosts only. */
const LARGE: readonly string[] = ['neighbors-flood', 'neighbors-unread'];
const ATTACKS = ATTACK_CORPUS.filter(({ id }) => CASES.has(id));

describe('attacks for the findings of reviews', function () {
  this.timeout(120_000);
  let own: OwnHost;

  before(async () => {
    own = await startOwnHost();
  });

  after(() => own.close());

  /** @returns the cases that the weakened host fails */
  const attack = async (weakened: string, withLarge: boolean): Promise<string[]> => {
    const attacks = ATTACKS.filter(({ id }) => withLarge || !LARGE.includes(id));
    const { provider, introspection } = requireOwn(own.scene);
    const host = own.scene.address.port;
    const ports = { host, provider: provider.port, introspection: introspection.port };
    const proxy = await startWeakenedHost(weakened, ports);
    try {
      const address = { host: '127.0.0.1', port: proxy.port };
      const results = await runAttacks(attacks, { ...own.scene, address });
      return results.filter(({ verdict }) => verdict !== 'held').map((one) => one.attack.id);
    } finally {
      await proxy.close();
    }
  };

  it('all exist, and each weakened host is for one of them', () => {
    expect(ATTACKS.map(({ id }) => id)).to.have.members([...CASES]);
    const used = FINDINGS.map(({ weakened }) => weakened);
    expect(['is not weakened', ...used]).to.have.members(WEAKENED_HOSTS);
  });

  it('hold through a proxy that weakens nothing', async () => {
    expect(await attack('is not weakened', true)).to.deep.equal([]);
  });

  for (const { subject, cases, weakened } of FINDINGS) {
    it(`find ${subject}, in a host that ${weakened}, and nothing else there`, async () => {
      const withLarge = cases.some((id) => LARGE.includes(id));
      expect(await attack(weakened, withLarge)).to.have.members(cases);
    });
  }
});
