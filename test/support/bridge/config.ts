import type { ConfigField, Manifest } from '../../../core/contract/index.js';
import type { EchoProvider } from '../echo-provider.js';
import {
  askBridge,
  type BridgeAnswer,
  createDescriptor,
  createManifest,
  type DescriptorMembers,
  httpProvider,
  type Listening,
} from './bridge.js';

export const CONFIG = 'conf.config';
export const DELIVERY_PATH = '/_config';

/** The manifest of a module with these config fields, delivered to `DELIVERY_PATH`. */
export function configManifest(
  fields: readonly ConfigField[],
  members: Partial<Manifest> = {},
): Manifest {
  return createManifest('conf', {
    capabilities: [CONFIG],
    config: {
      read_capability: CONFIG,
      write_capability: CONFIG,
      fields,
      delivery_path: DELIVERY_PATH,
    },
    ...members,
  });
}

export function configDescriptor(
  url: string,
  fields: readonly ConfigField[],
  members: DescriptorMembers = {},
): object {
  const provider = httpProvider(url);
  return createDescriptor('conf', configManifest(fields), [CONFIG, 'conf.undeclared'], {
    provider,
    ...members,
  });
}

interface FieldStatus {
  readonly service: string;
  readonly key: string;
  readonly desired_value: unknown;
  readonly editable: boolean;
  readonly pending_restart: boolean;
  readonly redacted: boolean;
  readonly value_type: unknown;
  readonly revision: number;
}

export function askValues(host: Listening, permission = CONFIG): Promise<BridgeAnswer> {
  return askBridge(host, { module: 'conf', permission, payload: { operation: 'config_values' } });
}

/** The fields of `config_values`, by key. @throws unless it is a 200. */
export async function readValues(host: Listening): Promise<Record<string, FieldStatus>> {
  const answer = await askValues(host);
  if (answer.status !== 200) throw new Error(answer.text);
  const { data } = answer.data as { data: FieldStatus[] };
  return Object.fromEntries(data.map((field) => [field.key, field]));
}

export function askWrite(
  host: Listening,
  key: string,
  value: unknown,
  service = 'conf',
  more: object = {},
): Promise<BridgeAnswer> {
  const payload = { operation: 'config_write', service, key, value, ...more };
  return askBridge(host, { module: 'conf', permission: CONFIG, payload });
}

/** @throws unless it is a 200. */
export async function writeValue(host: Listening, key: string, value: unknown): Promise<void> {
  const answer = await askWrite(host, key, value);
  if (answer.status !== 200) throw new Error(answer.text);
}

interface Delivery {
  readonly revision: number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The requests to `DELIVERY_PATH`, accepted or not. */
export function readDeliveries({ requests }: Pick<EchoProvider, 'requests'>): Delivery[] {
  return requests
    .filter(({ target }) => target === DELIVERY_PATH)
    .map(({ body }) => JSON.parse(body.toString()) as Delivery);
}
