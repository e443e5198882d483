import { defineAdapter, type OpenContext, type Provider } from '../../core/contract/index.js';
import { readEnvironment } from '../shared/environment-config.js';
import { DEFAULT_MEMORY_MB, type LocalConfig, localConfig } from './config.js';
import { importModule } from './import-module.js';
import { createLocalProvider } from './provider.js';
import { openThreadProvider } from './thread-provider.js';

/** Kind `local`: a module in a file next to the descriptor, which runs in the host's process. */
export const localAdapter = defineAdapter({
  kind: 'local',
  config: localConfig,
  supports: { manifest: true, admin: true, configure: true, perProcess: true },
  open: (config: LocalConfig, context) =>
    config.isolation === 'none' ? openInHost(config, context) : openThread(config, context),
});

/** In the host's own thread, for code that is as trusted as the host. */
async function openInHost({ file: name }: LocalConfig, context: OpenContext): Promise<Provider> {
  const path = context.path(name);
  const module = await importModule({ name, path, bytes: context.file(name) });
  const { close } = module;
  if (close !== undefined) context.scope.defer(() => close());
  return createLocalProvider(module, context);
}

function openThread(
  { file, memory_mb, env }: LocalConfig,
  context: OpenContext,
): Promise<Provider> {
  const { module, log, stateDir, scope } = context;
  const options = {
    module,
    log,
    memoryMb: memory_mb ?? DEFAULT_MEMORY_MB,
    env: readEnvironment(env, context.secret),
    start: { name: file, path: context.path(file), stateDir },
  };
  return openThreadProvider(options, scope);
}
