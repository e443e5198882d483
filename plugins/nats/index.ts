import type { Plugin } from '../../core/contract/index.js';
import { natsAdapter } from './nats-adapter.js';

export default { adapters: [natsAdapter] } satisfies Plugin;
