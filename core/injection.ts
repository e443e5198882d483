import { type InjectionToken, inject as injectUntyped } from 'tsyringe';
import type { Authenticator } from './contract/index.js';
import type { GenerationSource } from './host/generation-source.js';
import type { BridgeOperations } from './operations/console/bridge-operations.js';
import type { ModuleDocuments } from './operations/explain/explained-request.js';
import type { CallRecords } from './operations/status/call-record.js';
import type { ModuleOverview, ModuleRecords } from './operations/status/list-modules.js';
import type { PluginStatuses } from './operations/status/list-plugins.js';
import type { MetricsSource } from './operations/status/read-metrics.js';
import type { Store } from './store/store.js';

export type Token<T> = InjectionToken<T> & symbol;

function createToken<T>(name: string): Token<T> {
  return Symbol.for(`modgate.${name}`) as Token<T>;
}

export const GENERATIONS = createToken<GenerationSource>('generations');
export const AUTHENTICATORS = createToken<readonly Authenticator[]>('authenticators');
export const BRIDGE_OPERATIONS = createToken<BridgeOperations>('bridge-operations');
export const MODULE_DOCUMENTS = createToken<ModuleDocuments>('module-documents');
export const CALL_RECORDS = createToken<CallRecords>('call-records');
export const METRICS = createToken<MetricsSource>('metrics');
export const MODULE_OVERVIEW = createToken<ModuleOverview>('module-overview');
export const MODULE_RECORDS = createToken<ModuleRecords>('module-records');
export const PLUGINS = createToken<PluginStatuses>('plugins');
export const STORE = createToken<Store>('store');

/** tsyringe's `inject`, with a token that does not fit its parameter being a compile error. */
export function inject<T>(token: Token<T>) {
  return <C extends abstract new (...args: never[]) => unknown, I extends number>(
    target: C & (T extends ConstructorParameters<C>[I] ? unknown : never),
    propertyKey: undefined,
    index: I,
  ): void => injectUntyped(token)(target, propertyKey, index);
}
