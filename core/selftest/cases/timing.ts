import type { Attack } from '../attack-case.js';
import { sendOnce } from '../expectations.js';

const ROUNDS = 150;
/** Far longer than a comparison of some bytes, but shorter than the noise of a machine. */
const NOISE_MS = 1;
const NOISE_SHARE = 0.5;

export const TIMING_CASES: readonly Attack[] = [
  compare('prefix', 'a token with a correct prefix takes as long as any other', (token) => [
    `${token.slice(0, -1)}~`,
    token.replaceAll(/[^-]/g, '~'),
  ]),
  compare('length', 'a token of the correct length takes as long as a short one', (token) => [
    token.replaceAll(/[^-]/g, '~'),
    '~',
  ]),
];

function compare(
  name: string,
  title: string,
  pair: (token: string) => readonly [string, string],
): Attack {
  return {
    id: `timing-${name}`,
    title,
    attack: async (scene) => {
      const [one, other] = pair(scene.token ?? '');
      const took: [number[], number[]] = [[], []];
      // Alternates, so that other load affects both.
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, token] of [one, other].entries()) {
          const from = performance.now();
          await sendOnce(scene, { token }, 401);
          took[index]?.push(performance.now() - from);
        }
      }
      const [first, second] = took.map(findUndisturbed) as [number, number];
      const allowed = Math.max(NOISE_MS, NOISE_SHARE * Math.min(first, second));
      return Math.abs(first - second) <= allowed
        ? null
        : `took ${first.toFixed(2)} ms instead of ${second.toFixed(2)} ms`;
    },
  };
}

/** Uses the fastest tenth, because other load only adds time. A leak delays every response. */
function findUndisturbed(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 10)] ?? 0;
}
