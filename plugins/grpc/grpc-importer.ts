import { object, optional, string } from 'superstruct';
import { defineImporter } from '../../core/contract/index.js';

/** Makes routes of what a server or a descriptor set describes. */
export const grpcImporter = defineImporter({
  name: 'grpc',
  options: object({ ca: optional(string()), auth: optional(string()) }),
  read: async (source, options, context) => {
    const { importServices } = await import('./import/import-services.js');
    return importServices(source, options, context);
  },
});
