import type { DependencyContainer } from 'tsyringe';
import { resolveHandler } from '../../injection.js';
import { AdminActionInvoke } from './admin-action-invoke.js';
import { AdminDataList } from './admin-data-list.js';
import type { BridgeOperation, BridgeOperations } from './bridge-operation.js';
import type { BridgeOperationName, BridgePayloads } from './bridge-payload.js';
import { ConfigValues } from './config-values.js';
import { ConfigWrite } from './config-write.js';
import { ContributionsResolve } from './contributions-resolve.js';
import { ModulesMetadata } from './modules-metadata.js';

type OperationClasses = {
  readonly [Name in BridgeOperationName]: new (
    ...args: never[]
  ) => BridgeOperation<BridgePayloads[Name]>;
};

/** One class for each operation; a missing one does not compile. */
const CLASSES = {
  admin_data_list: AdminDataList,
  admin_action_invoke: AdminActionInvoke,
  config_values: ConfigValues,
  config_write: ConfigWrite,
  contributions_resolve: ContributionsResolve,
  modules_metadata: ModulesMetadata,
} satisfies OperationClasses;

export function resolveBridgeOperations(container: DependencyContainer): BridgeOperations {
  return {
    admin_data_list: resolveHandler(container, CLASSES.admin_data_list),
    admin_action_invoke: resolveHandler(container, CLASSES.admin_action_invoke),
    config_values: resolveHandler(container, CLASSES.config_values),
    config_write: resolveHandler(container, CLASSES.config_write),
    contributions_resolve: resolveHandler(container, CLASSES.contributions_resolve),
    modules_metadata: resolveHandler(container, CLASSES.modules_metadata),
  };
}
