import { expect } from 'chai';
import { ATTACK_CORPUS } from '../../core/selftest/attack-corpus.js';
import { type OwnHost, startOwnHost } from '../../core/selftest/own-host.js';
import { runAttacks } from '../../core/selftest/run-attacks.js';
import { requireOwn } from '../../core/selftest/scene.js';
import { aimAt } from '../support/selftest/aim-at.js';
import { FINDINGS } from '../support/selftest/findings.js';
import { startWeakenedHost, WEAKENED_HOSTS } from '../support/selftest/weakened-hosts.js';
import { WEAKENED_WEBSOCKETS } from '../support/selftest/weakened-websockets.js';

const CASES = new Set(FINDINGS.flatMap(({ cases }) => cases));
/**
 * They take seconds, or use up what one address or actor may in a minute, so they run against a proxy that weakens
 * nothing, and the weakened host that is for them.
 */
const RARE =
  /^(?:neighbors-(?:flood|unread|schema|actor-rate)|guard-failures|console-oidc-.+|slow-long-.+|mcp-approval-.+|websocket-(?:unread-.+|head-(?:endless|provider)))$/;
/** Attacks on WebSockets are many and concern the hosts alone that are weak there. */
const concerns = (weakened: string, id: string) =>
  weakened in WEAKENED_WEBSOCKETS === id.startsWith('websocket-');
const ATTACKS = ATTACK_CORPUS.filter(({ id }) => CASES.has(id));

describe('attacks for the findings of reviews', function () {
  this.timeout(120_000);
  let own: OwnHost;

  before(async () => {
    own = await startOwnHost();
  });

  after(() => own.close());

  /** @returns the cases that the weakened host fails */
  const attack = async (weakened: string, rare: readonly string[]): Promise<string[]> => {
    const attacks = ATTACKS.filter(
      ({ id }) => rare.includes(id) || (!RARE.test(id) && concerns(weakened, id)),
    );
    const { provider, sockets, introspection, exchange, candidate, ...rest } = requireOwn(
      own.scene,
    );
    const { bystander, signIn, bounded, secrets } = rest;
    const ports = {
      host: own.scene.address.port,
      provider: provider.port,
      sockets: sockets.port,
      introspection: introspection.port,
      exchange: exchange.port,
      candidate: candidate.port,
      bystander: bystander.port,
      issuer: Number(new URL(signIn.issuer).port),
      secret: secrets[0] ?? '',
    };
    const proxy = await startWeakenedHost(weakened, ports);
    const second = await startWeakenedHost(weakened, { ...ports, host: bounded.port });
    try {
      const results = await runAttacks(attacks, aimAt(own.scene, proxy.port, second.port));
      return results.filter(({ verdict }) => verdict !== 'held').map((one) => one.attack.id);
    } finally {
      await proxy.close();
      await second.close();
    }
  };

  it('all exist, and each weakened host is for one of them', () => {
    expect(ATTACKS.map(({ id }) => id)).to.have.members([...CASES]);
    const used = FINDINGS.map(({ weakened }) => weakened);
    expect(['is not weakened', ...used]).to.have.members(WEAKENED_HOSTS);
  });

  it('hold through a proxy that weakens nothing', async () => {
    expect(await attack('is not weakened', [...CASES])).to.deep.equal([]);
  });

  for (const { subject, cases, weakened } of FINDINGS) {
    it(`find ${subject}, in a host that ${weakened}, and nothing else there`, async () => {
      expect(await attack(weakened, cases)).to.have.members(cases);
    });
  }
});
