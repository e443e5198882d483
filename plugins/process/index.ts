import type { Plugin } from '../../core/contract/index.js';
import { processAdapter } from './process-adapter.js';

export default { adapters: [processAdapter] } satisfies Plugin;
