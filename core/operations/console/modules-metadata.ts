import { injectable } from '../../injection.js';
import { hideSensitiveDefaults } from '../status/list-manifests.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { ModulesMetadataPayload } from './bridge-payload.js';

/** Lists the manifests of all live modules by `module_id`, without the defaults of sensitive fields. */
@injectable()
export class ModulesMetadata implements BridgeOperation<ModulesMetadataPayload> {
  isDeclared(_payload: ModulesMetadataPayload, { module, permission }: BridgeCall): boolean {
    return module.manifest.capabilities.includes(permission);
  }

  async execute(_payload: ModulesMetadataPayload, { generation }: BridgeCall): Promise<Buffer> {
    const modules = [...generation.values()]
      .sort(
        (a, b) => compare(a.manifest.module_id, b.manifest.module_id) || compare(a.name, b.name),
      )
      .map(({ manifest }) => hideSensitiveDefaults(manifest));
    return toJsonBytes({ modules });
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
