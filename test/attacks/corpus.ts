import type { AttackCase } from '../../core/selftest/attack-case.js';
import { classifyAttack, ATTACKS as HOST_ATTACKS } from '../../core/selftest/attack-corpus.js';
import { type AttackResult, runAttacks as runCases } from '../../core/selftest/run-attacks.js';
import { ATTACK_CLASSES, type Attack } from './attack.js';
import { AGENT_CASES } from './cases/agents.js';
import { BODY_CASES } from './cases/body.js';
import { BOUNDS_CASES } from './cases/bounds.js';
import { BRIDGE_CASES } from './cases/bridge.js';
import { BROKER_CASES } from './cases/broker.js';
import { CACHE_CASES } from './cases/cache.js';
import { CANDIDATE_CASES } from './cases/candidate.js';
import { CONSOLE_CASES } from './cases/console.js';
import { EXCHANGE_CASES } from './cases/exchange.js';
import { GUARD_CASES } from './cases/guard.js';
import { HEADER_CASES } from './cases/headers.js';
import { JWT_CASES } from './cases/jwt.js';
import { LONG_BODY_CASES } from './cases/long-bodies.js';
import { MOUNT_CASES } from './cases/mounts.js';
import { NAME_CASES } from './cases/names.js';
import { NEIGHBOR_CASES } from './cases/neighbors.js';
import { ORDER_CASES } from './cases/order.js';
import { PATH_CASES } from './cases/path.js';
import { PLANE_CASES } from './cases/plane.js';
import { PROVIDER_CASES } from './cases/provider.js';
import { RAW_MODE_CASES } from './cases/raw-mode.js';
import { RELEASE_CASES } from './cases/releases.js';
import { SLOW_CASES } from './cases/slow.js';
import { SMUGGLING_CASES } from './cases/smuggling.js';
import { STREAM_CASES } from './cases/streams.js';
import { SURFACE_CASES } from './cases/surfaces.js';
import { SYMLINK_CASES } from './cases/symlinks.js';
import { TOOL_CASES } from './cases/tools.js';
import { TRACE_CASES } from './cases/trace.js';
import { WEB_CASES } from './cases/web.js';
import { WEBSOCKET_CASES } from './cases/websockets.js';
import { expectForwarded, expectUncalled, toBytes } from './expectations.js';
import type { Scene } from './scene.js';

/** The attacks that need a host of their own. */
export const OWN_ATTACKS: readonly Attack[] = [
  ...PATH_CASES,
  ...MOUNT_CASES,
  ...GUARD_CASES,
  ...JWT_CASES,
  ...EXCHANGE_CASES,
  ...SMUGGLING_CASES,
  ...ORDER_CASES,
  ...HEADER_CASES,
  ...TRACE_CASES,
  ...PROVIDER_CASES,
  ...NAME_CASES,
  ...STREAM_CASES,
  ...WEBSOCKET_CASES,
  ...RAW_MODE_CASES,
  ...BODY_CASES,
  ...LONG_BODY_CASES,
  ...PLANE_CASES,
  ...BRIDGE_CASES,
  ...CONSOLE_CASES,
  ...NEIGHBOR_CASES,
  ...CACHE_CASES,
  ...CANDIDATE_CASES,
  ...BOUNDS_CASES,
  ...RELEASE_CASES,
  ...SURFACE_CASES,
  ...SYMLINK_CASES,
  ...WEB_CASES,
  ...AGENT_CASES,
  ...TOOL_CASES,
  ...BROKER_CASES,
  ...SLOW_CASES,
];

/** All attacks, also those of `modgate selftest`. */
export const ATTACK_CORPUS: readonly OwnCase[] = [...HOST_ATTACKS, ...OWN_ATTACKS].map(createCase);

export interface OwnCase extends AttackCase<Scene> {
  /** `rejected` and `forwarded` cases differ in their requests alone. */
  readonly kind: 'rejected' | 'forwarded' | 'scripted';
}

function createCase(attack: Attack): OwnCase {
  if ('attack' in attack) return { ...classifyAttack(attack, ATTACK_CLASSES), kind: 'scripted' };
  const { send, ...head } = attack;
  const craft = (scene: Scene) => toBytes(scene, typeof send === 'function' ? send(scene) : send);
  if ('forwarded' in attack) {
    const run = (scene: Scene) => expectForwarded(scene, craft(scene), attack.forwarded);
    return { ...classifyAttack({ ...head, attack: run }, ATTACK_CLASSES), kind: 'forwarded' };
  }
  const rejected = classifyAttack({ ...attack, send: craft }, ATTACK_CLASSES);
  const run = async (scene: Scene) => (await rejected.attack(scene)) ?? expectUncalled(scene);
  return { ...rejected, attack: run, kind: 'rejected' };
}

/** Runs the cases, and repeats their late checks after all of them. */
export async function runAttacks(
  attacks: readonly AttackCase<Scene>[],
  scene: Scene,
): Promise<AttackResult[]> {
  const checks = new Map<string, Scene['lateChecks']>();
  const watched = attacks.map((attack) => ({
    ...attack,
    attack: (marked: Scene) => {
      const lateChecks: Scene['lateChecks'] = [];
      checks.set(attack.id, lateChecks);
      return attack.attack({ ...marked, lateChecks });
    },
  }));
  const results = await runCases(watched, scene);
  return results.map((result) => {
    if (result.verdict !== 'held') return result;
    const reasons = checks.get(result.attack.id)?.map((check) => check()) ?? [];
    const reason = reasons.find((found) => found !== null);
    return reason === undefined ? result : { ...result, verdict: 'failed', reason };
  });
}
