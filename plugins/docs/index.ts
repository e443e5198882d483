import type { Plugin } from '../../core/contract/index.js';
import { docsSurface } from './docs-surface.js';

export default { surfaces: [docsSurface] } satisfies Plugin;
