import type { AttackCase } from './attack-case.js';
import { BODY_CASES } from './cases/body.js';
import { GUARD_CASES } from './cases/guard.js';
import { HEADER_CASES } from './cases/headers.js';
import { JWT_CASES } from './cases/jwt.js';
import { PATH_CASES } from './cases/path.js';
import { PLANE_CASES } from './cases/plane.js';
import { PROVIDER_CASES } from './cases/provider.js';
import { SLOW_CASES } from './cases/slow.js';
import { SMUGGLING_CASES } from './cases/smuggling.js';
import { SYMLINK_CASES } from './cases/symlinks.js';
import { TIMING_CASES } from './cases/timing.js';

/** All attacks of `modgate selftest`. */
export const ATTACK_CORPUS: readonly AttackCase[] = [
  ...PATH_CASES,
  ...GUARD_CASES,
  ...JWT_CASES,
  ...SMUGGLING_CASES,
  ...HEADER_CASES,
  ...PROVIDER_CASES,
  ...BODY_CASES,
  ...PLANE_CASES,
  ...TIMING_CASES,
  ...SYMLINK_CASES,
  ...SLOW_CASES,
];
