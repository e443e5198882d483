import type { DependencyContainer } from '../../injection.js';
import { AdminActionInvoke } from './admin-action-invoke.js';
import { AdminDataList } from './admin-data-list.js';
import { BRIDGE_OPERATIONS } from './bridge-operation.js';
import { ConfigValues } from './config-values.js';
import { ConfigWrite } from './config-write.js';
import { ContributionsResolve } from './contributions-resolve.js';
import { ModulesMetadata } from './modules-metadata.js';

const OPERATIONS = [
  AdminDataList,
  AdminActionInvoke,
  ConfigValues,
  ConfigWrite,
  ContributionsResolve,
  ModulesMetadata,
];

/** Lets the container build the operations of the console bridge. */
export function registerBridgeOperations(container: DependencyContainer): void {
  for (const operation of OPERATIONS) {
    container.register(BRIDGE_OPERATIONS, { useClass: operation });
  }
}
