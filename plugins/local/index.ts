import type { Plugin } from '../../core/contract/index.js';
import { localAdapter } from './local-adapter.js';

export default { adapters: [localAdapter] } satisfies Plugin;
