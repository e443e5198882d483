import {
  ATTACK_CLASSES,
  type Attack,
  type AttackCase,
  type RejectedAttack,
  type Verdict,
} from './attack-case.js';
import { GUARD_CASES } from './cases/guard.js';
import { HEAD_CASES } from './cases/heads.js';
import { PATH_CASES } from './cases/path.js';
import { PLANE_CASES } from './cases/plane.js';
import { SLOW_CASES } from './cases/slow.js';
import { SMUGGLING_CASES } from './cases/smuggling.js';
import { TIMING_CASES } from './cases/timing.js';
import { expectRejected } from './expectations.js';
import { craftRequest } from './request-bytes.js';
import type { Scene } from './scene.js';

/** A head that is slow takes this many times as long as a short one. */
const SLOW_FACTOR = 10;
const SHORT = { path: '/%2F' };

export const ATTACKS: readonly Attack[] = [
  ...PATH_CASES,
  ...GUARD_CASES,
  ...SMUGGLING_CASES,
  ...TIMING_CASES,
  ...HEAD_CASES,
  ...PLANE_CASES,
  ...SLOW_CASES,
];

/** The attacks that need modules and providers of their own. Tests run them against each release. */
export const RELEASE_ATTACKS = 839;

export const ATTACK_CORPUS = ATTACKS.map((attack) => classifyAttack(attack, ATTACK_CLASSES));

/** The id of an attack begins with its class. @throws Error for another id. */
export function classifyAttack<Target extends Scene>(
  attack: Attack<Target>,
  classes: Readonly<Record<string, string>>,
): AttackCase<Target> {
  const name = Object.keys(classes).find((prefix) => attack.id.startsWith(`${prefix}-`));
  if (name === undefined) throw new Error(`the attack ${attack.id} has no class`);
  if ('attack' in attack) return { ...attack, class: name };
  return { ...attack, class: name, attack: (scene) => attackRejected(attack, scene) };
}

async function attackRejected<Target extends Scene>(
  { send, rejected, closes = false, times = 1, withinMs }: RejectedAttack<Target>,
  scene: Target,
): Promise<Verdict> {
  const sent = typeof send === 'function' ? send(scene) : send;
  const bytes = Buffer.isBuffer(sent) ? sent : craftRequest(scene, sent);
  let tookMs = 0;
  let shortMs = 0;
  for (let time = 0; time < times; time += 1) {
    const from = performance.now();
    const failure = await expectRejected(scene, bytes, [rejected].flat(), closes);
    if (failure !== null) return failure;
    const until = performance.now();
    tookMs += until - from;
    if (withinMs === undefined) continue;
    // On a busy machine each request takes long.
    await expectRejected(scene, craftRequest(scene, SHORT), [404], false);
    shortMs += performance.now() - until;
    if (tookMs > Math.max(withinMs, SLOW_FACTOR * shortMs)) return `took ${Math.round(tookMs)} ms`;
  }
  return null;
}
