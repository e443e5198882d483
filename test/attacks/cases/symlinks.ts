import type { Attack } from '../attack.js';
import { craftRequest, expectRejected } from '../expectations.js';

/** Modules with a plugin entry outside its folder. That code calls the bystander. */
export const SYMLINK_CASES: readonly Attack[] = [
  reject('entry', 'a plugin entry that is a link out of its folder', 'linked'),
  reject('dots', 'a plugin entry with two dots', 'dotted'),
];

function reject(name: string, title: string, module: string): Attack {
  return {
    id: `symlinks-${name}`,
    title,
    evidence: 'Traefik CVE-2025-54386',
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: `/modules/${module}/http/items` });
      const failure = await expectRejected(scene, bytes, [404]);
      // Includes the startup of the host, which imports the plugins of its descriptors.
      const hasRun = scene.bystander.requests.some(({ target }) => target === '/outside');
      return failure ?? (hasRun ? 'the code outside the folder was executed' : null);
    },
  };
}
