import { expect } from 'chai';
import { ATTACK_CORPUS, type OwnCase, runAttacks } from '../../attacks/corpus.js';
import { type OwnHost, startOwnHost } from '../../attacks/own-host.js';
import { createRecording } from '../../attacks/weak/recorded-texts.js';
import { WEAKENED_WEBSOCKETS } from '../../attacks/weak/services.js';
import { startWeakenedHost, WEAKENED_HOSTS } from '../../attacks/weak/weakened-hosts.js';
import type { WeakenedHost } from '../../attacks/weak/weakness.js';

const CASES = new Set(Object.values(WEAKENED_HOSTS).flatMap(({ attacks }) => attacks));
/**
 * These cases take seconds, or use up a limit of one minute. They run only against a proxy that
 * weakens nothing, and against their own weakened host.
 */
const RARE =
  /^(?:neighbors-(?:flood|unread|schema|actor-rate)|guard-failures|slow-long-.+|mcp-approval-.+|websocket-(?:unread-.+|head-(?:endless|provider)))$/;
/** Attacks on WebSockets concern the hosts alone that are weak there. */
const concerns = (weakened: string, id: string) =>
  weakened in WEAKENED_WEBSOCKETS === id.startsWith('websocket-');
const ATTACKS = ATTACK_CORPUS.filter(({ id }) => CASES.has(id));

describe('attacks that once succeeded', () => {
  const recording = createRecording();
  let host: OwnHost;
  /** The cases that fail through proxies that weaken nothing. */
  let unsound: readonly string[];
  /** The cases that fail in weakened hosts whose attacks wait. */
  const beside = new Map<string, Promise<string[]>>();

  before(async () => {
    host = await startOwnHost();
    const usual = ATTACKS.filter(({ id }) => !RARE.test(id));
    const rare = ATTACKS.filter(({ id }) => RARE.test(id));
    unsound = [
      ...(await listFailing(() => recording.weakness, recording.follow(usual))),
      ...(await listFailing(() => ({}), rare)),
    ];
    for (const [name, { waits }] of Object.entries(WEAKENED_HOSTS)) {
      if (!waits) continue;
      const failing = listFailingIn(name);
      failing.catch(() => {});
      beside.set(name, failing);
    }
  });

  after(() => host.close());

  const listFailing = async (
    weaken: WeakenedHost['weaken'],
    attacks: readonly OwnCase[],
  ): Promise<string[]> => {
    const { scene } = host;
    const { provider, sockets, introspection, candidate, bystander } = scene;
    const weakness = () =>
      weaken({
        ...{ host: scene.address.port, provider: provider.port, sockets: sockets.port },
        ...{ introspection: introspection.port, candidate: candidate.port },
        ...{ bystander: bystander.port, secret: scene.secrets[0] ?? '' },
      });
    const proxies = [
      await startWeakenedHost(weakness(), scene.address.port),
      await startWeakenedHost(weakness(), scene.bounded.port),
    ];
    const [address, bounded] = proxies.map(({ port }) => ({ host: '127.0.0.1', port }));
    try {
      const results = await runAttacks(attacks, {
        ...scene,
        ...(address && { address }),
        ...(bounded && { bounded }),
      });
      return results.filter(({ verdict }) => verdict !== 'held').map(({ attack }) => attack.id);
    } finally {
      for (const proxy of proxies) await proxy.close();
    }
  };

  /** Lists the attacks that fail against a weakened host. */
  const listFailingIn = async (name: string): Promise<string[]> => {
    const weakened = WEAKENED_HOSTS[name];
    if (weakened === undefined) throw new Error(`no weakened host ${name}`);
    const all = await recording.listTouched(weakened);
    const touched = all.filter((id) => concerns(name, id));
    expect(touched).to.include.members(weakened.attacks.filter((id) => !RARE.test(id)));
    const attacks = ATTACKS.filter(
      ({ id }) => weakened.attacks.includes(id) || touched.includes(id),
    );
    return listFailing(
      weakened.weaken,
      attacks.map((attack) => ({ ...attack, ...(weakened.waits && { isSlow: true }) })),
    );
  };

  it('exist, each of them', () => {
    expect(ATTACKS.map(({ id }) => id)).to.have.members([...CASES]);
  });

  it('hold through a proxy that weakens nothing', () => {
    expect(unsound).to.deep.equal([]);
  });

  for (const [name, { attacks }] of Object.entries(WEAKENED_HOSTS)) {
    it(`succeed in a host that ${name}: ${attacks.length}, and no other`, async () => {
      const failing = await (beside.get(name) ?? listFailingIn(name));
      expect(failing).to.have.members(attacks);
    });
  }
});
