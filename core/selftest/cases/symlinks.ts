import type { AttackCase } from '../attack-case.js';
import { expectRejected } from '../expectations.js';
import { craftRequest } from '../request-bytes.js';
import { requireOwn } from '../scene.js';

/** Modules of the own host whose plugin's entry leads out of the plugin's folder; that code calls the bystander. */
export const SYMLINK_CASES: readonly AttackCase[] = [
  reject('entry', 'a plugin whose entry is a link out of its folder', 'linked'),
  reject('dots', 'a plugin whose entry is named with two dots', 'dotted'),
];

function reject(name: string, title: string, module: string): AttackCase {
  return {
    id: `symlinks-${name}`,
    class: 'symlinks',
    title,
    evidence: 'Traefik CVE-2025-54386',
    needs: 'own',
    attack: async (scene) => {
      const target = `/modules/${module}/http/items`;
      const refused = await expectRejected(scene, craftRequest(scene, { target }), {
        statuses: [404],
      });
      // At the start already: the code is run when a descriptor names its kind.
      const hasRun = requireOwn(scene).bystander.seen.some((seen) => seen.target === '/outside');
      return refused ?? (hasRun ? 'the code outside was run' : null);
    },
  };
}
