import { injectable } from '../../injection.js';
import { compareTexts } from '../../lib/compare-texts.js';
import { hideSensitiveDefaults } from '../status/list-manifests.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';

type Payload = BridgePayloads['modules_metadata'];

/** Lists the manifests of all live modules by `module_id`, without the defaults of sensitive fields. */
@injectable()
export class ModulesMetadata implements BridgeOperation<Payload> {
  isDeclared(_payload: Payload, { module, permission }: BridgeCall): boolean {
    return module.manifest.capabilities.includes(permission);
  }

  async execute(_payload: Payload, { generation }: BridgeCall): Promise<Buffer> {
    const modules = [...generation.values()]
      .sort(
        (a, b) =>
          compareTexts(a.manifest.module_id, b.manifest.module_id) || compareTexts(a.name, b.name),
      )
      .map(({ manifest }) => hideSensitiveDefaults(manifest));
    return toJsonBytes({ modules });
  }
}
