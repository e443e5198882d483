import { randomUUID } from 'node:crypto';
import type { AttackCase, Verdict } from './attack-case.js';
import { AttackFailure, expectStillServing } from './expectations.js';
import type { Scene } from './scene.js';

export interface AttackResult {
  readonly attack: AttackCase;
  readonly verdict: 'held' | 'failed' | 'skipped';
  /** The reason why the case failed or was skipped; `null` for `held`. */
  readonly reason: string | null;
}

/**
 * Runs the cases in sequence, because some measure time or fill the limits of the host. Slow cases
 * run concurrently. @returns the results in the order of the cases.
 */
export async function runAttacks(
  attacks: readonly AttackCase[],
  scene: Scene,
): Promise<AttackResult[]> {
  const runs = attacks.map((attack) => ({ attack, scene: markScene(scene, attack) }));
  const results = new Map<AttackCase, AttackResult>();
  const run = async ({ attack, scene }: (typeof runs)[number]) => {
    results.set(attack, await runAttack(attack, scene));
  };
  const slow = Promise.all(runs.filter(({ attack }) => attack.isSlow).map(run));
  for (const attempt of runs) if (!attempt.attack.isSlow) await run(attempt);
  await slow;
  return runs.flatMap(({ attack, scene: { lateChecks } }) => {
    const result = results.get(attack);
    return result === undefined ? [] : checkLate(result, lateChecks);
  });
}

function markScene(scene: Scene, attack: AttackCase): Scene {
  return { ...scene, mark: `${attack.id}.${randomUUID()}`, lateChecks: [] };
}

function checkLate(result: AttackResult, lateChecks: Scene['lateChecks']): AttackResult {
  if (result.verdict !== 'held') return result;
  for (const check of lateChecks) {
    const reason = check();
    if (reason !== null) return { ...result, verdict: 'failed', reason };
  }
  return result;
}

async function runAttack(attack: AttackCase, scene: Scene): Promise<AttackResult> {
  const missing = findMissingNeed(attack, scene);
  if (missing !== null) return { attack, verdict: 'skipped', reason: missing };
  const reason = await checkAttack(attack, scene);
  return { attack, verdict: reason === null ? 'held' : 'failed', reason };
}

async function checkAttack(attack: AttackCase, scene: Scene): Promise<Verdict> {
  try {
    return (await attack.attack(scene)) ?? (await expectStillServing(scene));
  } catch (error) {
    if (error instanceof AttackFailure) return error.message;
    return `the attack failed to run: ${(error as Error).message.slice(0, 200)}`;
  }
}

function findMissingNeed({ needs }: AttackCase, { own, token }: Scene): string | null {
  if (needs === 'own' && own === null) return 'needs a host that the selftest starts';
  if (needs !== 'nothing' && token === null) return 'needs --token and --route';
  return null;
}
