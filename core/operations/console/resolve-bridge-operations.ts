import type { DependencyContainer } from 'tsyringe';
import { resolveHandler } from '../../injection.js';
import { AdminActionInvoke } from './admin-action-invoke.js';
import { AdminDataList } from './admin-data-list.js';
import type { BridgeOperations } from './bridge-operation.js';
import { ConfigValues } from './config-values.js';
import { ConfigWrite } from './config-write.js';
import { ContributionsResolve } from './contributions-resolve.js';
import { ModulesMetadata } from './modules-metadata.js';

export function resolveBridgeOperations(container: DependencyContainer): BridgeOperations {
  return {
    admin_data_list: resolveHandler(container, AdminDataList),
    admin_action_invoke: resolveHandler(container, AdminActionInvoke),
    config_values: resolveHandler(container, ConfigValues),
    config_write: resolveHandler(container, ConfigWrite),
    contributions_resolve: resolveHandler(container, ContributionsResolve),
    modules_metadata: resolveHandler(container, ModulesMetadata),
  };
}
