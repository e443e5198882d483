import type { AttackCase } from './attack-case.js';
import { BODY_CASES } from './cases/body.js';
import { BRIDGE_CASES } from './cases/bridge.js';
import { CONSOLE_CASES } from './cases/console.js';
import { GUARD_CASES } from './cases/guard.js';
import { HEADER_CASES } from './cases/headers.js';
import { JWT_CASES } from './cases/jwt.js';
import { NEIGHBOR_CASES } from './cases/neighbors.js';
import { ORDER_CASES } from './cases/order.js';
import { PATH_CASES } from './cases/path.js';
import { PLANE_CASES } from './cases/plane.js';
import { PROVIDER_CASES } from './cases/provider.js';
import { RAW_MODE_CASES } from './cases/raw-mode.js';
import { SLOW_CASES } from './cases/slow.js';
import { SMUGGLING_CASES } from './cases/smuggling.js';
import { SYMLINK_CASES } from './cases/symlinks.js';
import { TIMING_CASES } from './cases/timing.js';
import { TRACE_CASES } from './cases/trace.js';
import { WEB_CASES } from './cases/web.js';

/** All attacks of `modgate selftest`. */
export const ATTACK_CORPUS: readonly AttackCase[] = [
  ...PATH_CASES,
  ...GUARD_CASES,
  ...JWT_CASES,
  ...SMUGGLING_CASES,
  ...ORDER_CASES,
  ...HEADER_CASES,
  ...TRACE_CASES,
  ...PROVIDER_CASES,
  ...RAW_MODE_CASES,
  ...BODY_CASES,
  ...PLANE_CASES,
  ...BRIDGE_CASES,
  ...CONSOLE_CASES,
  ...NEIGHBOR_CASES,
  ...TIMING_CASES,
  ...SYMLINK_CASES,
  ...WEB_CASES,
  ...SLOW_CASES,
];
