import { expect } from 'chai';
import { ATTACKS, classifyAttack, RELEASE_ATTACKS } from '../../core/selftest/attack-corpus.js';
import type { AttackResult } from '../../core/selftest/run-attacks.js';
import { ATTACK_CLASSES } from './attack.js';
import { ATTACK_CORPUS, OWN_ATTACKS, type OwnCase, runAttacks } from './corpus.js';
import { type OwnHost, startOwnHost } from './own-host.js';
import { startCarelessConsole } from './weak/careless-console.js';
import {
  startLeakingHost,
  startNaiveGateway,
  startRudeHost,
  startSluggishHost,
} from './weak/naive-gateway.js';
import type { WeakHost } from './weak/weak-host.js';

/** These attacks require that the host serves something. */
const NEED_SERVICE =
  /^(?:(?:jwt|jwt-role|tls)-good|mount-served|cross-module-(?:config-)?granted|slow-(?:crowd|pipeline|abort))$/;
/** The naive gateway passes these. Another test has weakened hosts in which they succeed. */
const PASSED_NAIVELY =
  /^(?:candidate-.+|mount-(?!served$).+|websocket-.+|neighbors-breaker|smuggling-(?:connect|garbage)-behind)$/;

function weakHostOf({ id }: OwnCase): string {
  if (NEED_SERVICE.test(id)) return 'host that closes every connection';
  return id.startsWith('console-') ? 'careless console' : 'naive gateway';
}

/** Rejected cases of a class differ in their requests alone, so the first one stands for them. */
const WEAKLY_ATTACKED = ATTACK_CORPUS.filter((attack) => {
  if (PASSED_NAIVELY.test(attack.id)) return false;
  const isSame = (other: OwnCase) => other.class === attack.class && other.kind === attack.kind;
  return attack.kind !== 'rejected' || attack === ATTACK_CORPUS.find(isSame);
});

/** Weak hosts are attacked by several at once, since nothing is measured there. */
function splitInLanes(attacks: readonly OwnCase[]): OwnCase[][] {
  return [0, 1, 2, 3].map((lane) => attacks.filter((_, index) => index % 4 === lane));
}

describe('attack corpus', function () {
  this.timeout(600_000);
  let host: OwnHost;
  const results = new Map<string, AttackResult>();

  const weakResults: AttackResult[] = [];
  const weak: WeakHost[] = [];

  const attackWeak = (attacks: readonly OwnCase[], { port }: WeakHost) => {
    const address = { host: '127.0.0.1', port };
    return runAttacks(attacks, { ...host.scene, address, bounded: address });
  };
  const start = async (starting: Promise<WeakHost>) => {
    const started = await starting;
    weak.push(started);
    return started;
  };

  before(async () => {
    host = await startOwnHost();
    const hosts = {
      'naive gateway': await start(startNaiveGateway(host.endpoints)),
      'host that closes every connection': await start(startRudeHost()),
      'careless console': await start(startCarelessConsole()),
    };
    const runWeak = async (attacks: readonly OwnCase[]) => {
      const runs = Object.entries(hosts).flatMap(([name, weakHost]) => {
        const ofHost = attacks.filter((one) => weakHostOf(one) === name);
        return splitInLanes(ofHost).map((lane) => attackWeak(lane, weakHost));
      });
      weakResults.push(...(await Promise.all(runs)).flat());
    };
    // These wait for deadlines, which takes no time beside the attacks on the host.
    const slow = runWeak(WEAKLY_ATTACKED.filter(({ isSlow }) => isSlow));
    for (const result of await runAttacks(ATTACK_CORPUS, host.scene)) {
      results.set(result.attack.id, result);
    }
    await runWeak(WEAKLY_ATTACKED.filter(({ isSlow }) => !isSlow));
    await slow;
  });

  after(async () => {
    await Promise.all(weak.map((one) => one.close()));
    await host.close();
  });

  it('has a case for every class and unique ids', () => {
    expect(new Set(ATTACK_CORPUS.map(({ id }) => id)).size).to.equal(ATTACK_CORPUS.length);
    const classes = new Set(ATTACK_CORPUS.map((attack) => attack.class));
    expect([...classes].sort()).to.deep.equal(Object.keys(ATTACK_CLASSES).sort());
  });

  it('is counted by modgate selftest, as far as it needs a host of its own', () => {
    expect(RELEASE_ATTACKS).to.equal(OWN_ATTACKS.length);
  });

  it('leaves no stack and no secret in the log', () => {
    const secrets = [...host.scene.secrets, ...Object.values(host.scene.tokens)];
    // Tokens are among the subprotocols of handshakes too.
    const encoded = secrets.map((secret) => Buffer.from(secret).toString('base64url'));
    for (const secret of [...secrets, ...encoded]) expect(host.output()).not.to.include(secret);
    // Modules are rejected: for plugins with code outside their folders, and for a password in a URL.
    const lines = host.output().split('\n');
    const errors = lines.filter((line) => /"level":"(error|fatal)"/.test(line));
    expect(errors.filter((line) => !line.endsWith('"msg":"module changed"}'))).to.deep.equal([]);
  });

  for (const { id, title } of ATTACK_CORPUS) {
    it(`blocks ${id}: ${title}`, () => {
      expect(results.get(id)?.reason).to.equal(null);
      expect(results.get(id)?.verdict).to.equal('held');
    });
  }

  describe('run against a weak host', () => {
    for (const name of new Set(WEAKLY_ATTACKED.map((one) => one.class))) {
      it(`fails there, with each kind of attack of the class ${name}`, () => {
        const ofClass = weakResults.filter((result) => result.attack.class === name);
        const ids = WEAKLY_ATTACKED.filter((one) => one.class === name).map(({ id }) => id);
        const failed = ofClass.filter(({ verdict }) => verdict === 'failed');
        expect(failed.map((result) => result.attack.id)).to.have.members(ids);
        // Attacks on a console without a way to sign in prove nothing.
        const reasons = failed.map(({ reason }) => reason).join('\n');
        expect(reasons).not.to.match(/failed to run|the sign-in responded/);
      });
    }

    it('fails for a host whose response time reveals a token', async () => {
      const leaking = await start(startLeakingHost(host.scene.token ?? ''));
      const attacks = ATTACK_CORPUS.filter((one) => one.class === 'timing');
      const reasons = (await attackWeak(attacks, leaking)).map(({ reason }) => reason);
      expect(reasons).to.have.length(2);
      for (const reason of reasons) expect(reason).to.match(/^took .+ ms instead of .+ ms$/);
    });

    it('fails for a host that rejects slowly', async () => {
      const sluggish = await start(startSluggishHost(2000));
      const [slow] = ATTACKS.filter(({ id }) => id.startsWith('redos-'));
      if (slow === undefined || !('withinMs' in slow)) throw new Error('no attack with a deadline');
      const hurried = {
        ...classifyAttack({ ...slow, withinMs: 50 }, ATTACK_CLASSES),
        kind: 'rejected',
      };
      const [result] = await attackWeak([hurried as OwnCase], sluggish);
      expect(result?.reason).to.match(/^took \d+ ms$/);
    });
  });
});
