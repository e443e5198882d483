import type { Plugin } from '../../core/contract/index.js';
import { mcpAdapter } from './mcp-adapter.js';

export default { adapters: [mcpAdapter] } satisfies Plugin;
