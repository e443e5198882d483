import { injectable } from '../../injection.js';
import { compareTexts } from '../../lib/compare-texts.js';
import { holdsPermission } from '../authorization.js';
import { hideSensitiveDefaults } from '../status/list-manifests.js';
import { type BridgeCall, type BridgeOperation, toJsonBytes } from './bridge-operation.js';
import type { BridgePayloads } from './bridge-payload.js';

type Payload = BridgePayloads['modules_metadata'];

/** Holders of this scope see every module. */
const EVERY_MODULE = 'modgate.modules.read';

/**
 * Lists the manifests of the live modules in which the caller holds a capability, by `module_id`, without the
 * defaults of sensitive fields.
 */
@injectable()
export class ModulesMetadata implements BridgeOperation<Payload> {
  readonly name = 'modules_metadata';

  isDeclared(_payload: Payload, { module, permission }: BridgeCall): boolean {
    return module.manifest.capabilities.includes(permission);
  }

  async execute(_payload: Payload, { generation, request }: BridgeCall): Promise<Buffer> {
    const { actor } = request;
    const seesAll = holdsPermission(actor, EVERY_MODULE);
    const modules = [...generation.values()]
      .filter(
        ({ manifest }) =>
          seesAll || manifest.capabilities.some((capability) => holdsPermission(actor, capability)),
      )
      .sort(
        (a, b) =>
          compareTexts(a.manifest.module_id, b.manifest.module_id) || compareTexts(a.name, b.name),
      )
      .map(({ manifest }) => hideSensitiveDefaults(manifest));
    return toJsonBytes({ modules });
  }
}
