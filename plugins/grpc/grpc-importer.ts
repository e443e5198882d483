import { enums, object, optional, string } from 'superstruct';
import { defineImporter } from '../../core/contract/index.js';

/** Makes routes of what a server, a descriptor set, or `.proto` files describe. */
export const grpcImporter = defineImporter({
  name: 'grpc',
  options: object({
    ca: optional(string()),
    auth: optional(string()),
    'proto-path': optional(string()),
    capabilities: optional(enums(['each', 'readwrite'])),
  }),
  read: async (source, options, context) => {
    const { importServices } = await import('./import/import-services.js');
    return importServices(source, options, context);
  },
});
