import {
  ATTACK_CLASSES,
  type Attack,
  type AttackCase,
  type AttackClass,
  type Verdict,
} from './attack-case.js';
import { AGENT_CASES } from './cases/agents.js';
import { BODY_CASES } from './cases/bodies/body.js';
import { BOUNDS_CASES } from './cases/bodies/bounds.js';
import { LONG_BODY_CASES } from './cases/bodies/long-bodies.js';
import { SLOW_CASES } from './cases/bodies/slow.js';
import { SLOW_BODY_CASES } from './cases/bodies/slow-bodies.js';
import { STREAM_CASES } from './cases/bodies/streams.js';
import { BRIDGE_CASES } from './cases/bridge.js';
import { CACHE_CASES } from './cases/cache.js';
import { CANDIDATE_CASES } from './cases/candidate.js';
import { CONSOLE_CASES } from './cases/console.js';
import { EXCHANGE_CASES } from './cases/exchange.js';
import { GUARD_CASES } from './cases/guard.js';
import { HEADER_CASES } from './cases/headers.js';
import { JWT_CASES } from './cases/jwt.js';
import { MOUNT_CASES } from './cases/mounts.js';
import { NAME_CASES } from './cases/names.js';
import { NEIGHBOR_CASES } from './cases/neighbors.js';
import { ORDER_CASES } from './cases/order.js';
import { PATH_CASES } from './cases/path.js';
import { PLANE_CASES } from './cases/plane.js';
import { PROVIDER_CASES } from './cases/provider.js';
import { RAW_MODE_CASES } from './cases/raw-mode.js';
import { RELEASE_CASES } from './cases/releases.js';
import { SIGN_IN_CASES } from './cases/sign-in.js';
import { SMUGGLING_CASES } from './cases/smuggling.js';
import { SYMLINK_CASES } from './cases/symlinks.js';
import { TIMING_CASES } from './cases/timing.js';
import { TRACE_CASES } from './cases/trace.js';
import { WEB_CASES } from './cases/web.js';
import { WEBSOCKET_CASES } from './cases/websockets.js';
import { expectForwarded, expectRejected } from './expectations.js';
import { craftRequest } from './request-bytes.js';
import type { Scene } from './scene.js';

const ATTACKS: readonly Attack[] = [
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
  ...SIGN_IN_CASES,
  ...NEIGHBOR_CASES,
  ...CACHE_CASES,
  ...CANDIDATE_CASES,
  ...BOUNDS_CASES,
  ...RELEASE_CASES,
  ...TIMING_CASES,
  ...SYMLINK_CASES,
  ...WEB_CASES,
  ...AGENT_CASES,
  ...SLOW_CASES,
  ...SLOW_BODY_CASES,
];

export const ATTACK_CORPUS: readonly AttackCase[] = ATTACKS.map(classifyAttack);

/** The id of an attack begins with its class. */
function classifyAttack(attack: Attack): AttackCase {
  const names = Object.keys(ATTACK_CLASSES) as AttackClass[];
  const name = names.find((prefix) => attack.id.startsWith(`${prefix}-`));
  if (name === undefined) throw new Error(`the attack ${attack.id} has no class`);
  const run = (scene: Scene) => runAttack(attack, scene);
  return { ...attack, class: name, needs: attack.needs ?? 'own', attack: run };
}

async function runAttack(attack: Attack, scene: Scene): Promise<Verdict> {
  if ('attack' in attack) return attack.attack(scene);
  const sent = typeof attack.send === 'function' ? attack.send(scene) : attack.send;
  const bytes = Buffer.isBuffer(sent) ? sent : craftRequest(scene, sent);
  if ('forwarded' in attack) {
    return expectForwarded(scene, bytes, (recorded, response) =>
      attack.forwarded(recorded, response, scene),
    );
  }
  const { rejected, closes = false } = attack;
  const isHead = !Buffer.isBuffer(sent) && sent.method === 'HEAD';
  return expectRejected(scene, bytes, { statuses: [rejected].flat(), closes, isHead });
}
