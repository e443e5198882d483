import { expect } from 'chai';
import type { AttackCase } from '../../../core/selftest/attack-case.js';
import { ATTACK_CORPUS } from '../../../core/selftest/attack-corpus.js';
import { type OwnHost, startOwnHost } from '../../../core/selftest/own-host.js';
import { runAttacks } from '../../../core/selftest/run-attacks.js';
import { requireOwn } from '../../../core/selftest/scene.js';
import { aimAt } from '../../support/selftest/aim-at.js';
import type { Finding } from '../../support/selftest/finding.js';
import { FINDINGS } from '../../support/selftest/findings.js';
import { createRecording } from '../../support/selftest/recorded-texts.js';
import {
  createWeakness,
  startWeakenedHost,
  WEAKENED_HOSTS,
} from '../../support/selftest/weakened-hosts.js';
import { WEAKENED_WEBSOCKETS } from '../../support/selftest/weakened-websockets.js';
import type { Surroundings, Weakness } from '../../support/selftest/weakness.js';

const CASES = new Set(FINDINGS.flatMap(({ cases }) => cases));
/**
 * These cases take seconds, or use up a limit of one minute. They run only against a proxy that
 * weakens nothing, and against their own weakened host.
 */
const RARE =
  /^(?:neighbors-(?:flood|unread|schema|actor-rate)|guard-failures|console-oidc-.+|slow-long-.+|mcp-approval-.+|websocket-(?:unread-.+|head-(?:endless|provider)))$/;
/** Attacks on WebSockets concern the hosts alone that are weak there. */
const concerns = (weakened: string, id: string) =>
  weakened in WEAKENED_WEBSOCKETS === id.startsWith('websocket-');
const ATTACKS = ATTACK_CORPUS.filter(({ id }) => CASES.has(id));

describe('attacks for the findings of reviews', function () {
  this.timeout(120_000);
  const recording = createRecording();
  let host: OwnHost;
  /** The cases that fail through proxies that weaken nothing. */
  let unsound: readonly string[];
  /** The cases that fail in weakened hosts whose attacks wait. */
  const beside = new Map<Finding, Promise<string[]>>();

  before(async () => {
    host = await startOwnHost();
    const usual = ATTACKS.filter(({ id }) => !RARE.test(id));
    const rare = ATTACKS.filter(({ id }) => RARE.test(id));
    unsound = [
      ...(await listFailing(() => recording.weakness, recording.follow(usual))),
      ...(await listFailing((ports) => createWeakness('is not weakened', ports), rare)),
    ];
    for (const finding of FINDINGS.filter(({ waits }) => waits)) {
      const failing = listFailingIn(finding);
      failing.catch(() => {});
      beside.set(finding, failing);
    }
  });

  after(() => host.close());

  const listFailing = async (
    weaken: (ports: Surroundings) => Weakness,
    attacks: readonly AttackCase[],
  ): Promise<string[]> => {
    const { provider, sockets, introspection, exchange, candidate, ...rest } = requireOwn(
      host.scene,
    );
    const { bystander, signIn, bounded, secrets } = rest;
    const ports = {
      host: host.scene.address.port,
      provider: provider.port,
      sockets: sockets.port,
      introspection: introspection.port,
      exchange: exchange.port,
      candidate: candidate.port,
      bystander: bystander.port,
      issuer: Number(new URL(signIn.issuer).port),
      secret: secrets[0] ?? '',
    };
    const proxy = await startWeakenedHost(weaken(ports), ports.host);
    const second = await startWeakenedHost(weaken(ports), bounded.port);
    try {
      const results = await runAttacks(attacks, aimAt(host.scene, proxy.port, second.port));
      return results.filter(({ verdict }) => verdict !== 'held').map((result) => result.attack.id);
    } finally {
      await proxy.close();
      await second.close();
    }
  };

  /** Lists the attacks that fail against the weakened host of a finding. */
  const listFailingIn = async ({ cases, weakened, waits }: Finding): Promise<string[]> => {
    const touched = (await recording.listTouched(weakened)).filter((id) => concerns(weakened, id));
    expect(touched).to.include.members(cases.filter((id) => !RARE.test(id)));
    const attacks = ATTACKS.filter(({ id }) => cases.includes(id) || touched.includes(id));
    return listFailing(
      (ports) => createWeakness(weakened, ports),
      attacks.map((attack) => ({ ...attack, ...(waits && { isSlow: true }) })),
    );
  };

  it('exist, and each weakened host is for one of them', () => {
    expect(ATTACKS.map(({ id }) => id)).to.have.members([...CASES]);
    const used = FINDINGS.map(({ weakened }) => weakened);
    expect(['is not weakened', ...used]).to.have.members(WEAKENED_HOSTS);
  });

  it('hold through a proxy that weakens nothing', () => {
    expect(unsound).to.deep.equal([]);
  });

  for (const finding of FINDINGS) {
    const { subject, cases, weakened } = finding;
    it(`find ${subject}, in a host that ${weakened}, and nothing else there`, async () => {
      const failing = await (beside.get(finding) ?? listFailingIn(finding));
      expect(failing).to.have.members(cases);
    });
  }
});
