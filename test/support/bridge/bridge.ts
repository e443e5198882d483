import { createHash } from 'node:crypto';
import type { Manifest } from '../../../core/contract/index.js';
import type { RawHeader, ReceivedResponse } from '../../../core/selftest/raw-http.js';
import type { Problem } from '../http/expect-problem.js';
import { sendRequest } from '../http/send-request.js';

export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** The release and the UI artifact of the grants in these descriptors. */
export const RELEASE = digestOf('release 1');
export const UI = digestOf('console 1');

// Allows for a body of 1 MiB on a slow machine.
const RESPONSE_DEADLINE_MS = 15_000;

/** Valid, but in no descriptor. */
export const UNKNOWN_DIGEST = digestOf('unknown');

/** The part of a host that requests need. */
export interface Listening {
  readonly port: number;
}

export interface BridgeAnswer {
  readonly response: ReceivedResponse;
  readonly status: number;
  readonly text: string;
  /** The value of `data` in the parsed body of a 200. */
  readonly data: unknown;
  /** The parsed body of an error. */
  readonly problem: Problem;
}

export interface BridgeCall {
  /** The module in the path, default `crm`. */
  readonly module?: string;
  readonly permission: string;
  readonly payload: unknown;
  /** Default: a service with the permission as its scope. `null` sends no token. */
  readonly token?: string | null;
  readonly release?: unknown;
  readonly ui?: unknown;
  /** Replaces members of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Default: only `content-type: application/json`. */
  readonly headers?: readonly RawHeader[];
}

export function bridgeTarget(module: string, permission: string): string {
  return `/modules/${module}/http/console-bridge/${permission}`;
}

export function bridgeBody({ permission, payload, release, ui, body }: BridgeCall): object {
  return {
    moduleReleaseDigest: release ?? RELEASE,
    uiArtifactDigest: ui ?? UI,
    permission,
    payload,
    ...body,
  };
}

export function askBridge(host: Listening, call: BridgeCall): Promise<BridgeAnswer> {
  return sendBridge(host, call, JSON.stringify(bridgeBody(call)));
}

/** Sends these bytes as the body. */
export async function sendBridge(
  host: Listening,
  call: Omit<BridgeCall, 'payload'>,
  body: string | Uint8Array | null,
  method = 'POST',
): Promise<BridgeAnswer> {
  const response = await sendRequest(
    host.port,
    {
      method,
      target: bridgeTarget(call.module ?? 'crm', call.permission),
      headers: bridgeHeaders(call, host.port),
      ...(body === null ? {} : { body: Buffer.from(body) }),
    },
    RESPONSE_DEADLINE_MS,
  );
  return readAnswer(response);
}

function bridgeHeaders(call: Omit<BridgeCall, 'payload'>, port: number): RawHeader[] {
  const token = call.token === undefined ? serviceToken(call.permission) : call.token;
  return [
    ['host', `127.0.0.1:${port}`],
    ...(token === null ? [] : [['authorization', `Bearer ${token}`] as const]),
    ...(call.headers ?? [['content-type', 'application/json'] as const]),
  ];
}

export function serviceToken(...scopes: string[]): string {
  return `dev-service:tester:${scopes.join(',')}`;
}

function readAnswer(response: ReceivedResponse): BridgeAnswer {
  const text = response.body.toString();
  const json: unknown = text === '' ? null : JSON.parse(text);
  return {
    response,
    status: response.status,
    text,
    data: (json as { data?: unknown } | null)?.data,
    problem: json as Problem,
  };
}

export function createManifest(moduleId: string, members: Partial<Manifest> = {}): Manifest {
  return {
    protocol: 'modgate.manifest.v1',
    module_id: moduleId,
    capabilities: [],
    http_routes: [],
    ...members,
  };
}

export interface DescriptorMembers {
  readonly provider?: object;
  readonly manifest?: unknown;
  readonly [member: string]: unknown;
}

/** Creates a descriptor with grants for {@link RELEASE} and {@link UI}. */
export function createDescriptor(
  module: string,
  manifest: Manifest,
  grants: readonly string[],
  members: DescriptorMembers = {},
): object {
  return {
    module,
    // Nothing listens there: for tests without provider calls.
    provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:1'] } },
    manifest: { inline: manifest },
    console: { release: RELEASE, ui: [UI], grants },
    ...members,
  };
}

export function httpProvider(url: string): object {
  return { kind: 'http', config: { endpoints: [url] } };
}
