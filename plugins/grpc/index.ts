import type { Plugin } from '../../core/contract/index.js';
import { grpcAdapter } from './grpc-adapter.js';

export default { adapters: [grpcAdapter] } satisfies Plugin;
