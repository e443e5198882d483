import type { Plugin } from '../../core/contract/index.js';
import { httpAdapter } from './http-adapter.js';
import { unixAdapter } from './unix-adapter.js';

export default { adapters: [httpAdapter, unixAdapter] } satisfies Plugin;
