import type { AttackCase, Verdict } from './attack-case.js';
import { expectAlive } from './expectations.js';
import type { Scene } from './scene.js';

export interface AttackResult {
  readonly attack: AttackCase;
  readonly verdict: 'held' | 'failed' | 'skipped';
  /** What the host did wrong, or what a skipped case lacks. `null` where it held. */
  readonly reason: string | null;
}

/**
 * Runs one after the other, since a case is judged by what the provider saw meanwhile; the slow ones, which
 * are not, run beside them. Results in the order of the cases.
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
  const lack = findLack(attack, scene);
  if (lack !== null) return { attack, verdict: 'skipped', reason: lack };
  const reason = await checkAttack(attack, scene);
  return { attack, verdict: reason === null ? 'held' : 'failed', reason };
}

async function checkAttack(attack: AttackCase, scene: Scene): Promise<Verdict> {
  try {
    return (await attack.attack(scene)) ?? (await expectAlive(scene));
  } catch (error) {
    return `the attack could not be made: ${(error as Error).message.slice(0, 200)}`;
  }
}

function findLack({ needs }: AttackCase, { own, token }: Scene): string | null {
  if (needs === 'own' && own === null) return 'needs a host that the selftest starts itself';
  if (needs !== 'nothing' && token === null) return 'needs --token and --route';
  return null;
}
