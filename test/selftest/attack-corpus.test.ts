import { expect } from 'chai';
import { ATTACK_CLASSES } from '../../core/selftest/attack-case.js';
import { ATTACK_CORPUS } from '../../core/selftest/attack-corpus.js';
import { type OwnHost, startOwnHost } from '../../core/selftest/own-host.js';
import { type AttackResult, runAttacks } from '../../core/selftest/run-attacks.js';
import { aimAt } from '../support/selftest/aim-at.js';
import { startCarelessConsole } from '../support/selftest/careless-console.js';
import { FINDINGS } from '../support/selftest/findings.js';
import {
  startLeakingHost,
  startNaiveGateway,
  startRudeHost,
  startSluggishHost,
} from '../support/selftest/naive-gateway.js';
import type { WeakHost } from '../support/selftest/weak-host.js';

/** The vulnerable host that fails a case: the naive gateway, except for these. */
const WEAK_HOSTS: Readonly<Record<string, string>> = {
  // They require service.
  'jwt-good': 'host that closes every connection',
  'mount-served': 'host that closes every connection',
  'jwt-role-good': 'host that closes every connection',
  'tls-good': 'host that closes every connection',
  'cross-module-granted': 'host that closes every connection',
  'cross-module-config-granted': 'host that closes every connection',
  'slow-crowd': 'host that closes every connection',
  'slow-pipeline': 'host that closes every connection',
  'slow-abort': 'host that closes every connection',
};

/** The naive gateway passes these. Another test has weakened hosts that fail them. */
const PASSED_NAIVELY = new Set([
  'neighbors-breaker',
  'smuggling-connect-behind',
  'smuggling-garbage-behind',
  ...ATTACK_CORPUS.flatMap(({ id }) =>
    /^(?:candidate|mount)-/.test(id) && id !== 'mount-served' ? [id] : [],
  ),
  // It knows no WebSockets.
  ...FINDINGS.flatMap(({ cases }) => cases.filter((id) => id.startsWith('websocket-'))),
]);
const ATTACKED = ATTACK_CORPUS.filter(({ id }) => !PASSED_NAIVELY.has(id));

function weakHostOf(id: string): string {
  if (id.startsWith('console-')) return 'careless console';
  return WEAK_HOSTS[id] ?? 'naive gateway';
}

describe('attack corpus', function () {
  this.timeout(180_000);
  let host: OwnHost;
  const results = new Map<string, AttackResult>();

  before(async () => {
    host = await startOwnHost();
    for (const result of await runAttacks(ATTACK_CORPUS, host.scene)) {
      results.set(result.attack.id, result);
    }
  });

  after(() => host.close());

  it('has a case for every class and unique ids', () => {
    expect(new Set(ATTACK_CORPUS.map(({ id }) => id)).size).to.equal(ATTACK_CORPUS.length);
    expect(ATTACK_CORPUS.length).to.be.at.least(600);
    const classes = new Set(ATTACK_CORPUS.map((attack) => attack.class));
    expect([...classes].sort()).to.deep.equal(Object.keys(ATTACK_CLASSES).sort());
  });

  it('skips no case, and leaves no stack and no secret in the log', () => {
    expect([...results.values()].filter(({ verdict }) => verdict === 'skipped')).to.deep.equal([]);
    const { own } = host.scene;
    const secrets = [...(own?.secrets ?? []), ...Object.values(own?.tokens ?? {})];
    expect(secrets).to.have.length.above(7);
    // Tokens are among the subprotocols of handshakes too.
    const encoded = secrets.map((secret) => Buffer.from(secret).toString('base64url'));
    for (const secret of [...secrets, ...encoded]) expect(host.output()).not.to.include(secret);
    // Modules are rejected: for plugins with code outside their folders, and for a password in a URL.
    const errors = host
      .output()
      .split('\n')
      .filter(
        (line) => /"level":"(error|fatal)"/.test(line) && !line.endsWith('"msg":"module changed"}'),
      );
    expect(errors).to.deep.equal([]);
  });

  for (const { id, title } of ATTACK_CORPUS) {
    it(`blocks ${id}: ${title}`, () => {
      expect(results.get(id)?.reason).to.equal(null);
      expect(results.get(id)?.verdict).to.equal('held');
    });
  }

  describe('run against a weakened host', () => {
    const failures = new Map<string, AttackResult>();
    const weak: WeakHost[] = [];

    const attackWeak = async (name: string, weakHost: WeakHost) => {
      weak.push(weakHost);
      const attacks = ATTACKED.filter(({ id }) => weakHostOf(id) === name);
      for (const result of await runAttacks(attacks, aimAt(host.scene, weakHost.port))) {
        failures.set(result.attack.id, result);
      }
    };

    before(async () => {
      const providers = new Map(Object.entries(host.endpoints));
      await attackWeak('naive gateway', await startNaiveGateway(providers));
      await attackWeak('host that closes every connection', await startRudeHost());
      await attackWeak('careless console', await startCarelessConsole());
    });

    after(() => Promise.all(weak.map((gateway) => gateway.close())));

    for (const { id } of ATTACKED) {
      it(`fails for the ${weakHostOf(id)}: ${id}`, () => {
        expect(failures.get(id)?.verdict).to.equal('failed');
        // Attacks on a console without a way to sign in prove nothing.
        expect(failures.get(id)?.reason).not.to.match(/failed to run|the sign-in responded/);
      });
    }

    it('fails for a host whose response time reveals a token', async () => {
      const leaking = await startLeakingHost(host.scene.token ?? '');
      weak.push(leaking);
      const attacks = ATTACK_CORPUS.filter((attack) => attack.class === 'timing');
      const results = await runAttacks(attacks, aimAt(host.scene, leaking.port));
      expect(
        results.map(({ reason }) => /^took .+ ms instead of .+ ms$/.test(reason ?? '')),
      ).to.deep.equal([true, true]);
    });

    it('fails for a host that rejects slowly', async () => {
      const sluggish = await startSluggishHost(6_000);
      weak.push(sluggish);
      const [one] = ATTACK_CORPUS.filter((attack) => attack.class === 'redos');
      const attacks = one === undefined ? [] : [one];
      const [result] = await runAttacks(attacks, aimAt(host.scene, sluggish.port));
      expect(result?.verdict).to.equal('failed');
      expect(result?.reason).to.match(/^took \d+ ms$/);
    });
  });
});
