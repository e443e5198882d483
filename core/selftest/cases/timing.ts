import type { AttackCase, Verdict } from '../attack-case.js';
import { sendOnce } from '../expectations.js';
import { craftRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';

const ROUNDS = 150;
/** What a comparison of some bytes takes is far below this, and what a machine does by itself above. */
const NOISE_MS = 1;
const NOISE_SHARE = 0.5;

export const TIMING_CASES: readonly AttackCase[] = [
  compare('prefix', 'a token that is right but for its end takes as long as any other', (token) => [
    `${token.slice(0, -1)}~`,
    token.replaceAll(/[^-]/g, '~'),
  ]),
  compare('length', 'a token of the right length takes as long as a short one', (token) => [
    token.replaceAll(/[^-]/g, '~'),
    '~',
  ]),
];

function compare(
  name: string,
  title: string,
  pair: (token: string) => readonly [string, string],
): AttackCase {
  return {
    id: `timing-${name}`,
    class: 'timing',
    title,
    needs: 'token',
    attack: async (scene) => {
      const [one, other] = pair(scene.token ?? '');
      const took: [number[], number[]] = [[], []];
      // In turns: whatever else the machine does hits both.
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, token] of [one, other].entries()) {
          const from = performance.now();
          const refused = await expectRejected(scene, token);
          if (refused !== null) return refused;
          took[index]?.push(performance.now() - from);
        }
      }
      const [first, second] = took.map(median) as [number, number];
      const allowed = Math.max(NOISE_MS, NOISE_SHARE * Math.min(first, second));
      return Math.abs(first - second) <= allowed
        ? null
        : `took ${first.toFixed(2)} ms beside ${second.toFixed(2)} ms`;
    },
  };
}

async function expectRejected(scene: Scene, token: string): Promise<Verdict> {
  const answer = await sendOnce(scene, craftRequest(scene, { token }));
  if (typeof answer === 'string') return answer;
  return answer.status === 401 ? null : `answered ${answer.status} instead of 401`;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
