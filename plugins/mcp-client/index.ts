import type { Plugin } from '../../core/contract/index.js';
import { mcpImporter } from './importer.js';
import { mcpAdapter } from './mcp-adapter.js';

export default { adapters: [mcpAdapter], importers: [mcpImporter] } satisfies Plugin;
