import type { Plugin } from '../../core/contract/index.js';
import { grpcAdapter } from './grpc-adapter.js';
import { grpcImporter } from './grpc-importer.js';

export default { adapters: [grpcAdapter], importers: [grpcImporter] } satisfies Plugin;
