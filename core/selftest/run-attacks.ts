import type { AttackCase, Verdict } from './attack-case.js';
import { expectStillServing } from './expectations.js';
import type { Scene } from './scene.js';

export interface AttackResult {
  readonly attack: AttackCase;
  readonly verdict: 'held' | 'failed' | 'skipped';
  /** Why the case failed or was skipped; `null` for `held`. */
  readonly reason: string | null;
}

/**
 * Runs the cases in sequence, because they count the provider's requests. Slow cases, which do not, run in
 * parallel. @returns the results in the order of the cases.
 */
export async function runAttacks(
  attacks: readonly AttackCase[],
  scene: Scene,
  onResult: (result: AttackResult) => void = () => {},
): Promise<AttackResult[]> {
  const results = new Map<AttackCase, AttackResult>();
  const run = async (attack: AttackCase) => {
    const result = await runAttack(attack, scene);
    results.set(attack, result);
    onResult(result);
  };
  const slow = Promise.all(attacks.filter(({ isSlow }) => isSlow).map(run));
  for (const attack of attacks) if (!attack.isSlow) await run(attack);
  await slow;
  return attacks.flatMap((attack) => results.get(attack) ?? []);
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
    return `the attack failed to run: ${(error as Error).message.slice(0, 200)}`;
  }
}

function findMissingNeed({ needs }: AttackCase, { own, token }: Scene): string | null {
  if (needs === 'own' && own === null) return 'needs a host that the selftest starts';
  if (needs !== 'nothing' && token === null) return 'needs --token and --route';
  return null;
}
