import { defineAdapter } from '../../core/contract/index.js';
import { type LocalConfig, localConfig } from './config.js';
import { importModule } from './import-module.js';
import { createLocalProvider } from './provider.js';

/** Kind `local`: a module that is a file beside the descriptor and runs in the host's process. */
export const localAdapter = defineAdapter({
  kind: 'local',
  config: localConfig,
  supports: { manifest: true, admin: true, configure: true },
  open: async ({ file: name }: LocalConfig, context) => {
    const path = context.path(name);
    const module = await importModule({ name, path, bytes: context.file(name) });
    const { close } = module;
    if (close !== undefined) context.scope.defer(() => close());
    return createLocalProvider(module, context);
  },
});
