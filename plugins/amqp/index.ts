import type { Plugin } from '../../core/contract/index.js';
import { amqpAdapter } from './amqp-adapter.js';

export default { adapters: [amqpAdapter] } satisfies Plugin;
