import type { Attack } from '../attack.js';
import { craftRequest, expectLimited, expectStatus } from '../expectations.js';
import type { Scene } from '../scene.js';

/** The settings of the second host: their limits are far below the sizes of the attacks. */
export const BOUNDED_ARGS: readonly string[] = [
  ...['--auth-failures', '5'],
  ...['--actor-rate', '1', '--actor-burst', '10'],
];

export const BOUNDS_CASES: readonly Attack[] = [
  {
    id: 'guard-failures',
    title: 'wrong credentials from one address beyond --auth-failures are not checked',
    attack: async (unbounded) => {
      const scene = toBounded(unbounded);
      const target = scene.base + scene.route;
      const guess = (index: number) =>
        craftRequest(scene, { token: `guess-${scene.mark}-${index}` });
      return (
        (await expectStatus(scene, target, 200)) ??
        (await expectLimited(scene, guess, 401)) ??
        (await expectStatus(scene, target, 401, null)) ??
        // The credential was accepted before.
        (await expectStatus(scene, target, 200))
      );
    },
  },
  {
    id: 'neighbors-actor-rate',
    title: 'requests of one actor beyond --actor-rate are rejected, those of others served',
    attack: async (unbounded) => {
      const scene = toBounded(unbounded);
      const request = craftRequest(scene, { as: 'stranger' });
      return (
        (await expectLimited(scene, () => request, 403)) ??
        (await expectStatus(scene, scene.base + scene.route, 200))
      );
    },
  },
];

function toBounded(scene: Scene): Scene {
  const { bounded } = scene;
  return { ...scene, address: bounded, authority: `${bounded.host}:${bounded.port}` };
}
