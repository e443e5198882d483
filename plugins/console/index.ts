import type { Plugin } from '../../core/contract/index.js';
import { consoleSurface } from './console-surface.js';

export default { surfaces: [consoleSurface] } satisfies Plugin;
