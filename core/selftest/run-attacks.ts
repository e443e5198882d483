import { randomUUID } from 'node:crypto';
import type { AttackCase, Verdict } from './attack-case.js';
import { AttackFailure, expectStillServing } from './expectations.js';
import type { Scene } from './scene.js';

export interface AttackResult {
  readonly attack: Pick<AttackCase, 'id' | 'class' | 'title' | 'evidence'>;
  readonly verdict: 'held' | 'failed' | 'skipped';
  /** The reason why the case failed or was skipped; `null` for `held`. */
  readonly reason: string | null;
}

/**
 * Runs the cases in sequence, because some measure time or fill the limits of the host. Slow cases
 * run concurrently. @returns the results in the order of the cases.
 */
export async function runAttacks<Target extends Scene>(
  attacks: readonly AttackCase<Target>[],
  scene: Target,
): Promise<AttackResult[]> {
  const results = new Map<AttackCase<Target>, AttackResult>();
  const run = async (attack: AttackCase<Target>) => {
    const marked = { ...scene, mark: `${attack.id}.${randomUUID()}` };
    results.set(attack, await runAttack(attack, marked));
  };
  const slow = Promise.all(attacks.filter(({ isSlow }) => isSlow).map(run));
  for (const attack of attacks) if (!attack.isSlow) await run(attack);
  await slow;
  return attacks.flatMap((attack) => results.get(attack) ?? []);
}

async function runAttack<Target extends Scene>(
  attack: AttackCase<Target>,
  scene: Target,
): Promise<AttackResult> {
  if (scene.token === null && !attack.isAnonymous) {
    return { attack, verdict: 'skipped', reason: 'needs --token and --route' };
  }
  const reason = await checkAttack(attack, scene);
  return { attack, verdict: reason === null ? 'held' : 'failed', reason };
}

async function checkAttack<Target extends Scene>(
  attack: AttackCase<Target>,
  scene: Target,
): Promise<Verdict> {
  try {
    return (await attack.attack(scene)) ?? (await expectStillServing(scene));
  } catch (error) {
    if (error instanceof AttackFailure) return error.message;
    return `the attack failed to run: ${(error as Error).message.slice(0, 200)}`;
  }
}
